-- From here on a statement outside of a transaction is committed at once. It commits what is open.
set session autocommit = 1
