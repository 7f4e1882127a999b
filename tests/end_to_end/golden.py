"""The contents of the files of tests/data/golden, by formula, and how to seal such files again after a change.

They are written independently in C++, in tests/pipeline/golden_test.cpp and tests/train/golden_test.cpp: both judge
what is on disk.
"""

import ctypes
import json
import pathlib
import struct

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "data" / "golden"

# The arguments of winnow tune-lr with which v1/queue was made.
TUNING = ["--selection", "golden", "--lr", "0.05,1e30", "--weight-decay", "1e-4", "--warmup-epochs", "0", "--batch-sizes", "8", "--epochs", "1",
          "--seeds", "1", "--holdout", "0.25", "--test", "--", "--net", "lenet", "--micro-batch", "8", "--augment", "none"]  # fmt: skip


def pixels(k, width, height, channels):
    return bytes(
        (x * x * (1 + k % 4) + y * y * (1 + k % 7) + 3 * x * y * (k % 5) + 37 * c + 11 * k) % 256
        for y in range(height)
        for x in range(width)
        for c in range(channels)
    )


def pnm(k, width, height, channels):
    return b"P%d\n%d %d\n255\n" % (5 if channels == 1 else 6, width, height) + pixels(k, width, height, channels)


def picture(k):
    """Picture k of the mixed set: each has its own size; grey if k is a multiple of 3."""
    return pnm(k, 8 + k, 6 + k % 7, 1 if k % 3 == 0 else 3)


def mixed_set():
    """{name: bytes}: three splits of three classes of two pictures, copies, and unreadable files."""
    files = {}
    for i, split in enumerate((b"train", b"val", b"test")):
        for j, label in enumerate((b"ant", b"bee", b"caf\xe9")):
            for n in range(2):
                k = 6 * i + 2 * j + n
                files[b"%s/%s/%02d.ppm" % (split, label, k)] = picture(k)
    files[b"train/ant/leak.ppm"] = picture(14)  # is test/bee/14.ppm
    files[b"train/bee/again.ppm"] = picture(2)  # is train/bee/02.ppm
    files[b"train/ant/cut.ppm"] = picture(1)[:40]
    files[b"train/ant/empty.pgm"] = b""
    files[b"train/bee/text.jpg"] = b"no picture"
    return files


def squares():
    """{name: bytes}: 24 training and 8 test images, grey, 16 x 16, two classes. 5 is a copy of 3, and 24 of 0."""
    copies = {5: 3, 24: 0}
    return {
        b"%s/%s/%02d.pgm" % (b"train" if k < 24 else b"test", (b"left", b"right")[k % 2], k):
            pnm(copies.get(k, k), 16, 16, 1)
        for k in range(32)
    }


def panes():
    """{name: bytes}: small, colour, twice as large as its thumbnail, and so long that its thumbnail is squeezed."""
    sizes = [(20, 12, 1), (40, 30, 3), (128, 96, 1), (10, 500, 1)]
    return {b"%02d.ppm" % k: pnm(k, *size) for k, size in enumerate(sizes)}


VARIANTS_SEED = 5


def philox4x32(counter, key):
    """Four random words of 32 bits (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3")."""
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & 0xFFFFFFFF, (a >> 32) ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def square_variant(k, number, which):
    """Variant `which` of square k, whose id is `number`: padded by 4 zeros, cropped, flipped."""

    def words(use):  # the bounds 9 and 2 reject no word that occurs here
        return philox4x32((use << 24, number, 0, which), (VARIANTS_SEED, 0))

    crop = words(2)
    top, left = (crop[0] * 9 >> 32) - 4, (crop[1] * 9 >> 32) - 4
    flip = words(3)[0] * 2 >> 32 == 1
    image = pixels(k, 16, 16, 1)
    inside = range(16)
    return bytes(
        image[16 * (y + top) + x + left] if y + top in inside and x + left in inside else 0
        for y in range(16)
        for x in (reversed(range(16)) if flip else range(16))
    )


def weight(name, i):
    """Element i of the tensor `name` of the golden checkpoint."""
    return ((7 * i + 13 * len(name)) % 31 - 15) / 128


def momentum(name, i):
    return ((5 * i + 3 * len(name)) % 17 - 8) / 1024


def write_tree(folder, files):
    for name, data in files.items():
        path = pathlib.Path(folder, *(part.decode("utf-8", "surrogateescape") for part in name.split(b"/")))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


class _Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


def _xxhash():
    library = ctypes.CDLL("libxxhash.so.0")
    library.XXH3_64bits.restype = ctypes.c_uint64
    library.XXH3_128bits.restype = _Hash128
    for function in (library.XXH3_64bits, library.XXH3_128bits):
        function.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    return library


def xxh3_64(data):
    return _xxhash().XXH3_64bits(bytes(data), len(data))


def xxh3_128(data):
    value = _xxhash().XXH3_128bits(bytes(data), len(data))
    return f"{value.high:016x}{value.low:016x}"


def with_digest(document):
    """The text of a JSON file with a digest line, from its object."""
    document = {key: value for key, value in document.items() if key != "digest"}
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    return '{\n  "digest": "%s",\n' % xxh3_128(text.encode()) + text[2:]


def seal_checkpoint(step):
    """Makes the manifest of a checkpoint fit its files again."""
    manifest = json.loads((step / "manifest.json").read_text())
    for name, row in manifest["files"].items():
        data = (step / name).read_bytes()
        row.update(bytes=len(data), xxh3_128=xxh3_128(data))
    (step / "manifest.json").write_text(with_digest(manifest))


def fill_safetensors(path, value):
    """Replaces every F32 element by value(tensor's name, index)."""
    raw = path.read_bytes()
    (size,) = struct.unpack_from("<Q", raw)
    data = bytearray(raw)
    for name, row in json.loads(raw[8 : 8 + size]).items():
        if name == "__metadata__" or row["dtype"] != "F32":
            continue
        begin, end = row["data_offsets"]
        count = (end - begin) // 4
        struct.pack_into(f"<{count}f", data, 8 + size + begin, *(value(name, i) for i in range(count)))
    path.write_bytes(data)
