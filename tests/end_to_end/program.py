"""Runs the program as a user does, and makes small data sets for it."""

import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest
import zlib

import door

ROOT = pathlib.Path(__file__).resolve().parents[2]
WINNOW = os.environ["WINNOW"]
ALL = os.environ.get("WINNOW_TEST_ALL") == "1"
SHM = pathlib.Path("/dev/shm")
BY_RANK = ROOT / "tests" / "common" / "by_rank"
TMPFS = pathlib.Path(os.environ.get("WINNOW_TEST_TMPFS", SHM))  # CTest gives a place there, which it clears
# Set as train and eval do by restarting if nobody else has: that would take a tenth of a second each time.
os.environ["COLUMNS"] = "0"  # unwrapped help, for tests that search for sentences
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("GOMP_SPINCOUNT", "1000")
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job would pass on that it is ignored
FASHION_MNIST = pathlib.Path("/usr/share/datasets/fashion-mnist")
needs_fashion_mnist = unittest.skipUnless(
    FASHION_MNIST.exists(), "Debian's dataset-fashion-mnist is not installed"
)
# The processor that training in bf16 requires: it needs AVX-512.
CAN_TRAIN_IN_BF16 = "avx512f" in pathlib.Path("/proc/cpuinfo").read_text()
needs_bf16 = unittest.skipUnless(CAN_TRAIN_IN_BF16, "this processor cannot train in bf16, which needs AVX-512")


def some_of(what, cases, most, *kinds):
    """About `most` of the cases: one at random from each of as many equal parts, always the same, and at least one for
    each value of each kind(case). With WINNOW_TEST_ALL=1 all cases. Prints how many of how many are run.
    """
    cases = list(cases)
    taken = set(range(len(cases)))
    if not ALL and most < len(cases):
        draw = random.Random(what)
        ends = [i * len(cases) // most for i in range(most + 1)]
        taken = {draw.randrange(begin, end) for begin, end in zip(ends, ends[1:])}
        for kind in kinds:
            seen = {kind(cases[i]) for i in taken}
            for i, case in enumerate(cases):
                if kind(case) not in seen:
                    seen.add(kind(case))
                    taken.add(i)
    print(f"{what}: {len(taken)} of {len(cases)}", flush=True)
    return [cases[i] for i in sorted(taken)]


PATIENCE_S = 180  # for events that must happen; a machine may be busy meanwhile
RUN_S = 900  # for one run of the program


def eventually(condition, what="it", patience_s=PATIENCE_S):
    """Waits until condition() is true, and returns its value. Fails if it never is. `what` may be a function that returns the message."""
    end = time.monotonic() + patience_s
    while not (found := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"{what() if callable(what) else what}: not within {patience_s} s")
        time.sleep(0.01)
    return found


def has_taken(process, number):
    """Whether no signal that was sent to the process is pending."""
    try:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    except OSError:  # the process has gone
        return True
    return not any(int(bits, 16) >> (number - 1) & 1 for bits in re.findall(r"(?:SigPnd|ShdPnd):\s*(\w+)", status))


def ends_by_a_second_signal(process, number, until=eventually):
    """Fails unless the process continues after a signal and ends at a later one.

    Signals within a second of the first count as one with it, so more are sent until one counts. `until(condition)`
    waits.
    """
    process.send_signal(number)
    until(lambda: has_taken(process, number))
    sent, times = time.monotonic(), 1

    def is_over():
        nonlocal sent, times
        if process.poll() is None and time.monotonic() > sent + 1.1:
            process.send_signal(number)
            sent, times = time.monotonic(), times + 1
        return process.poll() is not None

    until(is_over)
    assert times > 1, "the first signal has ended it"


def lines_of_metrics(folder):
    """The number of lines of metrics of all runs in a folder.

    Files may go meanwhile, as when a checkpoint gets its name: rglob() of Python 3.11 fails then, os.walk() does not.
    """
    count = 0
    for path, _, files in os.walk(folder):
        if "metrics.jsonl" in files:
            with contextlib.suppress(FileNotFoundError):
                count += pathlib.Path(path, "metrics.jsonl").read_bytes().count(b"\n")
    return count


def end_on_its_way(command, out, number, lines):
    """Runs winnow ARGS and sends it a signal when the runs in `out` have written this many more lines of metrics,
    unless it has ended. Waits for its end.
    """
    process = subprocess.Popen([WINNOW, *map(str, command)], stderr=subprocess.DEVNULL)
    enough = lines_of_metrics(out) + lines
    try:
        eventually(lambda: process.poll() is not None or lines_of_metrics(out) >= enough, f"{enough} lines of metrics", RUN_S)
        process.send_signal(number)
        process.wait(RUN_S)
    finally:
        process.kill()


class Kills:
    """Seconds after which runs of one command are killed, as fractions (`moments`) of its duration.

    If a run ended before its kill, the duration is reduced: the machine has become faster. Continues until `least` runs
    were killed.
    """

    def __init__(self, takes_s, moments, least):
        self.takes_s, self.moments, self.least, self.killed = takes_s, moments, least, 0

    def __iter__(self):
        for number in range(20 * len(self.moments)):
            if number >= len(self.moments) and self.killed >= self.least:
                return
            self.wait_s = self.moments[number % len(self.moments)] * self.takes_s
            yield self.wait_s
        raise AssertionError(f"{self.killed} of {number + 1} runs were killed, of which there are to be {self.least}")

    def tell(self, killed):
        """Records whether the last run was killed."""
        self.killed += killed
        if not killed:
            self.takes_s = self.wait_s


def errors_in(text):
    """The sentences that a program ended with.

    Messages to a slow rank, as on a busy machine, and the message that mpirun ends the remaining ranks have the same
    form. mpirun of Open MPI 5 ends its own notices with a NUL, which is then at the beginning of the next line.
    """
    told = ("holds up every step", "stopping; mpirun ends all ranks")
    return [line for line in text.replace("\0", "").splitlines() if line.startswith("winnow: ") and not any(words in line for words in told)]


class Result:
    def __init__(self, done):
        self.code = done.returncode
        self.out = done.stdout
        self.err = done.stderr

    def json(self):
        return json.loads(self.out.strip().splitlines()[-1])


def run(*args, ranks=0, env=None, before=(), process=False):
    """winnow ARGS, on `ranks` ranks under mpirun, or without mpirun; `before` is a command that runs it.

    If it needs no process of its own, and none is requested, it is a call of the library (door.py).
    """
    words = list(map(str, args))
    if not (ranks or env or before or process) and door.leads_to(words):
        return Result(door.call(WINNOW, words))
    command = [*map(str, before), WINNOW, *words]
    if ranks:
        command = [str(ROOT / "tools" / "local_mpirun"), str(ranks), *command]
    done = subprocess.run(
        command, capture_output=True, text=True, errors="surrogateescape", timeout=RUN_S,
        env={**os.environ, "WINNOW_MPI_TIMEOUT": "800", **(env or {})}
    )
    return Result(done)


def ranks_of(job):
    """Process ids of the ranks of mpirun's job, which are its children."""
    found = subprocess.run(["pgrep", "-P", str(job.pid), "-x", "winnow"], capture_output=True, text=True)
    return [int(pid) for pid in found.stdout.split()]


def end_of_killed(job):
    """Waits for a job whose ranks were killed.

    mpirun may wait for itself (in PMIx, at its end) when all ranks have gone. It is killed after half a minute without
    a rank, also if it has not started any. Ranks that do not end fail the test.
    """
    alone = 0

    def is_over():
        nonlocal alone
        try:
            job.communicate(timeout=1)
            return True
        except subprocess.TimeoutExpired:
            states = subprocess.run(["ps", "-o", "state=", "--ppid", str(job.pid)], capture_output=True, text=True).stdout.split()
            alone = alone + 1 if set(states) <= {"Z"} else 0
            if alone == 30:
                job.kill()
            return False

    eventually(is_over, "the end of a job of which ranks were killed", RUN_S)


def npy(rows, dtype="<f4", shape=None, major=1):
    """The file that numpy.save() writes."""
    shape = shape or (len(rows), len(rows[0]))
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (63 - (len(header) + 10 + 2 * (major > 1)) % 64) + b"\n"
    code = {"<f2": "e", "<f4": "f", "<f8": "d"}.get(dtype, "f")
    numbers = [value for row in rows for value in row]
    return (b"\x93NUMPY" + bytes([major, 0]) + struct.pack("<H" if major == 1 else "<I", len(header)) + header
            + struct.pack(f"<{len(numbers)}{code}", *numbers))


class Case(unittest.TestCase):
    """A test with its own folder and a seeded random generator."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="winnow-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.random = random.Random(self.id())
        door.watch(self)

    def use_tmpfs(self):
        """Moves the test's folder to where a sync costs nothing, if there is room: kills need no disk."""
        if os.access(TMPFS, os.W_OK) and shutil.disk_usage(TMPFS).free > 1 << 29:
            shutil.rmtree(self.folder)
            self.folder = pathlib.Path(tempfile.mkdtemp(prefix="winnow-test-", dir=TMPFS))
            self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def ok(self, *args, **more):
        result = run(*args, **more)
        self.assertEqual(result.code, 0, result.err)
        return result

    def refused(self, code, words, *args, **more):
        """Expects exit code `code`, one sentence with each of `words`, and nothing on stdout."""
        result = run(*args, **more)
        self.assertEqual(result.code, code, f"{args}: {result.err}")
        lines = errors_in(result.err)
        self.assertEqual(len(lines), 1, result.err)
        for word in words:
            self.assertIn(word, lines[0])
        return result

    def rank_folders(self, ranks):
        """A command for run(before=...): each rank works in its own folder, SELF.folder/on-RANK."""
        for rank in range(ranks):
            (self.folder / f"on-{rank}").mkdir()
        script = self.folder / "in_my_folder"
        script.write_text(f'#!/bin/sh\ncd "{self.folder}/on-$OMPI_COMM_WORLD_RANK" && exec "$@"\n')
        script.chmod(0o755)
        return [script]

    def image(self, side, channels=3, seed=None):
        """Smooth random pixels, interpolated between corner colours, so that hashes have something to see."""
        r = random.Random(seed) if seed is not None else self.random
        grid = [[[r.randrange(256) for _ in range(channels)] for _ in range(5)] for _ in range(5)]
        across = [(4 * x / side, int(4 * x / side)) for x in range(side)]
        rows = [[row[x0][c] * (1 - fx + x0) + row[x0 + 1][c] * (fx - x0) for fx, x0 in across for c in range(channels)]
                for row in grid]  # fmt: skip
        pixels = bytearray()
        for y in range(side):
            fy, y0 = across[y]
            above, below = 1 - fy + y0, fy - y0
            pixels += bytes(int(top * above + low * below) for top, low in zip(rows[y0], rows[y0 + 1]))
        return bytes(pixels)

    def write_ppm(self, path, pixels, side):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"P6\n%d %d\n255\n" % (side, side) + pixels)

    def detailed(self, seed, width=96, height=72):
        """Rows of grey pixels with edges of many sizes in many places, and grain, as in photos."""
        r = random.Random(seed)
        boxes = [(r.randrange(width), r.randrange(height), r.randrange(3, 20), r.randrange(3, 20), r.randrange(256)) for _ in range(60)]
        rows = [[128] * width for _ in range(height)]
        for left, top, across, down, shade in boxes:
            for y in range(top, min(height, top + down)):
                rows[y][left:left + across] = [shade] * len(rows[y][left:left + across])
        return [[min(255, max(0, value + r.randrange(-9, 10))) for value in row] for row in rows]

    def write_pgm(self, path, rows):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"P5\n%d %d\n255\n" % (len(rows[0]), len(rows)) + bytes(pixel for row in rows for pixel in row))

    def write_idx(self, folder, prefix, images, labels, side):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{prefix}-images-idx3-ubyte").write_bytes(
            struct.pack(">IIII", 0x803, len(images), side, side) + b"".join(images)
        )
        (folder / f"{prefix}-labels-idx1-ubyte").write_bytes(
            struct.pack(">II", 0x801, len(labels)) + bytes(labels)
        )

    def learnable_idx(self, folder, train=512, test=128, side=16, classes=4):
        """Grey images whose class is the bright quadrant."""
        half = bytes(value // 2 for value in range(256))
        large = bytes(value for value in range(256) if value // 2 >= 90)
        brighter = bytes((value + 120) % 256 for value in range(256))

        def sample(label):
            pixels = bytearray()
            while missing := side * side - len(pixels):  # each of 90 shades, from the upper 7 of 32 random bits
                pixels += self.random.randbytes(4 * missing)[3::4].translate(half, large)
            top, left = divmod(label, 2)
            for y in range(side // 2):
                at = (y + top * side // 2) * side + left * side // 2
                pixels[at:at + side // 2] = pixels[at:at + side // 2].translate(brighter)
            return bytes(pixels)

        for prefix, count in (("train", train), ("t10k", test)):
            labels = [self.random.randrange(classes) for _ in range(count)]
            self.write_idx(folder, prefix, [sample(label) for label in labels], labels, side)

    def metrics(self, run_folder, name):
        rows = [json.loads(line) for line in (run_folder / "metrics.jsonl").read_text().splitlines()]
        return [row[name] for row in rows if name in row]


def tree_bytes(folder):
    """Every file in `folder` by relative name."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def png(*chunks):
    """A PNG of chunks made by png_chunk()."""
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def png_chunk(kind, content=b""):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def tensors(path):
    """A safetensors file as {name: bytes}."""
    raw = path.read_bytes()
    (size,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + size])
    header.pop("__metadata__", None)
    begin = 8 + size
    return {
        name: raw[begin + row["data_offsets"][0] : begin + row["data_offsets"][1]]
        for name, row in header.items()
    }


def columns(path):
    """The columns of a selection or a fingerprint table, read by the code in docs/formats/fingerprints.md."""
    text = (ROOT / "docs/formats/fingerprints.md").read_text()
    code = re.search(r"^```python.*?\n(.*?)\nfor name", text, re.DOTALL | re.MULTILINE)[1]
    defined = {}
    exec(code, defined)
    return {
        name: [raw[k : k + size] for k in range(0, len(raw), size)] for name, size, raw in defined["columns"](path)
    }
