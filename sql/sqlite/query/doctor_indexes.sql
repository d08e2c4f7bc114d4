-- Indexes of the schema that are not there, each with what makes it.
-- Columns: index, the statement that makes it, 0, 0.
-- Index: none, it asks the file's own catalogue.
with wanted (name, definition) as (values
    ('owed_event_by_name',
        'create index owed_event_by_name on owed_event (name, id)'),
    ('owed_event_by_correlation',
        'create index owed_event_by_correlation on owed_event (correlation_id, id) where correlation_id <> '''''),
    ('owed_event_by_cause',
        'create index owed_event_by_cause on owed_event (causation_id) where causation_id is not null'),
    ('owed_delivery_owed',
        'create index owed_delivery_owed on owed_delivery (lane, kind, available_at) where status in (''pending'', ''failed'')'),
    ('owed_delivery_claimed',
        'create index owed_delivery_claimed on owed_delivery (lane, kind, lease_expires_at, available_at, receiver_key) where status = ''claimed'''),
    ('owed_delivery_by_receiver',
        'create index owed_delivery_by_receiver on owed_delivery (receiver_key, lane, kind, available_at) where status in (''pending'', ''failed'')'),
    ('owed_delivery_ended_badly',
        'create index owed_delivery_ended_badly on owed_delivery (status, receiver_key, id) where status in (''dead'', ''orphaned'')'),
    ('owed_delivery_ended_badly_ids',
        'create index owed_delivery_ended_badly_ids on owed_delivery (id) where status in (''dead'', ''orphaned'')'),
    ('owed_receiver_by_event',
        'create index owed_receiver_by_event on owed_receiver (event_name)'),
    ('owed_attempt_by_delivery',
        'create index owed_attempt_by_delivery on owed_attempt (delivery_id, id)'),
    ('owed_dedup_by_end',
        'create index owed_dedup_by_end on owed_dedup (expires_at)'),
    ('owed_subscription_by_event',
        'create index owed_subscription_by_event on owed_subscription (event_name, endpoint_id)'),
    ('owed_subscription_by_stem',
        'create index owed_subscription_by_stem on owed_subscription (stem, endpoint_id) where stem is not null'),
    ('owed_event_own_window',
        'create index owed_event_own_window on owed_event (retention_seconds, id) where retention_seconds is not null'),
    ('owed_event_consumed',
        'create index owed_event_consumed on owed_event (delete_when, id) where delete_when <> ''''')
)
select name, definition, 0, 0 from wanted
where name not in (select name from sqlite_master where type = 'index')
order by 1
