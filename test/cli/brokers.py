"""Brokers of Debian for one test: on loopback, in a temporary folder, ended by their pid."""
import base64
import binascii
import contextlib
import hashlib
import itertools
import json
import os
import pathlib
import pwd
import select
import shutil
import socket
import struct
import subprocess
import tempfile
import threading


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def program(*places):
    found = next((place for place in places if shutil.which(place)), None)
    if found is None:
        raise FileNotFoundError(f"none of {places} is here: tools/packages test installs it")
    return found


def certificate(folder):
    """Files with a certificate for localhost, signed by itself, and its key."""
    made, key = folder / "certificate.pem", folder / "key.pem"
    if not made.exists():
        subprocess.run([program("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(made)],
                       check=True, capture_output=True)
        key.chmod(0o644)
    return made, key


class NKey:
    """A pair of keys as NATS writes them: public begins with kind, O, A or U."""

    kinds = {"O": 14 << 3, "A": 0, "U": 20 << 3}

    def __init__(self, kind, folder):
        self.file = folder / f"key-{kind}.pem"
        self.openssl("genpkey", "-algorithm", "ed25519", "-out", str(self.file))
        private, public = (self.openssl("pkey", "-in", str(self.file), "-outform", "DER", *more)[-32:] for more in ((), ("-pubout",)))
        prefix = self.kinds[kind]
        self.public = self.text(bytes([prefix]) + public)
        self.seed = self.text(bytes([18 << 3 | prefix >> 5, (prefix & 31) << 3]) + private)

    @staticmethod
    def openssl(*words):
        return subprocess.run([program("openssl"), *words], check=True, capture_output=True).stdout

    @staticmethod
    def text(data):
        return base64.b32encode(data + struct.pack("<H", binascii.crc_hqx(data, 0))).decode().rstrip("=")

    def token(self, subject, kind):
        """What this one says of the other key, signed."""
        any_number = dict.fromkeys(("conn", "subs", "data", "payload", "imports", "exports", "leaf"), -1)
        bounds = any_number if kind == "user" else {"limits": any_number}
        claims = {"iat": 1, "iss": self.public, "sub": subject.public, "name": "owed", "nats": {"type": kind, "version": 2, **bounds}}
        claims["jti"] = hashlib.sha256(json.dumps(claims).encode()).hexdigest()
        words = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
                 for part in ({"typ": "JWT", "alg": "ed25519-nkey"}, claims)]
        said = self.file.with_suffix(".said")
        said.write_text(".".join(words))
        signature = self.openssl("pkeyutl", "-sign", "-rawin", "-inkey", str(self.file), "-in", str(said))
        return ".".join([*words, base64.urlsafe_b64encode(signature).decode().rstrip("=")])


class Broker:
    """start and stop keep the folder and the port: what is stored is there again."""

    ready = None  # what it says once it takes connections
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

    def place(self):
        """Where, and as whom, its programs run."""
        as_whom = {"user": self.nobody.pw_uid, "group": self.nobody.pw_gid, "extra_groups": []} if self.nobody else {}
        return {"cwd": self.folder, "env": {**os.environ, "HOME": str(self.folder), **self.environment()}, **as_whom}

    def start(self):
        self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, errors="replace", **self.place())
        self.said = []
        self.is_heard = threading.Event()
        self.reader = threading.Thread(target=self.hear)
        self.reader.start()
        if not self.is_heard.wait(self.seconds) or not self.is_ready():
            raise RuntimeError(f"{self.command()[0]} did not start: {''.join(self.said)[-2000:]}")

    def is_ready(self):
        return any(self.ready in line for line in self.said)

    def hear(self):
        """All that it says is read, so that it never waits for a reader; its end is heard, too."""
        for line in self.process.stdout:
            self.said.append(line)
            if self.ready in line:
                self.is_heard.set()
        self.is_heard.set()

    def signal(self, number):
        self.process.send_signal(number)

    def restart(self, number):
        """Ended by a signal, politely or not, and started again with all that it had stored."""
        self.signal(number)
        self.wait()
        self.start()

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
        if self.process is not None:
            self.wait()

    def wait(self):
        self.process.wait(60)
        self.reader.join(60)
        self.process.stdout.close()

    def remove(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class Cut:
    """Stands before a broker, and cuts the first connection off once so much has gone to the broker."""

    def __init__(self, port, after_bytes):
        self.broker, self.after_bytes, self.count = port, after_bytes, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.serve)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                self.pass_on(self.listener.accept()[0])

    def pass_on(self, client):
        """One connection at a time, as a publisher has."""
        self.count += 1
        left = self.after_bytes if self.count == 1 else 1 << 60
        with client, socket.create_connection(("127.0.0.1", self.broker)) as broker:
            while left > 0:
                for one, other in ((client, broker), (broker, client)):
                    if one not in select.select([client, broker], [], [])[0]:
                        continue
                    data = one.recv(4096)
                    if not data:
                        return
                    other.sendall(data)
                    left -= len(data) if one is client else 0
                    if one is client:
                        self.saw(data)

    def saw(self, data):
        """What has gone to the broker."""


class Beats(Cut):
    """Cuts nothing off, and counts what AMQP sends to tell that somebody is there."""

    beat = b"\x08\0\0\0\0\0\0\xce"

    def __init__(self, port):
        super().__init__(port, 1 << 60)
        self.beats, self.ended, self.changed = 0, 0, threading.Condition()

    def saw(self, data):
        with self.changed:
            self.beats += data.count(self.beat)
            self.changed.notify_all()

    def pass_on(self, client):
        """A connection that is reset ends, too."""
        try:
            super().pass_on(client)
        finally:
            with self.changed:
                self.ended += 1
                self.changed.notify_all()

    def wait(self, count):
        """For so many more; false: the connection ended before."""
        with self.changed:
            most, ended = self.beats + count, self.ended
            self.changed.wait_for(lambda: self.beats >= most or self.ended > ended)
            return self.ended == ended


class Deaf:
    """Takes connections, and says what it is told, or nothing; where it drips, then byte by byte without an end."""

    def __init__(self, said, drips=False):
        self.said, self.drips = said, drips
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.serve)
        self.clients = []

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()
        for client in self.clients:
            client.close()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.listener.accept()[0]
                self.clients.append(client)
                if self.said is not None:
                    client.sendall(self.said)
                    self.drip(client)

    def drip(self, client):
        with contextlib.suppress(OSError):
            while self.drips:
                client.sendall(b"x")
                if select.select([client], [], [], 0.05)[0] and not client.recv(4096):
                    break
            client.shutdown(socket.SHUT_RDWR)


class Redis(Broker):
    ready = "Ready to accept connections"

    def command(self):
        return [program("redis-server"), "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder),
                "--unixsocket", str(self.folder / "socket"), "--unixsocketperm", "777",
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
    ready = "Server is ready"
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

    def consumer(self, topic, **more):
        stream = topic.replace(".", "-")
        config = {"durable_name": "owed", "ack_policy": "explicit", "filter_subject": topic, **more}
        [answer] = self.ask([(f"$JS.API.CONSUMER.DURABLE.CREATE.{stream}.owed", json.dumps({"stream_name": stream, "config": config}))])
        if "error" in answer:
            raise RuntimeError(answer)

    def messages(self, topic):
        """Each message as a dict of its headers, in order."""
        name = topic.replace(".", "-")
        [answer] = self.ask([(f"$JS.API.STREAM.INFO.{name}", "")])
        last = answer["state"]["last_seq"]
        asked = [(f"$JS.API.STREAM.MSG.GET.{name}", json.dumps({"seq": n + 1})) for n in range(last)]
        # What is asked at once is short enough to be answered before anybody listens.
        found = itertools.chain.from_iterable(self.ask(asked[n:n + 1000]) for n in range(0, last, 1000))
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
        made, key = certificate(self.folder)
        self.user = NKey("U", self.folder)
        self.settings = f'''
authorization {{ users = [ {{user: anybody, password: a}}, {{nkey: {self.user.public}}} ] }}
no_auth_user: anybody
tls {{ cert_file: "{made}", key_file: "{key}" }}
'''
        return super().command()

    def url(self):
        return f"nats+tls://localhost:{self.port}"


class NatsOperator(Nats):
    """Whoever comes shows what an account says of them; there are no streams."""

    has_streams = False

    def command(self):
        operator, account, user = (NKey(kind, self.folder) for kind in "OAU")
        self.credentials = (f"-----BEGIN NATS USER JWT-----\n{account.token(user, 'user')}\n------END NATS USER JWT------\n\n"
                            f"-----BEGIN USER NKEY SEED-----\n{user.seed}\n------END USER NKEY SEED------\n")
        self.settings = f'''
operator: {operator.token(operator, "operator")}
resolver: MEMORY
resolver_preload: {{ {account.public}: {operator.token(account, "account")} }}
'''
        return super().command()


class RabbitMQ(Broker):
    """It listens twice, the second time by TLS."""

    settings = ""
    most_bytes = 4_000_000
    ready = "Server startup complete"

    def __init__(self):
        super().__init__()
        self.epmd_port, self.tls_port = free_port(), free_port()
        (self.folder / "plugins").write_text("[].\n")
        self.certificate, key = certificate(self.folder)
        (self.folder / "rabbitmq.conf").write_text(f"listeners.ssl.1 = 127.0.0.1:{self.tls_port}\nssl_options.certfile = {self.certificate}\n"
                                                   f"ssl_options.keyfile = {key}\n"
                                                   f"max_message_size = {self.most_bytes}\n{self.settings}")
        self.epmd = subprocess.Popen([program("epmd"), "-address", "127.0.0.1", "-port", str(self.epmd_port)],
                                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def command(self):
        # The packaged wrapper of this name wants to be a user of its own.
        return ["/usr/lib/rabbitmq/bin/rabbitmq-server"]

    def environment(self):
        path = str(self.folder)
        return {"RABBITMQ_MNESIA_BASE": path, "RABBITMQ_LOG_BASE": path, "RABBITMQ_LOGS": "-", "RABBITMQ_NODENAME": f"owed{self.port}@localhost",
                "RABBITMQ_NODE_PORT": str(self.port), "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1", "RABBITMQ_DIST_PORT": str(free_port()),
                "RABBITMQ_CONFIG_FILE": f"{path}/rabbitmq.conf", "RABBITMQ_ENABLED_PLUGINS_FILE": f"{path}/plugins", "RABBITMQ_PID_FILE": f"{path}/pid", "ERL_EPMD_PORT": str(self.epmd_port),
                "ERL_EPMD_ADDRESS": "127.0.0.1", "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +sbwt none"}

    def control(self, *words):
        subprocess.run(["/usr/lib/rabbitmq/bin/rabbitmqctl", *words], check=True, capture_output=True, timeout=60, **self.place())

    def signal(self, number):
        os.kill(int((self.folder / "pid").read_text()), number)

    def stop(self):
        pid = self.folder / "pid"
        if self.process is not None and self.process.poll() is None and pid.exists():
            self.signal(9)
        super().stop()

    def remove(self):
        super().remove()
        self.epmd.kill()
        self.epmd.wait(60)

    def url(self):
        return f"amqp://127.0.0.1:{self.port}"

    def messages(self, queue):
        with Amqp(self.port) as amqp:
            return amqp.messages(queue)


class Amqp:
    """As much of AMQP 0-9-1 as reads what is in a queue."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.file = self.socket.makefile("rwb")
        try:
            self.greet()
        except BaseException:
            self.__exit__()
            raise

    def greet(self):
        self.file.write(b"AMQP\0\0\x09\x01")
        self.file.flush()
        self.method(10, 10)
        self.call(0, 10, 11, self.long(b"") + self.short(b"PLAIN") + self.long(b"\0guest\0guest") + self.short(b"en_US"))
        self.method(10, 30)
        self.call(0, 10, 31, struct.pack(">HIH", 2047, 131072, 0))
        self.call(0, 10, 40, self.short(b"/") + b"\0\0")
        self.method(10, 41)
        self.call(1, 20, 10, b"\0")
        self.method(20, 11)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.file.close()
        self.socket.close()

    @staticmethod
    def short(text):
        return bytes([len(text)]) + text

    @staticmethod
    def long(text):
        return struct.pack(">I", len(text)) + text

    def call(self, channel, group, number, arguments):
        self.frame_out(1, struct.pack(">HH", group, number) + arguments, channel)

    def frame_out(self, kind, payload, channel=1):
        self.file.write(struct.pack(">BHI", kind, channel, len(payload)) + payload + b"\xce")
        self.file.flush()

    def frame(self):
        head = self.file.read(7)
        if len(head) < 7:
            raise ValueError("the broker has closed the connection")
        kind, _, size = struct.unpack(">BHI", head)
        return kind, self.file.read(size + 1)[:-1]

    def method(self, group, number):
        kind, payload = self.frame()
        if kind != 1 or struct.unpack(">HH", payload[:4]) != (group, number):
            raise ValueError(f"the broker said {payload!r}")
        return payload[4:]

    def declare(self, queue, durable=True, limit=None, overflow="drop-head"):
        """Make a queue, durable and for so many messages, and say how many it holds."""
        table = b"" if limit is None else (self.short(b"x-max-length") + b"I" + struct.pack(">i", limit)
                                           + self.short(b"x-overflow") + b"S" + self.long(overflow.encode()))
        self.call(1, 50, 10, b"\0\0" + self.short(queue.encode()) + (b"\x02" if durable else b"\0") + self.long(table))
        answer = self.method(50, 11)
        return struct.unpack(">I", answer[1 + answer[0]:5 + answer[0]])[0]

    def put(self, queue, text):
        """Publish a message that is not kept for long, and wait until the queue has it."""
        data = text.encode()
        self.call(1, 60, 40, b"\0\0" + self.short(b"") + self.short(queue.encode()) + b"\0")
        self.frame_out(2, struct.pack(">HHQH", 60, 0, len(data), 0))
        if data:
            self.frame_out(3, data)
        self.declare(queue)

    def delete(self, queue):
        self.call(1, 50, 40, b"\0\0" + self.short(queue.encode()) + b"\0")
        self.method(50, 41)

    def bind(self, queue, exchange):
        self.call(1, 50, 20, b"\0\0" + self.short(queue.encode()) + self.short(exchange.encode()) + b"\0\0" + self.long(b""))
        self.method(50, 21)

    def messages(self, queue):
        count = self.declare(queue)
        # Nothing is acknowledged: all of it is there again for the next reader.
        self.call(1, 60, 20, b"\0\0" + self.short(queue.encode()) + self.short(b"") + b"\0" + self.long(b""))
        self.method(60, 21)
        return [self.message() for _ in range(count)]

    def message(self):
        self.method(60, 60)
        _, head = self.frame()
        size, flags = struct.unpack(">QH", head[4:14])
        found, body = self.properties(head[14:], flags), b""
        while len(body) < size:
            body += self.frame()[1]
        return {**found, "payload": body.decode()}

    @staticmethod
    def properties(data, flags):
        found, at = {}, 0
        names = ["content_type", "content_encoding", "headers", "delivery_mode", "priority", "correlation_id", "reply_to",
                 "expiration", "id", "timestamp", "type"]
        for bit, name in zip(range(15, 4, -1), names):
            if not flags >> bit & 1:
                continue
            if name == "headers":
                end = at + 4 + struct.unpack(">I", data[at:at + 4])[0]
                at += 4
                while at < end:
                    key, at = data[at + 1:at + 1 + data[at]].decode(), at + 1 + data[at]
                    size = struct.unpack(">I", data[at + 1:at + 5])[0]  # all are texts: S
                    found[key], at = data[at + 5:at + 5 + size].decode(), at + 5 + size
            elif name in ("delivery_mode", "priority"):
                found[name], at = data[at], at + 1
            elif name == "timestamp":
                found[name], at = struct.unpack(">Q", data[at:at + 8])[0], at + 8
            else:
                found[name], at = data[at + 1:at + 1 + data[at]].decode(), at + 1 + data[at]
        return found


class Kafka(Broker):
    """No broker is packaged: the client library's mock, which stores in memory, 5 MB a partition, and is away when told."""

    partitions = 1

    def start(self):
        if self.process is not None:
            self.tell("up")
            return
        self.process = subprocess.Popen([os.environ["OWED_KAFKA_MOCK"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])

    def stop(self):
        self.tell("down")

    def remove(self):
        if self.process is not None:
            self.process.kill()
            self.process.communicate(timeout=60)
        shutil.rmtree(self.folder, ignore_errors=True)

    def tell(self, *words):
        """A line, and the lines that answer it."""
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()
        return list(iter(lambda: self.process.stdout.readline().rstrip("\n"), ""))

    def url(self):
        return f"kafka://127.0.0.1:{self.port}"

    def messages(self, topic):
        found = []
        for line in self.tell("read", topic, str(self.partitions)):
            key, value, *headers = [bytes.fromhex(word).decode() for word in line.strip().split(" ")]
            found.append({**dict(zip(headers[::2], headers[1::2])), "key": key, "payload": value})
        return found
