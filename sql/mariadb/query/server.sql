-- What a connection must know of its server, and of itself there.
-- Columns: the connection's number, how many bytes the server takes at once, the database's name among
-- all servers, when the server started (in seconds since 1970).
select connection_id(), @@session.max_allowed_packet,
    concat(ifnull(database(), ''), ' on ', @@hostname, ':', @@port, @@datadir),
    cast(round(unix_timestamp(sysdate(6)) - s.variable_value) as signed)
from information_schema.global_status as s
where s.variable_name = 'Uptime'
