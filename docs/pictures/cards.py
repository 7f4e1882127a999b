"""Parts that the programs beside this share: cards with photos and a line of words below, and which winnow they run."""

import os
import pathlib
import sys

from PIL import Image, ImageDraw, ImageFont, ImageOps

PHOTOS = pathlib.Path(__file__).resolve().parent / "photos"
GAP, LINE, PAD = 14, 58, 20
FONTS = pathlib.Path("/usr/share/fonts/truetype/dejavu")
INK, QUIET, CARD, EDGE = "#1f2328", "#59636e", "#f6f8fa", "#d1d9e0"


def program():
    """The winnow that is run: the variable WINNOW."""
    return os.path.abspath(os.environ.get("WINNOW") or sys.exit("WINNOW names the program: WINNOW=build/release/winnow"))


def font(size, name="DejaVuSans.ttf"):
    return ImageFont.truetype(str(FONTS / name), size)


def photo(name):
    return Image.open(PHOTOS / f"{name}.jpg").convert("RGB")


def captioned(picture, words):
    """With these words on black, over its last fifth."""
    copy, (w, h) = picture.copy(), picture.size
    draw = ImageDraw.Draw(copy)
    draw.rectangle((0, int(0.8 * h), w, h), fill="black")
    draw.text((w // 2, int(0.9 * h)), words, font=font(h // 9, "DejaVuSans-Bold.ttf"), fill="white", anchor="mm")
    return copy


def put(sheet, picture, left, top, wide, high):
    """Scaled into a place of `wide` by `high` pixels, in its middle."""
    small = ImageOps.contain(picture, (wide, high), Image.LANCZOS)
    sheet.paste(small, (left + (wide - small.width) // 2, top + (high - small.height) // 2))


def sheet(cards, wide, high, size=32):
    """Two cards a row, nothing between them, so that a page may be dark.

    A card is (pictures, words on the left, words on the right); each picture has `wide` by `high` pixels.
    """
    count = len(cards[0][0])
    outer, tall = count * wide + (count - 1) * GAP + 2 * PAD, high + LINE + 2 * PAD - 8
    out = Image.new("RGBA", (2 * outer + GAP, len(cards) // 2 * (tall + GAP) - GAP))
    draw = ImageDraw.Draw(out)
    for i, (pictures, left_words, right_words) in enumerate(cards):
        left, top = (i % 2) * (outer + GAP), (i // 2) * (tall + GAP)
        draw.rounded_rectangle((left, top, left + outer - 1, top + tall - 1), 16, fill=CARD, outline=EDGE, width=2)
        for k, picture in enumerate(pictures):
            put(out, picture, left + PAD + k * (wide + GAP), top + PAD, wide, high)
        below = top + PAD + high + LINE // 2 + 4
        draw.text((left + PAD, below), left_words, font=font(size), fill=QUIET, anchor="lm")
        draw.text((left + outer - PAD, below), right_words, font=font(size, "DejaVuSans-Bold.ttf"), fill=INK, anchor="rm")
    return out


def sure(probability):
    """As the pages of winnow say it."""
    return "over 99.9 % sure" if probability >= 0.999 else f"{100 * probability:.1f} % sure"


def save(picture, path, **options):
    picture.save(path, **options)
    print(f"{path.name}: {picture.width} x {picture.height}, {path.stat().st_size / 1000:.0f} kB")
