#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test_embed.py - what is not fit to be embedded is refused, and says which file it is."""

import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

EMBED = os.environ["EMBED"]
LIST = 'STATEMENT(ONE, "one", 2, 1)\n'
MARIADB_ONLY = (r"\breturning\b", r"begin not atomic", r"\bfor \w+ in\b", r"in_transaction", r"nopad", r"\bpersistent\b",
                r"or replace", r"execute immediate", r"(index|column) if (not )?exists",
                r"information_schema\.global_status", r"max_statement_time")
ONE = "-- One.\nselect $2, $1, '$1'\n"


def embed(files, listed=LIST, dialect="sqlite"):
    """Runs the generator over a folder of these files; (exit code, what it wrote or said)."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / dialect
        root.mkdir()
        for name, text in {"session.sql": "-- none\n", **files}.items():
            path = root.parent / name if name.startswith("mariadb/") else root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (root.parent / "list.def").write_text(listed)
        out = root.parent / "out.c"
        run = subprocess.run(
            [sys.executable, EMBED, dialect, root, root.parent / "list.def", out, out.with_suffix(".d")],
            capture_output=True, text=True, check=False)
        return run.returncode, out.read_text() if run.returncode == 0 else run.stderr


def parameters_are_numbered_for_sqlite_but_not_inside_strings():
    code, out = embed({"query/one.sql": ONE})
    assert code == 0 and r"select \?2, \?1, '$1'" in out, out


def other_dialects_keep_their_parameters():
    code, out = embed({"query/one.sql": ONE}, dialect="postgres")
    assert code == 0 and "select $2, $1, '$1'" in out, out


def a_dialect_without_numbers_gets_the_order_of_its_parameters():
    code, out = embed({"query/one.sql": ONE}, dialect="mariadb")
    assert code == 0 and r"select \?, \?, '$1'" in out, out
    assert "[STMT_ONE] = (const uint8_t[]){2, 1, 0}," in out, out


def a_statement_without_locks_is_made_of_the_one_that_has_them():
    listed = 'STATEMENT(ONE, "one", 1, 1)\nWITHOUT_LOCKS(LOOK, "one", 1, 1)\n'
    code, out = embed({"query/one.sql": "-- One.\nselect a where b = $1 for update skip locked\n"}, listed, dialect="mariadb")
    assert code == 0 and out.count("for update skip locked") == 1, out
    assert '[STMT_LOOK] =\n    "select a where b = \\?\\n"' in out and "[STMT_LOOK] = (const uint8_t[]){1, 0}," in out, out
    code, out = embed({"query/one.sql": "-- One.\nselect a where b = $1\n"}, listed, dialect="mariadb")
    assert code == 0 and "STMT_ONE" in out and "STMT_LOOK" not in out, out


def the_files_of_a_dialect_take_the_place_of_its_base():
    base = {"mariadb/query/one.sql": ONE, "mariadb/query/two.sql": "-- Two.\nselect 2\n",
            "mariadb/routine/a.sql": "-- A.\ncreate or replace procedure a() do 1;\n",
            "mariadb/schema/0001_t.sql": "create table t (x text not null default '', y int as (1) persistent)\n"
                                         " collate utf8mb4_nopad_bin;\n"}
    both = LIST + 'STATEMENT(TWO, "two", 0, 1)\n'
    code, out = embed({**base, "query/one.sql": "-- Mine.\nselect $1, $2\n"}, both, dialect="mysql")
    assert code == 0, out
    assert r"select \?, \?\n" in out and "$1" not in out and "select 2" in out, out
    assert "[STMT_ONE] = (const uint8_t[]){1, 2, 0}," in out, out
    assert "drop procedure if exists a;" in out and "or replace" not in out, out
    assert "default ('')" in out and "stored)" in out and "utf8mb4_0900_bin" in out, out
    code, said = embed({**base, "query/stray.sql": ONE}, both, dialect="mysql")
    assert code != 0 and "stray.sql" in said, said


def nothing_is_left_in_mysqls_words_that_only_mariadb_knows():
    top = pathlib.Path(EMBED).parent.parent
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.c"
        subprocess.run([sys.executable, EMBED, "mysql", top / "sql/mysql", top / "src/store/statements.def", out,
                        out.with_suffix(".d")], check=True)
        text = re.sub(r"--.*?\\n", "", out.read_text())  # what it is, stands above it in any words
    left = [word for word in MARIADB_ONLY if re.search(word, text)]
    assert not left, f"{left}: sql/mysql wants a file of its own"


def an_optional_statement_may_be_missing():
    code, out = embed({"query/one.sql": ONE}, listed=LIST + 'OPTIONAL(TWO, "two", 0, 1)\n')
    assert code == 0 and "STMT_TWO" not in out, out


def a_file_without_a_line_is_refused():
    code, said = embed({"query/one.sql": ONE, "query/stray.sql": ONE})
    assert code != 0 and "stray.sql" in said, said


def a_line_without_a_file_is_refused():
    code, said = embed({"query/other.sql": ONE})
    assert code != 0 and "one.sql" in said, said


def a_wrong_number_of_parameters_is_refused():
    for text in ("-- One.\nselect $1\n", "-- One.\nselect $3\n"):
        code, said = embed({"query/one.sql": text})
        assert code != 0 and "one.sql" in said and "says 2" in said, said


def a_statement_without_a_head_comment_is_refused():
    code, said = embed({"query/one.sql": "select $2, $1\n"})
    assert code != 0 and "head comment" in said, said


def a_line_that_cannot_be_read_is_refused():
    code, said = embed({"query/one.sql": ONE}, LIST + "STATEMENT(TWO, one, 2, 1)\n")
    assert code != 0 and "list.def" in said, said
    code, said = embed({"query/one.sql": ONE}, LIST + LIST)
    assert code != 0 and "twice" in said, said


def migrations_are_numbered_and_carry_their_checksum():
    text = "create table t (x);\n"
    code, out = embed({"query/one.sql": ONE, "schema/0001_t.sql": text})
    assert code == 0 and hashlib.sha256(text.encode()).hexdigest() in out, out
    code, said = embed({"query/one.sql": ONE, "schema/0002_t.sql": text})
    assert code != 0 and "0001" in said, said


def main():
    tests = [
        parameters_are_numbered_for_sqlite_but_not_inside_strings,
        other_dialects_keep_their_parameters,
        a_dialect_without_numbers_gets_the_order_of_its_parameters,
        the_files_of_a_dialect_take_the_place_of_its_base,
        nothing_is_left_in_mysqls_words_that_only_mariadb_knows,
        an_optional_statement_may_be_missing,
        a_file_without_a_line_is_refused,
        a_line_without_a_file_is_refused,
        a_wrong_number_of_parameters_is_refused,
        a_statement_without_a_head_comment_is_refused,
        a_line_that_cannot_be_read_is_refused,
        migrations_are_numbered_and_carry_their_checksum,
    ]
    failed = []
    for test in tests:
        try:
            test()
        except AssertionError as error:
            failed.append(test.__name__)
            print(f"{test.__name__}: {error}")
    print(f"[  PASSED  ] {len(tests) - len(failed)} test(s).")
    if failed:
        print(f"[  FAILED  ] {len(failed)} test(s)")
        sys.exit(1)


if __name__ == "__main__":
    main()
