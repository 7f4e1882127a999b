#!/usr/bin/env python3
"""Prints parity.json: files, and the pixels that Pillow makes from them.

    /usr/bin/python3 tests/pipeline/make_parity_golden.py > tests/data/vectors/pipeline/parity.json

Needs Debian's python3-pil (9.4, on libjpeg-turbo 2.1.5). Torchvision's transforms of PIL images call Pillow; the sizes
that torchvision computes are written out here.
"""
import base64
import io
import pathlib
import struct
import sys
import zlib

from PIL import Image, ImageOps

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from vectors import print_vectors  # noqa: E402

VECTORS = []


def formula(width, height):
    """The picture "tri" of tests/common/formula_images.h."""
    pixels = bytes(min(abs((5 * x + 2 * y + 37 * c + x * y // 16) % 510 - 255), 255)
                   for y in range(height) for x in range(width) for c in range(3))
    return Image.frombytes("RGB", (width, height), pixels)


def alpha_of(width, height):
    """From transparent to opaque, both included."""
    return Image.frombytes("L", (width, height),
                           bytes(min(255, (x * 53 + y * 29) % 300) for y in range(height) for x in range(width)))


def saved(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def add(operation, name, argument, file, want):
    want = want if want.mode == "L" else want.convert("RGB")
    VECTORS.append({"operation": operation, "name": name, "argument": argument, "height": want.height, "width": want.width,
                    "channels": 1 if want.mode == "L" else 3, "file": text_of(file), "pixels": text_of(want.tobytes())})


def exif(orientation, big_endian=False):
    order, head = (">", b"MM\0*") if big_endian else ("<", b"II*\0")
    entry = struct.pack(order + "HHIHH", 0x0112, 3, 1, orientation, 0)
    return b"Exif\0\0" + head + struct.pack(order + "IH", 8, 1) + entry + bytes(4)


def decoding():
    image = formula(21, 13)
    for name, options in (("4:2:0", {}), ("4:2:2", {"subsampling": 1}), ("4:4:4", {"subsampling": 0}),
                          ("progressive", {"progressive": True}), ("restarts", {"quality": 95})):
        file = saved(image, "JPEG", **options)
        add("decode", "jpeg " + name, "", file, Image.open(io.BytesIO(file)))
    for kind, options in (("PNG", {}), ("WEBP", {"lossless": True}), ("BMP", {}), ("TIFF", {})):
        file = saved(image.resize((7, 5)), kind, **options)
        add("decode", kind.lower(), "", file, Image.open(io.BytesIO(file)))


def drafts():
    """JPEGs decoded at a scale."""
    image = formula(37, 29)
    for name, colours, options in (("4:2:0", "RGB", {}), ("4:2:2", "RGB", {"subsampling": 1}),
                                   ("4:4:4", "RGB", {"subsampling": 0}), ("gray", "L", {}), ("cmyk", "CMYK", {}),
                                   ("progressive", "RGB", {"progressive": True})):
        file = saved(image.convert(colours), "JPEG", **options)
        for scale in (2, 4, 8):
            small = Image.open(io.BytesIO(file))
            small.draft(small.mode, (37 // scale, 29 // scale))
            assert small.size == (-(-37 // scale), -(-29 // scale))
            add("draft", "jpeg " + name, str(scale), file, small)


def orientation():
    image = formula(11, 6)
    for turn in range(0, 10):
        file = saved(image, "JPEG", subsampling=0, exif=exif(turn, big_endian=turn % 2 == 0))
        add("orientation", f"jpeg {turn}", "", file, ImageOps.exif_transpose(Image.open(io.BytesIO(file))))
    for turn in (3, 6, 7):
        gray = saved(image.convert("L"), "PNG", exif=exif(turn))
        add("orientation", f"gray png {turn}", "", gray, ImageOps.exif_transpose(Image.open(io.BytesIO(gray))))
    for turn in (5, 8):
        file = saved(image, "WEBP", lossless=True, exif=exif(turn)[6:])
        add("orientation", f"webp {turn}", "", file, ImageOps.exif_transpose(Image.open(io.BytesIO(file))))


def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(bits, colour, width, height, rows, *chunks):
    head = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0)
    packed = zlib.compress(b"".join(b"\0" + row for row in rows))
    return (b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", head) + b"".join(chunks)
            + png_chunk(b"IDAT", packed) + png_chunk(b"IEND", b""))


def mattes():
    size = (9, 6)
    colour = formula(*size)
    clear = alpha_of(*size)
    rgba = colour.copy()
    rgba.putalpha(clear)
    la = colour.convert("L")
    la.putalpha(clear)
    palette = colour.quantize(16)
    row = colour.tobytes()
    files = {
        "rgba png": saved(rgba, "PNG"),
        "la png": saved(la, "PNG"),
        "palette png": saved(palette, "PNG", transparency=bytes(range(0, 256, 16))),
        "rgb png with one clear colour": png(8, 2, 9, 6, [row[i:i + 27] for i in range(0, 162, 27)],
                                             png_chunk(b"tRNS", b"".join(b"\0" + row[i:i + 1] for i in (6, 7, 8)))),
        "gray png with one clear value": png(8, 0, 4, 2, [bytes((0, 7, 200, 255)), bytes((7, 7, 8, 6))],
                                             png_chunk(b"tRNS", b"\0\7")),
        "rgba webp": saved(rgba, "WEBP", lossless=True, exact=True),
        "opaque webp": saved(colour, "WEBP", lossless=True),
        "rgba tiff": saved(rgba, "TIFF"),
        "opaque jpeg": saved(colour, "JPEG", subsampling=0),
    }
    for name, file in files.items():
        for matte in ("white", "black", "#2080e0"):
            image = Image.open(io.BytesIO(file))
            gray = image.mode in ("L", "LA") and (matte != "#2080e0" or "transparency" not in image.info
                                                   and image.mode == "L")
            under = Image.new("RGBA", image.size, matte)
            want = Image.alpha_composite(under, image.convert("RGBA")).convert("RGB")
            add("matte", name, matte, file, want.getchannel(0) if gray else want)


def short_side(image, short):
    """torchvision's Resize(short) of a PIL image."""
    width, height = image.size
    if width <= height:
        return image.resize((short, int(short * height / width)), Image.BILINEAR)
    return image.resize((int(short * width / height), short), Image.BILINEAR)


def centre(image, size):
    """torchvision's CenterCrop of an image that is at least as large."""
    width, height = image.size
    top = int(round((height - size) / 2.0))
    left = int(round((width - size) / 2.0))
    return image.crop((left, top, left + size, top + size))


def sizes():
    for width, height in ((37, 29), (23, 41), (32, 32)):
        for gray in (False, True):
            image = formula(width, height)
            image = image.convert("L") if gray else image
            file = saved(image, "PNG")
            name = f"{width}x{height}" + (" gray" if gray else "")
            for short in (8, 13, 20):
                add("resize", name, str(short), file, short_side(image, short))
            for side in (8, 15):
                add("resize and crop", name, str(side), file, centre(short_side(image, side), side))
            add("resize and encode", name, "16", file,
                Image.open(io.BytesIO(saved(short_side(image, 16), "JPEG", quality=90))))


def text_of(data):
    return base64.b64encode(data).decode()


def main():
    decoding()
    drafts()
    orientation()
    mattes()
    sizes()
    print_vectors("Files, what is done to them, and the pixels that Pillow 9.4 makes of them; both in base64.", files=VECTORS)


main()
