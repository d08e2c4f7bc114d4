"""What the tests of the program share: a folder and a store for each case, and how a run ends."""
import contextlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "test" / "support"))
import stores  # noqa: E402

OWED = os.environ["OWED_BIN"]
TIMEOUT = 120
now = {"store": "sqlite:"}  # of the cases that run


class Case(unittest.TestCase):
    """Each case runs in a folder of its own, without any OWED_ variable but those that it sets."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="owed-cli-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("OWED_", "TRACE")) or k == "OWED_BIN"}

    def owed(self, *words, stdin="", env=None, code=None, **more):
        """Run the program; with code, check how it ended."""
        done = subprocess.run([OWED, *words], input=stdin, text=isinstance(stdin, str),
                              capture_output=True, cwd=self.folder, timeout=TIMEOUT,
                              env={**self.env, **(env or {})}, **more)
        if code is not None:
            self.assertEqual(code, done.returncode, f"owed {' '.join(words)}: {done.stdout}{done.stderr}")
        return done

    def refused(self, code, sentence, *words, **more):
        """The run ends with the code and a sentence that holds this text, and nothing on stdout."""
        done = self.owed(*words, code=code, **more)
        self.assertIn(sentence, done.stderr)
        self.assertEqual("", done.stdout)
        lines = done.stderr.splitlines()
        self.assertTrue(lines[0].startswith("owed: "), done.stderr)
        if code == 64:
            self.assertEqual(2, len(lines), done.stderr)
            self.assertRegex(lines[1], r"^try 'owed .*--help'$")
        else:
            self.assertEqual(1, len(lines), done.stderr)
        return done

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path


class StoreCase(Case):
    """A case with a new store, which every command finds in the environment."""

    def setUp(self):
        super().setUp()
        self.store = stores.new(now["store"], self.folder)
        self.addCleanup(self.store.remove)
        self.env["OWED_STORE"] = self.store.url
        self.owed("init", code=0)

    def only_on_sqlite(self, why):
        if self.store.scheme != "sqlite":
            self.skipTest(f"only on SQLite: {why}")

    def fire(self, name, payload="{}", *words):
        return int(self.owed("fire", name, payload, *words, code=0).stdout)

    def sql(self, text, *values):
        return self.store.sql(text, *values)

    def value(self, text, *values):
        return self.sql(text, *values)[0][0]

    @contextlib.contextmanager
    def busy(self):
        """Somebody else holds the store's writer."""
        self.only_on_sqlite("elsewhere a writer keeps nobody else waiting")
        db = sqlite3.connect(self.folder / "shop.db", isolation_level=None)
        db.execute("begin immediate")
        yield
        db.close()

    def conf(self, text, name="owed.conf"):
        return self.write(name, text)

    def receivers(self, *keys, event="shop.OrderPlaced", extra=""):
        """Declare receivers that take everything, in owed.conf."""
        text = "[store]\napp = shop\n"
        for key in keys:
            text += f'[receiver "{key}"]\nevent = {event}\ndiscard = yes\n{extra}\n'
        self.conf(text)

    def json(self, *words):
        return json.loads(self.owed(*words, "--json", code=0).stdout)

    def json_lines(self, *words):
        return [json.loads(line) for line in self.owed(*words, "--json", code=0).stdout.splitlines()]


def run_here():
    """Run the cases of the main file, and close as the runner wants to read it; whether all is well."""
    result = unittest.main(module="__main__", exit=False, verbosity=2).result
    bad = len({case.id().split(" (")[0] for case, _ in result.failures + result.errors})
    print(f"[  PASSED  ] {result.testsRun - bad - len(result.skipped)} test(s).", flush=True)
    if bad:
        print(f"[  FAILED  ] {bad} test(s)", flush=True)
    return bad == 0 and result.testsRun > 0


def run(only=None):
    """Run the cases of the file that calls it, on each store of this run, or on those of one scheme."""
    good = True
    for url in stores.urls():
        scheme = stores.scheme_of(url)
        if only is not None and scheme != only:
            continue
        if not stores.is_served(OWED, url):
            print(f"{scheme} is left out: this build has no driver for it", flush=True)
            continue
        print(f"on {scheme}", flush=True)
        now["store"] = url
        good = run_here() and good
    sys.exit(0 if good else 1)
