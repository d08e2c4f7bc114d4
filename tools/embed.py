#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""embed.py - turns sql/<dialect>/ into one C file that holds its statements and scripts.

    embed.py DIALECT DIRECTORY STATEMENTS.DEF OUTPUT.c DEPFILE

Statements (query/*.sql) come in the order of statements.def; a file without a line there, or a line
without a file, is an error (but for OPTIONAL lines), and so is a statement whose highest parameter is
not what its line says. A line WITHOUT_LOCKS makes another statement of a file: its text without the locks,
if it has any. Where a client library knows only "?", each statement's order of parameters is written beside it.
Scripts (schema/NNNN_*.sql, routine/*.sql) are kept to the byte, with the SHA-256 of their text.

A dialect may be another one with a few files of its own: those take the place of the base's files beside
it, and words that the two servers spell differently are written by hand in neither.
"""

import hashlib
import pathlib
import re
import sys

KINDS = "STATEMENT|OPTIONAL|WITHOUT_LOCKS"
LINE = re.compile(rf'^({KINDS})\((\w+), "(\w+)", (\d+), (\d+)\)', re.M)
LOCKS = " for update skip locked"
# What follows a time that is written as text; None: times are integers.
ZONES = {"sqlite": None, "postgres": "+00", "mariadb": "", "mysql": ""}
# What a routine is handed to, as a literal, where it is printed for a client that would cut it apart at
# the semicolons in its body.
WRAPS = {"mariadb": "execute immediate"}
# Where nothing takes one as a literal: what such a client is told to cut at instead.
DELIMITERS = {"mysql": "//"}
# Whose client library knows no numbers of parameters.
UNNUMBERED = ("mariadb", "mysql")
BASES = {"mysql": "mariadb"}
WORDS = {"mysql": (
    ("utf8mb4_nopad_bin", "utf8mb4_0900_bin"),
    (r"information_schema\.global_status", "performance_schema.global_status"),
    (r"create or replace procedure (\w+)", r"drop procedure if exists \1;\ncreate procedure \1"),
    (r"\) persistent\b", ") stored"),
    (r"(text not null default) ('[^']*')", r"\1 (\2)"),
)}
PARAMETER = re.compile(r"\$([0-9]+)")
STRING = re.compile(r"('(?:[^']|'')*')")


class Refused(Exception):
    pass


def read_list(path):
    """The statements of statements.def, in order: (name, file, parameters, kind)."""
    found = LINE.findall(path.read_text())
    names = [name for _, name, _, _, _ in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise Refused(f"{path}: {', '.join(sorted(twice))} stands there twice")
    if len(re.findall(rf"^(?:{KINDS})\(", path.read_text(), re.M)) != len(found):
        raise Refused(f'{path}: a line is not STATEMENT(NAME, "file", parameters, columns)')
    return [(name, file, int(parameters), kind)
            for kind, name, file, parameters, _ in found]


def read(dialect, path):
    """A file's text in the words of the dialect."""
    text = path.read_text()
    for theirs, ours in WORDS.get(dialect, ()):
        text = re.sub(theirs, ours, text)
    return text


def files_of(folders, kind):
    """The files of a kind by name, in order; those of a later folder take the place of others."""
    found = {path.stem: path for folder in folders for path in (folder / kind).glob("*.sql")}
    return dict(sorted(found.items()))


def without_head(dialect, path):
    """A statement's text without its comment lines; the head comment is required."""
    lines = read(dialect, path).splitlines()
    if not lines or not lines[0].startswith("-- "):
        raise Refused(f"{path}: wants a head comment that says what it is for")
    body = "\n".join(line for line in lines if not line.lstrip().startswith("--")).strip()
    if body.endswith(";"):
        raise Refused(f"{path}: one statement, without a semicolon at its end")
    return body


def text_of(dialect, files, file, kind):
    """What a line of statements.def stands for; None: nothing in this dialect."""
    if file not in files:
        return None
    text = without_head(dialect, files[file])
    if kind != "WITHOUT_LOCKS":
        return text
    return text.replace(LOCKS, "") if LOCKS in text else None


def rewrite(dialect, text):
    """$1 becomes what the client library wants: ?1 where it counts $1 by its first appearance, a bare ?
    where it knows no numbers."""
    if dialect == "postgres":
        return text
    mark = "?" if dialect in UNNUMBERED else r"?\1"
    pieces = STRING.split(text)
    return "".join(p if p.startswith("'") else PARAMETER.sub(mark, p) for p in pieces)


def order(text):
    """The parameters as they appear."""
    return [int(n) for n in PARAMETER.findall(STRING.sub("''", text))]


def highest_parameter(text):
    bare = STRING.sub("''", text)
    return max((int(n) for n in re.findall(r"\$(\d+)", bare)), default=0)


def c_string(text):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?")
    return "\n".join(f'    "{line}\\n"' for line in escaped.split("\n"))


def statements(dialect, folders, listed):
    files = files_of(folders, "query")
    missing = [file for _, file, _, kind in listed if kind != "OPTIONAL" and file not in files]
    if missing:
        raise Refused(f"{folders[0]}/query: no {missing[0]}.sql, which statements.def names")
    stray = sorted(set(files) - {file for _, file, _, _ in listed})
    if stray:
        raise Refused(f"{files[stray[0]]}: statements.def does not name it")
    out = ["static const char *const statements[STMT_MAX] = {"]
    for name, file, parameters, kind in listed:
        text = text_of(dialect, files, file, kind)
        if text is None:
            continue
        highest = highest_parameter(text)
        if highest != parameters:
            raise Refused(
                f"{files[file]}: its highest parameter is ${highest}, statements.def says {parameters}")
        out.append(f"    [STMT_{name}] =\n{c_string(rewrite(dialect, text))},")
    out.append("};")
    return out, list(files.values())


def orders(dialect, folders, listed):
    """Of each statement the parameters in order, for a client library that counts question marks."""
    if dialect not in UNNUMBERED:
        return []
    files = files_of(folders, "query")
    out = ["static const uint8_t *const orders[STMT_MAX] = {"]
    for name, file, _, kind in listed:
        text = text_of(dialect, files, file, kind)
        if text is not None:
            numbers = "".join(f"{n}, " for n in order(text))
            out.append(f"    [STMT_{name}] = (const uint8_t[]){{{numbers}0}},")
    return out + ["};"]


def scripts(dialect, folders, name, numbered):
    paths = list(files_of(folders, name).values())
    out = [f"static const struct script {name}[] = {{"]
    for place, path in enumerate(paths, start=1):
        version = int(path.stem[:4]) if numbered else 0
        if numbered and version != place:
            raise Refused(f"{path}: migrations are numbered without a gap, this should be {place:04}")
        text = read(dialect, path)
        checksum = hashlib.sha256(text.encode()).hexdigest()
        out.append(f'    {{{version}, "{path.stem}",\n{c_string(text)},\n     "{checksum}"}},')
    out.append("    {0, NULL, NULL, NULL},\n};")
    return out, paths


def main(dialect, directory, list_path, output, depfile):
    folder, list_path = pathlib.Path(directory), pathlib.Path(list_path)
    base = BASES.get(dialect)
    folders = [folder] if base is None else [folder.parent / base, folder]
    out = [
        f"/* Made by tools/embed.py from {folder.name}/; not to be edited. */",
        '#include <stddef.h>\n\n#include "store/driver.h"\n',
        f"extern const struct sql sql_{dialect};",
    ]
    kinds = [each / kind for each in folders for kind in ("query", "schema", "routine")]
    depends = [list_path] + [kind for kind in kinds if kind.is_dir()]
    listed = read_list(list_path)
    texts, files = statements(dialect, folders, listed)
    texts += orders(dialect, folders, listed)
    for more, paths in (scripts(dialect, folders, "schema", True),
                        scripts(dialect, folders, "routine", False)):
        texts += more
        files += paths
    session = [each / "session.sql" for each in folders if (each / "session.sql").exists()][-1]
    out += texts
    zone = ZONES[dialect]
    out.append(f"const struct sql sql_{dialect} = {{\n    statements, schema, routine,")
    out.append(f"{c_string(read(dialect, session))},")
    out.append("    orders," if dialect in UNNUMBERED else "    NULL,")
    out.append("    NULL," if zone is None else f'    "{zone}",')
    out.append(f'    "{WRAPS[dialect]}",' if dialect in WRAPS else "    NULL,")
    out.append(f'    "{DELIMITERS[dialect]}"}};' if dialect in DELIMITERS else "    NULL};")
    pathlib.Path(output).write_text("\n".join(out) + "\n")
    deps = " ".join(str(path).replace(" ", "\\ ") for path in depends + files + [session])
    pathlib.Path(depfile).write_text(f"{output}: {deps}\n")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Refused as refused:
        sys.exit(f"embed: {refused}")
