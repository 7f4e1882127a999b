"""Help texts in a terminal: no line is too wide, and the first screen has a line for each verb."""

import os
import unittest
import unittest.mock

from program import Case, run


def verbs_of(verb):
    yield verb["name"].split()[1:]
    for below in verb["verbs"]:
        yield from verbs_of(below)


class Help(Case):
    def test_no_line_is_wider_than_the_terminal(self):
        verbs = list(verbs_of(run("reference").json()["program"]))
        self.assertGreater(len(verbs), 40)
        for columns in (80, 160):
            with unittest.mock.patch.dict(os.environ, COLUMNS=str(columns)):
                for words in verbs:
                    for how in ("--help", "--help-all") if words else ("--help",):
                        said = self.ok(*words, how).out
                        self.assertEqual([line for line in said.splitlines() if len(line) > columns], [], (words, how))
                        self.assertNotIn("(Env:", said)

    def test_eighty_columns_where_there_is_no_terminal(self):
        with unittest.mock.patch.dict(os.environ):
            del os.environ["COLUMNS"]
            said = run("dedup", "--help-all", process=True).out
        with unittest.mock.patch.dict(os.environ, COLUMNS="80"):
            self.assertEqual(said, self.ok("dedup", "--help-all").out)

    def test_the_first_screen(self):
        with unittest.mock.patch.dict(os.environ, COLUMNS="80"):
            alone = run()
        self.assertEqual((alone.code, alone.out), (2, ""))
        program = run("reference").json()["program"]
        lines = alone.err.splitlines()
        for verb in program["verbs"]:
            name = verb["name"].split()[1]
            self.assertEqual([line.split(maxsplit=1)[1] for line in lines if line.startswith(f"  {name} ")], [verb["description"]])
        self.assertLess(len(lines), 45)


if __name__ == "__main__":
    unittest.main(verbosity=2)
