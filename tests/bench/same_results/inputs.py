"""The data sets that both programs are given, each a folder or file of its own; small, the same each time."""

import gzip
import os
import random
import shutil

import encode

SIDES = (40, 32)  # width and height of most pictures


def smooth(rng, width, height, channels=3):
    """A blended grid of colours. Hashes of such pictures differ like those of photos."""
    grid = [[[rng.randrange(256) for _ in range(channels)] for _ in range(6)] for _ in range(6)]
    columns = [(5 * x // width, 5 * x % width / width) for x in range(width)]
    out = bytearray()
    for y in range(height):
        row, fy = 5 * y // height, 5 * y % height / height
        line = [[(1 - fy) * a + fy * b for a, b in zip(*ends)] for ends in zip(grid[row], grid[row + 1])]
        for x, fx in columns:
            out += bytes(int((1 - fx) * a + fx * b) for a, b in zip(line[x], line[x + 1]))
    return bytes(out)


def darker(pixels, share=0.9):
    return pixels.translate(bytes(int(share * value) for value in range(256)))


def noisy(rng, pixels, most=6):
    return bytes(max(0, min(255, value + rng.randint(-most, most))) for value in pixels)


def mirrored(pixels, width, channels=3):
    rows = [pixels[i : i + width * channels] for i in range(0, len(pixels), width * channels)]
    return b"".join(row[x : x + channels] for row in rows for x in range(len(row) - channels, -1, -channels))


def turned(pixels, side, channels=3):
    """A square turned by 90 degrees."""
    return b"".join(pixels[(y * side + x) * channels :][:channels] for x in range(side) for y in reversed(range(side)))


def enlarged(pixels, width, channels, by):
    rows = [pixels[i : i + width * channels] for i in range(0, len(pixels), width * channels)]
    wide = [b"".join(row[x : x + channels] * by for x in range(0, len(row), channels)) for row in rows]
    return b"".join(row * by for row in wide)


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def photos(folder, rng):
    """Class folders of three splits: pictures, and of each third one copies: equal, darker, noisy, larger, mirrored, turned;
    in its own split and class, in another class, in another split. Some are blank."""
    classes = ("ant", "bee", "cat")
    number = 0

    def add(split, label, pixels, width=SIDES[0], height=SIDES[1]):
        nonlocal number
        write(folder / split / label / f"{number:03}.ppm", encode.pnm(pixels, width, height))
        number += 1

    for split, count in (("train", 9), ("val", 3), ("test", 4)):
        for label in classes:
            for _ in range(count):
                add(split, label, smooth(rng, *SIDES))
    for n, (split, label, other) in enumerate((
        ("train", "ant", "ant"), ("train", "bee", "cat"), ("test", "ant", "ant"), ("val", "cat", "bee"), ("train", "cat", "cat"),
    )):  # fmt: skip
        pixels, square = smooth(rng, *SIDES), smooth(rng, 32, 32)
        add("train", label, pixels)
        add(split, other, pixels)
        add(split, label, darker(pixels, 0.9 - 0.02 * n))
        add("train", label, noisy(rng, pixels, 4 + 4 * n))
        add(split, other, enlarged(pixels, SIDES[0], 3, 2), 2 * SIDES[0], 2 * SIDES[1])
        add("test" if n % 2 else "train", label, mirrored(pixels, SIDES[0]))
        add("train", label, square, 32, 32)
        add(split, other, turned(square, 32), 32, 32)
        add(split, label, turned(noisy(rng, square, 2), 32), 32, 32)
    for _ in range(12):
        pixels, label = smooth(rng, *SIDES), rng.choice(classes)
        for n in range(rng.randint(2, 5)):
            other = rng.choice(classes) if rng.random() < 0.3 else label
            copy = rng.choice((pixels, darker(pixels, 0.8 + 0.02 * n), noisy(rng, pixels, 3 * n)))
            add(rng.choice(("train", "train", "val", "test")), other, copy)
    chain = smooth(rng, *SIDES)
    for _ in range(8):
        chain = noisy(rng, chain, 18)
        add("train", "bee", chain)
    for split, shade in (("train", 0), ("train", 0), ("test", 255), ("val", 128)):
        add(split, "cat", bytes([shade]) * (3 * SIDES[0] * SIDES[1]))


def more_photos(folder, rng):
    """Added later: the first pictures of `photos`, slightly darker, in a class of their own and without splits."""
    first = sorted((folder.parent / "photos" / "train").rglob("*.ppm"))[:6]
    for n, path in enumerate(first):
        pixels = path.read_bytes().split(b"\n", 3)[3]
        write(folder / ("ant", "dog")[n % 2] / f"{n}.ppm", encode.pnm(darker(pixels, 0.95), *SIDES))
    for n in range(6):
        write(folder / "dog" / f"new {n}.ppm", encode.pnm(smooth(rng, *SIDES), *SIDES))


def jpegs(folder, rng):
    """Photos of about 96 pixels a side, some of them twice at different qualities; also grey ones."""
    for n in range(12):
        channels = 1 if n % 4 == 3 else 3
        width, height = (96, 80) if n % 2 else (80, 112)
        pixels = noisy(rng, smooth(rng, width, height, channels), 3)
        path = folder / ("test" if n % 4 == 0 else "train") / ("left", "right")[n % 2]
        write(path / f"{n:02}.jpg", encode.jpeg(pixels, width, height, channels, halved=n % 3 == 0 and channels == 3, quant=6))
        if n < 4:
            again = encode.jpeg(pixels, width, height, channels, quant=20)
            write(folder / "train" / ("left", "right")[n % 2] / f"{n:02} again.jpg", again)


def large(folder, rng):
    """More than a MiB, so that its cache has several shards."""
    for n in range(16):
        path = folder / ("test" if n % 4 == 0 else "train") / ("one", "two")[n % 2] / f"{n:02}.ppm"
        write(path, encode.pnm(rng.randbytes(3 * 200 * 200), 200, 200))


def encodings(folder, rng):
    """One or two pictures in every encoding made here, without labels."""
    width, height = 40, 24
    rgb, gray = smooth(rng, width, height), smooth(rng, width, height, 1)
    scans = [(1, 5), (6, 63)]
    alpha = b"".join(rgb[3 * i : 3 * i + 3] + bytes([255 * (i % width) // width]) for i in range(width * height))
    inks = smooth(rng, width, height, 4)
    palette = rng.randbytes(3 * 256)
    size = (width, height)
    files = {
        "gray.pgm": encode.pnm(gray, *size, 1), "gray16.pgm": encode.pnm16(gray, *size, 1),
        "gray_text.pgm": encode.plain_pnm(gray, *size, 1), "rgb.ppm": encode.pnm(rgb, *size),
        "rgb16.ppm": encode.pnm16(rgb, *size), "rgb_text.ppm": encode.plain_pnm(rgb, *size),
        "bits.pbm": b"P4\n40 24\n" + rng.randbytes(5 * 24), "gray.bmp": encode.bmp(gray, *size, 1),
        "rgb.bmp": encode.bmp(rgb, *size), "odd.bmp": encode.bmp(smooth(rng, 33, 9), 33, 9), "gray.tif": encode.tiff(gray, *size, 1),
        "rgb.tiff": encode.tiff(rgb, *size), "rgb.webp": encode.webp(rgb, *size), "gray.png": encode.png(gray, *size, 1),
        "gray1.png": encode.png(gray, *size, 1, bits=1), "gray16.png": encode.png(gray, *size, 1, bits=16),
        "gray_alpha.png": encode.png(alpha[: 2 * width * height], *size, 2), "rgb.png": encode.png(rgb, *size),
        "rgb16.png": encode.png(rgb, *size, 3, bits=16), "rgba.png": encode.png(alpha, *size, 4),
        "palette.png": encode.png(gray, *size, 1, palette=palette),
        "palette_alpha.png": encode.png(gray, *size, 1, palette=palette, transparent=bytes(range(256))),
        "transparent.png": encode.png(rgb, *size, 3, transparent=b"".join(b"\0" + rgb[i : i + 1] for i in range(3))),
        "gray.jpg": encode.jpeg(gray, *size, 1), "rgb.jpg": encode.jpeg(rgb, *size),
        "rgb.JPEG": encode.jpeg(rgb, *size, halved=True, quant=3), "odd.jpg": encode.jpeg(smooth(rng, 33, 9), 33, 9, halved=True),
        "restarts.jpg": encode.jpeg(rgb, *size, restart=2), "progressive.jpg": encode.jpeg(rgb, *size, scans=scans),
        "progressive_gray.jpg": encode.jpeg(gray, *size, 1, scans=scans), "cmyk.jpg": encode.jpeg(inks, *size, 4),
        "scans.jpg": encode.jpeg(rgb, *size, scans=[(i, i) for i in range(1, 64)]), "one.ppm": encode.pnm(b"\1\2\3", 1, 1),
        "wide.ppm": encode.pnm(smooth(rng, 200, 1), 200, 1), "png_called.jpg": encode.png(rgb, *size),
    }  # fmt: skip
    files.update({f"held{way}.jpg": encode.jpeg(rgb, *size, more=encode.exif(way)) for way in range(10)})
    for name, data in files.items():
        write(folder / name, data)


def broken(folder, rng):
    """Class folders of good pictures, among files that cannot be read, or only with a warning."""
    rgb = smooth(rng, *SIDES)
    jpeg, png = encode.jpeg(rgb, *SIDES), encode.png(rgb, *SIDES)
    files = {
        "cut.jpg": jpeg[: len(jpeg) // 2], "cut_header.jpg": jpeg[:100], "no_end.jpg": jpeg[:-2], "junk_behind.jpg": jpeg + b"junk" * 9,
        "no_table.jpg": jpeg.replace(b"\xff\xdb", b"\xff\xee", 1), "junk_inside.jpg": jpeg[:-80] + b"\xff\x99" * 9 + jpeg[-62:],
        "cut.png": png[: len(png) // 2], "checksum.png": png[:-20] + bytes([png[-20] ^ 1]) + png[-19:], "empty.png": b"",
        "cut.ppm": encode.pnm(rgb[:900], *SIDES), "no_size.ppm": b"P6\n0 0\n255\n", "huge.ppm": b"P6\n99999 99999\n255\nabc",
        "text.jpg": b"this is no picture", "empty.jpg": b"", "cut.webp": encode.webp(rgb, *SIDES)[:300],
        "cut.tif": encode.tiff(rgb, *SIDES)[:500], "cut.bmp": encode.bmp(rgb, *SIDES)[:500],
        "animation.gif": b"GIF89a\x02\0\x02\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x02\0\x02\0\0\x02\x02\x84Q\0;",
        "phone.heic": b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(40), "new.avif": b"\0\0\0\x18ftypavif\0\0\0\0mif1avif" + bytes(40),
        "raw.cr2": b"II*\0\x10\0\0\0CR\x02\0" + bytes(60), "two_kinds.jpg": jpeg + png,
    }  # fmt: skip
    for n, (name, data) in enumerate(files.items()):
        write(folder / "train" / ("bad", "good")[n % 2] / name, data)
    for n in range(6):
        write(folder / ("test" if n > 3 else "train") / ("bad", "good")[n % 2] / f"fine{n}.ppm", encode.pnm(smooth(rng, *SIDES), *SIDES))


def names(folder, rng):
    """Unlabelled, in nested folders: names that must be escaped, skipped files, links."""
    def one():
        return encode.pnm(smooth(rng, 16, 16), 16, 16)

    for name in ("plain.ppm", "a b.ppm", "comma,quote\".ppm", "line\nbreak.ppm", "tab\there.ppm", "ümläut 字.ppm", "=1+1.ppm",
                 "-dash.ppm", "%41.ppm", "<b>&amp;.ppm", "deep/er/and/deeper/x.ppm", "x" * 200 + ".ppm", "UPPER.PPM", ".hidden.ppm",
                 ".cache/y.ppm", "@eaDir/plain.ppm/thumb.ppm", "#recycle/z.ppm", "__MACOSX/._plain.ppm", "draft one.ppm",
                 "deep/draft two.ppm", "notes.txt", "Thumbs.db", "no_ending"):  # fmt: skip
        write(folder / name, one())
    write(folder / os.fsdecode(b"latin \xe9.ppm"), one())
    write(folder.parent / "outside" / "far.ppm", one())
    for link, target in (("link.ppm", "plain.ppm"), ("folder", "deep"), ("deep/circle", ".."), ("dangling.ppm", "nothing.ppm"),
                         ("far", "../outside")):  # fmt: skip
        (folder / link).symlink_to(target)
    os.mkfifo(folder / "pipe.ppm")


def refused(folder, rng):
    """Layouts that are no data set, or only with a flag."""
    one = encode.pnm(smooth(rng, 16, 16), 16, 16)
    write(folder / "empty_class" / "train" / "a" / "1.ppm", one)
    (folder / "empty_class" / "train" / "b").mkdir()
    (folder / "nothing").mkdir()
    write(folder / "text" / "readme.txt", b"nothing here")
    write(folder / "mixed" / "a" / "1.ppm", one)
    write(folder / "mixed" / "loose.ppm", one)
    write(folder / "short" / "train-images-idx3-ubyte", b"\0\0\x08\x03\0\0\0\x09\0\0\0\x10\0\0\0\x10abc")
    write(folder / "short" / "train-labels-idx1-ubyte", b"\0\0\x08\x01\0\0\0\x09" + bytes(9))
    write(folder / "table.csv", b"path,label,split\nempty_class/train/a/1.ppm,x,nonsense\n")


def pictures(rng, count, width, height, channels, classes):
    """Pixels and labels. Every fifth picture is the previous one, slightly darker."""
    found = []
    for n in range(count):
        found.append(darker(found[-1], 0.97) if n % 5 == 4 else smooth(rng, width, height, channels))
    return found, [rng.randrange(classes) for _ in range(count)]


def idx(folder, rng):
    for prefix, count in (("train", 24), ("t10k", 8)):
        images, labels = pictures(rng, count, 28, 28, 1, 10)
        head = (0x803).to_bytes(4, "big") + count.to_bytes(4, "big") + (28).to_bytes(4, "big") * 2
        data = {f"{prefix}-images-idx3-ubyte": head + b"".join(images),
                f"{prefix}-labels-idx1-ubyte": (0x801).to_bytes(4, "big") + count.to_bytes(4, "big") + bytes(labels)}  # fmt: skip
        for name, raw in data.items():
            write(folder / name, raw)
            write(folder.parent / "idx_gz" / f"{name}.gz", gzip.compress(raw, mtime=0))


def cifar(folder, rng, fine=False):
    names_of = {"data_batch_1": 12, "data_batch_2": 12, "test_batch": 6} if not fine else {"train": 12, "test": 5}
    for name, count in names_of.items():
        images, labels = pictures(rng, count, 32, 32, 3, 100 if fine else 10)
        rows = [(bytes([label // 5, label]) if fine else bytes([label])) + b"".join(image[c::3] for c in range(3))
                for image, label in zip(images, labels)]  # fmt: skip
        write(folder / f"{name}.bin", b"".join(rows))
    kinds = [f"kind {n}" for n in range(100 if fine else 10)]
    write(folder / ("fine_label_names.txt" if fine else "batches.meta.txt"), "\n".join(kinds + [""]).encode())


def encoded(rng, count, classes):
    """[(label, ending, bytes)] in alternating encodings."""
    images, labels = pictures(rng, count, 24, 20, 3, classes)
    makers = (("ppm", encode.pnm), ("png", encode.png), ("jpg", encode.jpeg), ("bmp", encode.bmp))
    return [(label, makers[n % 4][0], makers[n % 4][1](image, 24, 20)) for n, (image, label) in enumerate(zip(images, labels))]


def webdataset(folder, rng):
    for shard in ("train-000000", "train-000001", "val-000000"):
        members = {}
        for n, (label, ending, data) in enumerate(encoded(rng, 6, 4)):
            members[f"{shard[-1]}{n:04}.{ending}"] = data
            members[f"{shard[-1]}{n:04}.cls"] = b"%d\n" % label
        members["alone.json"] = b"{}"
        members["notes.txt"] = b"nothing"
        write(folder / f"{shard}.tar", encode.tar(members))
    write(folder / "classnames.txt", b"no\nun\nzero\nnil\n")
    members = {}
    for n, (label, ending, data) in enumerate(encoded(rng, 5, 3)):
        members[f"a/{n}.{ending}"] = data
        members[f"a/{n}.json"] = b'{"label": ["k%d", "all"], "more": 1}' % label
    write(folder.parent / "webdataset.tar.gz", gzip.compress(encode.tar(members), mtime=0))


def tars(folder, rng):
    members = {f"set/{('train', 'test')[n % 4 == 0]}/{'abc'[label]}/{n}.{ending}": data
               for n, (label, ending, data) in enumerate(encoded(rng, 12, 3))}  # fmt: skip
    members["set/train/a/twice.ppm"] = encode.pnm(smooth(rng, 16, 16), 16, 16)
    members["set/.hidden/a.ppm"] = members["set/train/a/twice.ppm"]
    members["../../etc/up.ppm"] = members["set/train/a/twice.ppm"]
    members["set/train/b/cut.jpg"] = b"\xff\xd8\xff\xe0\0"
    write(folder / "one.tar", encode.tar(members))
    for ending, mode in (("gz", "w:gz"), ("bz2", "w:bz2"), ("xz", "w:xz")):
        kept = {name: data for name, data in members.items() if not name.startswith("..")}
        write(folder / f"one.tar.{ending}", encode.tar(kept, mode))
    for name in ("red", "green"):
        write(folder / "classes" / f"{name}.tar", encode.tar({f"{n}.{e}": d for n, (_, e, d) in enumerate(encoded(rng, 4, 2))}))
    inside = {f"{name}.tar": (folder / "classes" / f"{name}.tar").read_bytes() for name in ("red", "green")}
    write(folder / "inside.tar", encode.tar(inside))
    for n in range(3):
        members = {f"{'xy'[label]}/{n}{k}.{e}": d for k, (label, e, d) in enumerate(encoded(rng, 4, 2))}
        write(folder / "range" / f"part-{n:02}.tar", encode.tar(members))
    write(folder / "cut.tar", encode.tar(members)[:3000])


def tfrecord(folder, rng):
    for shard in ("train-00000-of-00002", "train-00001-of-00002", "validation-00000-of-00001"):
        rows = [{"image/encoded": data, "image/class/label": 1 + label, "image/class/text": b"kind %d" % label,
                 "image/filename": b"n%d/%d.%s" % (label, n, ending.encode())}
                for n, (label, ending, data) in enumerate(encoded(rng, 6, 4))]  # fmt: skip
        write(folder / shard, encode.tfrecord(rows))
    images, labels = pictures(rng, 6, 12, 10, 3, 3)
    rows = [{"image_raw": image, "height": 10, "width": 12, "depth": 3, "label": label} for image, label in zip(images, labels)]
    raw = encode.tfrecord(rows)
    write(folder.parent / "pixels.tfrecord", raw)
    write(folder.parent / "damaged.tfrecord", raw[:200] + bytes([raw[200] ^ 1]) + raw[201:])


def recordio(folder, rng):
    for name, count in (("my_train", 8), ("my_val", 4)):
        rows = [([label, 7.0][: 1 + n % 2], data) for n, (label, _, data) in enumerate(encoded(rng, count, 4))]
        write(folder / f"{name}.rec", encode.recordio(rows))
    listed = "".join(f"{n}\t0\tfolder/{n}.jpg\n" for n in range(6))
    write(folder / "my_train.lst", listed.encode())


def caffe(folder, rng):
    rows = {b"%08d_n%d/%d.%s" % (n, label, n, ending.encode()): encode.datum_encoded(data, label)
            for n, (label, ending, data) in enumerate(encoded(rng, 8, 3))}  # fmt: skip
    rows[b"00000009_bad"] = b"\xff\xff\xff"
    write(folder / "set_train_lmdb" / "data.mdb", encode.lmdb(rows))
    images, labels = pictures(rng, 5, 16, 16, 3, 3)
    rows = {b"%08d" % n: encode.datum_raw(image, 16, 16, 3, label) for n, (image, label) in enumerate(zip(images, labels))}
    write(folder / "set_val_lmdb" / "data.mdb", encode.lmdb(rows))


def lists(folder, rng):
    """Images of a folder, as named in tables and lists."""
    rows = []
    for n, (label, ending, data) in enumerate(encoded(rng, 14, 3)):
        name = f"images/{'abc'[label]}/{n} {label}.{ending}"
        write(folder / name, data)
        rows.append((name, label, ("train", "train", "val", "test")[n % 4], f"scene {n // 3}"))
    rows.append(("images/a/missing.jpg", 0, "train", "scene 9"))
    rows.append(("../outside/far.ppm", 1, "train", "scene 9"))
    text = "".join(f'"{path}";class {label};{split};{group}\r\n' for path, label, split, group in rows)
    write(folder / "table.csv", b"Path;Label;Split;Group\r\n" + text.encode())
    text = "".join(f"{n}\t{path}\t{label}|all\n" for n, (path, label, _, _) in enumerate(rows))
    write(folder / "train.tsv", b"number\tfile\tlabels\n" + text.encode())
    write(folder / "val.txt", "".join(f"{path} {label}\n" for path, label, _, _ in rows[:8]).encode())
    write(folder / "plain.txt", "".join(f"{path}\n" for path, *_ in rows[:8]).encode())
    write(folder / "set.lst", "".join(f"{n}\t{label}.000000\t{path}\n" for n, (path, label, *_) in enumerate(rows)).encode())


def svhn(folder, rng):
    for name, count, compressed in (("train", 6, True), ("test", 4, False)):
        images, labels = pictures(rng, count, 32, 32, 3, 10)
        data = b"".join(image[(32 * y + x) * 3 + c : (32 * y + x) * 3 + c + 1] for image in images for c in range(3)
                        for x in range(32) for y in range(32))  # fmt: skip
        arrays = {"X": ((32, 32, 3, count), data), "y": ((count, 1), bytes(10 if not label else label for label in labels))}
        write(folder / f"{name}_32x32.mat", encode.mat(arrays, compressed))


MAKERS = (photos, more_photos, jpegs, large, encodings, broken, names, refused, idx, cifar, webdataset, tars, tfrecord, recordio, caffe,
          lists, svhn)  # fmt: skip
ALL_HASHES = ("phash", "dhash", "dhash_vertical", "ahash", "whash", "phash16", "pdq", "imagededup_phash", "imagededup_dhash",
              "imagededup_ahash", "imagededup_whash", "phash_mirrored", "phash_dihedral", "phash16_mirrored", "phash16_dihedral",
              "pdq_mirrored", "pdq_dihedral")  # fmt: skip
# Caches that the earlier program makes from them, and that both programs use.
CACHES = {
    "photos": ("../photos", "--hash", ",".join(ALL_HASHES)),
    "groups": ("../lists/table.csv",),
    "unlabelled": ("../photos", "--labels", "none"),
    "raw": ("../idx", "--store", "raw"),
    "large": ("../large", "--shard-size", "1"),
    "broken": ("../broken",),
    "variants": ("../photos", "--augment", "cifar", "--copies", "3", "--image-size", "24"),
}


def prepare(folder, call):
    """Makes the data sets and caches in `folder`; `call(arguments, at)` runs the earlier program in the folder `at`."""
    for maker in MAKERS:
        maker(folder / maker.__name__, random.Random(f"same results: {maker.__name__}"))
    cifar(folder / "cifar100", random.Random("same results: cifar100"), fine=True)
    (folder / "caches").mkdir()
    for name, arguments in CACHES.items():
        call(["ingest", *arguments, "--out", name], folder / "caches")
