"""winnow doctor on this machine, and with something removed from it."""

import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import unittest

from program import ROOT, WINNOW, Case, run

try:
    import jsonschema
except ImportError:
    jsonschema = None

SCRIPT = ROOT / "tools" / "winnow-doctor"


def can(*command):
    return subprocess.run(command, capture_output=True).returncode == 0


class Doctor(Case):
    def look(self, code=0, **more):
        """Findings by name."""
        result = run("doctor", "--json", self.folder, **more)
        self.assertEqual(result.code, code, result.err)
        self.report = json.loads(result.out)
        self.assertEqual(self.report["works"], code == 0)
        return {finding["what"]: finding for finding in self.report["findings"]}

    def test_here(self):
        findings = self.look()
        self.assertEqual(findings["decoders"]["state"], "ok")
        self.assertIn(str(self.folder), findings["caches"]["found"])
        self.assertRegex(findings["convolutions"]["found"], r"^oneDNN \d+\.\d+\.\d+, \w+$")
        self.assertEqual(findings["cores"]["found"].split()[0], str(len(os.sched_getaffinity(0))))
        text = self.ok("doctor").out
        for name, finding in findings.items():
            self.assertRegex(text, rf"(?m)^{finding['state']} +{name} +\S")
            self.assertEqual(finding["advice"] == "", finding["state"] == "ok")
            self.assertLess(finding["advice"].count(". "), 1, "one sentence")
        self.assertEqual(list(self.folder.iterdir()), [])

    @unittest.skipUnless(jsonschema, "this Python has no package jsonschema (Debian: python3-jsonschema)")
    def test_schema(self):
        self.look()
        schema = json.loads((ROOT / "docs" / "schemas" / "doctor.schema.json").read_text())
        jsonschema.validate(self.report, schema, jsonschema.Draft202012Validator)
        self.report["findings"][0]["state"] = "well"
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate(self.report, schema, jsonschema.Draft202012Validator)

    def test_without_programs(self):
        findings = self.look(env={"PATH": str(self.folder)})
        self.assertEqual(findings["ssh"]["state"], "missing")
        self.assertIn("openssh-client", findings["ssh"]["advice"])
        self.assertEqual(findings["launcher"]["state"], "missing")

    def test_with_an_open_mpi_without_threads(self):
        programs = self.folder / "it's here"
        programs.mkdir()
        for name, words in (("mpirun", ""), ("ompi_info", "echo option:threads:no")):
            (programs / name).write_text(f"#!/bin/sh\n{words}\n")
            (programs / name).chmod(0o755)
        mpi = self.look(env={"PATH": str(programs)})["MPI"]
        self.assertEqual(mpi["state"], "missing")
        self.assertRegex(mpi["found"], "^Open MPI .*, configured without threads$")
        (programs / "ompi_info").write_text("#!/bin/sh\necho 'option:threads:\"posix (MPI_THREAD_MULTIPLE: no)\"'\n")
        self.assertEqual(self.look(env={"PATH": str(programs)})["MPI"]["state"], "ok")
        (programs / "ompi_info").unlink()
        self.assertEqual(self.look(env={"PATH": str(programs)})["MPI"]["state"], "ok")

    def test_on_another_system(self):
        file = self.folder / "os-release"
        for lines, state, found in (
            ('ID=ubuntu\nVERSION_ID="24.04"\nPRETTY_NAME="Ubuntu 24.04 LTS"\n', "warning", "Ubuntu 24.04 LTS"),
            ("ID=debian\nVERSION_ID=14\n", "warning", "debian 14"),
            ('PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nVERSION_ID="13"\nID=debian\n', "ok", "Debian GNU/Linux 13 (trixie)"),
            ("", "warning", "not named by an os-release"),
        ):  # fmt: skip
            file.write_text(lines)
            with self.subTest(lines=lines):
                system = self.look(env={"OS_RELEASE": str(file)})["system"]
                self.assertEqual((system["state"], system["found"]), (state, found))

    def test_without_room_for_temporary_files(self):
        findings = self.look(code=1, env={"TMPDIR": str(self.folder / "nowhere")})
        self.assertEqual(findings["temporary files"]["state"], "missing")
        self.assertIn("nowhere is not there", findings["temporary files"]["found"])
        self.refused_in_words(["it lacks temporary files"], env={"TMPDIR": "/nowhere"})

    def refused_in_words(self, words, **more):
        result = run("doctor", **more)
        self.assertEqual(result.code, 1)
        for word in words:
            self.assertIn(word, result.err)

    def test_other_locale_and_instructions(self):
        findings = self.look(env={"LC_ALL": "C", "WINNOW_SIMD": "none"})
        self.assertEqual(findings["locale"]["state"], "warning")
        self.assertEqual(findings["processor"]["state"], "warning")
        self.assertEqual(self.look(env={"LC_ALL": "C.UTF-8"})["locale"]["state"], "ok")

    def test_under_limits(self):
        findings = self.look(before=["prlimit", f"--as={8 << 30}", "--nofile=100:100"])
        self.assertEqual(findings["address space"]["state"], "warning")
        self.assertRegex(findings["address space"]["found"], r"[4-7]\.\d GiB more by ulimit -v")
        self.assertEqual(findings["open files"]["state"], "warning")
        self.assertEqual(self.look()["address space"]["found"], "not limited")

    @unittest.skipUnless(can("unshare", "-rm", "true"), "a mount namespace of one's own is not allowed here")
    def test_without_shared_memory(self):
        script = self.folder / "in_namespace"
        script.write_text('#!/bin/sh\nmount -t tmpfs $OPTIONS none $PLACE && exec "$@"\n')
        script.chmod(0o755)
        for place, options, words in (("/dev", "", "is not there"), ("/dev/shm", "-o ro", "cannot be written to")):
            findings = self.look(before=["unshare", "-rm", script], env={"PLACE": place, "OPTIONS": options})
            self.assertEqual(findings["shared memory"]["state"], "missing")
            self.assertIn(f"/dev/shm {words}", findings["shared memory"]["found"])
            self.assertIn("--memory-dir", findings["shared memory"]["advice"])

    def test_in_a_control_group(self):
        for top, name in (("/sys/fs/cgroup", "memory.max"), ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")):
            group = pathlib.Path(top) / f"winnow-test-{os.getpid()}"
            try:
                group.mkdir()
            except OSError:
                continue
            self.addCleanup(group.rmdir)
            if (group / name).exists():
                break
        else:
            self.skipTest("no control group that limits memory can be made here")
        (group / name).write_text(str(128 << 20))
        script = self.folder / "in_group"
        script.write_text(f'#!/bin/sh\necho $$ > {group}/cgroup.procs && exec "$@"\n')
        script.chmod(0o755)
        findings = self.look(code=1, before=[script])
        self.assertEqual(findings["memory"]["state"], "missing")
        self.assertRegex(findings["memory"]["found"], r"\d+(\.\d)? MiB by the control group")

    def test_ranks(self):
        result = run("doctor", "--json", ranks=2)
        self.assertEqual(result.code, 0, result.err)
        findings = {finding["what"]: finding for finding in result.json()["findings"]}
        self.assertEqual(findings["launcher"]["found"], "this is one of 2 ranks")

    def test_script_where_a_library_is_missing(self):
        done = subprocess.run([SCRIPT, "--json"], capture_output=True, text=True, env={**os.environ, "WINNOW": WINNOW})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["schema"], "winnow.doctor/1")
        # As if built with another version of a library, which is not installed.
        other = self.folder / "winnow"
        other.write_bytes(pathlib.Path(WINNOW).read_bytes().replace(b"liblmdb.so.0\0", b"liblmdb.so.7\0"))
        other.chmod(0o755)
        done = subprocess.run([SCRIPT], capture_output=True, text=True, env={**os.environ, "WINNOW": str(other)})
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"^missing +library +liblmdb\.so\.7\n +Install the package that has it .*\n$")
        self.assertIn("cannot start", done.stderr)
        done = subprocess.run([SCRIPT], capture_output=True, text=True, env={**os.environ, "WINNOW": "/nowhere"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no program /nowhere", done.stderr)

    @unittest.skipUnless(shutil.which("readelf") and shutil.which("dpkg"), "readelf and dpkg are not both here")
    def test_script_knows_every_library(self):
        said = subprocess.run(["readelf", "-d", WINNOW], capture_output=True, text=True, check=True).stdout
        libraries = [name for name in re.findall(r"NEEDED.*\[(.*)\]", said) if not re.match(r"lib(c|m|asan|ubsan|tsan)\.|ld-", name)]
        self.assertGreater(len(libraries), 10)
        rows = dict(self.rows())
        release = platform.freedesktop_os_release()
        here = release["ID"] + release.get("VERSION_ID", "")
        if here not in ("debian12", "debian13"):
            self.skipTest(f"{here} is neither of Debian's releases that the script knows")
        column = int(here == "debian13")
        for library in libraries:
            with self.subTest(library=library):
                self.assertIn(library, rows)
                owner = subprocess.run(["dpkg", "-S", f"*/{library}"], capture_output=True, text=True)
                if owner.returncode == 0:
                    self.assertIn(rows[library][column], {line.split(":")[0] for line in owner.stdout.splitlines()})

    @staticmethod
    def rows():
        """Pairs of a library and its packages in Debian 12 and 13."""
        for line in SCRIPT.read_text().splitlines():
            if re.match(r"lib\S+\.so\S+ ", line):
                library, *packages = line.split()
                yield library, packages

    def test_script_names_packages_of_either_release(self):
        ldd, system = self.folder / "ldd", self.folder / "os-release"
        ldd.write_text('#!/bin/sh\nprintf "\\t$LIBRARY => not found\\n"\n')
        ldd.chmod(0o755)
        env = {**os.environ, "WINNOW": WINNOW, "PATH": f"{self.folder}:{os.environ['PATH']}", "OS_RELEASE": str(system)}
        for release, column in (("12", 0), ("13", 1), ("11", None)):
            system.write_text(f'ID=debian\nVERSION_ID="{release}"\n')
            for library, packages in self.rows():
                with self.subTest(release=release, library=library):
                    said = subprocess.run([SCRIPT], capture_output=True, text=True, env={**env, "LIBRARY": library}).stdout.splitlines()
                    self.assertEqual(said[0].split(), ["missing", "library", library])
                    if column is None:
                        named = next(package for package in packages if package != "-")
                        self.assertEqual(said[1].strip(), f"Install the package that has it, {named} of Debian 12 or 13; this is neither.")
                    elif packages[column] == "-":
                        self.assertRegex(said[1], rf"of Debian 1[23], and this is Debian {release}: install a winnow that was made here\.$")
                    else:
                        self.assertEqual(said[1].strip(), f"Install {packages[column]}.")


if __name__ == "__main__":
    unittest.main(verbosity=2)
