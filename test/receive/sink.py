#!/usr/bin/python3
"""What tools/sink.py promises: ids fail first and then pass, hundreds are held, every request is logged."""
import base64
import http.client
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import traceback

SINK = pathlib.Path(__file__).resolve().parents[2] / "tools/sink.py"


class Sink:
    def __init__(self, *options):
        words = [sys.executable, str(SINK), *map(str, options)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        self.port = int(re.fullmatch(r"listening on (\d+)\n", self.process.stdout.readline())[1])

    def post(self, key, body=b"{}", path="/"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request("POST", path, body, {"webhook-id": key})
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        said = self.process.communicate(timeout=20)[0]
        assert self.process.returncode == 0, self.process.returncode
        return said


def every_nth_new_id_fails_once_and_then_passes():
    sink = Sink("--fail", "503:every=3", "--fail", "429:every=2,retry-after=1")
    answers = [[sink.post(f"id-{n}") for _ in range(3)] for n in range(1, 7)]
    statuses = [[answer.status for answer in three] for three in answers]
    assert statuses == [[200, 200, 200], [429, 200, 200], [503, 200, 200], [429, 200, 200],
                        [200, 200, 200], [503, 429, 200]], statuses
    assert answers[1][0].headers["retry-after"] == "1"
    said = sink.stop()
    assert "requests: 18" in said and "answered 503: 2" in said and "answered 429: 3" in said, said


def the_first_requests_of_each_id_fail():
    sink = Sink("--fail", "500:first=2")
    for key in ("a", "b"):
        assert [sink.post(key).status for _ in range(4)] == [500, 500, 200, 200]
    sink.stop()


def a_status_alone_always_fails():
    sink = Sink("--fail", "410", "--status", "202")
    assert [sink.post("a").status for _ in range(3)] == [410, 410, 410]
    sink.stop()
    sink = Sink("--status", "202")
    assert sink.post("a").status == 202
    sink.stop()


def three_hundred_are_held_at_once():
    sink = Sink("--delay", "2")
    threads = [threading.Thread(target=sink.post, args=(f"id-{n}",)) for n in range(300)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    said = sink.stop()
    assert "most held at once: 300\n" in said, said


def every_request_is_a_line_of_the_log():
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        sink = Sink("--log", log, "--fail", "503:first=1")
        body = bytes(range(256)) * 4000
        sink.post("a", body, "/hooks?x=1")
        sink.post("a", body)
        sink.stop()
        first, second = map(json.loads, log.read_text().splitlines())
        assert base64.b64decode(first["body"]) == body
        assert (first["method"], first["path"], first["status"], first["held"]) == ("POST", "/hooks?x=1", 503, 1)
        assert first["headers"]["webhook-id"] == "a" and first["at"] > 1.7e9
        assert second["status"] == 200


def a_dripping_answer_never_ends():
    sink = Sink("--drip")
    connection = http.client.HTTPConnection("127.0.0.1", sink.port, timeout=20)
    connection.request("POST", "/", b"{}")
    answer = connection.getresponse()
    assert answer.status == 200 and answer.read(3) == b"..."
    connection.close()
    sink.stop()


def a_word_it_does_not_know_is_refused():
    done = subprocess.run([sys.executable, str(SINK), "--fail", "503:evry=7"], capture_output=True, text=True)
    assert done.returncode == 2 and "every" in done.stderr, done


TESTS = [every_nth_new_id_fails_once_and_then_passes, the_first_requests_of_each_id_fail, a_status_alone_always_fails,
         three_hundred_are_held_at_once, every_request_is_a_line_of_the_log, a_dripping_answer_never_ends,
         a_word_it_does_not_know_is_refused]
failed = 0
for test in TESTS:
    try:
        test()
    except Exception:
        failed += 1
        print(f"[  FAILED  ] {test.__name__}", file=sys.stderr)
        traceback.print_exc()
print(f"[  PASSED  ] {len(TESTS) - failed} test(s).")
if failed:
    print(f"[  FAILED  ] {failed} test(s)")
sys.exit(1 if failed else 0)
