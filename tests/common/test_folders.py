#!/usr/bin/env python3
"""test_folders.py: makes the folders of one run of CTest, and prints, as CTest reads it, the environment that names them.

TMPDIR is for files, WINNOW_TEST_TMPFS for those whose syncs shall cost nothing, in memory where there is room for that; TEST_TMPDIR,
which GoogleTest reads, is the same. When CTest ends, however it ends, both go, and so do processes that tests left behind."""

import os
import pathlib
import select
import shutil
import signal
import sys
import tempfile

SHM = pathlib.Path("/dev/shm")
ROOM = 1 << 30  # bytes that memory must have for it


def remove(folders):
    """Ends all processes whose environment names one of the folders, then removes them."""
    names = [str(folder).encode() for folder in folders]
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if int(process.name) != os.getpid() and any(name in (process / "environ").read_bytes() for name in names):
                os.kill(int(process.name), signal.SIGKILL)
        except OSError:
            pass  # over, or another's
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def remove_when_over(pid, folders):
    """A process of its own that waits for another one's end."""
    watched = os.pidfd_open(pid)
    if os.fork():
        return
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    select.select([watched], [], [])
    remove(folders)
    os._exit(0)


def main():
    files = tempfile.mkdtemp(prefix="winnow-tests-")
    memory = SHM if os.access(SHM, os.W_OK) and shutil.disk_usage(SHM).free > ROOM else None
    folders = [files, tempfile.mkdtemp(prefix="winnow-tests-", dir=memory or files)]
    print(f'set(ENV{{TMPDIR}} "{folders[0]}")\nset(ENV{{WINNOW_TEST_TMPFS}} "{folders[1]}")\nset(ENV{{TEST_TMPDIR}} "{folders[1]}")')
    sys.stdout.flush()
    remove_when_over(int(sys.argv[1]), folders)


if __name__ == "__main__":
    main()
