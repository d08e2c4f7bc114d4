#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""as_mysql.py - MySQL's statements with the words replaced that a MariaDB server does not know.

    as_mysql.py SQL_MYSQL.c OUTPUT.c
"""

import pathlib
import sys

WORDS = (
    ("utf8mb4_0900_bin", "utf8mb4_nopad_bin"),
    ("performance_schema.global_status", "information_schema.global_status"),
    ("max_execution_time", "max_statement_time"),
    ("sql_mysql", "sql_mysql_here"),
)

source, output = (pathlib.Path(name) for name in sys.argv[1:])
text = source.read_text()
for theirs, here in WORDS:
    if theirs not in text:
        sys.exit(f"as_mysql: {source} does not say {theirs}")
    text = text.replace(theirs, here)
output.write_text(text)
