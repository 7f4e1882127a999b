"""The parts of the GPU suite: how long each may take, and calls that are stopped when it is over."""

import json
import os
import pathlib
import signal
import subprocess
import time

# Minutes of each part, in the order in which they run. `train` needs what the others leave.
MINUTES = {"sanitize": 1.5, "conformance": 2.0, "bench": 3.5, "cache": 1.5, "train": 0.5}

PASSED, FAILED, STOPPED, LEFT_OUT = "passed", "failed", "stopped", "left out"


def share(stage, stages, seconds):
    """Seconds that `stage` may take of those left to it and to the stages behind it. None: no limit."""
    if seconds is None:
        return None
    behind = stages[stages.index(stage):]
    return max(seconds, 0) * MINUTES[stage] / sum(MINUTES[one] for one in behind)


class Limit:
    """Until when something may work."""

    def __init__(self, seconds, clock=time.monotonic):
        self.clock = clock
        self.end = None if seconds is None else clock() + seconds

    def left(self):
        """Seconds; None: there is no limit."""
        return None if self.end is None else max(self.end - self.clock(), 0)

    def is_over(self):
        return self.end is not None and self.clock() >= self.end

    def part(self, of):
        """A limit that leaves as much to each of `of` things, of which this is the first."""
        left = self.left()
        return Limit(None if left is None else left / of, self.clock)


def end(child):
    """Ends a process, asked first, and kills all that it started and left."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, how)
            child.wait(5)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass
    child.wait()


def call(command, log, limit, pause=time.sleep):
    """Runs a command, with what it says in the file `log`: PASSED, FAILED, or STOPPED where the time was over."""
    if limit.is_over():
        return STOPPED
    with log.open("ab") as said:
        child = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT,
                                 start_new_session=True)  # fmt: skip
        while child.poll() is None:
            if limit.is_over():
                end(child)
                return STOPPED
            pause(0.05)
    return PASSED if child.returncode == 0 else FAILED


class Report:
    """OUT/STAGE.json as the suite's program writes it, anew after each item; "finished" once finish() was called."""

    def __init__(self, out, stage, facts):
        self.path = out / f"{stage}.json"
        self.whole = {"schema": "winnow.gpu/1", "stage": stage, "facts": facts, "finished": False, "passed": 0, "failed": 0, "items": []}
        self.write()

    def add(self, name, state, **fields):
        item = {"name": name, "state": state, **fields}
        self.whole["items"].append(item)
        self.write()
        print(f"{state:8} {name}  {json.dumps(fields)}", flush=True)

    def finish(self):
        self.whole["finished"] = all(item["state"] != STOPPED for item in self.whole["items"])
        self.write()

    def write(self):
        for state in (PASSED, FAILED):
            self.whole[state] = sum(item["state"] == state for item in self.whole["items"])
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(self.whole, indent=1) + "\n")
        new.replace(self.path)


def summary(out, stages):
    """A line a stage, from the JSON that each left, and whether nothing failed and something passed."""
    lines, good = [], True
    for stage in stages:
        path = out / f"{stage}.json"
        if not path.exists():
            lines.append(f"{stage}: nothing was kept")
            good = False
            continue
        found = json.loads(path.read_text())
        left_out = [item for item in found["items"] if item["state"] == LEFT_OUT]
        words = [f"{found['passed']} passed, {found['failed']} failed"]
        words += [f"left out {item['name']}: {item['note']}" for item in left_out]
        words += [] if found["finished"] else ["stopped before the end"]
        lines.append(f"{stage}: {'; '.join(words)}")
        good = good and found["failed"] == 0 and (found["passed"] > 0 or bool(left_out))
    return lines, good


def digests(run, files="*.safetensors"):
    """SHA-256 of such files of each checkpoint of a run: {"step-10/model.safetensors": "..."}."""
    import hashlib

    folder = pathlib.Path(run) / "checkpoints"
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.glob(f"step-*/{files}")) if not path.parent.name.endswith(".part")}  # fmt: skip


def train_twice(winnow, images, report, out, limit):
    """Trains from a cache of `images`, twice, by the command `winnow`: the same bits in all checkpoints."""
    log = out / "cache.log"
    state = call([*winnow, "ingest", images, "--out", out / "cache"], log, limit)
    if state != PASSED:
        return report.add("a cache", state, log=log.name)
    found = []
    for run in ("run-1", "run-2"):
        begin = limit.clock()
        state = call([*winnow, "train", out / "cache", "--out", out / run, "--backend", "cudnn", "--net", "resnet20", "--dtype", "bf16",
                      "--batch-size", 512, "--micro-batch", 512, "--epochs", 2], log, limit)  # fmt: skip
        found.append(digests(out / run))
        report.add(f"winnow train, {run}", state, seconds=round(limit.clock() - begin, 2), checkpoints=found[-1], log=log.name)
        if state == FAILED:
            return None
    both = found[0].keys() & found[1].keys()
    different = sorted(name for name in both if found[0][name] != found[1][name])
    state = FAILED if different else PASSED if both and found[0].keys() == found[1].keys() else STOPPED
    return report.add("the same bits twice", state, compared=len(both), different=different)
