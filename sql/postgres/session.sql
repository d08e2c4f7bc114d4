-- What every connection of ours is set to when it opens (an adopted one is left as it is): times come
-- and go as microseconds UTC whatever the zone, texts as UTF-8. A worker that was killed in the middle of
-- a statement lets go of its rows soon.
set client_encoding = 'UTF8';
set client_min_messages = warning;
set standard_conforming_strings = on;
set default_transaction_isolation = 'read committed';
set client_connection_check_interval = '500ms';
