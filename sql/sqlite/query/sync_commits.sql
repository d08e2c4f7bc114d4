-- From here on a commit is on the disk before it is answered.
pragma synchronous = full
