-- How long a look may take.
set statement_timeout = '10s'
