"""Brokers of Debian for one test: on loopback, in a temporary folder, ended by their pid."""
import base64
import contextlib
import json
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import tempfile
import threading
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


class Nats(Broker):
    """ada has a password, bob may not publish everywhere; whoever says nothing is anybody."""

    settings = """
authorization {
  users = [
    {user: anybody, password: a}
    {user: ada, password: lovelace}
    {user: bob, password: b, permissions: {publish: {deny: "shop.denied"}}}
  ]
}
no_auth_user: anybody
"""
    has_streams = True
    token = ""

    def command(self):
        (self.folder / "conf").write_text(f'listen: "127.0.0.1:{self.port}"\nmax_payload: 100000\n'
                                          + (f'jetstream {{ store_dir: "{self.folder}" }}\n' if self.has_streams else "") + self.settings)
        return [program("nats-server", "/usr/sbin/nats-server"), "-c", str(self.folder / "conf")]

    def url(self):
        return f"nats://127.0.0.1:{self.port}"

    def ask(self, requests):
        """The answers to requests [(subject, payload)], in their order."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as one, one.makefile("rwb") as file:
            file.readline()
            file.write(b'CONNECT {"verbose":false,"headers":true,"no_responders":true}\r\nSUB answer.* 1\r\n')
            for number, (subject, payload) in enumerate(requests):
                file.write(f"PUB {subject} answer.{number} {len(payload)}\r\n{payload}\r\n".encode())
            file.flush()
            answers = {}
            while len(answers) < len(requests):
                words = file.readline().split()
                if words[:1] == [b"MSG"]:
                    answers[int(words[1].split(b".")[1])] = json.loads(file.read(int(words[-1]) + 2))
                elif words[:1] != [b"PING"]:
                    raise RuntimeError(f"{requests}: {words}")
            return [answers[number] for number in range(len(requests))]

    @contextlib.contextmanager
    def answering(self, **answers):
        """Somebody answers what is published to these subjects, "__" for a dot, once each."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as one, one.makefile("rwb") as file:
            file.write(f'CONNECT {{"verbose":false,"auth_token":"{self.token}"}}\r\n'.encode())
            for number, subject in enumerate(answers):
                file.write(f"SUB {subject.replace('__', '.')} {number}\r\n".encode())
            file.write(b"PING\r\n")
            file.flush()
            while file.readline() != b"PONG\r\n":
                pass
            thread = threading.Thread(target=self.answer, args=(file, list(answers.values())))
            thread.start()
            try:
                yield
            finally:
                one.shutdown(socket.SHUT_RDWR)
                thread.join()

    def answer(self, file, texts):
        while line := file.readline().split():
            if line[0] == b"MSG":
                text = texts[int(line[2])]
                file.write(f"PUB {line[3].decode()} {len(text)}\r\n{text}\r\n".encode())
                file.flush()
                file.read(int(line[4]) + 2)

    def stream(self, topic, **more):
        [answer] = self.ask([(f"$JS.API.STREAM.CREATE.{topic.replace('.', '-')}",
                              json.dumps({"name": topic.replace(".", "-"), "subjects": [topic], "storage": "file", **more}))])
        if "error" in answer:
            raise RuntimeError(answer)

    def messages(self, topic):
        """Each message as a dict of its headers, in order."""
        name = topic.replace(".", "-")
        [answer] = self.ask([(f"$JS.API.STREAM.INFO.{name}", "")])
        last = answer["state"]["last_seq"]
        found = self.ask([(f"$JS.API.STREAM.MSG.GET.{name}", json.dumps({"seq": n + 1})) for n in range(last)])
        return [self.message(answer["message"]) for answer in found]

    def message(self, stored):
        head, *lines = base64.b64decode(stored["hdrs"]).decode().strip().split("\r\n")
        fields = dict(line.split(": ", 1) if ": " in line else line.split(":", 1) for line in lines)
        return {**fields, "id": fields["Nats-Msg-Id"], "head": head, "payload": base64.b64decode(stored.get("data", "")).decode()}


class NatsBare(Nats):
    """Without streams; whoever comes has to know a token."""

    token = "lovelace"
    settings = f'authorization {{ token: "{token}" }}\n'
    has_streams = False


class NatsTls(Nats):
    """Its certificate is for localhost, and signed by itself."""

    def command(self):
        certificate, key = self.folder / "certificate.pem", self.folder / "key.pem"
        if not certificate.exists():
            subprocess.run([program("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)],
                           check=True, capture_output=True)
            key.chmod(0o644)
        self.settings = f'{Nats.settings}\ntls {{ cert_file: "{certificate}", key_file: "{key}" }}\n'
        return super().command()

    def url(self):
        return f"nats+tls://localhost:{self.port}"
