"""winnow reference: its files have every verb and option of --help-all and no others. Shells and man accept them."""

import functools
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import unittest

from program import ROOT, WINNOW, Case, eventually, run

try:
    import jsonschema
except ImportError:
    jsonschema = None


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"{program} is not installed (Debian: {program})")


def helped(*path):
    """Every name of an option in the text of --help-all."""
    names = set()
    said = run(*path, "--help-all" if path else "--help").out
    for line in said.partition("\nSubcommands:\n")[0].splitlines():  # those of its verbs follow
        if heading := re.match(r"(?:  |    )(-\S+)", line):
            names |= {name.partition("{")[0] for name in heading[1].split(",")}
    return names


@functools.cache
def paths():
    """Every verb and sub-verb, from the texts of --help; () is the program."""

    def below(*path):
        said = run(*path, "--help").out
        listed = said.partition("Subcommands:\n")[2].partition("\n\n")[0] if path else said.partition("\nExit codes")[0]
        return [(*path, verb) for verb in re.findall(r"^  ([a-z][a-z-]*)  ", listed, re.MULTILINE)]

    verbs = below()
    return [(), *(path for verb in verbs for path in [verb, *below(*verb)])]


@functools.cache
def names_by_help():
    return {path: helped(*path) for path in paths()}


@functools.cache
def made():
    """A folder with the files of each format."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="winnow-test-"))
    unittest.addModuleCleanup(shutil.rmtree, folder)
    for name in ("json", "man", "markdown", "bash", "zsh", "fish"):
        assert run("reference", "--format", name, "--to", folder / name).code == 0
    return folder


class Zsh:
    """An interactive zsh on its own terminal. Its completion writes what it would offer to a file."""

    SETUP = r"""
autoload -Uz compinit && compinit -D -u
source SCRIPT
compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
  local -a found; builtin compadd -A found "$@"; print -rl -- $found >> OUT
  builtin compadd "$@"
}
grab() { _main_complete; compstate[list]=''; print -r -- END >> OUT }
zle -C grab complete-word grab
bindkey '^G' grab
zstyle ':completion:*' insert-tab false
print READY >> OUT
"""

    def __init__(self, folder):
        self.out = folder / "offered"
        self.out.touch()
        setup = folder / "setup"
        setup.write_text(self.SETUP.replace("SCRIPT", str(made() / "zsh" / "_winnow")).replace("OUT", str(self.out)))
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.chdir(folder)
            os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "TERM": "dumb"})
        self.pid = pid
        threading.Thread(target=self.drain, daemon=True).start()
        self.send(f"source {setup}\n")
        self.wait("READY")

    def drain(self):
        try:
            while os.read(self.terminal, 4096):
                pass
        except OSError:
            pass

    def send(self, text):
        os.write(self.terminal, text.encode())

    def wait(self, word):
        eventually(lambda: word in self.out.read_text().splitlines(), lambda: f"zsh offered {self.out.read_text()}")
        lines = self.out.read_text().splitlines()
        self.out.write_text("")
        return {line for line in lines if line and line != word}

    def complete(self, line):
        self.send("\x15" + line + "\x07")
        return self.wait("END")

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


class Reference(Case):
    @functools.cached_property
    def json(self):
        return json.loads((made() / "json" / "winnow.json").read_text())

    def verbs(self):
        def walk(verb, path):
            yield path, verb
            for below in verb["verbs"]:
                yield from walk(below, (*path, below["name"].split()[-1]))

        return dict(walk(self.json["program"], ()))

    def test_help_is_read(self):
        names = names_by_help()
        self.assertGreater(len(names), 30)
        self.assertIn("--no-nesterov", names["train",])
        self.assertIn("-b", names["bench", "alltoall"])
        self.assertGreater(sum(map(len, names.values())), 400)

    def test_json(self):
        verbs = self.verbs()
        self.assertEqual(list(verbs), paths())
        for path, verb in verbs.items():
            with self.subTest(verb=path):
                self.assertEqual(verb["name"], " ".join(("winnow", *path)))
                self.assertEqual({name for option in verb["options"] for name in option["names"]}, names_by_help()[path])
                said = " ".join(run(*path, "--help-all" if path else "--help").out.split())
                for option in verb["options"] + verb["positionals"]:
                    self.assertIn(" ".join(option["description"].split()), said)
                    for choice in option["choices"]:
                        self.assertIn(choice, said)
                    if option["default"]:
                        self.assertIn(f"Default: {option['default']}.", said)
                    if option["environment"]:
                        prefix = "WINNOW_" + "_".join(path).upper().replace("-", "_")
                        own = option["names"][0 if len(option["names"]) == 1 else -1]
                        self.assertTrue(option["environment"].startswith(prefix + "_"), own)
                        self.assertIn(f"--some-name can also be given as the variable {prefix}_SOME_NAME.", said)
                self.assertIn(" ".join(verb["notes"].split()), said)
                self.assertIn(" ".join(verb["examples"].split()), said)
                if len(path) == 1:
                    self.assertRegex(verb["examples"], r"^(\w|source )")
                    self.assertNotIn("\n\n", verb["examples"], "more follows the examples")
        self.assertEqual(f"winnow {self.json['version']}\n", run("--version").out)
        of = next(option for option in verbs["split",]["options"] if option["names"] == ["--of"])
        self.assertEqual((of["choices"], of["repeated"]), (["none", "train", "val", "test"], True))

    @unittest.skipUnless(jsonschema, "this Python has no package jsonschema (Debian: python3-jsonschema)")
    def test_schema(self):
        schema = json.loads((ROOT / "docs" / "schemas" / "reference.schema.json").read_text())
        jsonschema.validate(self.json, schema, jsonschema.Draft202012Validator)
        self.json["program"]["verbs"][0]["options"][0]["surprise"] = 1
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate(self.json, schema, jsonschema.Draft202012Validator)

    def test_prints_what_it_writes(self):
        for name in ("json", "man", "markdown", "bash", "zsh", "fish"):
            files = sorted((made() / name).iterdir())
            printed = self.ok("reference", "--format", name).out
            for file in files:
                self.assertIn(file.read_text(), printed)
            self.assertEqual(sum(len(file.read_text()) for file in files), len(printed))
        self.refused(2, ["--format"], "reference", "--format", "pdf")
        (self.folder / "file").touch()
        self.refused(1, ["cannot make the folder"], "reference", "--to", self.folder / "file" / "below")

    def test_man_pages(self):
        pages = made() / "man"
        self.assertEqual({page.name for page in pages.iterdir()},
                         {"-".join(("winnow", *path)) + ".1" for path in paths() if len(path) < 2})  # fmt: skip
        for path in paths():
            text = (pages / ("-".join(("winnow", *path[:1])) + ".1")).read_text()
            parts = re.split(r'^\.SS "winnow', text, flags=re.MULTILINE)
            if len(path) == 2:
                text = next(part for part in parts[1:] if part.startswith(f" {' '.join(path)} "))
                text = text.partition("\n.SH ")[0]
            else:
                text = parts[0]
            heads = re.findall(r"^\.TP\n\\fB(\\-.*?)\\fR", text, re.MULTILINE)
            names = {name for head in heads for name in head.replace("\\-", "-").split(", ")}
            self.assertEqual(names, names_by_help()[path], path)

    def test_markdown(self):
        pages = made() / "markdown"
        self.assertEqual({page.name for page in pages.iterdir()},
                         {f"{(path or ('winnow',))[-1]}.md" for path in paths() if len(path) < 2})  # fmt: skip
        verbs = self.verbs()
        for path in paths():
            text = (pages / f"{path[0] if path else 'winnow'}.md").read_text()
            prose = re.sub(r"(?ms)^```.*?^```$", "", text)
            self.assertNotRegex(re.sub(r"\\.|`[^`\n]*`| \*[^*\n]+\*", "", prose), "[<*_]", "neither code nor escaped")
            parts = re.split(r"(?m)^##? winnow(?= )", text)
            if len(path) == 2:
                text = next(part for part in parts[1:] if part.startswith(f" {' '.join(path)}\n"))
            else:
                text = "winnow".join(parts[:2]) if path else text
            heads = re.findall(r"(?m)^(`-[^*\n]*`)(?: \*[^*]+\*(?: \.\.\.)?)? \{ #(\S+) \}\n:   ", text)
            names = {name.strip("`") for head, _ in heads for name in head.split(", ")}
            self.assertEqual(names, names_by_help()[path], path)
            anchors = [anchor for _, anchor in heads]
            self.assertEqual(len(anchors), len(set(anchors)))
            said = " ".join(text.replace("\\", "").replace("`", "").split())
            for option in verbs[path]["options"]:
                for value in [*option["choices"], option["default"], option["environment"], *option["needs"]]:
                    self.assertIn(value, said)

    @needs("man")
    def test_man_shows_pages(self):
        for page in sorted((made() / "man").iterdir()):
            done = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, text=True,
                                  env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"})  # fmt: skip
            self.assertEqual((done.returncode, done.stderr), (0, ""), page.name)
            self.assertIn("NAME", done.stdout)
            self.assertNotIn("\\", re.split(r"(?m)^(?:NOTES|EXAMPLES)$", done.stdout)[0])

    @needs("mandoc")
    def test_mandoc_lint(self):
        for page in sorted((made() / "man").iterdir()):
            done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page], capture_output=True, text=True)
            self.assertEqual(done.stdout, "", page.name)

    def check_offers(self, complete):
        """Checks that `complete` gives what a shell offers for a line, in the folder `self.folder`."""
        (self.folder / "a-file").touch()
        for path in paths():
            line = " ".join(("winnow", *path)) + " "
            offered = {*complete(line + "--"), *complete(line + "-")}
            self.assertEqual({name for name in offered if name.startswith("-")} - {"-", "--"}, names_by_help()[path], path)
        self.assertEqual(complete("winnow "), {path[0] for path in paths() if len(path) == 1})
        self.assertEqual(complete("winnow index "), {path[1] for path in paths() if path[:1] == ("index",) and path[1:]})
        self.assertEqual(complete("winnow split --of "), {"none", "train", "val", "test"})
        self.assertEqual(complete("winnow split cache --json --of tr"), {"train"})
        self.assertEqual(complete("winnow train cache --net resnet20 --resume "), {"no", "auto"})
        for line in ("winnow ingest ", "winnow split --report ", "winnow split --report=", "winnow index add a-file "):
            self.assertIn("a-file", {name.removeprefix("--report=") for name in complete(line)}, line)

    @needs("bash")
    def test_bash(self):
        def complete(line):
            words = [word for part in line.split(" ") for word in (re.split("(=)", part) if "=" in part else [part])]
            # `compgen -f` does what -o default does if the function offers nothing.
            script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _winnow; '
                      '((${#COMPREPLY[@]})) || mapfile -t COMPREPLY < <(compgen -f -- "${@: -1}"); '
                      'printf "%s\\n" "${COMPREPLY[@]}"; complete -p winnow >&2')  # fmt: skip
            done = subprocess.run(["bash", "--norc", "-c", script, "bash", made() / "bash" / "winnow", *words],
                                  capture_output=True, text=True, cwd=self.folder)  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stderr, r"^complete .*-o default .*-F _winnow winnow\n$")
            return set(done.stdout.split("\n")) - {""}

        self.check_offers(complete)

    @needs("fish")
    def test_fish(self):
        def complete(line):
            done = subprocess.run(["fish", "--no-config", "-c", "source $argv[1]; complete -C $argv[2]",
                                   made() / "fish" / "winnow.fish", line], capture_output=True, text=True, cwd=self.folder,
                                  env={**os.environ, "HOME": str(self.folder / "home")})  # fmt: skip
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return {row.split("\t")[0] for row in done.stdout.splitlines()} - {"home/", "./"}

        self.check_offers(complete)

    @needs("zsh")
    def test_zsh(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="winnow-test-"))
        self.addCleanup(shutil.rmtree, folder)
        (folder / "here").mkdir()
        self.folder = folder / "here"
        zsh = Zsh(folder)
        self.addCleanup(zsh.close)
        zsh.send(f"cd {self.folder}\n")
        self.check_offers(zsh.complete)


if __name__ == "__main__":
    unittest.main(verbosity=2)
