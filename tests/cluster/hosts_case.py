"""Tests that need hosts in network namespaces."""

import pathlib
import subprocess
import sys
import unittest

HOSTS = pathlib.Path(__file__).resolve().parent / "hosts"
sys.path.insert(0, str(HOSTS.parents[1] / "end_to_end"))
from program import PATIENCE_S, RUN_S, TMPFS, eventually  # noqa: E402, F401


class HostsCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            tried = subprocess.run([HOSTS, "1", "1gbit", "true"], capture_output=True, text=True)
        except OSError as error:
            raise unittest.SkipTest(f"no network namespaces can be made here: {error}") from None
        if tried.returncode != 0:
            raise unittest.SkipTest(f"no network namespaces can be made here: {tried.stderr.strip()}")
