"""Brokers of Debian for one test: on loopback, in a temporary folder, ended by their pid."""
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import tempfile
import time


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def program(*places):
    found = next((place for place in places if shutil.which(place)), None)
    if found is None:
        raise FileNotFoundError(f"none of {places} is here: tools/packages test installs it")
    return found


class Broker:
    """start and stop keep the folder and the port: what is stored is there again."""

    seconds = 60

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="owed-broker-"))
        self.port = free_port()
        self.process = None
        self.nobody = pwd.getpwnam("nobody") if os.getuid() == 0 else None
        if self.nobody:
            os.chown(self.folder, self.nobody.pw_uid, self.nobody.pw_gid)

    def command(self):
        raise NotImplementedError

    def environment(self):
        return {}

    def start(self):
        as_whom = {"user": self.nobody.pw_uid, "group": self.nobody.pw_gid, "extra_groups": []} if self.nobody else {}
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(self.command(), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env={**os.environ, "HOME": str(self.folder), **self.environment()}, **as_whom)
        deadline = time.monotonic() + self.seconds
        while not self.is_up():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{self.command()[0]} did not start: {(self.folder / 'log').read_text()[-2000:]}")
            time.sleep(0.02)

    def is_up(self):
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
        if self.process is not None:
            self.process.wait(60)

    def remove(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class Redis(Broker):
    def command(self):
        return [program("redis-server"), "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder),
                "--appendonly", "yes", "--appendfsync", "always", "--save", ""]

    def url(self):
        return f"redis://127.0.0.1:{self.port}"

    def ask(self, *words):
        """A command and its answer, as texts and lists."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as one, one.makefile("rwb") as file:
            file.write(b"*%d\r\n" % len(words))
            for word in map(str.encode, words):
                file.write(b"$%d\r\n%s\r\n" % (len(word), word))
            file.flush()
            return self.answer(file)

    def answer(self, file):
        line = file.readline()[:-2]
        if line[:1] == b"*":
            return [self.answer(file) for _ in range(int(line[1:]))]
        if line[:1] == b"$":
            size = int(line[1:])
            return None if size < 0 else file.read(size + 2)[:-2].decode()
        if line[:1] == b"-":
            raise RuntimeError(line.decode())
        return line[1:].decode()

    def messages(self, stream):
        """Each entry as a dict of its fields, in order."""
        entries = self.ask("XRANGE", stream, "-", "+")
        return [dict(zip(fields[::2], fields[1::2])) for _, fields in entries]
