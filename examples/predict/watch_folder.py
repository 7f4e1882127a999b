#!/usr/bin/env python3
"""Predicts pictures as they come into a folder, a line each: name, class, probability.

    python3 watch_folder.py RUN FOLDER [--every SECONDS] [--once]

A file is predicted once it has stayed as it is for one look. One that cannot be read is said, and not looked at again until it
changes.
"""

import argparse
import pathlib
import time

import winnow

ENDINGS = {".jpg", ".jpeg", ".png", ".tif", ".tiff", ".webp", ".bmp", ".ppm", ".pgm"}


def look(folder, seen):
    """{path: (size, time)} of files that stayed as they were since the last look, and were not predicted so."""
    ready = {}
    for path in sorted(p for p in folder.iterdir() if p.suffix.lower() in ENDINGS and p.is_file()):
        found = path.stat()
        now = (found.st_size, found.st_mtime_ns)
        before, predicted = seen.get(path, (None, None))
        if before == now != predicted:
            ready[path] = now
        seen[path] = (now, predicted)
    return ready


def predict(run, ready, seen):
    said = winnow.predict(run, list(ready))
    rows = dict(zip(said.names, zip(said.labels(), said.probabilities.max(axis=1))))
    for path, now in ready.items():
        # Of several sources each name begins with what its source is called.
        name = path.name if len(ready) == 1 else next(n for n in [*rows, *said.failed] if n.endswith("/" + path.name))
        if name in rows:
            label, probability = rows[name]
            print(f"{path.name},{label},{probability:.4f}", flush=True)
        else:
            print(f"{path.name} cannot be read: {said.failed[name][1]}", flush=True)
        seen[path] = (now, now)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--every", type=float, default=2, help="seconds between two looks (2)")
    parser.add_argument("--once", action="store_true", help="end after what is there now")
    args = parser.parse_args()
    seen = {}
    look(args.folder, seen)
    while True:
        if ready := look(args.folder, seen):
            predict(args.run, ready, seen)
        if args.once:
            return
        time.sleep(args.every)


if __name__ == "__main__":
    main()
