"""Families of real things that Debian ships, and the packages they are in.

Each function (chance, count) yields pictures of up to `count` things, in one layout, no thing twice. Nothing is fetched: lacks()
says what to install.
"""

import gzip
import itertools
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile

import numpy
from PIL import Image, ImageFont

import draw
from draw import BLACK, GRAY, WHITE, write

EMOJI = pathlib.Path("/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf")
STIX = pathlib.Path("/usr/share/fonts/opentype/stix/STIXGeneral-Regular.otf")
CJK = pathlib.Path("/usr/share/fonts/truetype/wqy/wqy-microhei.ttc")
FLAGS = pathlib.Path("/usr/share/iso-flags-png-320x240")
ICONS = pathlib.Path("/usr/share/icons/Adwaita/96x96")
MAPS = pathlib.Path("/usr/share/kgeography")
VALGRIND = pathlib.Path("/usr/share/doc/valgrind")
FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz")
LICENCES = pathlib.Path("/usr/share/common-licenses")
PYTHON = pathlib.Path("/usr/lib/python3.11")
MANUALS = pathlib.Path("/usr/share/man/man1")

# A file or program that shows whether a package is installed.
SIGNS = {
    "fonts-noto-color-emoji": EMOJI,
    "fonts-stix": STIX,
    "fonts-wqy-microhei": CJK,
    "iso-flags-png-320x240": FLAGS,
    "adwaita-icon-theme": ICONS,
    "kgeography-data": MAPS,
    "valgrind": VALGRIND / "valgrind_manual.pdf.gz",
    "dataset-fashion-mnist": FASHION,
    "base-files": LICENCES,
    "libpython3.11-minimal": PYTHON,
    "poppler-utils": "pdftoppm",
    "chromium": "chromium",
    "man-db": "man",
    "bash": MANUALS / "bash.1.gz",
}


def lacks(packages):
    """A sentence about what to install; empty if nothing is missing."""
    missing = [name for name in packages if not (shutil.which(SIGNS[name]) if isinstance(SIGNS[name], str) else SIGNS[name].exists())]
    return f"install it by: apt-get install --no-install-recommends {' '.join(missing)}" if missing else ""


# Small pictures on the same background.


def on_cards(chance, count, pictures, inner, side):
    """Each picture in the middle of a background, scaled to fit `inner`."""
    blank, pen = draw.new(side, side, chance.tone(225, 250))
    pen.rectangle([8, 8, side - 9, side - 9], outline=GRAY)

    def card(picture):
        out, share = blank.copy(), inner / max(picture.size)
        picture = picture.convert("RGBA").resize((round(picture.width * share), round(picture.height * share)), Image.Resampling.BICUBIC)
        out.paste(picture, ((side - picture.width) // 2, (side - picture.height) // 2), picture)
        return out

    return itertools.islice(draw.unlike(map(card, pictures)), count)


def opened(chance, files):
    """Pictures of files in a random order."""
    files = sorted({path.resolve() for path in files})
    return (Image.open(path) for path in chance.some(files, len(files)))


def flags(chance, count):
    return on_cards(chance, count, opened(chance, FLAGS.glob("*.png")), 320, 360)


def theme_icons(chance, count):
    return on_cards(chance, count, opened(chance, ICONS.rglob("*.png")), 256, 320)


def country_maps(chance, count):
    return on_cards(chance, count, opened(chance, MAPS.glob("*.png")), 480, 520)


def glyph(path, size, letter, colour=BLACK):
    """A letter on a transparent background, or None if the font lacks it."""
    face = ImageFont.truetype(str(path), size)
    left, top, right, bottom = face.getbbox(letter)
    if right - left < size / 8 or bottom - top < size / 8:
        return None
    picture = Image.new("RGBA", (right - left + 8, bottom - top + 8))
    draw.ImageDraw.Draw(picture).text((4 - left, 4 - top), letter, font=face, fill=colour, embedded_color=True)
    return picture


def glyphs(chance, path, size, codes):
    """Letters of a font in a random order, without those that look like the sign for a missing letter."""
    missing = glyph(path, size, "\U000e1234") or glyph(path, size, "\uffff")
    for code in chance.some(codes, len(codes)):
        picture = glyph(path, size, chr(code))
        if picture is not None and (missing is None or picture.tobytes() != missing.tobytes()):
            yield picture


def emoji(chance, count):
    codes = [*range(0x1F300, 0x1F5FF), *range(0x1F600, 0x1F64F), *range(0x1F680, 0x1F6C5), *range(0x1F910, 0x1F9FF)]
    return on_cards(chance, count, glyphs(chance, EMOJI, 109, codes), 240, 300)


def math_symbols(chance, count):
    return on_cards(chance, count, glyphs(chance, STIX, 200, range(0x2200, 0x22FF)), 200, 320)


def chinese_signs(chance, count):
    return on_cards(chance, count, glyphs(chance, CJK, 220, range(0x4E00, 0x9000)), 220, 320)


def fashion_items(chance, count):
    """Shirts from Fashion-MNIST, one class."""
    with gzip.open(FASHION) as file:
        total, high, wide = struct.unpack(">4i", file.read(16))[1:]
        items = numpy.frombuffer(file.read(4000 * high * wide), numpy.uint8).reshape(-1, high, wide)
    with gzip.open(FASHION.with_name("train-labels-idx1-ubyte.gz")) as file:
        labels = numpy.frombuffer(file.read()[8:4008], numpy.uint8)
    shirts = [Image.fromarray(item) for item in items[labels == 6]]
    return on_cards(chance, count, chance.some(shirts, len(shirts)), 280, 300)


# Pages and screens.


def read_pages(lines, height):
    """Lines in pages of this many; pages with little on them are left out."""
    pages = [lines[i : i + height] for i in range(0, len(lines) - height + 1, height)]
    return [page for page in dict.fromkeys(map(tuple, pages)) if sum(bool(line.strip()) for line in page) > height / 2]


def drawn_pages(chance, count, pages, ground, ink, size=12, head=""):
    """Pages of fixed-width text, each drawn as a screen or sheet in one style."""
    for page in chance.some(pages, count):
        picture, pen = draw.new(60 + 80 * round(0.603 * size), 60 + len(page) * round(1.35 * size), ground)
        write(pen, (30, 12), head, "DejaVuSansMono-Bold", size, ink)
        draw.block(pen, (30, 40), [line[:84] for line in page], "DejaVuSansMono", size, ink, 1.35)
        yield picture


def licence_pages(chance, count):
    texts = sorted({path.resolve() for path in LICENCES.iterdir()})
    pages = [page for path in texts for page in read_pages(path.read_text(errors="replace").expandtabs().splitlines(), 44)]
    return drawn_pages(chance, count, list(dict.fromkeys(pages)), WHITE, BLACK, head="COPYING")


def source_screens(chance, count):
    """Screens with the sources of Python's library."""
    pages = [page for path in sorted(PYTHON.glob("*.py")) for page in read_pages(path.read_text(errors="replace").splitlines(), 36)]
    return drawn_pages(chance, count, pages, (30, 31, 38), (214, 214, 220), 13, "editor")


def terminal_manuals(chance, count):
    """Screens of one manual in a terminal."""
    words = {**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"}
    text = subprocess.run(["man", "-P", "cat", "bash"], capture_output=True, text=True, check=True, env=words).stdout
    return drawn_pages(chance, count, read_pages(text.splitlines(), 34), BLACK, (200, 220, 200), 13, "BASH(1)")


def manual_pages(chance, count):
    """Pages of a manual in PDF."""
    with tempfile.TemporaryDirectory(prefix="winnow-bench-") as folder:
        path = pathlib.Path(folder) / "manual.pdf"
        path.write_bytes(gzip.decompress((VALGRIND / "valgrind_manual.pdf.gz").read_bytes()))
        for number in chance.some(range(20, 380), count):
            words = ["pdftoppm", "-r", "72", "-png", "-singlefile", "-f", str(number), "-l", str(number), path, path.with_suffix("")]
            done = subprocess.run(list(map(str, words)), capture_output=True, check=False)
            page = path.with_suffix(".png")
            if done.returncode == 0 and page.exists():
                with Image.open(page) as picture:
                    yield picture.convert("RGB")
                page.unlink()


def pages_in_a_browser(chance, count):
    """Pages of a manual in HTML, as a browser shows them."""
    files = sorted((VALGRIND / "html").glob("*.html"))
    with tempfile.TemporaryDirectory(prefix="winnow-bench-") as folder:
        for page in chance.some(files, count):
            shot = pathlib.Path(folder) / "shot.png"
            words = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}",
                     "--window-size=800,600", f"--screenshot={shot}", page.as_uri()]  # fmt: skip
            subprocess.run(words, capture_output=True, check=True, timeout=60)
            with Image.open(shot) as picture:
                yield picture.convert("RGB")


ROWS = [
    (flags, ("iso-flags-png-320x240",)),
    (theme_icons, ("adwaita-icon-theme",)),
    (country_maps, ("kgeography-data",)),
    (emoji, ("fonts-noto-color-emoji",)),
    (math_symbols, ("fonts-stix",)),
    (chinese_signs, ("fonts-wqy-microhei",)),
    (fashion_items, ("dataset-fashion-mnist",)),
    (licence_pages, ("base-files",)),
    (source_screens, ("libpython3.11-minimal",)),
    (terminal_manuals, ("man-db", "bash")),
    (manual_pages, ("valgrind", "poppler-utils")),
    (pages_in_a_browser, ("valgrind", "chromium")),
]
