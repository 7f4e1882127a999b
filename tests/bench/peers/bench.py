"""What the parts share: rounds that are kept, processes that are timed, tables."""

import contextlib
import dataclasses
import hashlib
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import platform
import statistics
import subprocess
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parent  # tests/bench
ORIGIN = "origin"  # beside the contenders of a round: the program and the machine


def script(path):
    """Another benchmark of this folder as a module."""
    loader = importlib.machinery.SourceFileLoader(path.replace("/", "_"), str(TESTS / path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


@dataclasses.dataclass
class Bench:
    winnow: pathlib.Path
    data: pathlib.Path
    work: pathlib.Path
    pythons: dict  # by name, of the peers that are here
    rounds: int
    ratios: dict = dataclasses.field(default_factory=dict)  # (what, beside): a ratio a round, of all rows of tables

    def rounds_of(self, part, prepare, contenders, rounds=None):
        """The results of each round: {contender: result}. contenders: {name: function of the prepared folder}.

        Rounds of another program or machine, kept in files of before, are refused by name.
        """
        files = [self.work / f"{part}-{r}.json" for r in range(rounds or self.rounds)]
        with contextlib.ExitStack() as stack:
            folder = None
            for r, file in enumerate(files):
                done = json.loads(file.read_text()) if file.exists() else {}
                if all(name in done for name in contenders):
                    continue
                if folder is None:
                    shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
                    folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="peers-", dir=shm)))
                    prepare(folder)
                # A round in which one is missing is run again as a whole: ratios are of neighbours in time.
                first = r % len(contenders)
                for name in [*contenders][first:] + [*contenders][:first]:
                    done[name] = contenders[name](folder)
                    print(f"{part}, round {r + 1}: {name}: {json.dumps(done[name])}", flush=True)
                file.write_text(json.dumps({**done, ORIGIN: self.origin()}, indent=1) + "\n")
        return self.of_one_origin(files)

    def row(self, key, what, own, peer, ratios):
        """A line of a table. `key`: (what, beside) of its ratios, which keep() writes."""
        median, self.ratios[key] = ratios
        shown = f"{median:.0f}" if median >= 9.5 else f"{median:.1f}"
        return f"| {what} | {own} | {peer} | **{shown}** | {', '.join(f'{x:.3g}' for x in ratios[1])} |"

    def origin(self):
        return f"program {hashlib.sha256(self.winnow.read_bytes()).hexdigest()[:16]} on {machine()}"

    def of_one_origin(self, files):
        """What is in the files; files that do not say whose they are count as equal."""
        rounds, first = [json.loads(file.read_text()) for file in files], {}
        for file, of in zip(files, rounds):
            if origin := of.pop(ORIGIN, None):
                first.setdefault(origin, file.name)
        if len(first) > 1:
            named = "; ".join(f"{name}: {origin}" for origin, name in first.items())
            raise SystemExit(f"rounds of {len(first)} programs or machines in one table: {named}. Delete those of all but one in {self.work}")
        return rounds


def go_first():
    """winnow and its peers alike go before others of a shared machine, where we may ask for that."""
    with contextlib.suppress(OSError):
        os.nice(-10)
    with contextlib.suppress(OSError):
        pathlib.Path("/proc/self/autogroup").write_text("-10")  # nice counts within a session; this is the session's own


def field(process, file, name):
    """Bytes that a file of /proc says of a process, 0 where it is gone."""
    with contextlib.suppress(OSError):
        for line in pathlib.Path(f"/proc/{process}/{file}").read_text().splitlines():
            if line.startswith(name):
                return 1024 * int(line.split()[1])
    return 0


def memory_of_tree(root):
    """Bytes of a process and all below it, where what they share counts once (PSS); at least the most that the first ever had."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError, IndexError):
                parent = pathlib.Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()[1]
                children.setdefault(int(parent), []).append(int(entry))
    todo, total = [root], 0
    while todo:
        process = todo.pop()
        todo += children.get(process, [])
        total += field(process, "smaps_rollup", "Pss:")
    return max(total, field(root, "status", "VmHWM:"))


def waited_for(process):
    """Waits for its end; the most bytes that the kernel counted, for what ends before it is sampled."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return 1024 * usage.ru_maxrss


def timed(*commands, environment=None):
    """Seconds of the commands one after the other, and the most memory of all processes of one, sampled ever less often."""
    peak = 0
    begin = time.monotonic()
    for command in commands:
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen([str(word) for word in command], stdout=output, stderr=output,
                                       env={**os.environ, **(environment or {})})  # fmt: skip
            ended, kernels = threading.Event(), []
            waiter = threading.Thread(target=lambda p=process, e=ended, k=kernels: (k.append(waited_for(p)), e.set()))
            waiter.start()
            while not ended.wait(min(1, 0.05 + 0.02 * (time.monotonic() - begin))):
                peak = max(peak, memory_of_tree(process.pid))
            waiter.join()
            peak = peak or kernels[0]
            if process.returncode:
                output.seek(0)
                raise SystemExit(f"{' '.join(map(str, command))} failed:\n{output.read()[-3000:]}")
    return {"seconds": time.monotonic() - begin, "peak_mb": peak / 1e6}


def ratio(rounds, own, peer, key, higher_is_better=False):
    """Median and all of the rounds' ratios: above 1 where winnow is faster, or takes less."""
    of = [r[own][key] / r[peer][key] if higher_is_better else r[peer][key] / r[own][key] for r in rounds]
    return statistics.median(of), of


HEAD = ["| | winnow | beside | ratio | rounds |", "|---|---|---|---|---|"]


def machine():
    model = next((line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.processor())  # fmt: skip
    core = os.environ.get("OPENBLAS_CORETYPE", "not set")
    return f"{model}, {os.cpu_count()} cores, Linux {platform.release()}, OPENBLAS_CORETYPE {core}"
