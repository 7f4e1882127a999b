"""What kinds of look-alikes share: chance, words, letters, handwriting, textures, photos, faces, scans.

All that is drawn depends on a Chance alone. Sizes are pixels; colours are triples of 0 to 255. Nothing of winnow is used here.
"""

import functools
import io
import pathlib
import sys

import numpy
from PIL import Image, ImageDraw, ImageFilter, ImageFont

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "edits"))
import edits  # noqa: E402

FONTS = pathlib.Path("/usr/share/fonts/truetype/dejavu")
TEXT_FONTS = ["DejaVuSerif", "DejaVuSans", "DejaVuSansCondensed", "DejaVuSerifCondensed"]
BLACK, WHITE, GRAY = (20, 20, 24), (255, 255, 255), (120, 120, 126)


# Chance and words.


def made_up_words(count):
    """The same words in each run: short ones first, like the frequent words of a language."""
    rng = numpy.random.default_rng(1)
    starts, vowels, ends = (
        "b br c d dr f g gr h l m n p pl r s st t tr v w".split(),
        "a e i o u ea ou".split(),
        ["", "n", "r", "s", "l", "t", "nd"],
    )
    words = set()
    while len(words) < count:
        syllables = 1 + int(rng.integers(0, 4) * len(words) / count + 0.5)
        words.add("".join(rng.choice(starts) + rng.choice(vowels) for _ in range(syllables)) + rng.choice(ends))
    return sorted(words, key=lambda word: (len(word), word))


VOCABULARY = made_up_words(900)


class Chance(edits.Chance):
    """Random choices for the template and the pictures of a family."""

    def yes(self, share=0.5):
        return self.rng.random() < share

    def some(self, things, count):
        """`count` of them, each once, in random order."""
        return [things[i] for i in self.rng.permutation(len(things))[:count]]

    def words(self, count):
        """A list of words; frequent words are short."""
        return [VOCABULARY[i] for i in (len(VOCABULARY) * self.rng.random(count) ** 1.7).astype(int)]

    def title(self, count=2):
        return " ".join(word.capitalize() for word in self.words_of(4, 10, count))

    def words_of(self, least, most, count):
        """Words with this number of letters."""
        fit = [word for word in VOCABULARY if least <= len(word) <= most]
        return [self.one_of(fit) for _ in range(count)]

    def sentence(self, least=5, most=12):
        return " ".join(self.words(self.whole(least, most))).capitalize()

    def name(self):
        return " ".join(word.capitalize() for word in self.words_of(4, 8, 2))

    def digits(self, count):
        return "".join(map(str, self.rng.integers(0, 10, count)))

    def letters(self, count):
        return "".join(self.one_of("ABCDEFGHKLMNPRSTUVWXYZ") for _ in range(count))

    def date(self):
        return f"{self.whole(1, 28):02}.{self.whole(1, 12):02}.{self.whole(1985, 2025)}"

    def amount(self, most=900):
        return f"{self.between(1, most):,.2f}"

    def phone(self):
        return f"+{self.whole(30, 49)} {self.digits(3)} {self.digits(3)} {self.digits(4)}"

    def address(self):
        return f"{self.title(1)} St {self.whole(1, 240)}", f"{self.digits(5)} {self.title(1)}"

    def tone(self, least, most):
        """A colour whose channels lie between these limits."""
        return tuple(self.whole(least, most) for _ in range(3))

    def muted(self, least, most):
        """A muted colour: its channels are near each other."""
        level = self.whole(least, most)
        return tuple(min(255, max(0, level + self.whole(-28, 28))) for _ in range(3))

    def strong(self):
        """A strong colour, as of a brand: one channel high, one low."""
        return tuple(self.some([self.whole(150, 230), self.whole(10, 70), self.whole(40, 170)], 3))


def distinct(make, count):
    """`count` values of make(), each once: a repeated value is drawn again."""
    seen = set()
    while len(seen) < count:
        value = make()
        if value not in seen:
            seen.add(value)
            yield value


def apart(make, count, least):
    """`count` arrays of make(), any two of which differ by `least` somewhere; by less if there is no room for that."""
    kept = []
    while len(kept) < count:
        value = make()
        if all(numpy.abs(value - other).max() >= least for other in kept):
            kept.append(value)
            yield value
        else:
            least *= 0.998


def unlike(pictures):
    """The pictures that do not look like an earlier one, as they are, mirrored or turned."""
    before = []
    for picture in pictures:
        small = numpy.asarray(picture.resize((16, 16), Image.Resampling.BOX), numpy.int16)
        if all(numpy.abs(small - other).max() > 40 for other in before):
            before += [numpy.rot90(way, turns) for way in (small, small[:, ::-1]) for turns in range(4)]
            yield picture


# Letters.


def lacks_fonts():
    """Says what to install if DejaVu's fonts are missing; empty otherwise."""
    if (FONTS / "DejaVuSans.ttf").exists() and (FONTS / "DejaVuSansCondensed.ttf").exists():
        return ""
    return "DejaVu's fonts are not installed (Debian: fonts-dejavu-core, fonts-dejavu-extra)"


@functools.lru_cache(maxsize=1024)
def font(name, size):
    return ImageFont.truetype(str(FONTS / f"{name}.ttf"), size)


def bold(name):
    return name if name.endswith("Bold") else name + "-Bold"


@functools.lru_cache(maxsize=100_000)
def width_of(text, name, size):
    return font(name, size).getlength(text)


def new(width, height, colour=WHITE):
    """A picture and its pen."""
    picture = Image.new("RGB", (round(width), round(height)), colour)
    return picture, ImageDraw.Draw(picture)


def again(template):
    """A copy of the template and its pen."""
    picture = template.copy()
    return picture, ImageDraw.Draw(picture)


def write(pen, at, text, name="DejaVuSans", size=14, fill=BLACK, anchor="la"):
    pen.text(at, text, fill=fill, font=font(name, size), anchor=anchor)


def broken(words, width, name, size):
    """Lists of words that each fit the width."""
    line, used, space = [], 0, width_of(" ", name, size)
    for word in words:
        wide = width_of(word, name, size)
        if line and used + wide > width:
            yield line
            line, used = [], 0
        line.append(word)
        used += wide + space
    if line:
        yield line


def paragraph(pen, at, width, words, name, size, fill=BLACK, leading=1.35, justified=True):
    """Writes words in lines. Returns where the next line begins."""
    x, y = at
    lines = list(broken(words, width, name, size))
    for line in lines:
        if justified and line is not lines[-1] and len(line) > 1:
            gap = (width - sum(width_of(word, name, size) for word in line)) / (len(line) - 1)
            left = x
            for word in line:
                write(pen, (left, y), word, name, size, fill)
                left += width_of(word, name, size) + gap
        else:
            write(pen, (x, y), " ".join(line), name, size, fill)
        y += round(size * leading)
    return y


def column(pen, box, chance, name, size, fill=BLACK, heads=0.25):
    """Fills a box with paragraphs, some with a heading."""
    left, top, right, bottom = box
    step = round(size * 1.35)
    while bottom - top > 2 * step:
        if heads and chance.yes(heads) and bottom - top > 5 * step:
            write(pen, (left, top), chance.title(chance.whole(1, 3)), bold(name), size, fill)
            top += round(1.5 * step)
        room = int((bottom - top) / step)
        words = chance.words(chance.whole(25, 110))
        fit = list(broken(words, right - left, name, size))[:room]
        top = paragraph(pen, (left, top), right - left, [word for line in fit for word in line], name, size, fill) + step // 2


def block(pen, at, lines, name="DejaVuSans", size=12, fill=BLACK, leading=1.4, anchor="la"):
    """Writes lines below each other. Returns where the next one goes."""
    x, y = at
    for line in lines:
        write(pen, (x, y), line, name, size, fill, anchor)
        y += round(size * leading)
    return y


def grid(pen, box, columns, rows, colour, width=1):
    """Lines at these shares of the width (`columns`), and of `rows` equal rows."""
    left, top, right, bottom = box
    for share in columns:
        x = left + share * (right - left)
        pen.line([x, top, x, bottom], fill=colour, width=width)
    for i in range(rows + 1):
        y = top + i * (bottom - top) / rows
        pen.line([left, y, right, y], fill=colour, width=width)


def emblem(pen, box, chance, colours=None):
    """A sign of a few simple shapes, like a company's."""
    left, top, right, bottom = box
    wide, high = right - left, bottom - top
    colours = colours or [chance.strong(), chance.strong()]
    for i in range(chance.whole(2, 4)):
        x, y = left + chance.between(0, 0.4) * wide, top + chance.between(0, 0.4) * high
        inner = [x, y, x + chance.between(0.4, 0.6) * wide, y + chance.between(0.4, 0.6) * high]
        shape = chance.one_of(["ellipse", "rectangle", "pieslice", "triangle"])
        fill = colours[i % len(colours)]
        if shape == "pieslice":
            begin = chance.whole(0, 359)
            pen.pieslice(inner, begin, begin + chance.whole(90, 270), fill=fill)
        elif shape == "triangle":
            pen.polygon([(inner[0], inner[3]), (inner[2], inner[3]), ((inner[0] + inner[2]) / 2, inner[1])], fill=fill)
        else:
            getattr(pen, shape)(inner, fill=fill)


# Handwriting: letters are strokes of a cursive hand, in units of a small letter's height.

STROKES = {
    "n": [(0, 0), (0.1, 1), (0.35, 1.05), (0.45, 0)],
    "u": [(0, 1), (0.05, 0.1), (0.3, 0), (0.45, 1), (0.5, 0)],
    "o": [(0.35, 1), (0.02, 0.7), (0.1, 0), (0.45, 0.1), (0.5, 0.8), (0.3, 1.02), (0.6, 0.85)],
    "l": [(0, 0), (0.4, 1.7), (0.25, 2.1), (0.1, 1.5), (0.15, 0.1), (0.4, 0)],
    "g": [(0.45, 1), (0.05, 0.8), (0.1, 0.1), (0.4, 0.3), (0.45, 1), (0.35, -0.8), (0.1, -0.9), (0.05, -0.5), (0.6, 0.2)],
    "i": [(0, 0.1), (0.15, 1), (0.2, 0.05), (0.4, 0.1)],
    "e": [(0, 0.3), (0.4, 0.6), (0.3, 1), (0.05, 0.7), (0.1, 0), (0.5, 0.1)],
    "s": [(0, 0), (0.3, 1.1), (0.4, 0.4), (0.2, -0.05), (0, 0.1), (0.5, 0.05)],
    "t": [(0, 0.1), (0.25, 1.7), (0.2, 0), (0.45, 0.1)],
    "r": [(0, 0), (0.1, 1.1), (0.2, 0.8), (0.4, 1), (0.4, 0.1)],
    "p": [(0, 0.5), (0.2, 1), (0.1, -1), (0.2, 0.9), (0.5, 0.9), (0.5, 0.2), (0.15, 0), (0.6, 0)],
}
CURSIVE = dict(zip("abcdefghijklmnopqrstuvwxyz",
                   "oi lo e ot e l g ln i g li l nnn nn o p og r s t u ur uu rs ug sr".split(), strict=True))  # fmt: skip
NUMERALS = {
    "0": [(0.3, 1.6), (0, 0.8), (0.3, 0), (0.6, 0.8), (0.3, 1.6)],
    "1": [(0, 1.1), (0.3, 1.6), (0.3, 0)],
    "2": [(0, 1.2), (0.3, 1.7), (0.6, 1.2), (0, 0), (0.6, 0)],
    "3": [(0, 1.5), (0.5, 1.6), (0.2, 0.9), (0.6, 0.5), (0.3, 0), (0, 0.2)],
    "4": [(0.3, 1.6), (0, 0.6), (0.6, 0.6), (0.45, 1.1), (0.45, 0)],
    "5": [(0.6, 1.6), (0.1, 1.6), (0.05, 0.9), (0.5, 0.9), (0.5, 0.1), (0, 0)],
    "6": [(0.5, 1.6), (0.05, 0.8), (0.2, 0), (0.6, 0.4), (0.1, 0.7)],
    "7": [(0, 1.6), (0.6, 1.6), (0.2, 0)],
    "8": [(0.5, 1.4), (0.1, 1.4), (0.5, 0.4), (0.3, 0), (0.1, 0.4), (0.5, 1.2), (0.3, 1.6)],
    "9": [(0.5, 1.2), (0.1, 1.2), (0.2, 1.6), (0.5, 1.4), (0.4, 0)],
}


def smooth(points):
    """Cuts corners twice (Chaikin)."""
    for _ in range(2):
        a, b = points[:-1], points[1:]
        points = numpy.concatenate([points[:1], numpy.stack([0.75 * a + 0.25 * b, 0.25 * a + 0.75 * b], 1).reshape(-1, 2), points[-1:]])
    return points


def scrawl(ink, at, text, size, slant, chance):
    """Writes by hand on a mask of twice the picture's size; `size`: the height of a small letter. Returns where the next word goes."""
    x, y = at
    strokes = []
    for letter in text.lower():
        parts = [NUMERALS[letter]] if letter in NUMERALS else [STROKES[s] for s in CURSIVE.get(letter, "")]
        if letter in NUMERALS or not parts:
            strokes.append([])
        for part in parts:
            shape = numpy.array(part) * [chance.between(1, 1.35), chance.between(0.85, 1.1)] + chance.rng.normal(0, 0.035, (len(part), 2))
            left = x / size
            if not strokes:
                strokes.append([])
            strokes[-1].extend(shape + [left, 0])
            x += (shape[:, 0].max() + 0.02) * size
        if letter in NUMERALS:
            x += 0.25 * size
            strokes.append([])
        elif not parts:
            x += 0.5 * size
    for points in filter(None, strokes):
        line = smooth(numpy.array(points))
        line = numpy.stack([(line[:, 0] + slant * line[:, 1]) * size, y - line[:, 1] * size], 1)
        ink.line([tuple(point) for point in 2 * line], fill=255, width=max(2, round(size / 5)))
    return x + 0.5 * size


def inked(picture, mask, colour):
    """The picture with ink of this colour wherever the mask of twice its size is white."""
    picture.paste(Image.new("RGB", picture.size, colour), mask=mask.resize(picture.size, Image.Resampling.BOX))
    return picture


def ink_for(picture):
    """A mask for scrawl(), and its pen."""
    mask = Image.new("L", (2 * picture.width, 2 * picture.height))
    return mask, ImageDraw.Draw(mask)


# Textures and photos.


def clouds(chance, width, height, coarse=4, octaves=5, fall=0.55):
    """Noise of several octaves from 0 to 1, as an array [height, width]; coarse: cells along the longer side in the first octave."""

    def enlarged(values, columns, rows):
        return numpy.asarray(Image.fromarray(values).resize((columns, rows), Image.Resampling.BICUBIC))

    total = numpy.zeros((1, 1), numpy.float32)
    for octave in range(octaves):
        cell = max(1, max(width, height) / (coarse * 2**octave))
        columns, rows = max(2, round(width / cell)), max(2, round(height / cell))
        total = enlarged(total, columns, rows) + numpy.float32(fall**octave) * chance.rng.random((rows, columns), numpy.float32)
    total = enlarged(total, width, height)
    total = total - total.min()
    return total / max(float(total.max()), 1e-6)


def tinted(values, colours):
    """The picture of an array of 0 to 1, with colours from the first to the last."""
    steps = numpy.linspace(0, 1, len(colours))
    table = numpy.stack([numpy.interp(numpy.linspace(0, 1, 256), steps, channel) for channel in zip(*colours, strict=True)], 1)
    return Image.fromarray(table.astype(numpy.uint8)[(255 * numpy.clip(values, 0, 1)).astype(numpy.uint8)])


def textured(chance, size, least=0, most=255, coarse=4, octaves=6):
    """A picture of noise in three colours."""
    return tinted(clouds(chance, *size, coarse, octaves), [chance.muted(least, most) for _ in range(3)])


def blob(chance, centre, radius, corners=9):
    """An irregular outline."""
    turns = numpy.linspace(0, 2 * numpy.pi, corners, endpoint=False)
    radii = radius * chance.rng.uniform(0.65, 1.2, corners)
    outline = numpy.stack([centre[0] + radii * numpy.cos(turns), centre[1] + radii * numpy.sin(turns)], 1)
    return [tuple(point) for point in smooth(numpy.concatenate([outline, outline[:1]]))]


def photo(chance, width, height):
    """A synthetic photo: sky and ground, textured objects with shadows, grain."""
    horizon = chance.between(0.25, 0.7) * height
    sky = textured(chance, (width // 2, height // 2), 110, 250, 2, 5).resize((width, height), Image.Resampling.BILINEAR)
    ground = textured(chance, (width, height), 30, 170, 6, 7)
    y = numpy.arange(height)[:, None] + 30 * clouds(chance, width, height, 5, 4) - 15
    picture = Image.composite(ground, sky, Image.fromarray((255 * numpy.clip((y - horizon) / 3, 0, 1)).astype(numpy.uint8)))
    for _ in range(chance.whole(3, 8)):
        mask = Image.new("L", picture.size)
        centre = chance.between(0, width), chance.between(0.2, 1) * height
        ImageDraw.Draw(mask).polygon(blob(chance, centre, chance.between(0.06, 0.25) * width, chance.whole(4, 14)), fill=255)
        soft = mask.filter(ImageFilter.GaussianBlur(chance.between(0.6, 2)))
        shadow = mask.transform(mask.size, Image.Transform.AFFINE, (1, 0, -width / 60, 0, 1, -height / 50)).filter(
            ImageFilter.GaussianBlur(6)
        )
        picture.paste((15, 15, 25), mask=shadow.point([v // 2 for v in range(256)]))
        skin = textured(chance, (width // 2, height // 2), 10, 250, chance.whole(3, 20), 5)
        picture.paste(skin.resize(picture.size, Image.Resampling.BILINEAR), mask=soft)
    return grained(picture, chance, 3)


def grained(picture, chance, deviation):
    """Adds the noise of a sensor."""
    noise = chance.rng.standard_normal((picture.height, picture.width, 1), numpy.float32) * deviation
    return Image.fromarray(numpy.clip(numpy.asarray(picture) + noise, 0, 255).astype(numpy.uint8))


def lit(picture, light):
    """The picture multiplied by an array of light; 1 changes nothing."""
    return Image.fromarray(numpy.clip(numpy.asarray(picture) * light[..., None], 0, 255).astype(numpy.uint8))


def scanned(picture, chance, noise=4, turn=0.35, shift=2):
    """As from a scanner: slightly turned and shifted, with paper and noise."""
    corner = picture.getpixel((2, 2))
    moved = tuple(chance.whole(-shift, shift) for _ in range(2))
    out = picture.rotate(chance.between(-turn, turn), Image.Resampling.BILINEAR, translate=moved, fillcolor=corner)
    paper = 0.97 + 0.03 * clouds(chance, *picture.size, 3, 3)
    return grained(lit(out, paper), chance, noise)


def through_jpeg(picture, quality):
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=quality)
    return Image.open(out).convert("RGB")


def halved(picture):
    """Halves a picture drawn at twice the size, so that edges are smooth."""
    return picture.resize((picture.width // 2, picture.height // 2), Image.Resampling.BOX)


# People.

SKINS = [(244, 208, 180), (226, 178, 142), (200, 148, 110), (160, 108, 76), (112, 74, 52), (80, 54, 40)]
HAIRS = [(30, 24, 20), (70, 46, 28), (120, 80, 44), (190, 150, 90), (150, 70, 36), (150, 150, 150)]


def person(chance):
    """The features of a synthetic person: first the obvious ones, then measures."""
    plain = (chance.whole(0, 4), chance.whole(0, 5), chance.whole(0, 5), chance.whole(0, 2), chance.whole(0, 3), chance.whole(0, 6))
    return plain, tuple(chance.rng.uniform(-1, 1, 10))


def people(chance, count):
    """`count` persons, any two of which differ in an obvious feature."""
    made = distinct(lambda: person(chance)[0], count)
    return ((plain, person(chance)[1]) for plain in made)


def face(pen, box, who):
    """Head and shoulders in the box; smooth if the picture is halved later."""
    (style, hair, skin, glasses, beard, shirt), m = who
    left, top, right, bottom = box
    w, h = right - left, bottom - top
    skin, hair = SKINS[skin], HAIRS[hair]
    dark = tuple(int(0.8 * v) for v in skin)
    shirts = [(40, 60, 110), (150, 30, 40), (235, 235, 235), (40, 90, 60), (30, 30, 34), (200, 170, 60), (110, 130, 160)]

    def ellipse(x, y, across, down, fill):
        pen.ellipse([left + (x - across) * w, top + (y - down) * h, left + (x + across) * w, top + (y + down) * h], fill=fill)

    across, down, eye = 0.185 + 0.022 * m[0], 0.24 + 0.02 * m[1], 0.4 + 0.015 * m[2]
    if style == 3:
        pen.rounded_rectangle([left + 0.26 * w, top + 0.25 * h, right - 0.26 * w, top + 0.78 * h], 0.1 * w, fill=hair)
    ellipse(0.5, 1.06, 0.4 + 0.04 * m[3], 0.3, shirts[shirt])
    pen.rectangle([left + 0.42 * w, top + 0.6 * h, left + 0.58 * w, top + 0.78 * h], fill=dark)
    pen.polygon([(left + 0.42 * w, top + 0.77 * h), (left + 0.58 * w, top + 0.77 * h), (left + 0.5 * w, top + 0.88 * h)], fill=dark)
    if style:
        ellipse(0.5, 0.34, across + 0.035, down * (0.95 + 0.1 * m[4]), hair)
    for side in (-1, 1):
        ellipse(0.5 + side * across, 0.44, 0.025, 0.045, dark)
    ellipse(0.5, 0.43, across, down, skin)
    if style in (1, 2, 3):
        parting = {1: 0.5, 2: 0.42, 3: 0.58}[style]
        pen.chord([left + (0.5 - across) * w, top + (0.43 - down) * h, left + (0.5 + across) * w, top + (0.43 + 0.3 * down) * h],
                  180 + 30 * (0.5 - parting) * 5, 360 + 60 * (0.5 - parting) * 5, fill=hair)  # fmt: skip
    if style == 4:
        for i in range(7):
            ellipse(0.5 + (i - 3) * across / 3, 0.24 + 0.012 * abs(i - 3) ** 2, 0.06, 0.05, hair)
    if beard:
        pen.chord([left + (0.5 - across) * w, top + (0.43 - down) * h, left + (0.5 + across) * w, top + (0.43 + down) * h],
                  *((20, 160), (45, 135), (20, 160))[beard - 1], fill=tuple(int(0.7 * v) for v in hair) if beard < 3 else dark)  # fmt: skip
    apart_by = 0.075 + 0.012 * m[5]
    for side in (-1, 1):
        x = 0.5 + side * apart_by
        ellipse(x, eye, 0.034, 0.017 + 0.004 * m[6], (245, 245, 245))
        ellipse(x, eye, 0.015, 0.016, (50, 40, 30))
        pen.line([left + (x - 0.04) * w, top + (eye - 0.045 - 0.01 * m[7] * side) * h, left + (x + 0.04) * w,
                  top + (eye - 0.045 + 0.01 * m[7] * side) * h], fill=hair, width=max(2, round(0.016 * h)))  # fmt: skip
        if glasses:
            pen.ellipse([left + (x - 0.06) * w, top + (eye - 0.05) * h, left + (x + 0.06) * w, top + (eye + 0.05) * h],
                        outline=(30, 30, 30), width=max(1, round((0.006 if glasses == 1 else 0.014) * w)))  # fmt: skip
    pen.line([left + 0.5 * w, top + (eye + 0.03) * h, left + (0.51 + 0.01 * m[8]) * w, top + 0.5 * h, left + 0.49 * w, top + 0.5 * h],
             fill=dark, width=max(1, round(0.01 * w)))  # fmt: skip
    wide = 0.06 + 0.015 * m[9]
    pen.chord(
        [left + (0.5 - wide) * w, top + 0.53 * h, left + (0.5 + wide) * w, top + (0.58 + 0.02 * m[4]) * h], 0, 180, fill=(160, 70, 70)
    )


# Codes.


def bar_code(pen, box, chance, digits, modules=95, colour=BLACK):
    """Bars with a line of digits below; plausible, but not decodable."""
    left, top, right, bottom = box
    step = max(1, int((right - left) / modules))
    bits = [1, 0, 1]
    while len(bits) < modules - 3:
        bits += [1] * chance.whole(1, 3) + [0] * chance.whole(1, 3)
    for i, bit in enumerate(bits[: modules - 3] + [1, 0, 1]):
        if bit:
            pen.rectangle([left + i * step, top, left + (i + 1) * step - 1, bottom - 14], fill=colour)
    write(pen, (left + modules * step / 2, bottom), " ".join(digits), "DejaVuSansMono", 12, colour, "mb")


def qr_modules(chance, version):
    """Modules like those of a QR code of this version; 1 is dark. The data is random."""
    side = 17 + 4 * version
    code = chance.rng.integers(0, 2, (side, side))
    code[6, :], code[:, 6] = numpy.arange(side) % 2 == 0, numpy.arange(side) % 2 == 0
    ring = numpy.maximum(*numpy.abs(numpy.mgrid[-4:5, -4:5]))
    finder = ((ring <= 1) | (ring == 3)).astype(int)
    for y, x in ((3, 3), (3, side - 4), (side - 4, 3)):
        rows, columns = slice(max(0, y - 4), y + 5), slice(max(0, x - 4), x + 5)
        code[rows, columns] = finder[max(0, 4 - y) :, max(0, 4 - x) :][: code[rows, columns].shape[0], : code[rows, columns].shape[1]]
    if version > 1:
        code[side - 9 : side - 4, side - 9 : side - 4] = numpy.isin(ring[2:7, 2:7], (0, 2))
    return code


def qr_code(chance, version, module, dark=(0, 0, 0), light=WHITE, quiet=3):
    """A picture of a synthetic QR code with `module` pixels per module."""
    code = numpy.kron(numpy.pad(qr_modules(chance, version), quiet), numpy.ones((module, module), int))
    return tinted(1.0 * code, [light, dark])
