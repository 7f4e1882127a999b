"""What tests/gpu/pack packs and leaves out, with scripts in place of programs."""

import importlib.machinery
import importlib.util
import io
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader("gpu_pack", str(pathlib.Path(__file__).resolve().parent / "pack"))
pack = importlib.util.module_from_spec(importlib.util.spec_from_loader(LOADER.name, LOADER))
LOADER.exec_module(pack)

LDD = """\tlinux-vdso.so.1 (0x00007ffd)
\tlibdnnl.so.2 => /lib/x86_64-linux-gnu/libdnnl.so.2 (0x00007f)
\tlibcudnn.so.9 => /usr/local/cuda/lib64/libcudnn.so.9 (0x00007f)
\tlibcublasLt.so.13 => not found
\tlibtbb.so.12 => not found
\tlibstdc++.so.6 => /lib/x86_64-linux-gnu/libstdc++.so.6 (0x00007f)
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f)
\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f)
\tlibcrypto.so.3 => /lib/x86_64-linux-gnu/libcrypto.so.3 (0x00007f)
\t/lib64/ld-linux-x86-64.so.2 (0x00007f)
"""


class Pack(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="winnow-test-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        for name in ("suite", "winnow"):
            (self.folder / name).write_text(f"#!/bin/sh\necho {name}\n")
            (self.folder / name).chmod(0o755)
        (self.folder / "cifar10.tar.xz").write_bytes(b"images")
        (self.folder / "libone.so.1").write_bytes(b"one")
        (self.folder / "libtwo.so.2").write_bytes(b"two")
        # The suite loads one library, winnow both.
        one, two = ({f"lib{name}": self.folder / f"lib{name}"} for name in ("one.so.1", "two.so.2"))
        loads = {"suite": (one, []), "winnow": (one | two, [])}
        patch = mock.patch.object(pack, "needed", lambda program: loads[program.name])
        patch.start()
        self.addCleanup(patch.stop)

    def packed(self, *words, reasons=None):
        """(names in the archive, what LEFT_OUT.json says, exit code)"""
        arguments = ["--out", self.folder / "out.tar.xz", "--suite", self.folder / "suite", "--winnow", self.folder / "winnow",
                     "--images", self.folder / "cifar10.tar.xz", *words]  # fmt: skip
        given = reasons or {}
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            code = pack.main([str(word) for word in arguments], lambda folder, name, root: given.get(name, ""))
        if not (self.folder / "out.tar.xz").exists():
            return [], {}, code
        with tarfile.open(self.folder / "out.tar.xz") as archive:
            names = sorted(member.name.removeprefix("gpu-suite/") for member in archive if member.isfile())
            return names, json.load(archive.extractfile("gpu-suite/LEFT_OUT.json")), code

    def test_programs_libraries_scripts_and_images(self):
        names, left_out, code = self.packed()
        self.assertEqual(names, sorted(["COMMIT", "LEFT_OUT.json", "bin/suite", "bin/winnow", "cifar10.tar.xz", "lib/libone.so.1",
                                        "lib/libtwo.so.2", "start", *pack.SCRIPTS]))  # fmt: skip
        self.assertEqual((left_out, code), ({}, 0))

    def test_all_that_the_script_imports_is_packed(self):
        self.packed()
        with tarfile.open(self.folder / "out.tar.xz") as archive:
            archive.extractall(self.folder / "there")
        done = subprocess.run([sys.executable, "-B", self.folder / "there/gpu-suite/run", "--help"], capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_was_packed_starts_where_it_was_unpacked_with_its_libraries(self):
        (self.folder / "suite").write_text(f'#!/bin/sh\nprintf "%s\\n" "$1" "$LD_LIBRARY_PATH" >"{self.folder}/seen"\n')
        self.packed()
        with tarfile.open(self.folder / "out.tar.xz") as archive:
            archive.extractall(self.folder / "any folder")
        there = self.folder / "any folder/gpu-suite"
        done = subprocess.run([there / "start", "--stage", "train"], capture_output=True, text=True, check=False)
        self.assertIn("train: nothing was kept", done.stdout, done.stderr)
        stage, path = (self.folder / "seen").read_text().splitlines()
        self.assertEqual((stage, path.split(":")[0]), ("train", f"{there}/lib"))

    def test_what_does_not_start_is_left_out_with_its_libraries_and_images_and_says_why(self):
        names, left_out, code = self.packed("--bare", self.folder, reasons={"winnow": "libtwo.so.2: cannot open"})
        self.assertEqual(left_out, {"winnow": "libtwo.so.2: cannot open"})
        self.assertNotIn("bin/winnow", names)
        self.assertNotIn("lib/libtwo.so.2", names)
        self.assertNotIn("cifar10.tar.xz", names)
        self.assertIn("lib/libone.so.1", names)
        self.assertEqual(code, 0)

    def test_one_that_is_too_large_is_not_kept(self):
        names, _, code = self.packed("--most-mib", "0.0001")
        self.assertEqual((names, code), ([], 1))

    def test_the_same_files_give_the_same_bytes(self):
        self.packed()
        first = (self.folder / "out.tar.xz").read_bytes()
        self.packed()
        self.assertEqual((self.folder / "out.tar.xz").read_bytes(), first)

    def test_libraries_of_the_system_and_of_cards_stay(self):
        found, missing = pack.libraries(LDD)
        self.assertEqual(sorted(found), ["libcrypto.so.3", "libdnnl.so.2"])
        self.assertEqual(missing, ["libtbb.so.12"])

    def test_one_whose_libraries_are_not_here_is_left_out(self):
        with mock.patch.object(pack, "needed", lambda program: ({}, ["libtbb.so.12"] if program.name == "winnow" else [])):
            _, left_out, _ = self.packed()
        self.assertEqual(left_out, {"winnow": "not found here: libtbb.so.12"})


if __name__ == "__main__":
    unittest.main()
