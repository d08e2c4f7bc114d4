-- From here on nothing is committed but by COMMIT, also where the server ended a transaction by itself.
set session autocommit = 0
