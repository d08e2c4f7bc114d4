#!/usr/bin/python3
"""What the program says about itself: --help, the manual pages, completion, and words misspelt."""
import os
import pathlib
import re
import subprocess

from harness import OWED, TOP, Case, run

MAN = pathlib.Path(os.environ["OWED_MAN"])


class Help(Case):
    def commands(self):
        return re.findall(r"(?m)^  (\w+) ", self.owed("--help", code=0).stdout)

    def test_the_first_commands_are_all_there(self):
        self.assertLessEqual({"init", "migrate", "publish", "check", "fire", "relay", "status", "events", "deliveries",
                              "show", "explain", "attempts", "requeue", "relays"}, set(self.commands()))

    def test_without_a_command_the_list_goes_to_stderr(self):
        done = self.owed(code=64)
        self.assertEqual("", done.stdout)
        self.assertEqual(self.owed("help", code=0).stdout, done.stderr)

    def test_every_command_explains_itself(self):
        for command in self.commands():
            done = self.owed(command, "--help", code=0)
            self.assertTrue(done.stdout.startswith(f"usage: owed {command} "), done.stdout)
            self.assertEqual("", done.stderr)
            self.assertEqual(done.stdout, self.owed("help", command, code=0).stdout)
            for word in ("--config FILE", "--store URL", "--app APP", "--module FILE", "--log-level", "--log-format"):
                self.assertIn(word, done.stdout)
            self.assertEqual([], [line for line in done.stdout.splitlines() if len(line) > 140])

    def test_help_needs_no_configuration(self):
        self.write("owed.conf", "nonsense\n")
        self.owed("fire", "--help", code=0)

    def test_every_command_has_a_manual_page(self):
        for command in self.commands():
            self.assertIn(f".Nm owed-{command}", (MAN / f"owed-{command}.1").read_text())

    def test_the_manual_pages_are_sound(self):
        pages = sorted((*MAN.glob("owed*.[157]"), MAN / "libowed.3"))
        self.assertEqual(len(self.commands()) + 4, len(pages))
        done = subprocess.run(["mandoc", "-Tlint", "-W", "warning", *pages], capture_output=True, text=True)
        self.assertEqual((0, ""), (done.returncode, done.stdout + done.stderr))

    def test_a_manual_page_has_every_option_of_its_command(self):
        for command in self.commands():
            text = subprocess.run(["mandoc", "-Tutf8", MAN / f"owed-{command}.1", MAN / "owed.1"], text=True,
                                  stdout=subprocess.PIPE, check=True).stdout
            text = re.sub(".\b", "", text).replace("\u2010", "-")
            for option in re.findall(r"(?m)^  (?:-\w, |    )--(?:\[no-\])?([a-z-]+)", self.owed(command, "--help").stdout):
                self.assertIn(f"--{option}", text, command)

    def test_the_page_of_the_configuration_has_every_key_of_a_receiver(self):
        text = (MAN / "owed.conf.5").read_text()
        for key in ("url", "app", "batch-size", "log-level", "event", "webhook", "exec", "max-attempts", "secret-file"):
            self.assertIn(f".It Ic {key} ", text)
        for word in ("Retry\\-After", "OWED_IDEMPOTENCY_KEY", "Several are separated by commas."):
            self.assertIn(word, text)

    def test_what_the_troubleshooting_says_to_type_can_be_typed(self):
        section = (MAN / "owed.1").read_text().split(".Sh TROUBLESHOOTING")[1].split(".Sh ")[0]
        lines = "\n".join(re.findall(r"(?s)\.Bd -literal[^\n]*\n(.*?)\.Ed", section)).replace("\\-", "-").split("\n")
        lines = [line for line in lines if line]
        self.assertGreater(len(lines), 15)
        for line in lines:
            owed, command, *words = line.split()
            self.assertEqual("owed", owed)
            told = self.owed(command, "--help", code=0).stdout
            for word in (word for word in words if word.startswith("-")):
                self.assertRegex(told, rf"(?m)^ +(-\w, )?{word}\b", line)

    def test_the_page_of_the_doctor_has_every_check(self):
        text = (MAN / "owed-doctor.1").read_text()
        table = (TOP / "src/operate/doctor_checks.c").read_text()
        checks = re.findall(r'\.name = "([a-z-]+)"', table)
        self.assertGreater(len(checks), 25)
        for check in checks:
            self.assertIn(f".It Cm {check}\n", text)

    def page(self, name):
        text = subprocess.run(["mandoc", "-Tutf8", "-Owidth=200", MAN / name], text=True, stdout=subprocess.PIPE, check=True).stdout
        return re.sub(".\b", "", text).replace("\u2010", "-")

    def sources(self, pattern, *folders):
        text = "\n".join(path.read_text() for folder in folders for path in sorted((TOP / folder).glob("*.[ch]")))
        found = re.findall(pattern, text)
        self.assertTrue(found, pattern)
        return found

    def test_no_key_of_the_configuration_is_undocumented(self):
        text = self.page("owed.conf.5")
        conf, settings = (TOP / "src/declare" / name for name in ("conf.c", "settings.c"))
        keys = re.findall(r'(?m)^    X\("([a-z-]+)",', conf.read_text())
        keys += re.findall(r'(?s)\{\.name = "([a-z-]+)",(?:(?!\.name).)*?\.section = "event"', conf.read_text())
        keys += re.findall(r'RELAY_(?:NUMBER|TIME)\(\s*"([a-z-]+)"', settings.read_text())
        for option in re.findall(r'(?s)\{\.name = "[a-z-]+",.*?\}', settings.read_text()):
            if ".section" in option:
                keys.append(re.findall(r'\.(?:key|name) = "([a-z-]+)"', option)[-1])
        self.assertLess({"event", "retention", "delete-when", "url", "app", "poll", "prune", "log-format", "site"}, set(keys))
        for key in keys:
            self.assertRegex(text, rf"(?m)^     {key} = ", key)

    def test_no_exit_code_is_undocumented(self):
        codes = self.sources(r"EXIT_\w+ = (\d+)", "src/cli")
        for name in ("owed.1", *(f"owed-{command}.1" for command in self.commands())):
            text = self.page(name).split("EXIT STATUS")[1]
            for code in codes:
                self.assertRegex(text, rf"(?m)^     {code} +\w", name)

    def test_no_status_of_the_library_or_of_a_delivery_is_undocumented(self):
        text = self.page("libowed.3").split("RETURN VALUES")[1]
        for status, number in self.sources(r'(?m)^    X\((\w+), (-?\d+), \d, "', "include/owed"):
            self.assertRegex(text, rf"OWED_{status} \({number}\)")
        text = self.page("owed.7")
        for status in re.findall(r'\[STATE_\w+\] = "(\w+)"', (TOP / "src/engine/states.c").read_text()):
            self.assertRegex(text, rf"(?m)^     {status}\b")

    def test_no_declaration_of_a_header_is_undocumented(self):
        text = self.page("libowed.3")
        for header in (TOP / "include/owed").glob("*.h"):
            self.assertIn(f"owed/{header.name}", text)
        names = self.sources(r"\b(owed_\w+)\(", "include/owed") + self.sources(r"(?m)^    (OWED_[A-Z_0-9]+)\b", "include/owed")
        names += self.sources(r"#define (OWED_[A-Z_0-9]+)\(", "include/owed") + self.sources(r"(?m)^\} (owed_\w+);", "include/owed")
        for name in set(names):
            self.assertRegex(text, rf"\b{name}\b")

    def test_the_concepts_have_each_promise_of_the_readme_and_each_step_of_a_delivery(self):
        def plain(text):
            return " ".join(text.replace("`", "").split())
        text = plain(self.page("owed.7"))
        promises = re.findall(r"(?m)^\| ([^|]+?) \| `\w+` \|", (TOP / "README.md").read_text())
        self.assertEqual(11, len(promises))
        for promise in promises:
            self.assertIn(plain(promise), text)
        steps = re.findall(r"(?m)^\| \w+ \| ([\w ]+) \| (\w+) \| (.+?) \|$", (TOP / "ARCHITECTURE.md").read_text())[1:]
        self.assertLess(20, len(steps))
        for happening, state, sentence in steps:
            self.assertIn(f"{happening}: then it is {state}; {sentence}.", text)

    def test_completion_for_zsh_has_every_command_and_option(self):
        script = self.owed("help", "--zsh", code=0).stdout
        self.assertTrue(script.startswith("#compdef owed\n"))
        for command in self.commands():
            self.assertIn(f"        '{command}:", script)
            part = re.search(rf"(?s)\n    {command}\)\n(.*?)\n        ;;", script)[1]
            for option in re.findall(r"(?m)^  (?:-\w, |    )--(?:\[no-\])?([a-z-]+)", self.owed(command, "--help").stdout):
                self.assertRegex(part, rf"'\*?--{option}[=\[]")
        self.assertEqual(0, script.replace("'\\''", "").count("'") % 2)

    def test_completion_for_bash_has_every_option_of_a_command_and_the_words_that_are_known(self):
        script = self.owed("help", "--completion", code=0).stdout
        tries = [("fire --", None), ("help sta", ["status"]), ("deliveries --status dea", ["dead"]), ("relay --no-all", ["--no-all-lanes"])]
        tries += [(f"{command} --", None) for command in self.commands()]
        lines = [script]
        for words, _ in tries:
            last, before = words.split(" ")[-1], words.split(" ")[-2]
            lines.append(f"COMP_WORDS=(owed {words}); COMP_CWORD={len(words.split(' '))}; COMPREPLY=(); _owed owed '{last}' '{before}'; "
                         'echo "${COMPREPLY[@]}"')
        found = subprocess.run(["bash", "-c", "\n".join(lines)], capture_output=True, text=True, check=True).stdout.splitlines()
        for (words, expected), line in zip(tries, found, strict=True):
            if expected is not None:
                self.assertEqual(expected, line.split())
                continue
            for option in re.findall(r"(?m)^  (?:-\w, |    )--(?:\[no-\])?([a-z-]+)", self.owed(words.split(" ")[0], "--help").stdout):
                self.assertIn(f"--{option}", line.split())

    def test_completion_is_a_script_that_bash_reads_and_knows_the_options(self):
        script = self.owed("help", "--completion", code=0).stdout
        found = subprocess.run(["bash", "-c", script + "\nCOMP_WORDS=(owed fire --ded); COMP_CWORD=2; _owed owed --ded fire; "
                                "echo \"${COMPREPLY[@]}\"; COMP_WORDS=(owed rel); COMP_CWORD=1; _owed owed rel owed; "
                                "echo \"${COMPREPLY[@]}\""], capture_output=True, text=True, check=True)
        self.assertEqual("--dedupe-key\nrelay relays\n", found.stdout)

    def test_the_release(self):
        version = re.search(r"version: '([^']+)'", (TOP / "meson.build").read_text())[1]
        self.assertEqual(f"owed {version}\n", self.owed("--version", code=0).stdout)


class Words(Case):
    def test_an_unknown_command_names_the_nearest(self):
        self.refused(64, "did you mean 'relay'?", "rely")
        self.refused(64, "there is no command 'frobnicate'", "frobnicate")
        self.refused(64, "did you mean 'status'?", "help", "statsu")
        self.refused(64, "there is no option --json before a command", "--json", "status")

    def test_an_unknown_option_names_the_nearest(self):
        self.refused(64, "--config", "status", "--confg", "x")
        self.refused(64, "--receiver", "requeue", "--reciever", "x")
        self.refused(64, "--frobnicate", "status", "--frobnicate")

    def test_an_option_of_another_command_is_unknown(self):
        self.refused(64, "--batch-size", "status", "--batch-size", "7")

    def test_a_word_too_many(self):
        self.refused(64, "'extra'", "status", "extra")

    def test_a_number_that_is_none_or_out_of_range(self):
        self.refused(64, "--limit", "events", "--limit", "many")
        self.refused(64, "--batch-size", "relay", "--batch-size", "0")

    def test_a_duration_without_a_unit(self):
        self.refused(64, "--lease", "relay", "--lease", "30")

    def test_a_flag_that_takes_no_value(self):
        self.refused(64, "--json", "status", "--json=yes")

    def test_words_that_exclude_each_other(self):
        self.refused(64, "--all-lanes", "relay", "--lane", "mail", "--all-lanes")
        self.refused(64, "--batch-size", "relay", "--limit", "5", "--batch-size", "5")


run(only="sqlite")
