-- Indexes of the schema that are not there, each with what makes it.
-- Columns: index, the statement that makes it, 0, 0.
-- Index: none, it asks the server's catalogue.
select w.name, w.definition, 0, 0
from (
    select 'owed_event_by_dedupe_key' as name,
        'alter table owed_event add unique key owed_event_by_dedupe_key (dedupe_key)' as definition
    union all select 'owed_event_by_name',
        'alter table owed_event add key owed_event_by_name (name, id)'
    union all select 'owed_event_by_correlation',
        'alter table owed_event add key owed_event_by_correlation (correlation_id, id)'
    union all select 'owed_event_by_cause',
        'alter table owed_event add key owed_event_by_cause (causation_id)'
    union all select 'owed_event_own_window',
        'alter table owed_event add key owed_event_own_window (retention_seconds, delete_when, id)'
    union all select 'owed_delivery_once',
        'alter table owed_delivery add unique key owed_delivery_once (event_id, receiver_key, target_digest)'
    union all select 'owed_delivery_owed',
        'alter table owed_delivery add key owed_delivery_owed (owed_lane, kind, available_at, id)'
    union all select 'owed_delivery_claimed',
        'alter table owed_delivery add key owed_delivery_claimed (claimed_lane, kind, lease_expires_at, available_at, id)'
    union all select 'owed_delivery_by_receiver',
        'alter table owed_delivery add key owed_delivery_by_receiver (owed_receiver_key, lane, kind, available_at, id)'
    union all select 'owed_delivery_ended_badly',
        'alter table owed_delivery add key owed_delivery_ended_badly (ended_badly, id, receiver_key)'
    union all select 'owed_receiver_by_event',
        'alter table owed_receiver add key owed_receiver_by_event (event_name)'
    union all select 'owed_attempt_by_delivery',
        'alter table owed_attempt add key owed_attempt_by_delivery (delivery_id, id)'
    union all select 'owed_dedup_by_end',
        'alter table owed_dedup add key owed_dedup_by_end (expires_at)'
    union all select 'owed_subscription_by_event',
        'alter table owed_subscription add key owed_subscription_by_event (event_name, endpoint_id)'
    union all select 'owed_subscription_by_stem',
        'alter table owed_subscription add key owed_subscription_by_stem (stem, endpoint_id)'
) as w
where not exists (select 1 from information_schema.statistics as s
    where s.table_schema = database() and s.index_name = convert(w.name using utf8mb3))
order by 1
