-- What was put off while its endpoint was paused, of one that was removed since: pending although somebody
-- held it once, and due later.
-- Parameters: now, endpoint, how many at most.
-- Columns: id.
-- Index: owed_delivery_by_receiver.
select d.id from owed_delivery as d
where d.receiver_key = 'owed.webhooks' and d.status = 'pending'
and d.available_at > $1::timestamptz and d.claimed_at > timestamptz 'epoch' and d.target = $2::text
limit $3::bigint
