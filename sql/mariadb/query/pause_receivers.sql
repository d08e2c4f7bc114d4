-- Pauses a receiver, or those of a lane that are not paused already: with the lane's own moment, by which they are
-- known as paused along with it.
-- Parameters: lane (empty: none), receiver key (empty: none), now, until when (not yet: until it is resumed), why.
-- Index: the primary key; the catalogue is small.
update owed_receiver
set paused_until = $4, paused_reason = $5,
    paused_at = case when paused_at > '1970-01-01 00:00:00' then paused_at
        else coalesce((select l.paused_at from owed_lane as l where l.lane = $1), $3) end
where `key` = $2 or (lane = $1 and (paused_at = '1970-01-01 00:00:00'
    or paused_at = (select l.paused_at from owed_lane as l where l.lane = $1)))
