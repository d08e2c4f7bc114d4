-- What an operator has paused: lanes, receivers that were not paused along with their lane, and endpoints.
-- Columns: lane, receiver key (empty: the lane with all of its own), paused_at, paused_until (not yet: until it is
-- resumed), paused_by, reason, endpoint (empty: none).
-- Index: none; the catalogue is small, and the endpoints are read through.
select lane, ''::text, paused_at, paused_until, paused_by, reason, ''::text
from owed_lane
where paused_at > timestamptz 'epoch'
union all
select r.lane, r.key, r.paused_at, r.paused_until, ''::text, r.paused_reason, ''::text
from owed_receiver as r
where r.paused_at > timestamptz 'epoch' and r.removed_at = timestamptz 'epoch'
    and not exists (select 1 from owed_lane as l where l.lane = r.lane and l.paused_at = r.paused_at)
union all
select r.lane, r.key, e.paused_at, e.paused_until, ''::text, e.paused_reason, e.id
from owed_endpoint as e join owed_receiver as r on r.key = 'owed.webhooks'
where e.paused_at > timestamptz 'epoch'
order by 1, 2, 7
