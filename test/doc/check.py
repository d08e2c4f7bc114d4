#!/usr/bin/python3
"""The examples in C of the documentation compile, pedantically, and run.

usage: check.py SOURCE_ROOT LIBOWED
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

SOURCE, LIBRARY = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
C = shlex.split(os.environ.get("CC", "cc")) + ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
LINK = ["-L", LIBRARY.parent, f"-l:{LIBRARY.name}", f"-Wl,-rpath,{LIBRARY.parent}", "-lsqlite3", "-lcmocka"]
PAGES = ["TESTING.md"]
passed, failed = 0, 0


def check(sentence, done):
    global passed, failed
    if done.returncode == 0:
        passed += 1
        print(f"ok: {sentence}")
    else:
        failed += 1
        print(f"not ok: {sentence}\n{done.stdout}{done.stderr}")
    return done.returncode == 0


def run(command, folder):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


for page in PAGES:
    programs = re.findall(r"^```c\n(.*?)^```$", (SOURCE / "doc" / page).read_text(), re.MULTILINE | re.DOTALL)
    if not programs:
        failed += 1
        print(f"not ok: {page} has examples")
    for number, text in enumerate(programs, 1):
        with tempfile.TemporaryDirectory(prefix="owed-doc-") as folder:
            (pathlib.Path(folder) / "example.c").write_text(text)
            compiled = run([*C, f"-I{SOURCE / 'include'}", "example.c", "-o", "example", *LINK], folder)
            if check(f"example {number} of {page} compiles", compiled):
                check(f"example {number} of {page} runs", run([f"{folder}/example"], folder))
print(f"[  PASSED  ] {passed} test(s).")
if failed:
    print(f"[  FAILED  ] {failed} test(s).")
sys.exit(1 if failed else 0)
