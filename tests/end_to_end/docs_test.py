"""docs/trainer.md lists what the program's own tables have, neither more nor less."""

import re
import unittest

from program import ROOT, Case


class Docs(Case):
    def listed(self, title):
        page = (ROOT / "docs" / "trainer.md").read_text()
        section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
        self.assertIsNotNone(section, title)
        return re.findall(r"^\* `(\w+)`: \S", section[1], re.MULTILINE)

    def test_trainer(self):
        said = self.ok("train", "--help-all").out
        for title, table in (("Nets", "Nets"), ("Optimizers", "Optimizers"), ("All-reduce schedules", "Schedules"),
                             ("Backends", "Backends")):  # fmt: skip
            rows = re.search(rf"^{table}:\n((?:  \w.*\n)+)", said, re.MULTILINE)
            self.assertIsNotNone(rows, table)
            self.assertEqual(self.listed(title), re.findall(r"^  (\w+)", rows[1], re.MULTILINE), title)
        formats = (ROOT / "docs" / "formats" / "checkpoint.md").read_text()
        for name in self.listed("Optimizers") + self.listed("Learning-rate schedules"):
            self.assertRegex(formats, rf"(?m)^\|.*`{name}`.*\|", "docs/formats/checkpoint.md has no row of its options")
        rates = re.search(r"--sched TEXT:\{([\w,]+)\}", said)
        self.assertEqual(self.listed("Learning-rate schedules"), rates[1].split(","))


if __name__ == "__main__":
    unittest.main(verbosity=2)
