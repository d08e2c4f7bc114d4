"""clinic.py - a store that is made ill on purpose, and its nurse: who runs the commands that are printed, and no others."""
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

from prove import build, check, fail, wait_a_moment
from servers import server

CONF = """\
[store]
url = {url}
app = shop
[receiver "shop.billing"]
event = shop.OrderPlaced
discard = yes
[receiver "shop.mail"]
event = shop.OrderPlaced
discard = yes
lane = mail
"""
TRANSACTIONS_STAND_S = 0.15
HEALTHY = re.compile(r"healthy: \d+ checks found nothing\n")
OWED = "('pending', 'claimed', 'failed')"
MONTH = 30 * 24 * 3600
AGO = {
    "sqlite": "(cast(strftime('%s') as integer) - {0}) * 1000000",
    "postgres": "(statement_timestamp() - interval '{0} seconds')",
    "mariadb": "(utc_timestamp(6) - interval {0} second)",
}


class Clinic:
    def __init__(self, made, folder):
        self.server, self.kind = made, made.kind
        self.database = made.database()
        self.folder = pathlib.Path(folder)
        (self.folder / "owed.conf").write_text(CONF.format(url=self.database.url))
        program = build() / "src/cli"
        self.env = {key: value for key, value in os.environ.items() if not key.startswith("OWED_")}
        self.env["PATH"] = f"{program}:{self.env['PATH']}"
        self.ran = []
        self.sessions = []
        for words in ("owed init", "owed publish"):
            self.run(words)
        self.sql(f"update owed_receiver set published_at = {self.ago(MONTH)}")
        self.fire(20)
        self.run("owed relay --once --all-lanes")

    def ago(self, seconds):
        return AGO[self.kind].format(seconds)

    def sql(self, text):
        return self.database.sql(text)

    def number(self, text):
        return self.database.number(text)

    def shell(self, command):
        return subprocess.run(["/bin/sh", "-c", command], cwd=self.folder, env=self.env, capture_output=True, text=True,
                              timeout=120)

    def run(self, command):
        done = self.shell(command)
        check(done.returncode == 0, f"{self.kind}: {command}: exit {done.returncode}: {(done.stdout + done.stderr)[-500:]}")
        return done.stdout

    def fire(self, count=1):
        lines = '{"name":"shop.OrderPlaced","payload":{}}\n' * count
        done = subprocess.run(["owed", "fire", "--lines"], cwd=self.folder, env=self.env, input=lines, text=True,
                              capture_output=True)
        check(done.returncode == 0, f"fire: {done.stderr}")

    def findings(self, *words):
        done = self.shell(" ".join(["owed doctor --json", *words]))
        check(done.returncode in (0, 1), f"{self.kind}: owed doctor: exit {done.returncode}: {done.stderr}")
        found = [json.loads(line) for line in done.stdout.splitlines()]
        check(done.returncode == (1 if [each for each in found if each["state"] == "found"] else 0),
              f"{self.kind}: exit {done.returncode} with {found}")
        # What cannot be looked at without an index, say, is no finding.
        return [each for each in found if each["state"] == "found"]

    def is_healthy(self, *words):
        done = self.shell(" ".join(["owed doctor", *words]))
        return done.returncode == 0 and HEALTHY.fullmatch(done.stdout) is not None

    def in_time(self, look):
        """Sessions that were ended go when they notice. MariaDB's list of transactions stays as it is while anybody
        looks at it more often than each tenth of a second: whoever looks again must let it be for that long."""
        deadline = time.monotonic() + 10
        while not (seen := look()) and time.monotonic() < deadline:
            time.sleep(TRANSACTIONS_STAND_S if self.kind == "mariadb" else 0)
            wait_a_moment()
        return seen

    def obey(self, command, is_done):
        """Runs a command as it was printed; a relay that does not end by itself works until is_done."""
        self.ran.append(command)
        if not command.startswith("owed relay") or "--once" in command:
            self.run(command)
            return
        relay = subprocess.Popen(["/bin/sh", "-c", f"exec {command}"], cwd=self.folder, env=self.env,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not is_done():
            if time.monotonic() > deadline:
                fail(f"{command}: nothing came of it in 60 s")
            wait_a_moment()
        relay.send_signal(signal.SIGTERM)
        relay.wait(timeout=30)

    def session(self, *statements):
        """A client that stays connected, in the midst of what it was told."""
        words = list(self.database.client)
        if self.kind == "mariadb":
            words.insert(2, "--unbuffered")
        client = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        client.stdin.write("".join(f"{statement};\n" for statement in (*statements, "select 'ready'")))
        client.stdin.flush()
        while "ready" not in (line := client.stdout.readline()):
            check(line, f"{self.kind}: a session ended: {statements}")
        self.sessions.append(client)
        return client

    def close(self):
        for client in self.sessions:
            client.kill()
            client.wait()
        self.sessions = []


def clinics(kind, settings=()):
    """A server of that kind; yields a function that makes a fresh healthy store on it."""
    with server(kind, durable=False, settings=settings) as made, tempfile.TemporaryDirectory() as folder:
        count = 0

        def admit():
            nonlocal count
            count += 1
            room = pathlib.Path(folder) / str(count)
            room.mkdir()
            return Clinic(made, room)
        yield admit
