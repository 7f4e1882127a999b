"""The types of the package winnow, by mypy --strict."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

if subprocess.run([sys.executable, "-c", "import mypy, numpy"], capture_output=True).returncode != 0:
    print("skipped: this Python has no mypy, or no numpy for it to look at")
    sys.exit(77)
sys.exit(subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", "/dev/null"], cwd=ROOT).returncode)
