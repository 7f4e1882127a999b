#!/usr/bin/env python3
"""Holds C++ and CUDA sources to .clang-format.

    cmake/check_format.py ROOT

Other versions of clang-format lay out some lines otherwise, so version 14 judges: Debian 12's, or PyPI's beside this Python or in
ROOT/build/python (tests/python/requirements.txt). Prints a line a place. Exit code 1 if there is any, 77 where there is no such
clang-format.
"""

import pathlib
import shutil
import subprocess
import sys

VERSION = "version 14."
FOLDERS = ("common", "datasets", "dedup", "pipeline", "train", "app", "tools", "python", "tests", "examples")
SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}


def formatter(root):
    beside = [pathlib.Path(sys.executable).parent / "clang-format", root / "build/python/bin/clang-format"]
    for program in [*map(str, beside), shutil.which("clang-format-14"), shutil.which("clang-format")]:
        if not program or not pathlib.Path(program).exists():
            continue
        if VERSION in subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout:
            return program
    return None


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    program = formatter(root)
    if program is None:
        print("skipped: no clang-format 14 here (pip install -r tests/python/requirements.txt)")
        return 77
    files = sorted(path for folder in FOLDERS for path in (root / folder).rglob("*") if path.suffix in SUFFIXES)
    said = subprocess.run([program, "--dry-run", "--ferror-limit=0", *files], capture_output=True, text=True, check=False).stderr
    places = [line for line in said.splitlines() if "[-Wclang-format-violations]" in line]
    print("\n".join(places) or f"{len(files)} files are laid out as .clang-format says")
    return 1 if places else 0


if __name__ == "__main__":
    sys.exit(main())
