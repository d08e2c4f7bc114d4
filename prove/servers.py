"""servers.py - a store on a server of its own, for proofs that hold on more than SQLite.

Private servers come from tools/servers; SQL goes through each one's own client.
"""
import contextlib
import os
import pathlib
import re
import subprocess
import tempfile

from prove import TOP, fail

SERVERS = str(TOP / "tools/servers")
KINDS = ("sqlite", "postgres", "mariadb")
CLIENTS = {
    "postgres": ["psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-d"],
    "mariadb": ["mariadb", "--no-defaults", "-N", "-B", "-u", "owed"],
    "sqlite": ["sqlite3", "-cmd", ".timeout 30000", "-batch"],
}


class Database:
    """One empty database: its URL, and SQL at its prompt."""

    def __init__(self, kind, url, client):
        self.kind, self.url, self.client = kind, url, client

    def sql(self, text):
        done = subprocess.run(self.client, input=text, capture_output=True, text=True)
        if done.returncode != 0:
            fail(f"{self.kind}: {done.stderr.strip()[-500:]}")
        return done.stdout.strip()

    def number(self, text):
        return int(self.sql(text).splitlines()[-1])


class Server:
    """A private server in a folder, started by tools/servers; without one, SQLite."""

    def __init__(self, kind, folder, durable, settings):
        self.kind, self.folder, self.count = kind, pathlib.Path(folder), 0
        if kind != "sqlite":
            words = ["start", kind, "--dir", str(self.folder / "server")]
            words += ["--durable"] if durable else []
            words += [word for setting in settings for word in ("--set", setting)]
            self.base = self.word(*words)

    def word(self, *words):
        done = subprocess.run([SERVERS, *words], capture_output=True, text=True)
        if done.returncode != 0:
            fail(f"tools/servers {' '.join(words)}: {(done.stdout + done.stderr)[-500:]}")
        return done.stdout.strip()

    def show(self, what):
        return self.word("show", "--dir", str(self.folder / "server"), what)

    def do(self, *words):
        return self.word(words[0], "--dir", str(self.folder / "server"), *words[1:])

    def client(self, database):
        if self.kind == "postgres":
            return [*CLIENTS["postgres"], re.sub(r"/\w+(\?|$)", rf"/{database}\1", self.base)]
        return [*CLIENTS["mariadb"], "-S", self.show("socket"), database]

    def first(self):
        """The database that is there from the start."""
        return Database(self.kind, self.base, self.client("owed" if self.kind == "mariadb" else "postgres"))

    def database(self):
        """A fresh, empty one."""
        self.count += 1
        if self.kind == "sqlite":
            path = self.folder / f"store{self.count}.db"
            return Database("sqlite", f"sqlite:{path}", [*CLIENTS["sqlite"], str(path)])
        name = f"prove{self.count}"
        self.first().sql(f"create database {name}")
        return Database(self.kind, re.sub(r"/\w+(\?|$)", rf"/{name}\1", self.base), self.client(name))

    @contextlib.contextmanager
    def fresh_database(self):
        """One that is gone afterwards, so that nothing of it is still being tidied up later."""
        made = self.database()
        yield made
        if self.kind == "sqlite":
            for path in self.folder.glob(f"store{self.count}.db*"):
                path.unlink()
        else:
            name = made.url.rpartition("/")[2]
            self.first().sql(f"drop database {name}" + (" with (force)" if self.kind == "postgres" else ""))

    def stop(self):
        if self.kind != "sqlite":
            self.word("stop", "--dir", str(self.folder / "server"))


@contextlib.contextmanager
def server(kind, durable=True, settings=()):
    with tempfile.TemporaryDirectory(prefix="owed-prove-") as folder:
        os.chmod(folder, 0o755)
        made = Server(kind, folder, durable, settings)
        try:
            yield made
        finally:
            made.stop()


def held(made, programs):
    """Runs test programs of the build beside all three stores; how often each test passed, by its name."""
    subprocess.run([str(TOP / "tools/node-modules"), str(made)], stdout=subprocess.DEVNULL)
    command = ["meson", "test", "-C", str(made), "--no-rebuild", *programs]
    done = subprocess.run([SERVERS, "run", "--", *command], capture_output=True, text=True)
    log = (made / "meson-logs" / "testlog.txt").read_text()
    if done.returncode != 0:
        fail(f"{[line for line in done.stdout.splitlines() if 'FAIL' in line or 'TIMEOUT' in line]}")
    names = re.findall(r"\[\s+OK \] (\w+)", log) + re.findall(r"^(test_\w+) .*\.\.\. ok$", log, re.M)
    return {name: names.count(name) for name in names}
