-- What an operator has paused: lanes, receivers that were not paused along with their lane, and endpoints.
-- Columns: lane, receiver key (empty: the lane with all of its own), paused_at, paused_until (not yet: until it is
-- resumed), paused_by, reason, endpoint (empty: none).
-- Index: none; the catalogue is small, and the endpoints are read through.
select lane, '', paused_at, paused_until, paused_by, reason, ''
from owed_lane
where paused_at > '1970-01-01 00:00:00'
union all
select r.lane, r.`key`, r.paused_at, r.paused_until, '', r.paused_reason, ''
from owed_receiver as r
where r.paused_at > '1970-01-01 00:00:00' and r.removed_at = '1970-01-01 00:00:00'
    and not exists (select 1 from owed_lane as l where l.lane = r.lane and l.paused_at = r.paused_at)
union all
select r.lane, r.`key`, e.paused_at, e.paused_until, '', e.paused_reason, e.id
from owed_endpoint as e join owed_receiver as r on r.`key` = 'owed.webhooks'
where e.paused_at > '1970-01-01 00:00:00'
order by 1, 2, 7
