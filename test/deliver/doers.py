"""What the tests of crashes and stops share: a store, the module that does as it is told, a relay."""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from harness import OWED, StoreCase  # noqa: E402
from lines import be_patient  # noqa: E402


class DoersCase(StoreCase):
    def setUp(self):
        super().setUp()
        be_patient(self)
        self.env["OWED_MODULE"] = os.environ["OWED_DOERS"]
        number = {"sqlite": "integer", "postgres": "bigserial", "mariadb": "bigint auto_increment"}[self.store.scheme]
        self.sql(f"create table effect (n {number} primary key, delivery bigint not null)")
        os.mkfifo(self.folder / "gate")
        self.conf("[store]\napp = shop\n")
        self.owed("publish", code=0)

    def relay(self, *words):
        """A relay in the background; its log is in self.log, and can be waited for line by line."""
        relay = subprocess.Popen([OWED, "relay", "--log-level", "info", *words], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True, cwd=self.folder, env=self.env)
        self.addCleanup(relay.stderr.close)
        self.addCleanup(relay.wait)
        self.addCleanup(relay.kill)
        return relay

    def read_until(self, relay, words):
        for line in relay.stderr:
            if words in line:
                return line
        self.fail(f"the relay ended and never said {words!r}")

    def finish(self, relay, code=0):
        """Wait for the end with the log read, so that nobody waits for a reader."""
        relay.stderr.read()
        self.assertEqual(code, relay.wait())

    def catch(self):
        """Wait until a receiver holds; returns the gate's end that keeps it and its worker's id."""
        gate = open(self.folder / "gate", "w")
        return gate, int((self.folder / "held").read_text())

    def lose(self, gate):
        """Wait until nobody is left at the other end of the gate."""
        with self.assertRaises(BrokenPipeError):
            while True:
                os.write(gate.fileno(), b"x")
        gate.close()

    def counts(self):
        return dict(self.sql("select status, count(*) from owed_delivery group by status"))

    def effects(self):
        """Deliveries whose effect stands, in order; each must stand once."""
        effects = [row[0] for row in self.sql("select delivery from effect order by n")]
        self.assertEqual(len(set(effects)), len(effects))
        return effects
