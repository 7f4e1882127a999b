"""What the experiments share: calls of winnow whose results are kept, runs of several lanes, tables."""

import concurrent.futures
import csv
import ctypes
import dataclasses
import hashlib
import importlib.machinery
import importlib.util
import json
import math
import os
import pathlib
import platform
import shlex
import shutil
import signal
import subprocess
import threading

HERE = pathlib.Path(__file__).resolve().parent
EXPERIMENTS = ["sweep", "planted", "copies", "faults", "variants", "batches"]
DIGESTS = ", of a digest (SHA-256) that begins with "
FASHION_MNIST = pathlib.Path("/usr/share/datasets/fashion-mnist")


class Stopped(Exception):
    """A signal came. What was being made is made anew, or gone on with, by the next call."""


def die_with_parent():
    """In a child: it ends when the driver does, however that ends, so that no two work in one folder."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


@dataclasses.dataclass
class Bench:
    """Work is done in `work`, where all commands run, so that what they are told is the same wherever that lies."""

    winnow: pathlib.Path
    data: pathlib.Path
    work: pathlib.Path
    results: pathlib.Path
    reduced: bool
    lanes: int

    def __post_init__(self):
        self.work.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE / "small.toml", self.work / "small.toml")
        self.program = hashlib.sha256(self.winnow.read_bytes()).hexdigest()[:16]
        self.said = {}  # experiment: the commands that it ran
        self.programs = {}  # experiment: those whose results it has
        self.origins = {}  # what told results apart that were read since the last table: {kind: {value: file}}
        self.experiment = ""
        self.made_by = {}
        self.children = set()
        self.stopped = False
        self.lock = threading.Lock()

    def stop(self, *_):
        """Of a signal: ends the children, which keep what they have."""
        self.stopped = True
        for child in list(self.children):
            child.terminate()

    def kept_folders(self):
        """name: folder of small files, each the result of something that is not done twice."""
        return {"done": self.work / "done", **{queue.parent.name: queue.parent / "results" for queue in self.work.glob("*/queue.json")}}

    def keep_raw(self):
        """Puts all results into RESULTS/raw, a line each, from which another machine goes on."""
        for name, folder in self.kept_folders().items():
            files = sorted(folder.glob("*.json"))
            if name != "done":
                files.append(folder.parent / "queue.json")
            lines = [json.dumps({"file": str(file.relative_to(self.work)), "is": json.loads(file.read_text())}) for file in files]
            (self.folder("raw") / f"{name}.jsonl").write_text("".join(line + "\n" for line in lines))

    def take_raw(self):
        """Puts results that RESULTS/raw has, and this machine has not, where they are looked for."""
        for raw in sorted((self.results / "raw").glob("*.jsonl")):
            if raw.name == "peers.jsonl":  # of ../peers
                continue
            for line in raw.read_text().splitlines():
                entry = json.loads(line)
                file = self.work / entry["file"]
                if not file.exists():
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(json.dumps(entry["is"], separators=(",", ":")) + "\n")

    def call(self, *words):
        """What winnow prints, its JSON objects. What it says goes to work/log."""
        words = [str(self.winnow), *map(str, words)]
        with (self.work / "log").open("a") as log:
            with self.lock:
                if self.stopped:
                    raise Stopped
                child = subprocess.Popen(words, cwd=self.work, stdout=subprocess.PIPE, stderr=log, text=True,
                                         preexec_fn=die_with_parent)  # fmt: skip
                self.children.add(child)
            printed = child.communicate()[0]
            self.children.discard(child)
        if self.stopped:
            raise Stopped
        if child.returncode:
            raise SystemExit(f"{shlex.join(words)} ended with {child.returncode}: see {self.work / 'log'}")
        return [json.loads(line) for line in printed.splitlines() if line.startswith("{")]

    def once(self, *words, then=None):
        """What `call` returns; of equal words only the first time. `then` makes more of it, before it is kept."""
        words = [str(word) for word in words]
        key = hashlib.sha256(json.dumps(words).encode()).hexdigest()[:24]
        kept = self.work / "done" / f"{key}.json"
        if not kept.exists():
            printed = self.call(*words)
            value = {"program": self.program, "machine": machine(), **self.versions(), "words": words,
                     "printed": then(printed) if then else printed}  # fmt: skip
            kept.parent.mkdir(exist_ok=True)
            part = kept.with_name(f"{key}.{threading.get_ident()}.part")
            part.write_text(json.dumps(value))
            os.replace(part, kept)
        value = json.loads(kept.read_text())
        self.note(words)
        with self.lock:
            self.programs.setdefault(self.experiment, set()).add(value.get("program", ""))
            for kind, origin in origins_of(value):
                self.origins.setdefault(kind, {}).setdefault(origin, f"{kept.relative_to(self.work)} ({shlex.join(words)[:70]})")
            for file, run in self.queue_of(words).items():
                for kind, origin in (("executable", run.get("program")), ("machine", run.get("machine"))):
                    if origin:
                        self.origins.setdefault(kind, {}).setdefault(origin, f"{words[3]}/results/{file}.json")
        return value["printed"]

    def queue_of(self, words):
        """key: result of each run of an experiment (winnow sweep CACHE --out FOLDER, tune-lr): what its queue keeps."""
        if words[0] not in ("sweep", "tune-lr"):
            return {}
        kept = {file.stem: json.loads(file.read_text()) for file in sorted((self.work / words[3] / "results").glob("*.json"))}
        return {key: json.loads(of["result"]) for key, of in kept.items() if not of["failed"]}

    def versions(self):
        """Who makes results: winnow's version, that of Python, the commit of this checkout, -dirty where it has changes."""
        if not self.made_by:
            self.made_by = {"version": said_by(self.winnow, "--version"), "python": platform.python_version(),
                            "commit": said_by("git", "-C", HERE, "describe", "--always", "--dirty")}  # fmt: skip
        return self.made_by

    def kept_outs(self, prefix):
        """Outputs (--out) that begin so, of commands whose results are kept."""
        for file in sorted((self.work / "done").glob("*.json")):
            words = json.loads(file.read_text())["words"]
            if "--out" in words and words[words.index("--out") + 1].startswith(prefix):
                yield words[words.index("--out") + 1]

    def train(self, runs):
        """Trains these runs, (folder, cache, words, seed) each, one a lane at a time. Returns what each printed."""

        def one(run):
            folder, cache, words, seed = run
            return self.once("train", cache, "--out", folder, *words, "--seed", seed, "--threads", 1, "--resume", "auto", "--json")[-1]

        (self.work / "runs").mkdir(exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(self.lanes) as pool:
            futures = [pool.submit(one, run) for run in runs]
            try:
                return [future.result() for future in futures]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                self.stop()
                raise

    def arms(self, cache, arms, seeds):
        """Trains each arm, name: words, with each seed. Returns name: folders of its runs."""
        folders = {name: [f"runs/{cache}-{name}-{seed}".replace(" ", "-") for seed in seeds] for name in arms}
        self.train([(folders[name][i], cache, words, seed) for i, seed in enumerate(seeds) for name, words in arms.items()])
        return folders

    def compare(self, folders, split="test", more=()):
        """Rows of a table: each arm beside the first, by winnow compare, paired by seed on the same images."""
        runs = [folder for of in folders.values() for folder in of]
        arm_of = {pathlib.PurePath(folder).name: name for name, of in folders.items() for folder in of}
        found = self.once("compare", *runs, "--split", split, *more, "--margin", 0.5, "--threads", self.lanes, "--json")[-1]
        top1, name_of = {name: [] for name in folders}, {}
        for run in found["runs"]:
            top1[arm_of[run["run"]]].append(run["top1"])
            name_of[run["recipe"]] = arm_of[run["run"]]
        if len(name_of) != len(folders):
            raise SystemExit(f"winnow compare tells {len(name_of)} recipes where these were trained: {', '.join(folders)}")
        others = {name_of[other["recipe"]]: other for other in found["others"]}
        return [row_of(name, of, others.get(name)) for name, of in top1.items()]

    def folder(self, name):
        path = self.results / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def note(self, words):
        with self.lock:
            self.said.setdefault(self.experiment, set()).add(without_seed([str(word) for word in words]))

    def say_how(self):
        """commands.txt of the experiment: what was run for it, by this call and by those before, and by which programs."""
        file = self.folder(self.experiment) / "commands.txt"
        said, programs = set(self.said[self.experiment]), set(self.programs.get(self.experiment, ()))
        if file.exists():
            first, *lines = file.read_text().splitlines()
            said.update(lines)
            programs |= set(first.partition(DIGESTS)[2].split(", "))
        lines = [f"# {said_by(self.winnow, '--version')}{DIGESTS}{', '.join(sorted(programs - {''}))}", *sorted(said)]
        file.write_text("\n".join(lines) + "\n")

    def require_one_origin(self, table):
        """Refuses a table whose results are of two programs or machines, by their names. What does not say its own counts as equal."""
        origins, self.origins = self.origins, {}
        for kind, found in origins.items():
            if len(found) > 1:
                named = "; ".join(f"{origin}: {file}" for origin, file in sorted(found.items()))
                raise SystemExit(f"{table} would mix results of {len(found)} {kind}s: {named}. Delete those of all but one, in {self.work}"
                                 f" and from {self.results / 'raw'}, and they are made anew")  # fmt: skip

    def table(self, name, file, rows):
        """Rows, dictionaries of equal keys, as a CSV in the folder of an experiment. All of it is by one program on one machine."""
        self.require_one_origin(f"{name}/{file}")
        with (self.folder(name) / file).open("w", newline="") as out:
            writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


def script(path):
    """Another benchmark of tests/bench as a module."""
    loader = importlib.machinery.SourceFileLoader(path.replace("/", "_"), str(HERE.parent / path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def said_by(*words):
    """What a program prints; empty where there is none."""
    try:
        return subprocess.run(words, capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""


def machine():
    """The processor, its cores and the vectors that winnow computes with, as a queue's results have them."""
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    flags = next((line.split() for line in lines if line.startswith("flags")), [])
    allowed = {"none": [], "avx2": ["AVX2"]}.get(os.environ.get("WINNOW_SIMD"), ["AVX-512", "AVX2"])
    vectors = next((name for name in allowed if {"AVX-512": "avx512f", "AVX2": "avx2"}[name] in flags), "no vectors")
    return f"{model}, {os.cpu_count()} cores, {vectors}"


def origins_of(value):
    """(kind, value) of what a kept result says of its program and machine; results of before `machine` say it in what train printed."""
    yield from ((kind, value[kind]) for kind in ("program", "machine") if value.get(kind))
    last = value["printed"][-1:] if isinstance(value["printed"], list) else []
    for of in (place for printed in last if isinstance(printed, dict) for place in printed.get("machines", [])):
        yield "builds and machine", f"{of['build']}, {of['cores_online']} cores"


def without_seed(words):
    """A command line; runs that differ by the seed alone have one."""
    words = list(words)
    if words[0] == "train" and "--seed" in words:
        seed = words[words.index("--seed") + 1]
        words[words.index("--seed") + 1] = "SEED"
        out = words.index("--out") + 1
        words[out] = words[out].removesuffix(f"-{seed}") + "-SEED"
    elif words[0] == "compare":
        words = [word for word in words if not word.startswith("runs/")]
        words.insert(1, "RUNS")
    return "winnow " + shlex.join(words)


def points(share, digits=2):
    """A share as points of a hundred; empty where there is none."""
    return "" if share is None else f"{100 * share:.{digits}f}"


def mean(values):
    return math.fsum(values) / len(values)  # as every Python has it: sum() is more exact from 3.12 on


def row_of(name, top1, other):
    seeds = (other or {}).get("over_seeds") or {}
    apart = seeds.get("difference") or {}
    return {"arm": name, "seeds": len(top1), "top1": points(mean(top1)), "difference": points(seeds.get("mean")),
            "least": points(apart.get("least")), "most": points(apart.get("most")),
            "p": "" if not other or other["p_holm"] is None else f"{other['p_holm']:.3g}",
            "top1_by_seed": " ".join(points(value) for value in top1)}  # fmt: skip
