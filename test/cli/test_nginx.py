#!/usr/bin/python3
"""Webhooks to a real web server, and what it makes of some of them."""
import pathlib
import shutil
import tempfile

from harness import StoreCase, run
from nginx import nginx

LOG = """
log_format calls '$connection $status $http_webhook_id';
access_log FOLDER/calls calls;
limit_req_zone $binary_remote_addr zone=hooks:1m rate=1r/m;
"""
HOOK = "http://127.0.0.1:{port}/{path}"


class Nginx(StoreCase):
    def hooks(self, port, **paths):
        self.conf("[store]\napp = shop\n" + "".join(
            f'[receiver "shop.{name}"]\nevent = shop.OrderPlaced\nmax-attempts = 2\n'
            f"webhook = {HOOK.format(port=port, path=path)}\n" for name, path in paths.items()))

    def fire_many(self, count, payload="{}"):
        self.owed("fire", "--lines", stdin=f'{{"name": "shop.OrderPlaced", "payload": {payload}}}\n' * count, code=0)

    def ended(self):
        return sorted(self.sql("select receiver_key, status, attempts, last_error from owed_delivery"))

    def serve(self, server):
        """Its folder is none of ours, which nobody else may read, and has its log."""
        self.web = pathlib.Path(tempfile.mkdtemp(prefix="owed-nginx-"))
        self.addCleanup(shutil.rmtree, self.web)
        return nginx(server, LOG, self.web)

    def test_many_go_over_a_few_connections_each_under_its_own_id(self):
        with self.serve("location / { return 204; }") as port:
            self.hooks(port, hook="in")
            self.fire_many(300)
            self.owed("relay", "--once", code=0)
        calls = [line.split() for line in (self.web / "calls").read_text().splitlines()]
        calls = [call for call in calls if call[2] != "-"]
        self.assertEqual(300, len({call[2] for call in calls}))
        self.assertEqual({"204"}, {call[1] for call in calls})
        self.assertLess(len({call[0] for call in calls}), 100)
        self.assertEqual({"succeeded": 300}, dict(self.sql("select status, count(*) from owed_delivery group by status")))

    def test_what_the_server_says_by_itself_is_taken_as_it_is_meant(self):
        dead_end = "proxy_pass http://127.0.0.1:1;"
        server = f"""location /small {{ client_max_body_size 1k; {dead_end} }}
                     location /nowhere {{ return 404; }}
                     location /gone {{ return 410; }}
                     location /moved {{ return 301 /elsewhere; }}
                     location /behind {{ {dead_end} }}
                     location /closed {{ return 444; }}"""
        with self.serve(server) as port:
            self.hooks(port, **{name: name for name in ("small", "nowhere", "gone", "moved", "behind", "closed")})
            self.fire_many(1, '"' + "x" * 3000 + '"')
            self.owed("relay", "--limit", "100", code=0)  # what has failed may be due again at once
        ends = {row[0]: row[1:3] for row in self.ended()}
        for name in ("small", "nowhere", "gone", "moved"):
            self.assertEqual(("dead", 1), ends[f"shop.{name}"], self.ended())
        for name in ("behind", "closed"):
            self.assertEqual(("failed", 1), ends[f"shop.{name}"], self.ended())
        self.assertEqual({"small": 413, "nowhere": 404, "gone": 410, "moved": 301, "behind": 502},
                         {row[0][5:]: row[1] for row in self.sql(
                             "select d.receiver_key, a.code from owed_attempt as a join owed_delivery as d on d.id = a.delivery_id "
                             "where a.code > 0")})

    def test_what_a_limit_refuses_is_owed_for_as_long_as_it_says(self):
        server = """location / { limit_req zone=hooks; limit_req_status 429; add_header Retry-After 7200 always;
                                 proxy_pass http://127.0.0.1:$server_port/well; }
                    location /well { return 204; }"""
        with self.serve(server) as port:
            self.hooks(port, hook="in")
            self.fire_many(5)
            self.owed("relay", "--once", code=0)
        statuses = dict(self.sql("select status, count(*) from owed_delivery group by status"))
        self.assertNotIn("dead", statuses)
        self.assertGreater(statuses["failed"], 0)
        waits = self.value("select min(available_at) from owed_delivery where status = 'failed'")
        self.assertGreater(waits, self.value("select max(recorded_at) from owed_event") + 7_000_000_000)

    def test_one_that_is_not_there_gets_it_later(self):
        with self.serve("location / { return 204; }") as port:
            self.hooks(port, hook="in")
        self.fire_many(3)
        self.owed("relay", "--limit", "100", code=0)  # what has failed may be due again at once
        self.assertEqual({("failed", 1)}, {row[1:3] for row in self.ended()})
        with self.serve("location / { return 204; }") as port:
            self.hooks(port, hook="in")
            self.sql("update owed_delivery set available_at = 0")
            self.owed("relay", "--once", code=0)
        self.assertEqual({("succeeded", 2)}, {row[1:3] for row in self.ended()})


run("sqlite")
