#!/usr/bin/env python3
"""Makes the folders for one run of CTest, and prints the environment that names them in a form that CTest reads.

TMPDIR is for files. WINNOW_TEST_TMPFS is for files whose syncs should cost nothing, in memory if there is room.
TEST_TMPDIR, which GoogleTest reads, is the same; Open MPI's ranks share memory through files in it. However CTest ends,
both folders are then removed, as are processes that tests left behind, and copies in memory of caches in these folders.
"""

import contextlib
import os
import pathlib
import select
import shutil
import signal
import sys
import tempfile
import time

SHM = pathlib.Path("/dev/shm")
ROOM = 1 << 30  # bytes of memory that must be free for it
LOOKS = 100  # looks for processes, at most: some never have an environment
OPEN_MPI = ("OMPI_MCA_btl_vader_backing_directory", "OMPI_MCA_btl_sm_backing_directory")  # version 4, version 5


def in_memory(folders):
    """winnow's copies in memory of caches in the folders: shards that a link there points to, and copies that name their cache."""
    links = (entry for folder in folders for entry in folder.rglob("shards") if entry.is_symlink())
    found = {pathlib.Path(os.readlink(link)) for link in links}
    for copy in SHM.glob(f"winnow-{os.geteuid()}-*/copy.json"):
        with contextlib.suppress(FileNotFoundError):  # others drop theirs meanwhile
            if any(str(folder) in copy.read_text(errors="replace") for folder in folders):
                found.add(copy.parent)
    return [folder for folder in found if folder.parent == SHM]


def end_processes(names):
    """Ends all processes whose environment has one of the names. Returns whether another look may find more: a process
    that is starting has none yet.
    """
    again = False
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if int(process.name) == os.getpid():
                continue
            environment = (process / "environ").read_bytes()
            if any(name in environment for name in names):
                os.kill(int(process.name), signal.SIGKILL)
                again = True
            elif not environment and os.readlink(process / "exe"):  # kernel threads have no program
                again = True
        except OSError:
            pass  # it has ended, or belongs to somebody else
    return again


def remove(folders):
    """Ends all processes whose environment names one of the folders. Then removes the folders, and their copies in memory."""
    names = [str(folder).encode() for folder in folders]
    for _ in range(LOOKS):
        if not end_processes(names):
            break
        time.sleep(0.05)
    for folder in [*in_memory(folders), *folders]:
        shutil.rmtree(folder, ignore_errors=True)


def remove_when_over(pid, folders):
    """Starts a process that waits for the end of another one."""
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
    folders = [pathlib.Path(files), pathlib.Path(tempfile.mkdtemp(prefix="winnow-tests-", dir=memory or files))]
    environment = {"TMPDIR": folders[0]} | dict.fromkeys(("WINNOW_TEST_TMPFS", "TEST_TMPDIR", *OPEN_MPI), folders[1])
    for name, folder in environment.items():
        print(f'set(ENV{{{name}}} "{folder}")')
    sys.stdout.flush()
    remove_when_over(int(sys.argv[1]), folders)


if __name__ == "__main__":
    main()
