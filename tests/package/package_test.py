"""The files of cmake --install, a project that is built against them, and Debian's packages."""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "end_to_end"))
from program import ROOT, Case, run  # noqa: E402

BUILD = pathlib.Path(os.environ["WINNOW_BUILD"])
CMAKE = os.environ["CMAKE"]
EXAMPLE = ROOT / "tests" / "package" / "example"
PACKED = shutil.which("dpkg-deb") and shutil.which("dpkg-shlibdeps")


def call(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


@functools.cache
def scratch(name):
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"winnow-test-{name}-"))
    unittest.addModuleCleanup(shutil.rmtree, folder)
    return folder


@functools.cache
def installed():
    prefix = scratch("prefix")
    call(CMAKE, "--install", BUILD, "--prefix", prefix)
    return prefix


@functools.cache
def packages():
    """Paths by name of the package."""
    folder = scratch("packages")
    call(pathlib.Path(CMAKE).with_name("cpack"), "-G", "DEB", "-B", folder, cwd=BUILD)
    return {path.name.split("_")[0]: path for path in folder.glob("*.deb")}


def version():
    return run("--version").out.split()[1]


class Install(Case):
    def test_program(self):
        prefix = installed()
        self.assertEqual(call(prefix / "bin" / "winnow", "--version"), f"winnow {version()}\n")
        call(prefix / "bin" / "winnow-doctor", "--json")
        self.assertIn("--min-ranks", call(prefix / "bin" / "winnow-elastic", "--help"))
        for format, folder in (("man", "man/man1"), ("bash", "bash-completion/completions"),
                               ("zsh", "zsh/vendor-completions"), ("fish", "fish/vendor_completions.d")):  # fmt: skip
            self.ok("reference", "--format", format, "--to", self.folder / format)
            for made in (self.folder / format).iterdir():
                there = prefix / "share" / folder / made.name
                text = there.read_text() if there.exists() else call("gzip", "-dc", f"{there}.gz")
                self.assertEqual(text, made.read_text(), there)

    def test_headers(self):
        """All public headers are installed, with everything that they include, and no private ones."""
        top = next(installed().glob("include/winnow"))
        headers = {str(path.relative_to(top)): path.read_text() for path in top.rglob("*.h")}
        self.assertGreater(len(headers), 100)
        for name, text in headers.items():
            self.assertNotIn("_internal", name)
            for included in re.findall(r'^#include "(.*)"', text, re.MULTILINE):
                self.assertIn(included, headers, f"{name} includes it")

    def test_example(self):
        """A separate project finds winnow, and both libraries give the program's results."""
        build = scratch("example")
        call(CMAKE, "-S", EXAMPLE, "-B", build, f"-DCMAKE_PREFIX_PATH={installed()}")
        call(CMAKE, "--build", build)
        picture = self.image(32, seed=1)
        other = bytearray(picture)
        other[:3] = bytes(255 - value for value in other[:3])
        for name, pixels in (("a.ppm", picture), ("b.ppm", bytes(other)), ("c.ppm", self.image(32, seed=2))):
            self.write_ppm(self.folder / name, pixels, 32)
        rows = [line.split(",") for line in self.ok("hash", self.folder, "--hash", "phash").out.splitlines()[1:]]
        codes = {row[0]: int(row[3], 16) for row in rows}
        pairs = [("a.ppm", "b.ppm"), ("a.ppm", "c.ppm"), ("b.ppm", "c.ppm")]
        expected = sorted((bin(codes[a] ^ codes[b]).count("1"), f"{a} {b}") for a, b in pairs)
        self.assertLess(expected[0][0], 5)
        for program in ("compare", "compare_static"):
            said = call(build / program, *sorted(codes), cwd=self.folder).splitlines()
            self.assertEqual([tuple(line.split(" ", 1)) for line in said],
                             [(str(bits), pair + (" duplicates" if bits < 10 else "")) for bits, pair in expected])  # fmt: skip
        self.assertIn("libwinnow.so", call("ldd", build / "compare"))
        self.assertNotIn("libwinnow.so", call("ldd", build / "compare_static"))
        done = subprocess.run([build / "compare", self.folder / "none.ppm"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("none.ppm", done.stderr)

    def test_other_version_is_refused(self):
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(p CXX)\nfind_package(winnow 99 REQUIRED)\n"
        )
        done = subprocess.run([CMAKE, "-S", self.folder, "-B", self.folder / "b", f"-DCMAKE_PREFIX_PATH={installed()}"],
                              capture_output=True, text=True)  # fmt: skip
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"version: {version()}", done.stderr)


@unittest.skipUnless(PACKED, "dpkg-deb and dpkg-shlibdeps are not both here (Debian: dpkg-dev)")
class Packages(Case):
    def field(self, package, name):
        return call("dpkg-deb", "-f", packages()[package], name).strip()

    def test_names_and_needs(self):
        self.assertEqual(set(packages()), {"winnow", "winnow-dev"})
        for package in packages():
            self.assertEqual(self.field(package, "Version"), version())
            self.assertRegex(self.field(package, "Depends"), r"\blibdnnl(2|3\.\d+)\b")
        self.assertIn("openmpi-bin", self.field("winnow", "Recommends"))

    def test_contents(self):
        """Packages have no files elsewhere, and no file in common."""
        seen = set()
        for package in packages():
            files = []
            for line in call("dpkg-deb", "-c", packages()[package]).splitlines():
                mode, owner, _, _, _, path = line.split(maxsplit=5)
                self.assertEqual(owner, "root/root")
                self.assertRegex(mode, r"^(drwxr-xr-x|-rw[x-]r-[x-]r-[x-]|lrwxrwxrwx)$")
                if not path.endswith("/"):
                    files.append(path.partition(" -> ")[0].removeprefix("."))
            self.assertFalse(seen & set(files))
            seen |= set(files)
            doc = f"/usr/share/doc/{package}/"
            self.assertIn(doc + "copyright", files)
            self.assertIn(doc + "changelog.gz", files)
            places = {
                "winnow": r"/usr/(bin/winnow(-doctor|-elastic)?|share/(man/man1/winnow[\w-]*\.1\.gz|bash-completion/completions/winnow|"
                          r"zsh/vendor-completions/_winnow|fish/vendor_completions\.d/winnow\.fish|doc/winnow/.*))",
                "winnow-dev": r"/usr/(include/winnow/[\w/]+\.h|lib/(cmake/winnow/winnow\w+(-\w+)?\.cmake|libwinnow\.(a|so[.\d]*))|"
                              r"share/doc/winnow-dev/.*)",
            }  # fmt: skip
            for file in files:
                self.assertRegex(file, f"^{places[package]}$")
        self.assertEqual(sum("/man1/" in file for file in seen), 1 + len(re.findall(
            r"^  [a-z][a-z-]*  ", run("--help").out.partition("\nExit codes")[0], re.MULTILINE)))  # fmt: skip

    def test_programs_run(self):
        call("dpkg-deb", "-x", packages()["winnow"], self.folder)
        self.assertEqual(call(self.folder / "usr/bin/winnow", "--version"), f"winnow {version()}\n")
        changes = call("gzip", "-dc", self.folder / "usr/share/doc/winnow/changelog.gz")
        self.assertTrue(changes.startswith(f"winnow ({version()}) "), changes)

    @unittest.skipUnless(shutil.which("lintian"), "lintian is not installed (Debian: lintian)")
    def test_lintian(self):
        call("lintian", "--allow-root", "--fail-on", "error", *packages().values())


class Wheel(Case):
    def test_the_page_says_where_it_runs(self):
        """The requirements of wheels are those that docs/install.md states."""
        page = (ROOT / "docs" / "install.md").read_text()
        project = (ROOT / "pyproject.toml").read_text()
        glibc = re.search(r"manylinux_2_(\d+)_", (ROOT / "tools" / "wheel").read_text())[1]
        python = re.search(r'requires-python = ">=3\.(\d+)"', project)[1]
        self.assertEqual(set(re.findall(r"manylinux_2_(\d+)_", page)), {glibc})
        self.assertEqual(set(re.findall(r"glibc(?: older than)? 2\.(\d+)", page)), {glibc})
        self.assertIn(f"Python 3.{python} or newer", page)
        self.assertIn(f"Python 3.{int(python) - 1} or older", page)
        name = re.search(r'^name = "(.*)"', project, re.MULTILINE)[1]
        self.assertEqual(set(re.findall(r"(winnow_\w+)-0", page)), {name.replace("-", "_")})
        self.assertIn("[mpi]", page)

    def test_the_sources_have_every_folder_that_is_built(self):
        project = (ROOT / "pyproject.toml").read_text()
        folders = re.findall(r"^ *add_subdirectory\((\w+)\)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
        self.assertIn("app", folders)
        for folder in set(folders) - {"tests"}:  # a wheel needs no tests
            self.assertIn(f'"/{folder}/', project)

    def test_no_mpi_is_named_as_the_program_names_it(self):
        said = (ROOT / "common" / "comm" / "mpi" / "loaded_mpi.cpp").read_text()
        row = re.search(r"`(this machine has no MPI library .*?)`", (ROOT / "docs" / "install.md").read_text())[1]
        self.assertIn(row, said)


@unittest.skipUnless((ROOT / ".git").exists(), "this is no checkout of git")
class Sources(Case):
    def test_archive(self):
        """git archive of one commit gives the same bytes twice."""
        command = f"git -C {ROOT} archive --prefix=winnow/ HEAD | gzip -9n | sha256sum"
        self.assertEqual(call("sh", "-c", command), call("sh", "-c", command))


class Archive(Case):
    """Its bin/winnow, next to a program that prints how it was called."""

    def unpacked(self, name):
        to = scratch(name) / "any folder"
        start = (ROOT / "packaging" / "start").read_text().replace("MACHINE", "x86_64").replace("MINOR", "36")
        for path, text in (("bin/winnow", start), ("winnow/program/winnow", '#!/bin/sh\nprintf "%s|" "$@"\nexit 5\n')):
            (to / path).parent.mkdir(parents=True, exist_ok=True)
            (to / path).write_text(text)
            (to / path).chmod(0o755)
        return to / "bin" / "winnow"

    def started_on(self, start, machine, library):
        """Started with a uname and a getconf that answer like this. library None: getconf fails, as musl's does."""
        tools = pathlib.Path(tempfile.mkdtemp(dir=start.parent))
        for name, body in (("uname", f"echo {machine}"), ("getconf", "exit 1" if library is None else f"echo {library}")):
            (tools / name).write_text(f"#!/bin/sh\n{body}\n")
            (tools / name).chmod(0o755)
        return subprocess.run([start, "a b", "c"], capture_output=True, text=True, env={"PATH": f"{tools}:/usr/bin:/bin"})

    def test_starts_the_program_where_it_fits(self):
        start = self.unpacked("fits")
        link = start.parent / "link"
        link.symlink_to(start)
        for path, library in ((start, "glibc 2.36"), (start, "glibc 2.41"), (link, "glibc 2.36")):
            done = self.started_on(path, "x86_64", library)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (5, "a b|c|", ""), library)

    def test_says_in_a_sentence_what_machine_it_is_not_for(self):
        start = self.unpacked("unfit")
        for machine, library, told in (("aarch64", "glibc 2.36", "this machine is aarch64"), ("x86_64", "glibc 2.31", "this machine has glibc 2.31"),
                                       ("x86_64", None, "this machine has another C library")):
            done = self.started_on(start, machine, library)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1), told)
            self.assertIn(told, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
