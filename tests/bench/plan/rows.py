"""What the measurements of winnow plan share: rows that are kept, and running winnow."""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile


class Rows:
    """JSON lines of a measurement that may be interrupted. What FILE has is not measured again."""

    def __init__(self, file):
        self.file = file and pathlib.Path(file)
        lines = self.file.read_text().splitlines() if self.file and self.file.exists() else []
        self.known = {row["row"]: row for row in map(json.loads, lines)}

    def row(self, name, measure):
        """The row of this name, a dictionary that measure() gives unless it is there."""
        if name not in self.known:
            self.known[name] = {"row": name, **measure()}
            if self.file:
                with self.file.open("a") as out:
                    out.write(json.dumps(self.known[name]) + "\n")
        return self.known[name]


def add_rows_flag(parser):
    parser.add_argument("--raw", help="file of JSON lines, one a row: those it has are not measured again")


def said(command, refused=None, **more):
    """The JSON that a command prints; None: its exit code was `refused`."""
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if refused is not None and done.returncode == refused:
        return None
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def launched(winnow, ranks):
    return [winnow] if ranks == 1 else ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(ranks), winnow]


def median_speed(run):
    """Images per second of the median step after the first of a run that logged each step."""
    lines = map(json.loads, pathlib.Path(run, "metrics.jsonl").read_text().splitlines())
    return statistics.median([line["train.total_ips"] for line in lines if "train.total_ips" in line][1:])


def training(program, cache, run, steps, *words, interval=1):
    """The command of a training of so many steps and a first one, for median_speed(); with a line of metrics every `interval` steps.
    `program` may have a launcher before it."""
    return [*program, "train", cache, "--out", run, "--max-steps", str(steps + 1), "--epochs", "1000", "--log-interval", str(interval), "--json", *words]


def images_per_second(winnow, cache, words, steps, ranks=1):
    """Of the median step of a training."""
    with tempfile.TemporaryDirectory() as folder:
        run = folder + "/run"
        said(training(launched(winnow, ranks), cache, run, steps, *words))
        return median_speed(run)


def fresh_rates():
    """An environment in which no plan has kept times, and its folder, to be held while it is used."""
    folder = tempfile.TemporaryDirectory()
    return {**os.environ, "XDG_CACHE_HOME": folder.name}, folder


def best_row(report):
    return report["rows"][report["best"]]


def flags_of(report, *without):
    return [f"--{flag['flag']}={flag['value']}" for flag in report["flags"] if flag["flag"] not in without]
