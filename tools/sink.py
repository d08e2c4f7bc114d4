#!/usr/bin/python3
"""An HTTP server that takes what it is sent, for tests and demonstrations.

It prints `listening on PORT` as its first line. On SIGTERM it prints how many requests it held at
once at most and how many it answered with each status, and ends. With --log FILE every request is a
line of JSON there: at, method, path, headers (lower case), body (base64), status, held.

--fail STATUS[:every=N][,first=N][,retry-after=S], which may come several times, refuses requests by
their webhook-id, so that each id is refused at first and then taken: with every=N only each N-th new
id, with first=N the first N requests of an id (1). A STATUS alone refuses always.
"""
import argparse
import asyncio
import base64
import collections
import http
import json
import signal
import sys
import time


class Failure:
    """One --fail: which requests of which ids it refuses, and how."""

    def __init__(self, pattern):
        status, _, words = pattern.partition(":")
        self.status = int(status)
        options = dict(word.split("=", 1) for word in words.split(",") if word)
        unknown = set(options) - {"every", "first", "retry-after"}
        if unknown:
            raise argparse.ArgumentTypeError(f"unknown word {min(unknown)}; every, first and retry-after are known")
        self.always = not options.keys() & {"every", "first"}
        self.every = int(options.get("every", 1))
        self.first = int(options.get("first", 1))
        self.retry_after = options.get("retry-after")
        self.refused = collections.Counter()

    def refuses(self, key, number):
        if self.always:
            return True
        if number % self.every != 0 or self.refused[key] >= self.first:
            return False
        self.refused[key] += 1
        return True


class Sink:
    """What all connections share: settings, counts, the log."""

    def __init__(self, options):
        self.options = options
        self.log = open(options.log, "a", buffering=1 << 16) if options.log else None
        self.numbers = {}
        self.held = 0
        self.most = 0
        self.statuses = collections.Counter()
        self.flushing = False

    def decide(self, headers):
        """(status, extra header lines) of a request."""
        key = headers.get("webhook-id", "")
        number = self.numbers.setdefault(key, len(self.numbers) + 1)
        for failure in self.options.fail:
            if failure.refuses(key, number):
                wait = failure.retry_after
                return failure.status, f"retry-after: {wait}\r\n" if wait is not None else ""
        return self.options.status, ""

    def take(self):
        self.held += 1
        self.most = max(self.most, self.held)
        return self.held

    def record(self, method, path, headers, body, status, held):
        self.statuses[status] += 1
        if self.log is None:
            return
        self.log.write(json.dumps({
            "at": time.time(), "method": method, "path": path, "headers": headers,
            "body": base64.b64encode(body).decode(), "status": status, "held": held}) + "\n")
        if not self.flushing:
            self.flushing = True
            asyncio.get_running_loop().call_later(0.05, self.flush)

    def flush(self):
        self.flushing = False
        self.log.flush()

    def end(self):
        if self.log is not None:
            self.log.close()
        print(f"most held at once: {self.most}")
        print(f"requests: {sum(self.statuses.values())}")
        for status, count in sorted(self.statuses.items()):
            print(f"answered {status}: {count}")


class Connection(asyncio.Protocol):
    """One client: requests are read and answered one after the other."""

    def __init__(self, sink):
        self.sink = sink
        self.buffer = bytearray()
        self.busy = False
        self.head = None
        self.end = 0
        self.dripping = None

    def connection_made(self, transport):
        self.transport = transport

    def connection_lost(self, _):
        if self.dripping is not None:
            self.dripping.cancel()
        if self.busy:
            self.busy = False
            self.sink.held -= 1

    def data_received(self, data):
        self.buffer += data
        self.advance()

    def advance(self):
        while not self.busy and self.read_request():
            pass

    def read_request(self):
        """Start on the next whole request; False while there is none."""
        if self.head is None:
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                return False
            lines = self.buffer[:end].decode("latin-1").split("\r\n")
            pairs = (line.partition(":") for line in lines[1:])
            headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
            method, path, _ = (lines[0].split(" ") + ["", ""])[:3]
            self.head = method, path, headers
            self.end = end + 4 + int(headers.get("content-length", 0))
            self.start = end + 4
        if len(self.buffer) < self.end:
            return False
        body = bytes(self.buffer[self.start:self.end])
        del self.buffer[:self.end]
        head, self.head = self.head, None
        self.hold(*head, body)
        return True

    def hold(self, method, path, headers, body):
        self.busy = True
        held = self.sink.take()
        status, extra = self.sink.decide(headers)
        self.sink.record(method, path, headers, body, status, held)
        delay = self.sink.options.delay
        if delay > 0:
            asyncio.get_running_loop().call_later(delay, self.answer, status, extra)
        else:
            self.answer(status, extra)

    def answer(self, status, extra):
        if not self.busy:
            return
        try:
            reason = http.HTTPStatus(status).phrase
        except ValueError:
            reason = ""
        body = b"" if status == 204 else f"{status} {reason}\n".encode()
        length = 1_000_000 if self.sink.options.drip else len(body)
        head = f"HTTP/1.1 {status} {reason}\r\ncontent-type: text/plain\r\n{extra}"
        if status != 204:
            head += f"content-length: {length}\r\n"
        self.transport.write(head.encode() + b"\r\n" + (b"" if self.sink.options.drip else body))
        if self.sink.options.drip:
            self.drip()
            return
        self.busy = False
        self.sink.held -= 1
        if self.buffer:
            self.advance()

    def drip(self):
        self.transport.write(b".")
        self.dripping = asyncio.get_running_loop().call_later(0.05, self.drip)


async def serve(options):
    loop = asyncio.get_running_loop()
    sink = Sink(options)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    server = await loop.create_server(lambda: Connection(sink), "127.0.0.1", options.port, backlog=1024)
    print(f"listening on {server.sockets[0].getsockname()[1]}", flush=True)
    await stop.wait()
    server.close()
    sink.end()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--log", metavar="FILE", help="a line of JSON for each request")
    parser.add_argument("--delay", type=float, default=0, metavar="SECONDS", help="hold each request so long")
    parser.add_argument("--status", type=int, default=200, help="the answer where nothing fails (200)")
    parser.add_argument("--fail", type=Failure, action="append", default=[], metavar="PATTERN")
    parser.add_argument("--drip", action="store_true", help="answer a byte at a time, without end")
    try:
        asyncio.run(serve(parser.parse_args()))
    except OSError as error:
        sys.exit(f"sink: {error}")


main()
