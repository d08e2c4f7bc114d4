#!/usr/bin/python3
"""The example of a channel is one short file, which compiles against an installed owed and sends."""
import os
import pathlib
import shlex
import shutil
import socket
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("OWED_BUILD", SOURCE / "build")).resolve()
TILL = SOURCE / "examples/channel/till.c"
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
LINES = 100


def run(*words, **how):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=60, **how)


class ChannelOfOnesOwn(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """An owed of its own, installed, and the example built with it."""
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="owed-channel-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        done = run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", cls.folder / "installed")
        assert done.returncode == 0, done.stdout + done.stderr
        found = next((cls.folder / "installed").rglob("owed.pc"))
        prefix = found.parent.parent
        while not (prefix / "include/owed").exists():
            prefix = prefix.parent
        said = run("pkg-config", f"--define-variable=prefix={prefix}", "--cflags", "--libs", "owed",
                   env=dict(os.environ, PKG_CONFIG_PATH=str(found.parent)))
        assert said.returncode == 0, said.stderr
        cls.program = cls.folder / "till"
        cls.libraries = str(found.parent.parent)
        done = run(*shlex.split(os.environ.get("CC", "cc")), *STRICT, TILL, *said.stdout.split(), "-o", cls.program)
        assert done.returncode == 0, done.stderr

    def tell(self, till, order="7"):
        return run(self.program, self.folder, till, order, env=dict(os.environ, LD_LIBRARY_PATH=self.libraries))

    def test_it_is_one_file_of_under_100_lines(self):
        self.assertLess(len(TILL.read_text().splitlines()), LINES)
        self.assertEqual([path.name for path in TILL.parent.glob("*.[ch]")], [TILL.name])

    def test_it_compiles_against_an_installed_owed_and_sends(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as till:
            till.bind(str(self.folder / "till-3"))
            till.settimeout(30)
            done = self.tell("till-3")
            self.assertEqual((done.returncode, done.stdout), (0, "sent to till-3: Order 7 is packed.\n"), done.stderr)
            self.assertEqual(till.recv(1000), b"Order 7 is packed.")

    def test_what_it_answers_is_what_the_send_comes_to(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as till:
            till.bind(str(self.folder / "till-4"))
        cases = {"till-5": "there is no such till", "till-4": "the till is switched off", "a/b": "has no slash"}
        for name, reason in cases.items():
            with self.subTest(name):
                done = self.tell(name)
                self.assertEqual(done.returncode, 1)
                self.assertIn(reason, done.stderr)


unittest.main(verbosity=2)
