#!/usr/bin/env python3
"""Plants families of different pictures that look alike, true copies among them, and says what is a copy of what.

    tests/bench/look_alikes/plant.py --out FOLDER [--kinds GLOB,...] [--part tune|judge|all] [--sizes 2,3,5,12,40,150] [--families 1]
                                     [--copies 10] [--photos TAR... [--photos-limit 500]] [--seed 1] [--jobs N]

Made are

    FOLDER/KIND/FAMILY/NUMBER.png     pictures of one layout; those of many colours are stored as JPEG. A family's name is SIZE-NUMBER
    FOLDER/KIND/FAMILY/NUMBER_EDIT.*  true copies: scaled to 60 %, JPEG of quality 40, cropped by 10 % of each side, mirrored, brighter
    FOLDER/photos/all/PHOTO.jpg       photos, where --photos names archives or folders of them
    FOLDER/truth.csv                  name,kind,group,part,family,size,picture,edit: a row a file; files of one `picture` are copies
                                      of each other; `edit` is empty for the picture itself

A family depends on the seed, its kind, its size and number alone; a real kind's also on the sizes before it, since families share no
thing. Real kinds whose packages are missing are left out, and it says what to install. Needs Pillow, numpy, fonts-dejavu-core and fonts-dejavu-extra.
"""

import argparse
import csv
import fnmatch
import hashlib
import io
import itertools
import multiprocessing
import os
import pathlib
import sys
import tarfile

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import draw  # noqa: E402
import kinds  # noqa: E402
import real  # noqa: E402
from draw import edits  # noqa: E402

COLUMNS = ["name", "kind", "group", "part", "family", "size", "picture", "edit"]
SIZES = [2, 3, 5, 12, 40, 150]
PHOTOS = "photos"  # the folder and the kind
ENDINGS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".tif", ".tiff", ".webp")
COPIES = {
    "scaled": edits.scale(0.6),
    "jpeg_40": edits.same,  # by the quality of the JPEG
    "cropped": edits.crop(0.1),
    "mirrored": edits.mirror,
    "brighter": edits.brightness(1.25),
}


def drawn(*words):
    """A 64-bit number that depends on these words."""
    return int.from_bytes(hashlib.sha256("/".join(map(str, words)).encode()).digest()[:8], "big")


def chance_of(*words):
    return draw.Chance(numpy.random.default_rng(drawn(*words)))


def encoded(picture, quality=None):
    """Ending and bytes: PNG if there are few colours, as in renders; JPEG otherwise, or if a quality is given."""
    out = io.BytesIO()
    if quality is None and picture.getcolors(20_000) is not None:
        picture.save(out, "PNG", compress_level=3)
        return "png", out.getvalue()
    picture.save(out, "JPEG", quality=quality or 90)
    return "jpg", out.getvalue()


def write(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def copied(seed, kind, family, numbers, share):
    """The pictures of a family that are copied, with the edit: `share` of them; None: none."""
    chance = chance_of(seed, kind, family, "copies")
    return {number: chance.one_of(list(COPIES)) for number in numbers if chance.yes(share)}


def plant_family(out, seed, kind, family, size, pictures, share):
    """Writes a family and its copies. Returns their rows of the truth."""
    rows, edit_of = [], copied(seed, kind.name, family, range(size), share)
    for number, picture in enumerate(pictures):
        name = f"{kind.name}/{family}/{number:03}"
        row = [kind.name, kind.group, kind.part, family, size, name]
        ending, content = encoded(picture)
        write(out, f"{name}.{ending}", content)
        rows.append([f"{name}.{ending}", *row, ""])
        if number in edit_of:
            edit = edit_of[number]
            copy, _ = COPIES[edit](picture, chance_of(seed, name, edit))
            ending, content = encoded(copy, 40 if edit == "jpeg_40" else None)
            write(out, f"{name}_{edit}.{ending}", content)
            rows.append([f"{name}_{edit}.{ending}", *row, edit])
    return rows


def families(o):
    """Names and sizes of families, small ones first."""
    return [(f"{size}-{i}", size) for size in sorted(o.sizes) for i in range(o.families)]


def plant_made(out, seed, name, family, size, share):
    """A family of a made kind; for a separate process."""
    kind = next(kind for kind in kinds.table() if kind.name == name)
    pictures = kind.family(chance_of(seed, kind.name, family), size)
    return plant_family(out, seed, kind, family, size, pictures, share)


def plant_real(out, seed, name, wanted, share):
    """All families of a real kind, from one series, so that no two families have the same thing."""
    kind = next(kind for kind in kinds.table() if kind.name == name)
    series, rows = kind.family(chance_of(seed, kind.name), sum(size for _, size in wanted)), []
    for family, size in wanted:
        pictures = list(itertools.islice(series, size))
        if len(pictures) == size:
            rows += plant_family(out, seed, kind, family, size, pictures, share)
    return rows


def chosen(o):
    """The kinds of the table that were requested."""
    return [
        kind
        for kind in kinds.table()
        if o.part in ("all", kind.part) and any(fnmatch.fnmatch(kind.name, glob) for glob in o.kinds.split(","))
    ]


def jobs(o):
    """Calls that each write some families."""
    wanted = families(o)
    share = o.copies / max(1, sum(size for _, size in wanted))
    for kind in chosen(o):
        lacks = real.lacks(kind.packages)
        if lacks:
            print(f"{kind.name} left out: {lacks}", file=sys.stderr)
        elif kind.made:
            yield from ((plant_made, (o.out, o.seed, kind.name, family, size, share)) for family, size in wanted)
        else:
            yield plant_real, (o.out, o.seed, kind.name, wanted, share)


def call(job):
    function, arguments = job
    return function(*arguments)


def read_photos(sources):
    """Names and bytes of photos in folders and archives, in the order of names."""
    for source in map(pathlib.Path, sources):
        if source.is_dir():
            yield from ((path.name, path.read_bytes()) for path in sorted(source.rglob("*")) if path.suffix.lower() in ENDINGS)
        else:
            with tarfile.open(source) as tar:
                members = [member for member in tar if member.isfile() and member.name.lower().endswith(ENDINGS)]
                for member in sorted(members, key=lambda member: member.name):
                    yield pathlib.PurePath(member.name).name, tar.extractfile(member).read()


def plant_photos(o):
    for file, content in itertools.islice(read_photos(o.photos), o.photos_limit):
        name = f"{PHOTOS}/all/{file}"
        write(o.out, name, content)
        yield [name, PHOTOS, PHOTOS, "", "all", "", name, ""]


def plant(o):
    """Writes everything. Returns the numbers of pictures, copies and photos."""
    if lacks := draw.lacks_fonts():
        sys.exit(lacks)
    todo = list(jobs(o))
    if o.jobs > 1:
        with multiprocessing.Pool(o.jobs) as pool:
            parts = pool.map(call, todo, chunksize=1)
    else:
        parts = list(map(call, todo))
    rows, photos = sorted(row for part in parts for row in part), list(plant_photos(o))
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerows([COLUMNS, *rows, *photos])
    write(o.out, "truth.csv", text.getvalue().encode())
    copies = sum(bool(row[-1]) for row in rows)
    return len(rows) - copies, copies, len(photos)


def numbers(text):
    return [int(word) for word in text.split(",")]


def add_options(it):
    """Options for what is planted; `measure` has them as well."""
    it.add_argument("--kinds", default="*", help="globs, apart by commas")
    it.add_argument("--part", choices=["tune", "judge", "all"], default="tune")
    it.add_argument("--sizes", type=numbers, default=SIZES, help="pictures of a family, apart by commas")
    it.add_argument("--families", type=int, default=1, help="of each size and kind")
    it.add_argument("--copies", type=int, default=10, help="about so many true copies a kind")
    it.add_argument("--photos", nargs="*", type=pathlib.Path, default=[], help="archives or folders of photos")
    it.add_argument("--photos-limit", type=int, default=500)
    it.add_argument("--seed", type=int, default=1)
    it.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))


def parser():
    it = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(it)
    it.add_argument("--out", type=pathlib.Path)
    it.add_argument("--list", action="store_true", help="print the kinds")
    return it


def main():
    o = parser().parse_args()
    if o.list:
        for kind in kinds.table():
            print(f"{kind.group:6} {kind.part:6} {'made' if kind.made else 'real'}  {kind.name}  {real.lacks(kind.packages)}".rstrip())
        return
    if o.out is None:
        sys.exit("name --out FOLDER")
    if not chosen(o):
        sys.exit(f"--kinds {o.kinds}: no kind of this part is called so; --list prints them")
    print("{} pictures, {} copies, {} photos".format(*plant(o)))


if __name__ == "__main__":
    main()
