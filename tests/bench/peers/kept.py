#!/usr/bin/env python3
"""kept.py docs/results: makes peers/rounds.csv of the raw rounds in raw/peers.jsonl. Nothing is run, and no peer is needed."""

import csv
import json
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import bench  # noqa: E402
import copies  # noqa: E402
import duplicates  # noqa: E402
import loader  # noqa: E402
import training  # noqa: E402

PARTS = {"duplicates": duplicates, "copies": copies, "loader": loader, "training": training}


def keep(b, results, versions):
    """All rounds of `b`, a line each, before them the versions and names of its peers; and the ratios of its tables."""
    lines = [{"peers": list(b.pythons), "versions": versions, "rounds": b.rounds}]
    lines += [{"file": file.name, "is": json.loads(file.read_text())} for file in sorted(b.work.glob("*-*.json"))]
    (results / "raw").mkdir(parents=True, exist_ok=True)
    (results / "raw" / "peers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    write_ratios(b, results)


def write_ratios(b, results):
    (results / "peers").mkdir(parents=True, exist_ok=True)
    with (results / "peers" / "rounds.csv").open("w", newline="") as out:
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(["what", "beside", "ratio_by_round"])
        rows.writerows((*key, " ".join(f"{ratio:.4g}" for ratio in of)) for key, of in b.ratios.items())


def make(results):
    about, *rounds = map(json.loads, (results / "raw" / "peers.jsonl").read_text().splitlines())
    with tempfile.TemporaryDirectory(prefix="peers-") as work:
        for line in rounds:
            (pathlib.Path(work) / line["file"]).write_text(json.dumps(line["is"]))
        b = bench.Bench(None, None, pathlib.Path(work), dict.fromkeys(about["peers"], ""), about["rounds"])
        for part in PARTS.values():
            part.measure(b)
        write_ratios(b, results)


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]))
