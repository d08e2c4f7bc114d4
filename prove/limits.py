"""limits.py - owed beside the bare loop of its store: in turn, each on a database of its own.

A mode is a word of bench/bare.h. Rates are rows a second.
"""
import statistics
import sys

from prove import TOP

sys.path.insert(0, str(TOP / "bench"))
from contenders import PAYLOAD, Owed, bare  # noqa: E402, F401

ROUNDS = 3
# Room for all rows and their log: what is measured are the writes that a commit waits for.
SETTINGS = {
    "sqlite": (),
    "postgres": ("shared_buffers=512MB", "max_wal_size=4GB"),
    "mariadb": ("innodb-buffer-pool-size=512M", "innodb-log-file-size=1G"),
}
OURS = {
    "fire": Owed.fire,
    "fire-bulk": Owed.fire_bulk,
    "drain": Owed.drain,
    "drain-delete": Owed.drain_delete,
    # The same for us: a receiver that says database_only is grouped.
    "inside": Owed.insert,
    "inside-grouped": Owed.insert,
}


class Ratio:
    """What some rounds of a mode came to: the middle of the rates, and of the ratios of each round."""

    def __init__(self, kind, mode, rates, connections):
        self.kind = kind
        self.mode = mode if connections == 1 else f"{mode}-{connections}"
        self.ours, self.bare = (statistics.median(each) for each in zip(*rates))
        self.ratio = statistics.median(mine / limit for mine, limit in rates)

    def __str__(self):
        return f"{self.kind} {self.mode} {self.ratio:.2f} ({self.ours:,.0f} of {self.bare:,.0f}/s)"


def measure(made, server, mode, rows, connections=1, rounds=ROUNDS):
    more = (connections,) if mode == "fire" else ()
    rates = []
    for _ in range(rounds):
        with server.fresh_database() as database:
            mine = OURS[mode](Owed(made, database), rows, *more)
        with server.fresh_database() as database:
            rates.append((mine, bare(made, database, mode, rows, *more)))
    return Ratio(server.kind, mode, rates, connections)
