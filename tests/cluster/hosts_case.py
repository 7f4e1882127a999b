"""Tests that need hosts in network namespaces."""

import os
import pathlib
import subprocess
import unittest

HOSTS = pathlib.Path(__file__).resolve().parent / "hosts"
TMPFS = os.environ.get("WINNOW_TEST_TMPFS", "/dev/shm")  # CTest gives a place there that it clears


class HostsCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            tried = subprocess.run([HOSTS, "1", "1gbit", "true"], capture_output=True, text=True)
        except OSError as error:
            raise unittest.SkipTest(f"no network namespaces can be made here: {error}") from None
        if tried.returncode != 0:
            raise unittest.SkipTest(f"no network namespaces can be made here: {tried.stderr.strip()}")
