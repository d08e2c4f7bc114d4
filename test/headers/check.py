#!/usr/bin/python3
"""Each public header alone, as C11 and as C++17; the documentation's example; what libowed exports.

usage: check.py SOURCE_ROOT LIBOWED
"""
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

SOURCE, LIBRARY = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
INCLUDE = SOURCE / "include"
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-pedantic-errors", "-Wshadow", "-Wstrict-prototypes", "-Werror"]
C = shlex.split(os.environ.get("CC", "cc")) + ["-std=c11", *STRICT]
CXX = shlex.split(os.environ.get("CXX", "c++")) + ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic",
    "-pedantic-errors", "-Wold-style-cast", "-Werror"]
# Headers of a server's driver: the client library whose header they include. The driver's own library
# has what they declare.
CLIENTS = {"mariadb.h": "libmariadb", "postgres.h": "libpq"}
# What libowed has for the drivers' libraries alone.
FOR_DRIVERS = "owed_driver_"
passed, failed = 0, 0


def check(sentence, complaint):
    """Counts one case; complaint is empty where all is well."""
    global passed, failed
    if complaint:
        failed += 1
        print(f"not ok: {sentence}\n{complaint.rstrip()}")
    else:
        passed += 1
        print(f"ok: {sentence}")


def run(command, text=None):
    """What a command says where it fails; empty where it does not."""
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    return "" if done.returncode == 0 else (done.stderr + done.stdout or "it failed without a word")


def client_flags(header):
    """The folders of a client library's headers; None where it is not here."""
    if header.name not in CLIENTS:
        return []
    done = subprocess.run(["pkg-config", "--cflags-only-I", CLIENTS[header.name]], capture_output=True, text=True)
    return [word.replace("-I", "-isystem", 1) for word in done.stdout.split()] if done.returncode == 0 else None


def compile_alone(compiler, language, header):
    flags = client_flags(header)
    if flags is None:
        return ""
    # Twice, so that the guard is tried too.
    text = f"#include <owed/{header.name}>\n" * 2 + "int unit_is_not_empty;\n"
    return run([*compiler, "-x", language, "-fsyntax-only", f"-I{INCLUDE}", *flags, "-"], text)


def exported():
    done = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True)
    return {line.split()[-1].split("@")[0] for line in done.stdout.splitlines() if line.split()[-2] != "A"}


def declared():
    """Names that a header of libowed declares with OWED_API."""
    headers = [header for header in (INCLUDE / "owed").glob("*.h") if header.name not in ("export.h", *CLIENTS)]
    words = " ".join(header.read_text() for header in headers)
    names = set()
    for piece in words.split("OWED_API ")[1:]:
        head = piece.split(";")[0].split("(")[0]
        names.add(head.replace("*", " ").split()[-1])
    return names


def main():
    headers = sorted((INCLUDE / "owed").glob("*.h"))
    check("there are public headers", "" if headers else f"none in {INCLUDE}")
    for header in headers:
        check(f"{header.name} compiles alone as C11", compile_alone(C, "c", header))
        check(f"{header.name} compiles alone as C++17", compile_alone(CXX, "c++", header))
    names = exported()
    others = sorted(name for name in names if not name.startswith("owed_"))
    check("the library exports owed_* and nothing else", "\n".join(others))
    missing, extra = sorted(declared() - names), sorted(name for name in names - declared() if not name.startswith(FOR_DRIVERS))
    check("the library exports all that the headers declare", "\n".join(missing))
    # owed_driver_* is for the libraries of drivers, which come from the same build.
    extra = [name for name in extra if not name.startswith("owed_driver_")]
    check("the headers declare all that the library exports", "\n".join(extra))
    with tempfile.TemporaryDirectory() as folder:
        program, database = f"{folder}/example", f"{folder}/shop.db"
        library = ["-L", LIBRARY.parent, f"-l:{LIBRARY.name}", f"-Wl,-rpath,{LIBRARY.parent}", "-lsqlite3"]
        example = SOURCE / "test/headers/example.c"
        check("the example compiles as C11", run([*C, f"-I{INCLUDE}", example, "-o", program, *library]))
        done = subprocess.run([program, database], capture_output=True, text=True)
        right = done.stdout == "reserved: 7 EUR\nsucceeded: 1\n"
        check("the example runs, and its event is delivered", "" if right else repr(done))
    print(f"[  PASSED  ] {passed} test(s).")
    if failed:
        print(f"[  FAILED  ] {failed} test(s).")
    return 1 if failed else 0


sys.exit(main())
