#!/usr/bin/python3
"""owed fire --lines: many events, in transactions, with the number of the line in every refusal."""
import concurrent.futures
import json
import os
import pty
import subprocess
import time

from harness import OWED, StoreCase, run


def line(**members):
    return json.dumps({"name": "shop.OrderPlaced", **members})


class Lines(StoreCase):
    def lines(self, text, *words, code=0):
        return self.owed("fire", "--lines", *words, stdin=text, code=code)

    def count(self):
        return self.value("select count(*) from owed_event")

    def refused_line(self, text, number, sentence):
        done = self.lines(text, code=65)
        self.assertIn(f"owed: line {number}: ", done.stderr)
        self.assertIn(sentence, done.stderr)
        return done

    def test_ten_thousand_lines_are_fired_in_order(self):
        done = self.lines("".join(line(payload={"n": n}) + "\n" for n in range(10_000)))
        self.assertEqual("fired: 10000, duplicates: 0\n", done.stdout)
        self.assertIn("10000 events in ", done.stderr)
        self.assertEqual(list(range(10_000)),
                         [json.loads(row[0])["n"] for row in self.sql("select payload from owed_event order by id")])

    def test_payload_bytes_are_those_of_the_line(self):
        payloads = ['{"b": 1,"a":1e400}', '[ 12345678901234567890 ]', '"\\u0000\\ud800"', '{"a":1,"a":2}', "null", "0.10"]
        self.lines("".join('{"payload" : %s ,"name":"a.B"}\r\n' % payload for payload in payloads))
        self.assertEqual([(payload,) for payload in payloads], self.sql("select payload from owed_event order by id"))

    def test_every_option_may_stand_in_a_line(self):
        trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        self.lines(line(version=3, dedupe_key="k\u00e9y", due_at="2130-01-01T01:00:00+01:00",
                        occurred_at="2026-01-02T03:04:05.678901Z", actor_key="user-9", actor_label="Zoë",
                        correlation_id="c-1", causation_id=5, traceparent=trace, scope={"tenant": "a"}))
        self.assertEqual([("{}", 3, "kéy", 5049129600000000, 1767323045678901, "user-9", "Zoë", "c-1", 5, trace,
                           '{"tenant": "a"}')],
                         self.sql("select payload, version, dedupe_key, due_at, occurred_at, actor_key, actor_label, "
                                  "correlation_id, causation_id, traceparent, scope from owed_event"))

    def test_null_says_none(self):
        self.lines(line(dedupe_key=None, due_at=None, version=None, scope=None))
        self.assertEqual([(None, 1)], self.sql("select dedupe_key, version from owed_event"))

    def test_blank_lines_are_skipped_and_the_last_line_needs_no_end(self):
        done = self.lines("\n  \n" + line() + "\n\n\t\r\n" + line())
        self.assertEqual("fired: 2, duplicates: 0\n", done.stdout)

    def test_nothing_at_all_is_nothing_fired(self):
        self.assertEqual("fired: 0, duplicates: 0\n", self.lines("").stdout)

    def test_duplicates_are_counted_and_go_on(self):
        done = self.lines("\n".join(line(dedupe_key=key) for key in "abacb"))
        self.assertEqual("fired: 3, duplicates: 2\n", done.stdout)
        self.assertEqual({"fired": 1, "duplicates": 1},
                         json.loads(self.lines(line(dedupe_key="a") + "\n" + line(dedupe_key="d"), "--json").stdout))

    def test_a_bad_line_takes_its_own_transaction_and_says_how_far_was_committed(self):
        text = "".join(line(payload=n) + "\n" for n in range(1, 1234)) + "{\n" + line() + "\n"
        done = self.refused_line(text, 1234, "1000 events of the lines before were committed (through line 1000), "
                                 "nothing of lines 1001 to 1234")
        self.assertEqual("fired: 1000, duplicates: 0\n", done.stdout)
        self.assertEqual(list(range(1, 1001)), [int(row[0]) for row in self.sql("select payload from owed_event order by id")])

    def test_a_bad_line_in_the_first_transaction_commits_nothing(self):
        self.refused_line(line() + "\n" + line(version=0), 2, "nothing was committed")
        self.assertEqual(0, self.count())

    def test_a_line_that_the_fire_itself_refuses_is_told_alike(self):
        done = self.lines("".join(line() + "\n" for _ in range(10)) + line(traceparent="abc"), "--batch", "4", code=65)
        self.assertIn("line 11: ", done.stderr)
        self.assertIn("8 events of the lines before were committed (through line 8), nothing of lines 9 to 11",
                      done.stderr)
        self.assertEqual(8, self.count())

    def test_a_line_that_the_store_refuses_is_named_though_many_are_written_at_once(self):
        self.sql("create unique index refuses on owed_event (actor_label)")
        text = "".join(line(actor_label=str(n if n != 700 else 3)) + "\n" for n in range(1, 801))
        done = self.owed("fire", "--lines", stdin=text)
        self.assertNotEqual(0, done.returncode)
        self.assertIn("line 700: ", done.stderr)
        self.assertIn("nothing was committed", done.stderr)
        self.assertEqual(0, self.count())

    def test_the_number_counts_blank_lines(self):
        self.refused_line("\n\n" + line() + "\n\nx\n", 5, "byte ")

    def test_blank_lines_count_in_how_far_was_committed(self):
        done = self.lines("\n" + line() + "\n\n" + line() + "\nx\n", "--batch", "2", code=65)
        self.assertIn("line 5: ", done.stderr)
        self.assertIn("2 events of the lines before were committed (through line 4), nothing of lines 5 to 5",
                      done.stderr)

    def test_a_busy_store_says_how_far_it_came(self):
        with self.busy():
            done = self.lines(line(), "--busy-timeout", "20ms", code=75)
        self.assertIn("nothing was committed", done.stderr)

    def test_two_who_meet_on_their_keys_both_get_through(self):
        if self.store.scheme == "sqlite":
            self.skipTest("a file has one writer, who is waited for")
        lines = [line(dedupe_key=f"k-{n}") + "\n" for n in range(1000)]
        both = [subprocess.Popen([OWED, "fire", "--lines"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                 stderr=subprocess.PIPE, cwd=self.folder, env=self.env) for _ in range(2)]
        with concurrent.futures.ThreadPoolExecutor() as pool:
            ends = list(pool.map(lambda process, text: process.communicate("".join(text)), both, (lines, lines[::-1])))
        self.assertEqual([0, 0], [process.returncode for process in both], ends)
        self.assertEqual(1000, self.count())

    def test_refusals_of_a_line(self):
        for text, sentence in (
                ("[]", "object"),
                ("{}", '"name"'),
                (line(name=7), '"name" has to be a string'),
                (line(nane="x"), 'the nearest is "name"'),
                (line(payloads={}), 'the nearest is "payload"'),
                ('{"name":"a.B","name":"a.C"}', "twice"),
                (line(version=1.5), '"version" has to be a whole number'),
                (line(version="1"), '"version" has to be a whole number'),
                (line(causation_id=0), '"causation_id"'),
                (line(due_at="tomorrow"), '"due_at"'),
                (line(due_at=1767323045), '"due_at" has to be a time'),
                (line(scope="{}"), '"scope" has to be an object'),
                (line(actor_key="a\0b"), "NUL"),
                (line(dedupe_key="x" * 256), "dedupe_key"),
                (line(dedupe_key=""), "dedupe_key"),
                (line(name="a b"), "a b"),
                ('{"name":"a.B","payload":' + "[" * 513 + "]" * 513 + "}", "deep"),
                ('{"name":"a.B","payload":1} 2', "byte")):
            with self.subTest(text=text[:60]):
                self.refused_line(text + "\n", 1, sentence)
                self.assertEqual(0, self.count())

    def test_a_line_over_the_limit_is_refused_by_its_number(self):
        text = line() + "\n" + '{"name":"a.B","payload":"' + "x" * (17 << 20) + '"}'
        self.refused_line(text, 2, "longer than 17 MiB")

    def test_unknown_names_are_warned_of_once_each(self):
        self.receivers("shop.billing")
        done = self.lines("\n".join('{"name":"shop.%s"}' % name
                                    for name in ("OrderPlaced", "OrderPlacd", "Nothing", "OrderPlacd")))
        self.assertEqual("fired: 4, duplicates: 0\n", done.stdout)
        self.assertEqual(2, done.stderr.count("warning"), done.stderr)

    def test_what_is_owed_for_lines_is_what_is_owed_for_one(self):
        self.receivers("shop.billing", "shop.label")
        self.lines("\n".join(line() for _ in range(50)))
        self.assertEqual([("shop.billing", 50), ("shop.label", 50)],
                         self.sql("select receiver_key, count(*) from owed_delivery group by 1 order by 1"))

    def test_a_pause_of_the_input_commits_what_has_come(self):
        firing = subprocess.Popen([OWED, "fire", "--lines"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, cwd=self.folder, env=self.env)
        firing.stdin.write((line() + "\n") * 3)
        firing.stdin.flush()
        deadline = time.monotonic() + 60
        while self.count() < 3 and time.monotonic() < deadline:
            pass
        self.assertEqual(3, self.count())
        self.assertIsNone(firing.poll())
        out, _ = firing.communicate(line(), timeout=60)
        self.assertEqual("fired: 4, duplicates: 0\n", out)

    def test_a_terminal_is_shown_a_bar(self):
        self.write("lines", (line() + "\n") * 5000)
        mine, theirs = pty.openpty()
        with open(self.folder / "lines") as text:
            done = subprocess.run([OWED, "fire", "--lines"], stdin=text, stdout=subprocess.PIPE, stderr=theirs,
                                  cwd=self.folder, env=self.env, timeout=60)
        os.close(theirs)
        shown = b""
        while b"a second\r\n" not in shown:
            shown += os.read(mine, 65536)
        os.close(mine)
        self.assertEqual(b"fired: 5000, duplicates: 0\n", done.stdout)
        self.assertRegex(shown, rb"\r\[#+\.*\] +\d+ % \d+ events, \d+ a second")

    def test_elsewhere_there_is_no_bar(self):
        self.assertNotIn("\r", self.lines(line()).stderr)


run()
