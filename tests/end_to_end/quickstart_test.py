"""The output of tools/quickstart at its end and when it cannot continue, with stand-ins for the programs that it calls."""

import os
import shutil
import subprocess
import unittest

from program import ROOT, Case, needs_fashion_mnist


class Quickstart(Case):
    def setUp(self):
        super().setUp()
        self.tree = self.folder / "winnow"
        (self.tree / "tools").mkdir(parents=True)
        for name in ("quickstart", "setup_functions"):
            shutil.copy(ROOT / "tools" / name, self.tree / "tools" / name)
        self.programs = self.folder / "programs"
        self.stand_in(self.tree / "tools" / "local_mpirun", 'shift; exec "$@"')
        self.stand_in(self.tree / "build" / "release" / "winnow", """echo '{"top1":0.9161,"top1_leak_free":0.9159}'""")
        self.stand_in(self.programs / "cmake")

    @staticmethod
    def stand_in(path, does=""):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{does}\n")
        path.chmod(0o755)

    def run_it(self, *words, cwd=None):
        """Its output, and its messages to the user."""
        path = f"{self.programs}:{os.environ['PATH']}"
        return subprocess.run([self.tree / "tools" / "quickstart", *words], capture_output=True, text=True, cwd=cwd or self.tree,
                              env={**os.environ, "PATH": path})  # fmt: skip

    @needs_fashion_mnist
    def test_the_last_lines_fit_a_screen(self):
        (self.tree / "quickstart" / "cache").mkdir(parents=True)
        (self.tree / "quickstart" / "cache" / "manifest.json").write_text("{}")
        groups = '{"groups":81,"removed":89,"leaks":[{"a":"train","b":"test","groups":18,"samples":18}]}'
        (self.tree / "quickstart" / "dedup.json").write_text(groups)
        for cwd, program in ((self.tree, "build/release/winnow"), (self.tree / "build" / "release", "./winnow")):
            done = self.run_it("--no-install", cwd=cwd)
            self.assertEqual(done.returncode, 0, done.stderr)
            lines = done.stdout.splitlines()
            self.assertLess(len(lines), 24)
            if cwd == self.tree:
                self.assertLessEqual(max(map(len, lines)), 80, done.stdout)
            self.assertIn("91.61 %", done.stdout)
            self.assertIn("test images with a copy in training: 18", done.stdout)
            commands = lines[lines.index("Try next") + 1 :]
            self.assertEqual({line.split()[0] for line in commands}, {program})
            self.assertTrue((cwd / commands[0].split()[-1] / "manifest.json").exists(), commands[0])

    def test_a_package_that_another_system_lacks_is_named(self):
        self.stand_in(self.programs / "dpkg-query", "exit 1")
        self.stand_in(self.programs / "apt-get", 'case "$*" in *install*) exit 100 ;; esac')
        self.stand_in(self.programs / "sudo", 'exec "$@"')
        done = self.run_it()
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"quickstart: apt-get cannot install what lacks; the names are those of Debian 12 and 13, and this is .+:\n.* libdnnl-dev ")

    def test_what_is_missing_is_listed_where_nothing_may_be_installed(self):
        self.stand_in(self.programs / "dpkg-query", "exit 1")
        for name in ("bash", "dirname", "mkdir", "sed"):
            os.symlink(shutil.which(name), self.programs / name)
        (self.programs / "cmake").unlink()
        done = subprocess.run([shutil.which("bash"), self.tree / "tools" / "quickstart", "--no-install"], capture_output=True, text=True,
                              env={"PATH": str(self.programs)})  # fmt: skip
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"c\+\+ cmake ninja not found\. Of Debian's packages these are missing here:\n  g\+\+ cmake .*libdnnl-dev")


if __name__ == "__main__":
    unittest.main(verbosity=2)
