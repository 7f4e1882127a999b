#!/usr/bin/env python3
"""Plants edited copies of photos, and says what is a copy of what.

    tests/bench/edits/plant.py PHOTOS... --out FOLDER [--half choose|judge|all] [--seed 1] [--kinds GLOB,...] [--limit N]
                               [--copies N] [--distractors N --small IMAGES.tar] [--jobs N]

PHOTOS are folders or tar archives. A hash of its name puts each photo into one of two halves: `choose` is for whoever chooses
a threshold or writes a method, `judge` for whoever judges it. Made are

    FOLDER/original/PHOTO.jpg     the photos of the half, as they are
    FOLDER/KIND/PHOTO.jpg         copies of each kind of `kinds.py`; --list prints the table
    FOLDER/distractor/*.jpg       N images that are copies of none of these: half of them images of IMAGES.tar (such as CIFAR-10)
                                  enlarged to 256 to 400 pixels, the others crops of photos of the other half
    FOLDER/truth.csv              file,original,kind,family,part,photos,parameters: a row a file; `photos`: all photos that are
                                  in it, apart by spaces, so that two files are of one photo where they share one;
                                  `parameters`: JSON, such as {"box": [left, top, right, bottom]} in pixels

What becomes of a photo depends on the seed, the photo's name and the kind alone: not on other photos, other kinds or --jobs.
Needs Pillow and numpy (Debian's python3-pil, python3-numpy), and writes letters by fonts-dejavu-core where it is there.
"""

import argparse
import csv
import fnmatch
import functools
import hashlib
import heapq
import io
import json
import multiprocessing
import os
import pathlib
import re
import sys
import tarfile

import numpy
from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import edits  # noqa: E402
import kinds  # noqa: E402

COLUMNS = ["file", "original", "kind", "family", "part", "photos", "parameters"]
ENDINGS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".tif", ".tiff", ".webp")


def drawn(*words):
    """A 64-bit number that depends on these words."""
    return int.from_bytes(hashlib.sha256("/".join(map(str, words)).encode()).digest()[:8], "big")


def chance_of(*words, other=None):
    return edits.Chance(numpy.random.default_rng(drawn(*words)), other)


def name_of(path):
    """The name of a photo: its file name without the ending, in letters that a list may contain."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", pathlib.PurePath(path).stem)


def half_of(name):
    return "judge" if drawn("half", name) % 2 else "choose"


def read_photos(sources):
    """The bytes of each photo by name, in the order of names."""
    found = {}
    for source in map(pathlib.Path, sources):
        if source.is_dir():
            each = ((path, path.read_bytes()) for path in sorted(source.rglob("*")) if path.suffix.lower() in ENDINGS)
        else:
            each = from_tar(source)
        for path, content in each:
            if found.setdefault(name_of(path), content) != content:
                sys.exit(f"{path}: there is another photo of this name")
    return dict(sorted(found.items()))


def from_tar(path):
    """Names and bytes, in the archive's order."""
    with tarfile.open(path) as tar:
        for member in tar:
            if member.isfile() and member.name.lower().endswith(ENDINGS):
                yield member.name, tar.extractfile(member).read()


def opened(content):
    return Image.open(io.BytesIO(content)).convert("RGB")


def write(folder, file, content):
    """Writes the file completely or not at all, even if others write the same."""
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_bytes(content)
    part.replace(path)


def as_jpeg(picture, quality):
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=quality)
    return out.getvalue()


def another(photos, name, seed, kind):
    """Name and picture of another photo."""
    others = [other for other in photos if other != name]
    if not others:
        sys.exit(f"{kind} needs a second photo")
    chosen = others[drawn(seed, name, kind, "beside") % len(others)]
    return chosen, opened(photos[chosen])


def edit_photo(job, name):
    """Writes the photo and its copies. Returns their rows of the truth."""
    content = job.photos[name]
    ending = ".png" if content.startswith(b"\x89PNG") else ".jpg"
    write(job.out, f"original/{name}{ending}", content)
    rows = [[f"original/{name}{ending}", name, "original", "", "", name, "{}"]]
    picture = opened(content)
    for kind in job.kinds:
        if name in job.copied[kind.name]:
            chance = chance_of(job.seed, name, kind.name, other=functools.partial(another, job.photos, name, job.seed, kind.name))
            copy, did = kind.edit(picture, chance)
            file = f"{kind.name}/{name}.jpg"
            write(job.out, file, as_jpeg(copy, kind.quality))
            photos = name + (" " + did["beside"] if "beside" in did else "")
            rows.append([file, name, kind.name, kind.family, kind.part, photos, json.dumps(did)])
    return rows


class Job:
    """Data shared by the processes."""

    def __init__(self, o):
        self.out, self.seed, self.photos = o.out, o.seed, read_photos(o.photos)
        half = [name for name in self.photos if o.half in ("all", half_of(name))]
        self.names = half[: o.limit]
        self.spare = [name for name in self.photos if name not in set(half)]
        self.kinds = [kind for kind in kinds.table() if any(fnmatch.fnmatch(kind.name, glob) for glob in o.kinds.split(","))]
        self.copied = {kind.name: self.some(kind, o.copies) for kind in self.kinds}

    def some(self, kind, count):
        """The photos that are copied by this kind of edit."""
        return set(sorted(self.names, key=lambda name: drawn(self.seed, name, kind.name, "is copied"))[:count])


def distract_by_crop(job, i):
    """Part of a photo of the other half: from half to all of each side."""
    chance = chance_of(job.seed, "distractor", i)
    name = chance.one_of(job.spare)
    part, did = edits.any_crop(0, 0.5)(opened(job.photos[name]), chance)
    file = f"distractor/crop_{i:05}.jpg"
    write(job.out, file, as_jpeg(part, 90))
    return [file, "", "distractor", "", "", name, json.dumps(did)]


def distract_by_small(job, i, name, content):
    side = chance_of(job.seed, "small", name).whole(256, 400)
    file = f"distractor/small_{i:05}.jpg"
    write(job.out, file, as_jpeg(opened(content).resize((side, side), Image.BICUBIC), 90))
    return [file, "", "distractor", "", "", "small:" + name_of(file), json.dumps({"from": name, "side_px": side})]


def distractors(job, count, small):
    by_small = 0 if small is None else count - (count // 2 if job.spare else 0)
    if count > by_small and not job.spare:
        sys.exit("--distractors: with --half all no photo is spare, so --small is needed")
    yield from (distract_by_crop(job, i) for i in range(count - by_small))
    if by_small:
        chosen = heapq.nsmallest(by_small, ((drawn(job.seed, "small", name), name, content) for name, content in from_tar(small)))
        yield from (distract_by_small(job, i, name, content) for i, (_, name, content) in enumerate(chosen))


JOB = None  # of this process


def begin(o):
    global JOB  # noqa: PLW0603
    JOB = Job(o)


def edit_in_process(name):
    return edit_photo(JOB, name)


def plant(o):
    o.out.mkdir(parents=True, exist_ok=True)
    job = Job(o)
    if not job.names:
        sys.exit("no photo of this half: " + " ".join(map(str, o.photos)))
    if not job.kinds:
        sys.exit(f"--kinds {o.kinds}: no kind is called so; --list prints them")
    rows = list(distractors(job, o.distractors, o.small))
    if o.jobs > 1:
        with multiprocessing.Pool(o.jobs, begin, (o,)) as pool:
            parts = pool.map(edit_in_process, job.names, chunksize=1)
    else:
        parts = [edit_photo(job, name) for name in job.names]
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(COLUMNS)
    out.writerows(sorted([row for part in parts for row in part] + rows))
    write(o.out, "truth.csv", text.getvalue().encode())
    return len(job.names), sum(map(len, parts)) - len(job.names), len(rows)


def parser():
    it = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    it.add_argument("photos", nargs="*", type=pathlib.Path)
    it.add_argument("--out", type=pathlib.Path)
    it.add_argument("--half", choices=["choose", "judge", "all"], default="choose")
    it.add_argument("--seed", type=int, default=1)
    it.add_argument("--kinds", default="*", help="globs, apart by commas")
    it.add_argument("--limit", type=int, help="at most so many photos")
    it.add_argument("--copies", type=int, help="at most so many copies of a kind, of photos that are drawn")
    it.add_argument("--distractors", type=int, default=0)
    it.add_argument("--small", type=pathlib.Path, help="archive of small images to enlarge")
    it.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    it.add_argument("--list", action="store_true", help="print the kinds")
    return it


def main():
    o = parser().parse_args()
    if o.list:
        for kind in kinds.table():
            print(f"{kind.part:9} {kind.family:12} {kind.name}")
        return
    if not o.photos or o.out is None:
        sys.exit("name photos and --out FOLDER")
    print("{} photos, {} copies, {} distractors".format(*plant(o)))


if __name__ == "__main__":
    main()
