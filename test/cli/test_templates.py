#!/usr/bin/python3
"""owed templates: listed, checked, and filled in."""
import json

from harness import Case, run


class Templates(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "mails").mkdir()
        self.write("owed.conf", "[templates]\nfolder = mails\n")
        self.write("mails/order.en.txt", "subject: Order {id}\nvariables: id text, total decimal\ndefault: en\n\n"
                   "Total {total:.2f}\n")
        self.write("mails/order.en.html", "<p>{id}</p>\n")
        self.write("mails/order.de.txt", "subject: Auftrag {id}\nvariables: total decimal, id text\n\nSumme {total:.2f}\n")
        self.write("mails/hello.txt", "\nHello.\n")

    def test_the_list_says_languages_parts_and_variables(self):
        lines = [json.loads(line) for line in self.owed("templates", "--json", code=0).stdout.splitlines()]
        self.assertEqual([
            {"name": "hello", "languages": [], "default": None, "parts": ["text"], "variables": []},
            {"name": "order", "languages": ["de", "en"], "default": "en", "parts": ["subject", "text", "html"],
             "variables": ["id text", "total decimal"]}], lines)
        text = self.owed("templates", code=0).stdout
        self.assertRegex(text, r"(?m)^order +de, en +en +subject, text, html +id text, total decimal$")

    def test_a_preview_shows_each_part_in_the_language(self):
        self.write("context.json", '{"id": "<7>", "total": 5.5}')
        said = self.owed("templates", "render", "order", "--context", "context.json", "--locale", "fr", code=0).stdout
        self.assertEqual("locale: en\nsubject: Order <7>\n\nTotal 5.50\n\nhtml:\n\n<p>&lt;7&gt;</p>\n", said)
        said = self.owed("templates", "render", "order", "--context", "-", "--locale", "de-AT", "--json",
                         stdin='{"id": "7", "total": "5"}', code=0).stdout
        self.assertEqual({"name": "order", "locale": "de", "subject": "Auftrag 7", "text": "Summe 5.00", "html": None},
                         json.loads(said))
        self.assertEqual("\nHello.\n", self.owed("templates", "render", "hello", code=0).stdout)

    def test_what_cannot_be_rendered_is_refused(self):
        self.refused(65, "total", "templates", "render", "order", "--context", "-", stdin='{"id": "7"}')
        self.refused(65, 'no template is called "ordr"; the nearest is "order"', "templates", "render", "ordr")
        self.refused(65, "the context nowhere.json cannot be read", "templates", "render", "hello", "--context",
                     "nowhere.json")
        self.refused(64, "templates render wants the name of one", "templates", "render")
        self.refused(64, "templates check takes no name", "templates", "check", "order")
        self.refused(64, "templates takes check or render", "templates", "list")

    def test_a_check_names_every_file_and_line_that_cannot_be(self):
        self.assertEqual("ok\n", self.owed("templates", "check", code=0).stdout)
        self.assertIn("ok", self.owed("check", code=0).stdout)
        self.write("mails/hello.txt", "\nHello {name}.\n")
        self.write("mails/more.pdf", "x")
        findings = ["error: mails/more.pdf: a file is called NAME.txt or NAME.html, or NAME.en.txt in a language",
                    "error: mails/hello.txt:2: placeholder name: no such variable is declared"]
        for words in (["templates", "check"], ["check"]):
            self.assertEqual(findings, self.owed(*words, code=1).stdout.splitlines())
        self.assertEqual({"level": "error", "text": findings[1][len("error: "):]},
                         json.loads(self.owed("templates", "check", "--json", code=1).stdout.splitlines()[1]))
        self.refused(78, "mails/more.pdf", "templates")

    def test_the_folder_is_named_by_the_file_or_a_flag(self):
        (self.folder / "other").mkdir()
        self.assertEqual("ok, but there are none\n", self.owed("templates", "check", "--folder", "other", code=0).stdout)
        self.refused(65, "the folder of templates gone cannot be read", "templates", "--folder", "gone")
        (self.folder / "owed.conf").unlink()
        self.refused(78, "no folder of templates is named", "templates")


run()
