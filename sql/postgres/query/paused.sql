-- What an operator has paused: lanes, and receivers that were not paused along with their lane.
-- Columns: lane, receiver key (empty: the lane with all of its own), paused_at, paused_until (not yet: until it is
-- resumed), paused_by, reason.
-- Index: none; the catalogue is small.
select lane, ''::text, paused_at, paused_until, paused_by, reason
from owed_lane
where paused_at > timestamptz 'epoch'
union all
select r.lane, r.key, r.paused_at, r.paused_until, ''::text, r.paused_reason
from owed_receiver as r
where r.paused_at > timestamptz 'epoch' and r.removed_at = timestamptz 'epoch'
    and not exists (select 1 from owed_lane as l where l.lane = r.lane and l.paused_at = r.paused_at)
order by 1, 2
