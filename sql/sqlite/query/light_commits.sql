-- From here on a commit may be undone by a power cut, not by the end of a process.
pragma synchronous = normal
