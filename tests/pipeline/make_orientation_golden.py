#!/usr/bin/env python3
"""Prints orientation.json: small files that state an orientation in many ways, with the result of Pillow's
exif_transpose.

    python3 tests/pipeline/make_orientation_golden.py > tests/data/vectors/pipeline/orientation.json

Needs Pillow; made with 13.0.
"""
import base64
import io
import pathlib
import struct
import sys
import warnings
import zlib

from PIL import Image, ImageOps

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from vectors import print_vectors  # noqa: E402

warnings.simplefilter("ignore")
VECTORS = []
PICTURE = Image.frombytes("RGB", (3, 2), bytes(range(0, 180, 10)))
TURNS = (None, None, Image.Transpose.FLIP_LEFT_RIGHT, Image.Transpose.ROTATE_180, Image.Transpose.FLIP_TOP_BOTTOM,
         Image.Transpose.TRANSPOSE, Image.Transpose.ROTATE_270, Image.Transpose.TRANSVERSE, Image.Transpose.ROTATE_90)


def applied(file):
    """The orientation that Pillow applies, 1 to 8; 1 also if it gives up."""
    image = Image.open(io.BytesIO(file))
    try:
        turned = ImageOps.exif_transpose(image)
    except Exception:
        return 1
    for number in range(1, 9):
        want = image.convert("RGB") if number == 1 else image.convert("RGB").transpose(TURNS[number])
        if want.size == turned.size and want.tobytes() == turned.convert("RGB").tobytes():
            return number
    raise ValueError("no orientation gives this")


def add(name, file):
    VECTORS.append({"name": name, "orientation": applied(file), "file": base64.b64encode(file).decode()})


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(*chunks, after=()):
    rows = PICTURE.tobytes()
    packed = zlib.compress(b"".join(b"\0" + rows[i : i + 9] for i in (0, 9)))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 3, 2, 8, 2, 0, 0, 0)) + b"".join(chunks)
            + chunk(b"IDAT", packed) + b"".join(after) + chunk(b"IEND", b""))


def jpeg(*segments):
    out = io.BytesIO()
    PICTURE.resize((24, 16), Image.Resampling.NEAREST).save(out, "JPEG", subsampling=0)
    file = out.getvalue()
    app1 = b"".join(b"\xff\xe1" + struct.pack(">H", len(s) + 2) + s for s in segments)
    return file[:2] + app1 + file[2:]


def webp(**chunks):
    out = io.BytesIO()
    PICTURE.save(out, "WEBP", lossless=True, **chunks)
    return out.getvalue()


def entry(order, kind, count, data):
    """An entry of a directory, and the data that it stores elsewhere."""
    return struct.pack(order + "HHI", 0x0112, kind, count), data


def exif(order, *entries):
    """A TIFF with one directory."""
    head = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "I", 8)
    directory = struct.pack(order + "H", len(entries))
    at = 8 + 2 + 12 * len(entries) + 4
    elsewhere = b""
    for fixed, data in entries:
        if len(data) > 4:
            directory += fixed + struct.pack(order + "I", at + len(elsewhere))
            elsewhere += data
        else:
            directory += fixed + data.ljust(4, b"\0")
    return head + directory + bytes(4) + elsewhere


def short(order, value):
    return entry(order, 3, 1, struct.pack(order + "H", value))


KINDS = {1: "B", 2: "s", 3: "H", 4: "I", 5: "II", 6: "b", 7: "s", 8: "h", 9: "i", 10: "ii", 11: "f", 12: "d", 13: "I"}


def value(order, kind, number):
    form = KINDS[kind]
    if form == "s":
        return str(number).encode() + b"\0" if kind == 2 else bytes([number])
    return struct.pack(order + form, *((number, 1) if len(form) == 2 else (number,)))


def types():
    for order, name in (("<", "little"), (">", "big")):
        for kind in KINDS:
            count = 2 if kind == 2 else 1
            add(f"type {kind}, {name} endian", png(chunk(b"eXIf", exif(order, entry(order, kind, count, value(order, kind, 6))))))
        for numbers in ((6, 1), (8, 1, 2), ()):
            data = struct.pack(order + f"{len(numbers)}H", *numbers)
            add(f"{len(numbers)} shorts, {name} endian", png(chunk(b"eXIf", exif(order, entry(order, 3, len(numbers), data)))))
        for number in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 65535):
            add(f"short {number}, {name} endian", png(chunk(b"eXIf", exif(order, short(order, number)))))
        add(f"two entries, {name} endian", png(chunk(b"eXIf", exif(order, short(order, 3), short(order, 6)))))
        add(f"two entries, the second of no kind, {name} endian",
            png(chunk(b"eXIf", exif(order, short(order, 3), entry(order, 99, 1, b"\6\0\0\0")))))
        beyond = exif(order, entry(order, 4, 2, struct.pack(order + "II", 6, 1)), short(order, 3))
        add(f"values beyond the end, {name} endian", png(chunk(b"eXIf", beyond[:-8])))
        add(f"a directory that ends early, {name} endian", png(chunk(b"eXIf", exif(order, short(order, 6))[:18])))


def xmp(text):
    return ("<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:Description " + text + "</rdf:Description></x:xmpmeta>").encode()


XMP_NAME = b"http://ns.adobe.com/xap/1.0/\0"
FORMS = {"attribute": 'tiff:Orientation="6">', "element": "><tiff:Orientation>8</tiff:Orientation>",
         "no number": 'tiff:Orientation="x">', "two digits": 'tiff:Orientation="67">', "nine": 'tiff:Orientation="9">',
         "apostrophes": "tiff:Orientation='6'>"}


def itxt(key, text, compressed=False):
    body = zlib.compress(text) if compressed else text
    return chunk(b"iTXt", key + b"\0" + bytes([compressed, 0]) + b"\0\0" + body)


def metadata():
    for name, form in FORMS.items():
        add(f"xmp {name}, jpeg", jpeg(XMP_NAME + xmp(form)))
        add(f"xmp {name}, png", png(itxt(b"XML:com.adobe.xmp", xmp(form))))
        add(f"xmp {name}, webp", webp(xmp=xmp(form)))
    attribute = xmp(FORMS["attribute"])
    add("xmp compressed, png", png(itxt(b"XML:com.adobe.xmp", attribute, compressed=True)))
    add("xmp in tEXt, png", png(chunk(b"tEXt", b"XML:com.adobe.xmp\0" + attribute)))
    add("xmp in zTXt, png", png(chunk(b"zTXt", b"XML:com.adobe.xmp\0\0" + zlib.compress(attribute))))
    add("xmp behind the pixels, png", png(after=[itxt(b"XML:com.adobe.xmp", attribute)]))
    add("two xmp, jpeg", jpeg(XMP_NAME + attribute, XMP_NAME + xmp(FORMS["element"])))
    add("two xmp, png", png(itxt(b"XML:com.adobe.xmp", attribute), itxt(b"XML:com.adobe.xmp", xmp(FORMS["element"]))))
    for number in (0, 1, 3):
        tag = exif("<", short("<", number))
        add(f"exif {number} and xmp 6, jpeg", jpeg(b"Exif\0\0" + tag, XMP_NAME + attribute))
        add(f"exif {number} and xmp 6, png", png(chunk(b"eXIf", tag), itxt(b"XML:com.adobe.xmp", attribute)))
        add(f"exif {number} and xmp 6, webp", webp(exif=tag, xmp=attribute))
    add("exif without it and xmp 6, jpeg", jpeg(b"Exif\0\0" + exif("<"), XMP_NAME + attribute))
    add("exif that is none and xmp 6, jpeg", jpeg(b"Exif\0\0" + b"nothing of the kind", XMP_NAME + attribute))
    add("exif named twice, jpeg", jpeg(b"Exif\0\0Exif\0\0" + exif("<", short("<", 6))))
    whole = b"Exif\0\0" + exif(">", entry(">", 4, 2, struct.pack(">II", 8, 1)))
    add("exif in two segments, jpeg", jpeg(whole[:-8], b"Exif\0\0" + whole[-8:]))
    add("exif behind the pixels, png", png(after=[chunk(b"eXIf", exif("<", short("<", 6)))]))
    add("two exif, png", png(chunk(b"eXIf", exif("<", short("<", 3))), chunk(b"eXIf", exif("<", short("<", 6)))))
    add("exif, webp", webp(exif=exif("<", short("<", 5))))


def profile(data, key=b"Raw profile type exif"):
    text = data.hex()
    lines = "\n".join(text[i : i + 72] for i in range(0, len(text), 72))
    return key + b"\0", f"\nexif\n{len(data):8}\n{lines}\n".encode()


def profiles():
    key, text = profile(b"Exif\0\0" + exif(">", short(">", 6)))
    add("raw profile in tEXt", png(chunk(b"tEXt", key + text)))
    add("raw profile in zTXt", png(chunk(b"zTXt", key + b"\0" + zlib.compress(text))))
    add("raw profile in iTXt", png(itxt(key[:-1], text)))
    add("raw profile behind the pixels", png(after=[chunk(b"zTXt", key + b"\0" + zlib.compress(text))]))
    add("raw profile of no hexadecimal digits", png(chunk(b"tEXt", key + text.replace(b"4d", b"xy"))))
    add("raw profile and exif 3", png(chunk(b"tEXt", key + text), chunk(b"eXIf", exif("<", short("<", 3)))))
    add("raw profile and xmp 8", png(chunk(b"tEXt", key + text), itxt(b"XML:com.adobe.xmp", xmp(FORMS["element"]))))
    other, _ = profile(b"", b"Raw profile type APP1")
    add("raw profile of another name", png(chunk(b"tEXt", other + text)))


def main():
    types()
    metadata()
    profiles()
    print_vectors("Files, and the orientation that Pillow 13.0 holds them by; files in base64.", files=VECTORS)


main()
