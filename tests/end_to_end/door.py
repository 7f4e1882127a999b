"""Verbs as library calls in this process: the functions of app/ behind the flags of the program, without its main().

Tests that start no process are named in library_tests.txt, and are held to it. WINNOW_TEST_LIST=FILE appends the names
of tests that start none.
"""

import atexit
import ctypes
import os
import pathlib
import subprocess
import sys

# Verbs that start processes of this program, or write to the terminal themselves.
_PROCESSES = {"bench", "doctor", "reference", "sweep", "tune-lr", "watch"}
_TAKE = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t)
_STARTS = {"subprocess.Popen", "os.posix_spawn", "os.fork", "os.system"}
LISTED = pathlib.Path(__file__).with_name("library_tests.txt")


class _Counts:
    library = None
    calls = 0  # calls of the library
    starts = 0  # processes started
    alone = 0  # tests with calls that started no process
    tests = 0


def _note(event, _):
    _Counts.starts += event in _STARTS


sys.addaudithook(_note)


def is_there():
    """Whether this build has the library. A build with a sanitizer has none."""
    return "WINNOW_DOOR" in os.environ


def leads_to(words):
    """Whether `winnow WORDS...` can be such a call."""
    return is_there() and bool(words) and words[0] not in _PROCESSES and not words[0].startswith("-") and "--live" not in words


def call(program, words):
    """The output and exit code of `program WORDS...`, in the form of subprocess.run(). Can be called by any thread, several at once."""
    if _Counts.library is None:
        _Counts.library = ctypes.CDLL(os.environ["WINNOW_DOOR"])
    _Counts.calls += 1
    told = {1: [], 2: []}
    take = _TAKE(lambda stream, text, count: told[stream].append(ctypes.string_at(text, count)))
    given = [os.fsencode(word) for word in (program, *words)]
    code = _Counts.library.winnow_run(len(given), (ctypes.c_char_p * len(given))(*given), take)
    out, err = (b"".join(told[stream]).decode("utf-8", "surrogateescape") for stream in (1, 2))
    return subprocess.CompletedProcess([program, *words], code, out, err)


def listed():
    """Names of the tests that start no process: FILE.CLASS.METHOD."""
    return LISTED.read_text().split()


def watch(test):
    """Fails the test at its end if it is listed but has started a process."""
    file = pathlib.Path(sys.modules[type(test).__module__].__file__).stem.removesuffix("_test")
    name = ".".join([file, *test.id().split(".")[-2:]])
    calls, starts = _Counts.calls, _Counts.starts

    def judge():
        alone = _Counts.calls > calls and _Counts.starts == starts
        _Counts.tests += 1
        _Counts.alone += alone
        if alone and (path := os.environ.get("WINNOW_TEST_LIST")):
            with open(path, "a") as listing:
                print(name, file=listing)
        if is_there() and _Counts.starts != starts and name in listed():
            test.fail("library_tests.txt says that this test starts no process, and it did")

    test.addCleanup(judge)


@atexit.register
def _tell():
    if _Counts.tests:
        print(f"{_Counts.alone} of {_Counts.tests} tests made calls of the library, and started no process", file=sys.stderr)
