"""prove.py - what the proofs share: a store in a temporary folder, the program, and how to end.

A proof is a script named after its claim. It sets up what it needs on loopback, exits 0 only when the
claim holds, and prints its figure last.
"""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("OWED_BUILD", TOP / "build")).resolve()
FAILPOINT_BUILD = TOP / "build-failpoints"
OWED_STATUSES = "('pending', 'claimed', 'failed')"
# Whoever ends a proof early leaves no server behind.
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))


def build(folder=BUILD, *options):
    if not (folder / "build.ninja").exists():
        subprocess.run(["meson", "setup", str(folder), *options], cwd=TOP, check=True,
                       stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", str(folder)], check=True, stdout=subprocess.DEVNULL)
    return folder


def fail(sentence):
    print(f"{pathlib.Path(sys.argv[0]).name}: does not hold: {sentence}")
    sys.exit(1)


def check(holds, sentence):
    if not holds:
        fail(sentence)


def figure(text):
    print(f"{pathlib.Path(sys.argv[0]).name}: {text}")


def simulated(*filters):
    """Runs tests that have a clock of their own, and passes on the figures that they print."""
    program = build() / "test/deliver/test_deliver_burst"
    figures = []
    for chosen in filters:
        done = subprocess.run([str(program), chosen], capture_output=True, text=True)
        check(done.returncode == 0, f"{chosen}: {(done.stdout + done.stderr)[-800:]}")
        found = [line[len("figure: "):] for line in done.stdout.splitlines() if line.startswith("figure: ")]
        check(found, f"{chosen}: nothing ran")
        figures += found
    figure("; ".join(figures))


class Store:
    """A store of its own, with the counting module's table and an owed.conf."""

    def __init__(self, folder, effects="", app="prove", conf="", folder_build=BUILD):
        self.folder = pathlib.Path(folder)
        self.build = folder_build
        self.file = self.folder / "store.db"
        self.conf = self.folder / "owed.conf"
        self.module = folder_build / "test/modules/effects.so"
        module = f"module = {self.module}\n" if effects else ""
        self.conf.write_text(f"[store]\nurl = sqlite:{self.file}\napp = {app}\n{module}[relay]\n{conf}")
        self.env = dict(os.environ, EFFECTS=effects, OWED_CONFIG=str(self.conf))
        self.owed("init")
        self.owed("publish")
        self.db = sqlite3.connect(self.file, isolation_level=None, timeout=30)
        self.db.execute("pragma wal_autocheckpoint = 0")
        self.db.execute("create table if not exists effect (delivery integer, receiver text)")

    def command(self, *words):
        return [str(self.build / "src/cli/owed"), *map(str, words)]

    def owed(self, *words, stdin=None, ok=(0,), env=None):
        done = subprocess.run(self.command(*words), input=stdin, capture_output=True,
                              env=dict(self.env, **(env or {})))
        if ok is not None and done.returncode not in ok:
            fail(f"owed {' '.join(map(str, words))}: exit {done.returncode}: {done.stderr.decode()[-600:]}")
        return done

    def start(self, *words, env=None, stderr=None):
        return subprocess.Popen(self.command(*words), env=dict(self.env, **(env or {})),
                                stdout=subprocess.DEVNULL, stderr=stderr or subprocess.DEVNULL)

    def fire(self, count, name="prove.Event", payload=None):
        payloads = (payload or f'{{"n":{n}}}' for n in range(count))
        lines = "".join(f'{{"name":"{name}","payload":{each}}}\n' for each in payloads)
        return self.owed("fire", "--lines", stdin=lines.encode())

    def one(self, query, *args):
        return self.db.execute(query, args).fetchone()[0]

    def count(self, where="1"):
        return self.one(f"select count(*) from owed_delivery where {where}")

    def owed_rows(self):
        return self.count(f"status in {OWED_STATUSES}")

    def until(self, condition, seconds=60, what="the expected state"):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                fail(f"after {seconds} s: {what} was not reached")
            wait_a_moment()


def wait_a_moment():
    """Between two looks at something that cannot be waited for: 2 ms."""
    time.sleep(0.002)


@contextlib.contextmanager
def store(*args, **words):
    with tempfile.TemporaryDirectory(prefix="owed-prove-") as folder:
        made = Store(folder, *args, **words)
        try:
            yield made
        finally:
            made.db.close()


class Sink:
    """The HTTP server of tools/sink.py on a free port."""

    def __init__(self, folder, *options):
        self.log = pathlib.Path(folder) / "sink.log"
        words = [str(TOP / "tools/sink.py"), "--port", "0", "--log", str(self.log), *options]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().split()[-1])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.said = self.process.communicate()[0]

    def requests(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@contextlib.contextmanager
def sink(folder, *options):
    server = Sink(folder, *options)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.stop()


def workers(supervisor):
    """The pids of a relay's workers."""
    path = pathlib.Path(f"/proc/{supervisor}/task/{supervisor}/children")
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return [int(pid) for pid in path.read_text().split()]
    return []


def state(pid):
    """The letter of /proc: R, S, D, T (stopped), Z; X when there is no such process."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "X"


def end(process, seconds=30):
    """SIGTERM, and the exit status."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    return process.wait(timeout=seconds)
