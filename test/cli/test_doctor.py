#!/usr/bin/python3
"""owed doctor: each trouble in one sentence, with the command that sets it right."""
import json
import os
import pathlib
import re
import subprocess
import time

from harness import OWED, StoreCase, run

CONF = ('[store]\napp = shop\n'
        '[receiver "shop.billing"]\nevent = shop.OrderPlaced\ndiscard = yes\n'
        '[receiver "shop.mail"]\nevent = shop.OrderPlaced\ndiscard = yes\nlane = mail\n')
SECOND = 1_000_000


def now():
    return time.time_ns() // 1000


class Doctor(StoreCase):
    def setUp(self):
        super().setUp()
        self.conf(CONF)
        self.owed("publish", code=0)
        # So that events of now come after what they are owed to.
        self.sql("update owed_receiver set published_at = moment(?)", now() - 30 * 24 * 3600 * SECOND)
        self.sql("update owed_event_type set published_at = moment(?)", now() - 30 * 24 * 3600 * SECOND)

    def findings(self, code=1):
        done = self.owed("doctor", code=code)
        lines = done.stdout.splitlines()
        return [(line, lines[place + 1].strip() if lines[place + 1:place + 2] and lines[place + 1].startswith("    ") else "")
                for place, line in enumerate(lines) if not line.startswith("    ")]

    def shell(self, command):
        """Run it as it was printed, with owed on the path; one that does not end by itself is a relay."""
        path = f"{pathlib.Path(OWED).parent}:{os.environ['PATH']}"
        done = subprocess.run(["/bin/sh", "-c", command], cwd=self.folder, env={**self.env, "PATH": path}, timeout=60,
                              capture_output=True, text=True)
        self.assertEqual(0, done.returncode, f"{command}: {done.stdout}{done.stderr}")

    def heals(self, sentence, command):
        """The one finding is said so, with this command, and the command makes the store healthy."""
        found = self.findings()
        self.assertEqual(1, len(found), found)
        self.assertRegex(found[0][0], f"^{sentence}$")
        self.assertEqual(command, found[0][1])
        self.shell(found[0][1])
        self.assertRegex(self.owed("doctor", code=0).stdout, r"^healthy: \d+ checks found nothing\n$")

    def dead(self, error="HTTP 503"):
        self.fire("shop.OrderPlaced")
        self.sql("update owed_delivery set status = 'dead', last_error = ?", error)

    def test_a_healthy_store_is_one_line(self):
        self.fire("shop.OrderPlaced")
        self.owed("relay", "--once", "--all-lanes", code=0)
        self.assertRegex(self.owed("doctor", code=0).stdout, r"^healthy: \d+ checks found nothing\n$")
        self.assertEqual([], self.json_lines("doctor"))

    def test_dead_deliveries_are_told_with_their_error_and_requeued(self):
        self.dead()
        self.sql("update owed_delivery set status = 'succeeded' where receiver_key = 'shop.mail'")
        self.heals(r"dead: 1 delivery to receiver shop\.billing is dead, 1 of them with: HTTP 503",
                   "owed requeue --receiver shop.billing")

    def test_orphans_whose_receiver_is_back_are_requeued(self):
        self.fire("shop.OrderPlaced")
        self.sql("update owed_delivery set status = 'orphaned' where receiver_key = 'shop.mail'")
        self.heals(r"orphaned: 1 delivery to receiver shop\.mail was set aside, and it is in the catalogue by now",
                   "owed requeue --orphaned --receiver shop.mail")

    def test_orphans_whose_receiver_nobody_publishes_are_told(self):
        self.fire("shop.OrderPlaced")
        self.sql("update owed_delivery set status = 'orphaned', receiver_key = 'shop.gone' where receiver_key = 'shop.mail'")
        self.sql("update owed_receiver set removed_at = moment(?) where \"key\" = 'shop.mail'", now())
        found = {line.split(":")[0]: (line, command) for line, command in self.findings()}
        self.assertEqual({"never-published", "orphaned-for-good"}, set(found))
        self.assertIn("1 delivery to receiver shop.gone, which nobody publishes", found["orphaned-for-good"][0])
        commands = [command for _, command in self.findings()]
        self.assertEqual(["owed publish", ""], commands)  # one for both, said once

    def test_a_lane_that_nobody_serves_is_told_with_a_relay(self):
        self.fire("shop.OrderPlaced")
        self.sql("update owed_delivery set available_at = moment(?)", now() - 600 * SECOND)
        found = self.findings()
        self.assertEqual(2, len(found))
        self.assertRegex(found[1][0], r"^unserved-lane: no relay that is alive serves lane shop/mail, in which 1 delivery "
                                      r"has been due for more than 5 minutes, the first for 10m\d*s?$")
        self.assertEqual("owed relay --lane shop/mail", found[1][1])
        # A relay that lives and serves one of them.
        self.sql("insert into owed_relay (id, host, pid, lanes, started_at, heartbeat_at) values ('r', 'h', 1, '[\"shop/mail\"]', "
                 "moment(?), moment(?))", now(), now())
        self.assertEqual(["owed relay --lane shop/default"], [command for _, command in self.findings()])
        self.sql("update owed_relay set heartbeat_at = moment(?)", now() - 100 * SECOND)
        self.assertEqual(2, len(self.findings()))
        self.owed("relay", "--once", "--lane", "shop/mail", "--lane", "shop/default", code=0)
        self.assertIn("healthy", self.owed("doctor", code=0).stdout)

    def test_what_is_not_due_for_long_is_no_trouble(self):
        self.fire("shop.OrderPlaced")
        self.owed("doctor", code=0)

    def test_a_paused_lane_is_resumed(self):
        self.owed("pause", "mail", "--reason", "provider is down", code=0)
        self.fire("shop.OrderPlaced")
        paused = now() - 7200 * SECOND
        for table in ("owed_lane", "owed_receiver"):
            self.sql(f"update {table} set paused_at = moment(?) where paused_at > moment(0)", paused)
        self.heals(r"paused-lane: lane shop/mail has been paused for 2h\w*, and 1 delivery waits in it: provider is down",
                   "owed resume shop/mail")

    def test_a_paused_receiver_is_resumed(self):
        self.owed("pause", "--receiver", "shop.mail", code=0)
        self.fire("shop.OrderPlaced")
        self.sql("update owed_receiver set paused_at = moment(?) where paused_at > moment(0)", now() - 7200 * SECOND)
        self.heals(r"paused-receiver: receiver shop\.mail has been paused for 2h\w*, and 1 delivery waits for it",
                   "owed resume --receiver shop.mail")

    def test_the_claims_of_a_relay_that_died_are_taken_over(self):
        self.fire("shop.OrderPlaced")
        self.owed("relay", "--once", code=0)
        self.sql("update owed_delivery set status = 'claimed', claimed_by = 'box-1.aa/0', claimed_at = moment(?), "
                 "lease_expires_at = moment(?) where receiver_key = 'shop.mail'", now() - 900 * SECOND, now() - 600 * SECOND)
        self.heals(r"lapsed-claims: 1 claim of lane shop/mail is over, the first for 10m\w*, and nobody takes it; one who "
                   r"held them is box-1\.aa/0", "owed relay --once --lane shop/mail")

    def test_what_no_worker_takes_from_its_task_site_is_told(self):
        self.fire("shop.OrderPlaced")
        self.sql("update owed_delivery set kind = 'task', status = 'claimed', claimed_by = 'box-1.aa/0/task', claimed_at = moment(?), "
                 "lease_expires_at = moment(?), available_at = moment(?) where receiver_key = 'shop.mail'", now(), now() + 600 * SECOND, now() - 1200 * SECOND)
        self.assertIn(("untaken-tasks: 1 delivery to receiver shop.mail is handed to its task site, the first due for 20m", "owed worker"),
                      [(re.sub(r"20m\w*, and no worker has taken it$", "20m", said), command) for said, command in self.findings()])

    def test_a_relay_that_died_is_told_with_its_host_and_process(self):
        self.fire("shop.OrderPlaced")
        self.sql("update owed_delivery set status = 'claimed', claimed_by = 'box-1.aa/0', claimed_at = moment(?), "
                 "lease_expires_at = moment(?)", now(), now() + 600 * SECOND)
        self.sql("insert into owed_relay (id, host, pid, lanes, started_at, heartbeat_at) values ('box-1.aa/0', 'box', 1, "
                 "'[\"*\"]', moment(?), moment(?))", now(), now() - 180 * SECOND)
        found = self.findings()
        self.assertEqual(1, len(found), found)
        self.assertRegex(found[0][0], r"^silent-relay: relay box-1\.aa/0, process 1 on box, was last heard of 3m\w* ago and "
                                      r"holds 2 claims$")
        self.assertEqual("owed relay --once --all-lanes", found[0][1])

    def test_an_event_without_its_delivery_is_replayed(self):
        first, second = self.fire("shop.OrderPlaced"), self.fire("shop.OrderPlaced")
        self.owed("relay", "--once", "--all-lanes", code=0)
        self.sql("update owed_event set recorded_at = moment(?)", now() - 120 * SECOND)
        self.sql("delete from owed_delivery where receiver_key = 'shop.mail'")
        self.heals(r"no-delivery: 2 events, the first recorded 2m\w* ago, were to go to receiver shop\.mail and are not owed to it",
                   f"owed replay {first} {second} --receiver shop.mail")

    def test_a_delivery_without_its_event_is_cancelled(self):
        self.fire("shop.OrderPlaced")
        self.sql("update owed_delivery set status = 'succeeded' where receiver_key = 'shop.mail'")
        self.sql("delete from owed_event")
        id = self.value("select id from owed_delivery where status = 'pending'")
        self.heals(r"no-event: 1 delivery is owed to receiver shop\.billing of events that are no more", f"owed cancel {id}")

    def test_what_should_have_been_pruned_is(self):
        self.fire("shop.OrderPlaced")
        self.owed("relay", "--once", "--all-lanes", code=0)
        self.sql("update owed_event set recorded_at = moment(?)", now() - 92 * 24 * 3600 * SECOND)
        self.heals(r"not-pruned: of the first 1000 events 1 should have gone by now, the oldest is from 92d\w* ago: nobody prunes, "
                   r"or not fast enough", "owed prune")

    def test_the_retention_is_that_of_the_configuration(self):
        self.conf(CONF + "[relay]\nretention = 5d\n")
        self.fire("shop.OrderPlaced")
        self.owed("relay", "--once", "--all-lanes", code=0)
        self.sql("update owed_event set recorded_at = moment(?)", now() - 5 * 24 * 3600 * SECOND)
        self.owed("doctor", code=0)
        self.sql("update owed_event set recorded_at = moment(?)", now() - 7 * 24 * 3600 * SECOND)
        self.assertIn("not-pruned", self.owed("doctor", code=1).stdout)

    def test_a_receiver_that_was_never_published_is(self):
        self.conf(CONF + '[receiver "shop.new"]\nevent = shop.OrderPlaced\ndiscard = yes\n')
        self.heals(r"never-published: receiver shop\.new is declared here and not in the catalogue: what others fire is not owed "
                   r"to it", "owed publish")

    def test_what_is_owed_to_a_receiver_that_nobody_published_is_told(self):
        self.fire("shop.OrderPlaced")
        self.sql("delete from owed_receiver where \"key\" = 'shop.mail'")
        self.assertEqual(["never-published", "unpublished"], [line.split(":")[0] for line, _ in self.findings()])
        self.owed("publish", code=0)
        self.owed("doctor", code=0)

    def test_a_routine_of_another_release_is_replaced(self):
        self.sql("update owed_schema set checksum = 'abc' where kind = 'routine' and name = 'owed_fire'")
        self.heals(r"routine-drift: routine owed_fire in the store has another text \(checksum abc\) than that of this program",
                   "owed migrate")

    def test_tables_of_an_older_release_are_migrated(self):
        self.sql("delete from owed_schema where kind = 'routine' and name = 'owed_fire'")
        self.heals(r"schema: routine owed_fire is missing: run owed migrate", "owed migrate")

    def test_tables_of_a_newer_release_name_no_command(self):
        self.sql("insert into owed_schema (kind, name, version, checksum, applied_at) values ('schema', '9999_x', 9999, 'x', moment(0))")
        found = self.findings()
        self.assertEqual(1, len(found))
        self.assertIn("the tables are of version 9999", found[0][0])
        self.assertEqual("", found[0][1])

    def test_json_is_an_object_a_finding(self):
        self.dead()
        done = self.owed("doctor", "--json", code=1)
        lines = [line for line in done.stdout.splitlines()]
        self.assertEqual(2, len(lines))
        self.assertEqual({"check": "dead", "state": "found", "subject": "shop.billing",
                          "sentence": "1 delivery to receiver shop.billing is dead, 1 of them with: HTTP 503",
                          "command": "owed requeue --receiver shop.billing"}, json.loads(lines[0]))

    def test_commands_find_the_same_store(self):
        self.dead()
        store = self.env.pop("OWED_STORE")
        conf = self.write("other file.conf", CONF)
        (self.folder / "owed.conf").unlink()
        done = self.owed("doctor", "--store", store, "-c", str(conf), code=1)
        command = done.stdout.splitlines()[1].strip()
        self.assertEqual(f'owed requeue --receiver shop.billing -c "{conf}" --store {store}', command)
        self.shell(command)
        self.owed("doctor", "--store", store, "-c", str(conf), code=1)
        self.assertEqual(1, self.value("select count(*) from owed_delivery where status = 'pending'"))

    def test_a_password_is_never_printed(self):
        if self.store.scheme == "sqlite":
            self.skipTest("a file has none")
        self.dead()
        self.sql("update owed_schema set checksum = 'abc' where kind = 'routine' and name = 'owed_fire'")
        if self.store.scheme == "postgres":
            self.sql("drop index owed_event_by_cause")
        else:
            self.sql("drop index owed_event_by_cause on owed_event")
        url = re.sub(r"://owed@", "://owed:geheim@", self.env["OWED_STORE"])
        # The server of the tests asks nobody for a password, but one that was given is looked at on MariaDB.
        done = self.owed("doctor", "--store", url)
        self.assertNotIn("geheim", done.stdout + done.stderr)
        if self.store.scheme == "postgres":
            self.assertEqual(1, done.returncode)
            shown = self.env["OWED_STORE"]
            self.assertIn(f"--store {shown}\n", done.stdout)
            self.assertIn(f"psql {shown} -c \"create index concurrently owed_event_by_cause ", done.stdout)

    def test_a_missing_index_is_told_with_the_statement_that_makes_it(self):
        on = " on owed_event" if self.store.scheme == "mariadb" else ""
        self.sql(f"drop index owed_event_by_cause{on}")
        found = self.findings()
        self.assertEqual(1, len(found), found)
        self.assertEqual("missing-index: index owed_event_by_cause of the schema is not there: what it serves reads whole tables",
                         found[0][0])
        client = {"sqlite": f"sqlite3 {self.folder}/shop.db ", "postgres": f"psql {self.store.url} -c ",
                  "mariadb": "mariadb -u owed -h 127.0.0.1 -P "}[self.store.scheme]
        self.assertTrue(found[0][1].startswith(client), found[0][1])
        self.assertRegex(found[0][1], r"\"(create index|alter table owed_event add key) .*owed_event_by_cause.*\(causation_id\)")

    def test_relays_that_hear_of_no_commit_are_named_wherever_they_run(self):
        for name, deaf, age in (("deaf-1", "a pooler", 0), ("dead-1", "a pooler", 600), ("well-1", "", 0)):
            self.sql("insert into owed_relay (id, host, pid, lanes, deaf, started_at, heartbeat_at) values "
                     "(?, 'box', 7, '[\"*\"]', ?, moment(?), moment(?))", name, deaf, now(), now() - age * SECOND)
        self.assertEqual(["a pooler", "a pooler", None], [row["deaf"] for row in self.json_lines("relays")])
        self.assertRegex(self.owed("relays", code=0).stdout, r"(?m)^deaf-1 .* yes +a pooler +-$")
        if self.store.scheme != "postgres":
            return  # nobody else is told of commits by notices
        found = self.findings()
        self.assertEqual(["deaf: the relay deaf-1 on box hears of no commit, and polls: a pooler"], [line for line, _ in found])

    def test_relays_that_cannot_hand_on_are_named_wherever_they_run(self):
        text = "redis://127.0.0.1:6379 of receiver shop.feed since 2026-11-30T10:00:00.000000Z: it cannot be reached"
        for name, away, age in (("held-1", text, 0), ("dead-1", text, 600), ("well-1", "", 0)):
            self.sql("insert into owed_relay (id, host, pid, lanes, away, started_at, heartbeat_at) values "
                     "(?, 'box', 7, '[\"*\"]', ?, moment(?), moment(?))", name, away, now(), now() - age * SECOND)
        self.assertEqual([text, text, None], [row["away"] for row in self.json_lines("relays")])
        [(line, command)] = self.findings()
        self.assertEqual(f"away: the relay held-1 on box cannot hand on what it should: {text}", line)
        self.assertRegex(command, "^owed check( |$)")

    def test_a_log_that_has_grown_is_copied_back(self):
        self.only_on_sqlite("a server keeps its log itself")
        (self.folder / "shop.db-wal").touch()
        os.truncate(self.folder / "shop.db-wal", 130 << 20)
        self.heals(r"write-ahead-log: .*/shop\.db-wal has grown to 130 MB: nothing copies it back, or somebody never ends his "
                   r"reading", f'sqlite3 {self.folder}/shop.db "pragma wal_checkpoint(truncate)"')

    def test_a_damaged_file_is_told_with_what_saves_the_rest(self):
        self.only_on_sqlite("a server looks after its files")
        self.sql("pragma wal_checkpoint(truncate)")
        page = self.value("select rootpage from sqlite_master where name = 'owed_attempt'")
        size = self.value("pragma page_size")
        with open(self.folder / "shop.db", "r+b") as file:
            file.seek((page - 1) * size)
            file.write(b"\xff" * size)
        found = self.findings()
        self.assertRegex(found[0][0], r"^damaged-file: the file is damaged: ")
        self.assertEqual(f"sqlite3 {self.folder}/shop.db .dump | sed 's/^ROLLBACK.*/COMMIT;/' | "
                         f"sqlite3 {self.folder}/shop.db.mended", found[0][1])
        self.shell(found[0][1])
        self.owed("events", "--store", f"sqlite:{self.folder}/shop.db.mended", code=0)

    def test_looking_writes_nothing(self):
        self.only_on_sqlite("its file is compared")
        self.dead()
        self.sql("pragma wal_checkpoint(truncate)")
        before = (self.folder / "shop.db").read_bytes()
        self.owed("doctor", code=1)
        self.sql("pragma wal_checkpoint(truncate)")
        self.assertEqual(before, (self.folder / "shop.db").read_bytes())

    def test_a_transaction_is_long_when_it_is_said_to_be(self):
        self.refused(64, "--long", "doctor", "--long", "30")
        self.owed("doctor", "--long", "1d", code=0)

    def test_no_store_is_no_finding(self):
        self.env["OWED_STORE"] = "sqlite:nowhere.db"
        self.refused(69, "nowhere.db", "doctor")


run()
