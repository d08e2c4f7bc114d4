#!/usr/bin/python3
"""What a user can get wrong about a store on a server: one sentence, the right code, and no password."""
import os
import re
import socket

from harness import StoreCase, now, run

SECRET = "Geheim7"


def elsewhere(url, **parts):
    """The URL with other parts; a password is said in any case."""
    scheme, user, place, database = re.fullmatch(r"(\w+)://([^@/]*)@([^/]*)/([^?]*).*", url).groups()
    get = {"scheme": scheme, "user": user, "place": place, "database": database, "rest": "", **parts}
    return "{scheme}://{user}:{secret}@{place}/{database}{rest}".format(secret=SECRET, **get)


class Stores(StoreCase):
    def setUp(self):
        super().setUp()
        if self.store.scheme == "sqlite":
            self.skipTest("a file has neither server nor password")

    def wrong(self, code, sentence, url, *words):
        """Whatever command finds it, and wherever it finds the URL."""
        for command in [words] if words else [("status",), ("relay", "--once")]:
            done = self.refused(code, sentence, *command, env={"OWED_STORE": url})
            self.assertNotIn(SECRET, done.stderr)
            done = self.refused(code, sentence, *command, "--store", url)
            self.assertNotIn(SECRET, done.stderr)

    def test_a_url_that_cannot_be_read_is_a_matter_of_configuration(self):
        url = self.store.url
        self.wrong(78, "//", elsewhere(url).replace("//", "/", 1))
        for place in ("127.0.0.1:x", "127.0.0.1:99999", "127.0.0.1:0"):
            self.wrong(78, "port", elsewhere(url, place=place))
        self.wrong(78, "%", elsewhere(url, rest="?%zz=1"))
        self.wrong(78, "option", elsewhere(url, rest=f"?{SECRET}"))
        self.wrong(78, "option", elsewhere(url, rest=f"?nonsense={SECRET}"))

    def test_an_option_with_a_value_that_is_none_is_a_matter_of_configuration(self):
        option = {"postgres": "sslmode", "mariadb": "ssl-mode"}[self.store.scheme]
        self.wrong(78, "perhaps", elsewhere(self.store.url, rest=f"?{option}=perhaps"))

    def test_an_unknown_scheme_is_a_matter_of_configuration_and_shows_no_more_than_itself(self):
        self.wrong(78, "'oracle...'", elsewhere(self.store.url, scheme="oracle"))
        self.wrong(78, "no scheme", f"host=::1 password={SECRET} user=owed")

    def test_a_refused_port_is_an_unavailable_store(self):
        with socket.socket() as bound:
            bound.bind(("127.0.0.1", 0))  # and nobody listens
            port = bound.getsockname()[1]
            self.wrong(69, str(port), elsewhere(self.store.url, place=f"127.0.0.1:{port}"))

    def test_a_database_that_is_not_there_is_an_unavailable_store(self):
        url = self.store.url.rsplit("/", 1)[0] + "/owed_nowhere"
        self.wrong(69, "owed_nowhere", url)
        self.wrong(69, "owed_nowhere", url, "init")

    def test_a_user_who_may_not_connect_is_an_unavailable_store(self):
        self.wrong(69, "owed_nobody", elsewhere(self.store.url, user="owed_nobody"))

    def test_a_database_without_tables_is_a_matter_of_configuration(self):
        self.wrong(78, "owed init", now["store"])

    def test_an_account_without_rights_is_told_that_it_lacks_them(self):
        user = f"owed_bare_{os.getpid()}"
        database = self.store.url.rsplit("/", 1)[1]
        make, drop, code, sentence = {
            "postgres": ([f"create role {user} login"], f"drop role {user}", 69, "select, insert, update and delete on the tables of owed"),
            "mariadb": ([f"create user {user}@'127.0.0.1' identified by '{SECRET}'",
                         f"grant create temporary tables on {database}.* to {user}@'127.0.0.1'"],
                        f"drop user {user}@'127.0.0.1'", 78, "grant it its rights"),
        }[self.store.scheme]
        for text in make:
            self.sql(text)
        self.addCleanup(self.store.sql, drop)
        self.wrong(code, sentence, elsewhere(self.store.url, user=user))

    def test_a_worker_id_that_does_not_fit_is_a_matter_of_words(self):
        for worker_id in ("w" * 129, "a b"):
            self.refused(64, "128 bytes", "relay", "--once", "--worker-id", worker_id)

    def test_a_site_that_is_none_is_a_matter_of_configuration(self):
        self.receivers("shop.billing", extra="site = moon")
        for command in (("check",), ("publish",), ("relay", "--once")):
            self.refused(78, "expected relay or task", *command)

    def test_a_receiver_without_its_task_backend_stays_owed_and_says_why(self):
        self.conf('[receiver "shop.label"]\nevent = shop.OrderPlaced\nexec = /bin/true\nsite = task\n')
        self.fire("shop.OrderPlaced")
        done = self.owed("relay", "--once", code=0)
        self.assertIn("no task backend is configured", done.stderr)
        self.assertEqual("failed", self.value("select status from owed_delivery"))
        self.assertEqual(0, self.value("select attempts from owed_delivery"))


if __name__ == "__main__":
    run()
