"""Faults that happen to a training on hosts in network namespaces: who is named, how it ends, and whether the results are those of a run that nothing happened to.

Used by faults_test.py and by tests/bench/faults/measure.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

HOSTS = pathlib.Path(__file__).resolve().parent / "hosts"
RANKS = 4  # one per host
BORNE_OUT_S = 10  # before a sentence; during these seconds metrics must confirm that a rank is slow
SLOW_S = 45  # a rank is reported as slow for its steps in these seconds
IN_TIME = 15  # seconds from a fault to the sentence
OLD_S = 10  # the largest age of a rank's last report
RECIPE = ["--net", "lenet", "--image-size", "32", "--batch-size", "12", "--micro-batch", "3", "--reproducible", "--threads", "1",
          "--epochs", "100000", "--log-interval", "1"]  # fmt: skip
SENTENCE = re.compile(
    r"(?:waiting (?P<seconds>\d+) s for )?ranks? (?P<ranks>[\d, and]+) \((?P<hosts>[^)]+)\)"
    r"(?: holds up every step| is gone| are gone)?, last seen (?P<place>in step (?P<step>\d+), [a-z ,0-9]+|starting): (?P<reason>.*)"
)
KILLED = re.compile(r"process rank (\d+) with PID \d+ on node (\w+) exited on signal 9")
PEER = re.compile(r"Peer host: +(\w+)")  # MPI's own message when it ends ranks that were connected to the killed one


@dataclasses.dataclass
class Said:
    """A sentence of winnow's, from the terminal or from the log of a host."""

    by: str
    text: str
    at: float  # time at which it was read
    after: float  # time of the previous look, at which it was not there yet
    ranks: tuple = ()
    hosts: tuple = ()
    step: int = -1  # -1: none was named
    reason: str = ""
    seconds: float = 0  # the time that it reports on, up to its output

    def may_be_of(self, fault):
        """Whether part of the time that it reports on was during the fault, however late it was read."""
        return bool(fault.began) and fault.began <= self.at and self.after - self.seconds - 1 <= (fault.over or self.at)


def parse(by, text, at, after):
    found = SENTENCE.search(text)
    if not found:
        return Said(by, text, at, after)
    ranks = tuple(int(number) for number in re.findall(r"\d+", found["ranks"]))
    seconds = float(found["seconds"] or SLOW_S)
    return Said(by, text, at, after, ranks, tuple(found["hosts"].split(", ")), int(found["step"] or 0), found["reason"], seconds)


def make_cache(winnow, folder, images=384):
    """Makes folder/cache of few learnable images, with 32 steps of RECIPE per epoch."""
    for i in range(images):
        path = folder / f"images/train/{i % 2}/{i}.ppm"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"P6\n16 16\n255\n" + bytes((i * 37 + k * 11 * (1 + i % 2)) % 256 for k in range(3 * 16 * 16)))
    subprocess.run([winnow, "ingest", folder / "images", "--out", folder / "cache"], check=True, capture_output=True)


class Hosts:
    """Four hosts, until close()."""

    def __init__(self, folder):
        shell = f'dirname "$(command -v hosts_on)" > {folder}/tools.new; mv {folder}/tools.new {folder}/tools; exec cat'
        self.process = subprocess.Popen([HOSTS, str(RANKS), "1gbit", "bash", "-c", shell], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        while not (folder / "tools").exists():
            if self.process.poll() is not None:
                raise RuntimeError("no hosts can be made here")
            time.sleep(0.05)
        self.tools = pathlib.Path((folder / "tools").read_text().strip())

    def act(self, what, *words):
        subprocess.run([self.tools / f"hosts_{what}", *words], check=True)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


@dataclasses.dataclass
class Setup:
    """What all jobs of a folder have in common."""

    winnow: str
    hung_disk: str
    folder: pathlib.Path  # with cache and runs
    stall_s: float = 10
    hang_s: float = 1800
    learns: tuple = ()  # flags that change what is learnt


class Job:
    """A training on four hosts."""

    count = 0

    def __init__(self, setup, hosts, run, *more, launch=()):
        Job.count += 1
        self.setup, self.hosts, self.run = setup, hosts, run
        self.mark = f"{os.getpid()}-{Job.count}"
        self.flag = run.parent / f"{run.name}-hangs"  # makes the disk of a host hang
        self.err = run.parent / f"{run.name}-{Job.count}.err"
        self.said, self.lines, self.looked = [], {}, time.monotonic()
        self.faults = []  # faults that happened to this job
        self.before, self.first_size = self.metrics_file(), None
        preload = {"LD_PRELOAD": setup.hung_disk, "HUNG_DISK_ROOT": setup.folder, "HUNG_DISK_FLAG": self.flag, "FAULTS_JOB": self.mark}
        words = [hosts.tools / "hosts_mpirun", *launch]
        for name, value in preload.items():
            words += ["-x", f"{name}={value}"]
        words += [setup.winnow, "train", setup.folder / "cache", "--out", run, *RECIPE, *setup.learns,
                  "--stall-warning", setup.stall_s, "--hang-timeout", setup.hang_s,
                  "--checkpoint-hist", "2", *more]  # fmt: skip
        self.logs = {host: len(self.log_lines(host)) for host in self.host_names()}  # lines from an earlier start
        with open(self.err, "wb") as err:
            self.process = subprocess.Popen([str(word) for word in words], stdout=err, stderr=err)

    @staticmethod
    def host_names():
        return [f"h{rank + 1}" for rank in range(RANKS)]

    def log_lines(self, host):
        path = self.run / f"health/{host}.log"
        return path.read_text().splitlines() if path.exists() else []

    def look(self):
        """Stores sentences since the last look."""
        now = time.monotonic()
        texts = {"terminal": [line.removeprefix("winnow: ") for line in self.text().split("\n")[:-1]]}
        for host, before in self.logs.items():
            texts[host] = [line.partition(" ")[2] for line in self.log_lines(host)[before:]]
        for by, lines in texts.items():
            for line in lines[self.lines.get(by, 0) :]:
                self.said.append(parse(by, line, now, self.looked))
            self.lines[by] = len(lines)
        self.looked = now

    def text(self):
        return self.err.read_text(errors="replace")

    def pid(self, rank):
        """The process id of a rank, or None."""
        wanted = {f"OMPI_COMM_WORLD_RANK={rank}".encode(), f"FAULTS_JOB={self.mark}".encode()}
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):  # the process has gone
                    if wanted <= set((entry / "environ").read_bytes().split(b"\0")):
                        return int(entry.name)
        return None

    def metrics(self):
        path = self.run / "metrics.jsonl"
        rows = path.read_text().splitlines(keepends=True) if path.exists() else []
        return [row for row in map(json.loads, (r for r in rows if r.endswith("\n"))) if "train.loss" in row]

    def steps(self):
        path = self.run / "metrics.jsonl"
        return path.read_bytes().count(b'"train.loss"') if path.exists() else 0

    def told_step(self):
        """The least step that a rank has reported, if it reported OLD_S ago."""
        rows = self.metrics()
        return max((row["step"] for row in rows if row["wall"] < rows[-1]["wall"] - OLD_S), default=0)

    def metrics_file(self):
        path = self.run / "metrics.jsonl"
        return (path.stat().st_ino, path.stat().st_size) if path.exists() else (0, 0)

    def has_begun(self):
        """Whether this start has done a step: it begins a new metrics.jsonl."""
        file, size = self.metrics_file()
        if file in (0, self.before[0]):
            return False
        self.first_size = size if self.first_size is None else self.first_size
        return size > self.first_size

    def checkpoints(self):
        """Steps of the complete checkpoints."""
        found = (self.run / "checkpoints").glob("step-*/state.json")
        return sorted(int(path.parent.name.removeprefix("step-")) for path in found)

    def is_over(self):
        return self.process.poll() is not None

    def within(self, seconds, condition):
        """Whether the condition became true in time. Reads new sentences meanwhile."""
        end = time.monotonic() + seconds
        while not (true := condition()) and time.monotonic() < end:
            self.look()
            time.sleep(0.05)
        self.look()
        return bool(true)

    def ask_to_stop(self, seconds=300):
        """Stops it at a checkpoint, as a user would. Returns its exit code; None if it does not end."""
        if not self.is_over():
            self.process.send_signal(signal.SIGUSR1)
        return self.process.returncode if self.within(seconds, self.is_over) else None

    def end(self):
        for rank in range(RANKS):
            if (pid := self.pid(rank)) is not None:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        if not self.within(30, self.is_over):
            self.process.kill()
            self.process.wait()


class Fault:
    """A fault of one rank or of its host. begin() and end() may each be called once."""

    reasons = ()  # the sentence contains one of these
    ends_job = False  # without help from outside
    is_stall = True  # all ranks wait; otherwise steps continue slowly
    lasts_s = 0  # minimum duration

    def __init__(self, rank):
        self.rank, self.host = rank, f"h{rank + 1}"
        self.began, self.step, self.named = 0.0, 0, None
        self.since = 0.0  # when it could first be noticed
        self.over = None  # when it ended

    kind = property(lambda self: next(name for name, of in KINDS.items() if of is type(self)))

    def begin(self, job):
        job.faults.append(self)
        self.pid = job.pid(self.rank)
        self.step, self.began = job.told_step(), time.monotonic()
        self.since = self.began
        self.act(job)

    def act(self, job):
        raise NotImplementedError

    def end(self, job):
        pass

    def is_named_by(self, said):
        """Whether the sentence is about this fault: rank, machine, reason, and a step in which the rank may have been."""
        if self.rank not in said.ranks or self.host not in said.hosts:
            return False
        return said.may_be_of(self) and self.step <= said.step and any(reason in said.reason for reason in self.reasons)


class Frozen(Fault):
    """SIGSTOP, and SIGCONT later."""

    reasons = ("frozen",)

    def act(self, job):
        os.kill(self.pid, signal.SIGSTOP)

    def end(self, job):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGCONT)


class FrozenForEver(Frozen):
    """SIGSTOP for good; --hang-timeout ends the job."""

    ends_job = True

    def end(self, job):
        pass


class Killed(Fault):
    """SIGKILL. mpirun ends the others. With Open MPI 5, ranks may first end themselves because a connection was closed."""

    reasons = ("gone", "killed or crashed", "exited on signal 9")
    ends_job = True

    def act(self, job):
        os.kill(self.pid, signal.SIGKILL)

    def is_named_by(self, said):
        found, peer = KILLED.search(said.text), PEER.search(said.text)
        by_mpi = (found and (int(found[1]), found[2]) == (self.rank, self.host)) or (peer and peer[1] == self.host)
        return by_mpi or super().is_named_by(said)


class Cut(Fault):
    """Takes the link down, and up again."""

    reasons = ("nothing comes from its machine", "nothing comes from their machines", "nothing comes from any other machine")
    lasts_s = 20

    def act(self, job):
        job.hosts.act("link", self.host, "0", "down")

    def end(self, job):
        job.hosts.act("link", self.host, "0", "up")

    def is_named_by(self, said):
        own = said.may_be_of(self) and f"the link of this one, {self.host}," in said.reason and self.step <= said.step
        return own or super().is_named_by(said)


class CutLong(Cut):
    lasts_s = 150


class HungDisk(Fault):
    """Reads, writes and syncs on the host wait."""

    reasons = ("disk gives it no data", "disks give them no data", "its disk answer", "their disks answer")

    def act(self, job):
        self.flag = pathlib.Path(f"{job.flag}-{self.host}")
        self.flag.touch()

    def end(self, job):
        self.flag.unlink()


class Slowed(Fault):
    """The host gets a tenth of the time."""

    reasons = ("computes slowly", "decodes its images slowly", "other work has its cores", "still computes", "still decodes")
    is_stall = False
    # In a process that exists in advance and runs when it is time, whatever else this machine does.
    PULSE = """if True:
        import os, signal, sys, time
        pid = int(sys.argv[1])
        os.setpriority(os.PRIO_PROCESS, 0, -20)
        while True:
            os.kill(pid, signal.SIGSTOP)
            time.sleep(0.09)
            os.kill(pid, signal.SIGCONT)
            time.sleep(0.01)
    """

    def act(self, job):
        self.pulse = subprocess.Popen([sys.executable, "-c", self.PULSE, str(self.pid)], stderr=subprocess.DEVNULL)

    def end(self, job):
        self.pulse.kill()
        self.pulse.wait()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGCONT)


class CoreTaken(Slowed):
    """All its threads share one core, of which a real-time process takes nine tenths."""

    HOG = """if True:
        import os, time
        parent = os.getppid()
        while os.getppid() == parent:
            until = time.monotonic() + 0.09
            while time.monotonic() < until:
                pass
            time.sleep(0.01)
    """

    def act(self, job):
        core = max(os.sched_getaffinity(0))
        self.hog = subprocess.Popen([sys.executable, "-c", self.HOG])
        os.sched_setaffinity(self.hog.pid, {core})
        os.sched_setscheduler(self.hog.pid, os.SCHED_RR, os.sched_param(1))
        self.cores = {}
        for thread in pathlib.Path(f"/proc/{self.pid}/task").iterdir():
            number = int(thread.name)
            with contextlib.suppress(OSError):
                self.cores[number] = os.sched_getaffinity(number)
                os.sched_setaffinity(number, {core})

    def end(self, job):
        self.hog.kill()
        self.hog.wait()
        for number, cores in self.cores.items():
            with contextlib.suppress(OSError):
                os.sched_setaffinity(number, cores)


KINDS = {"frozen": Frozen, "frozen for ever": FrozenForEver, "killed": Killed, "link 20 s": Cut, "link 150 s": CutLong,
         "disk": HungDisk, "slowed": Slowed, "core taken": CoreTaken}  # fmt: skip


def note_named(job, faults):
    """Records for each fault the first sentence that names it."""
    for fault in faults:
        if fault.began and fault.named is None:
            fault.named = next((said for said in job.said if fault.is_named_by(said)), None)


def is_confirmed(job, said):
    """Whether the metrics confirm that the rank is the slowest, by more than a fifth of the median. On a busy machine one may be."""
    rows = [row for row in job.metrics() if row["step"] <= said.step]
    rows = [row for row in rows if row["wall"] >= rows[-1]["wall"] - BORNE_OUT_S]
    slow = [row for row in rows if row["ranks.slowest"] == said.ranks[0] and row["ranks.compute.max"] > 1.2 * row["ranks.compute.median"]]
    return 2 * len(slow) > len(rows)


def is_slow(job, rank):
    """Whether metrics of the last twenty seconds show it, by 1.5 times what winnow requires. On a busy machine all are slow."""
    rows = job.metrics()
    rows = [row for row in rows if row["wall"] >= rows[-1]["wall"] - 20]
    if len(rows) < 2:
        return False
    step_s = (rows[-1]["wall"] - rows[0]["wall"]) / (rows[-1]["step"] - rows[0]["step"])

    def shows(row):
        own, middle = row["ranks.compute.max"], row["ranks.compute.median"]
        return row["ranks.slowest"] == rank and own - middle > (0.075 if own > 4.5 * middle else 0.3) * step_s

    return 2 * sum(map(shows, rows)) > len(rows)


def accused_wrongly(job):
    """Sentences about ranks to which nothing happened in the time that they report on."""

    def is_wrong(said):
        faults = [fault for fault in job.faults if said.may_be_of(fault)]
        hit = {fault.rank for fault in faults}
        cuts = [fault for fault in faults if isinstance(fault, Cut)]
        if any(words in said.reason for words in ("still starting", "still compute")) and "last seen starting" in said.text:
            return False  # as on a busy machine
        if "holds up every step" in said.text and is_confirmed(job, said):
            return False
        if "gone" in said.text and any(isinstance(fault, Killed) for fault in job.faults):
            return False  # mpirun ends the others as well
        if said.by == "terminal" and any(other.by != "terminal" and other.text == said.text for other in job.said):
            return False  # mpirun delivers messages of a disconnected host late; its log is judged instead
        if "no heartbeats from" in said.text or "heartbeats do not arrive" in said.text:
            return True
        if not said.ranks or set(said.ranks) <= hit:
            return False
        # A host that is cut off sees no other host. Lost messages are resent later than heartbeats.
        if "messages of MPI do not arrive" in said.reason:
            return not cuts
        by_itself = [cut for cut in cuts if said.by in (cut.host, "terminal") and said.reason.startswith("nothing comes from")]
        return not by_itself

    return [f"{said.by}: {said.text}" for said in job.said if is_wrong(said)]


def happen(job, faults, pause_s=0.0, patience_s=IN_TIME + 1):
    """Begins faults and ends each when it is named and has lasted, as those do who mend a cluster. Where one hides another
    (all wait for a frozen rank, so that none is slow), the other has its time from when it is seen: a slow one from the first step that ends,
    as TCP sends again what was lost up to ten seconds after a link is mended. Returns when none is left, or the job is over."""
    for i, fault in enumerate(faults):
        if i:
            job.within(pause_s, job.is_over)
        if job.is_over():
            break
        fault.begin(job)
    endings = [fault for fault in faults if fault.began and fault.ends_job]
    left = [fault for fault in faults if fault.began and not fault.ends_job]

    def all_named():
        note_named(job, left)
        return job.is_over() or all(fault.named for fault in left)

    while left:
        job.within(max(fault.since for fault in left) + patience_s - time.monotonic(), all_named)
        over = [fault for fault in left if fault.named] or left
        job.within(max(fault.began + fault.lasts_s for fault in over) - time.monotonic(), job.is_over)
        for fault in over:
            fault.end(job)
            fault.over = time.monotonic()
        left = [fault for fault in left if not fault.over]
        if left and not any(fault.is_stall for fault in left):
            job.within(patience_s, lambda so_far=job.steps(): job.is_over() or job.steps() > so_far)
        for fault in left:
            fault.since = time.monotonic()
    if endings:
        job.within(job.setup.hang_s + max(45, patience_s), job.is_over)
    note_named(job, faults)


def same_as_undisturbed(job, reference):
    """Differences to the undisturbed run in `reference`, in words; empty: none. It must have the same length."""
    wrong = []
    rows = job.metrics()
    if [row["step"] for row in rows] != list(range(1, len(rows) + 1)):
        wrong.append("steps of metrics.jsonl are not 1, 2, 3 ...")
    losses = [json.loads(row)["train.loss"] for row in (reference / "metrics.jsonl").read_text().splitlines() if '"train.loss"' in row]
    if [row["train.loss"] for row in rows] != losses[: len(rows)]:
        first = next(i for i, row in enumerate(rows) if i >= len(losses) or row["train.loss"] != losses[i])
        wrong.append(f"the loss of step {first + 1} differs")
    for step in job.checkpoints():
        whole = reference / "checkpoints" / f"step-{step}"
        for name in ("model.safetensors", "optimizer.safetensors"):
            if whole.exists() and (job.run / f"checkpoints/step-{step}" / name).read_bytes() != (whole / name).read_bytes():
                wrong.append(f"{name} of step {step} differs")
    if not any((reference / "checkpoints" / f"step-{step}").exists() for step in job.checkpoints()):
        wrong.append("there is no checkpoint to compare")
    return wrong


def census_of(run):
    return json.loads((run / "census.json").read_text())["epochs"]


def census_differs(job, reference):
    """The same for the census."""
    mine, whole = census_of(job.run), census_of(reference)
    complete = [row for row in mine if row["complete"]]
    if complete != whole[: len(complete)]:
        return ["the census of an epoch differs"]
    if len(complete) < len(mine) - 1:
        return [f"{len(mine) - len(complete)} epochs are not complete"]
    return []


def undisturbed(setup, steps):
    """A run of one process for comparison, at least that long, with all its checkpoints."""
    run = setup.folder / "-".join(("undisturbed", *setup.learns))
    have = sum('"train.loss"' in row for row in (run / "metrics.jsonl").read_text().splitlines()) if (run / "metrics.jsonl").exists() else 0
    if have < steps:
        words = [setup.winnow, "train", setup.folder / "cache", "--out", run, *RECIPE, *setup.learns, "--checkpoint-hist", "1000", "--max-steps", steps,
                 "--resume", "auto"]  # fmt: skip
        subprocess.run([str(word) for word in words], check=True, capture_output=True)
    return run


def fresh(run):
    shutil.rmtree(run, ignore_errors=True)
    for rest in run.parent.glob(f"{run.name}-*"):
        rest.unlink()
    return run
