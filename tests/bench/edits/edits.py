"""What an edit does to a picture. An edit is a function (picture, chance) -> (picture, what it did).

What it did is a dictionary: shares of a side or of the area, boxes as [left, top, right, bottom] in pixels of the picture that
the edit was given. `chance` is where an edit draws from. Nothing of winnow is used here.
"""

import io
import math
import pathlib

import numpy
from PIL import Image, ImageChops, ImageDraw, ImageEnhance, ImageFilter, ImageFont, ImageOps

FONT = pathlib.Path("/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf")  # Debian's fonts-dejavu-core
WORDS = "WHEN YOU ONLY WANTED ONE MORE COFFEE AND MONDAY HAS OTHER PLANS FOR THE WHOLE TEAM NOBODY ASKED ABOUT THIS".split()
NAMES = ["NOVA", "ACME", "PIXEL", "KLM9", "TV 24", "ORBIT", "ZOOM+", "FOX"]


class Chance:
    """Random numbers for one edit of one photo; `other` opens another photo."""

    def __init__(self, rng, other=None):
        self.rng = rng
        self.other = other

    def between(self, least, most):
        return float(self.rng.uniform(least, most))

    def whole(self, least, most):
        """An integer between both bounds, included."""
        return int(self.rng.integers(least, most + 1))

    def one_of(self, things):
        return things[self.whole(0, len(things) - 1)]

    def colour(self):
        return tuple(self.whole(0, 255) for _ in range(3))

    def words(self, count):
        begin = self.whole(0, len(WORDS) - 1)
        return " ".join((WORDS * 2)[begin : begin + count])


def at_least_1(value):
    return max(1, round(value))


def sequence(*edits):
    """Applies edits one after another."""

    def edit(picture, chance):
        steps = []
        for each in edits:
            picture, did = each(picture, chance)
            steps.append(did)
        return picture, {"steps": steps}

    return edit


# Other encodings and renderings.


def same(picture, _):
    return picture, {}


def tone(apply, **did):
    return lambda picture, _: (apply(picture), did)


def through_jpeg(quality):
    """Compresses within a sequence of edits; the last quality is that of the kind."""

    def edit(picture, chance):
        chosen = quality if isinstance(quality, int) else chance.whole(*quality)
        out = io.BytesIO()
        picture.save(out, "JPEG", quality=chosen)
        return Image.open(out).convert("RGB"), {"jpeg": chosen}

    return edit


def gamma_table(exponent):
    return [round(255 * (v / 255) ** exponent) for v in range(256)] * 3


def gamma(exponent):
    return tone(lambda p: p.point(gamma_table(exponent)), gamma=exponent)


def any_gamma(most):
    def edit(picture, chance):
        exponent = math.exp(chance.between(-math.log(most), math.log(most)))
        return picture.point(gamma_table(exponent)), {"gamma": exponent}

    return edit


def brightness(factor):
    return tone(lambda p: ImageEnhance.Brightness(p).enhance(factor), brightness=factor)


def contrast(factor):
    return tone(lambda p: ImageEnhance.Contrast(p).enhance(factor), contrast=factor)


def saturation(factor):
    return tone(lambda p: ImageEnhance.Color(p).enhance(factor), saturation=factor)


def gray(picture, _):
    return picture.convert("L").convert("RGB"), {}


def sepia(picture, _):
    return ImageOps.colorize(picture.convert("L"), "#1c0f04", "#fff1d0", mid="#a07a4c"), {}


def six_levels(picture, _):
    return picture.point([round(round(v / 51) * 51) for v in range(256)] * 3), {}


def blur(share):
    """Gaussian blur, by a share of the longer side."""

    def edit(picture, _):
        radius = max(0.3, share * max(picture.size))
        return picture.filter(ImageFilter.GaussianBlur(radius)), {"radius_px": radius}

    return edit


def sharpen(picture, _):
    return picture.filter(ImageFilter.UnsharpMask(2, 150)), {}


def noise(deviation):
    def edit(picture, chance):
        pixels = numpy.asarray(picture, dtype=numpy.float32)
        pixels = pixels + chance.rng.normal(0, deviation, pixels.shape)
        return Image.fromarray(numpy.clip(pixels, 0, 255).astype(numpy.uint8)), {"deviation": deviation}

    return edit


def vignette(picture, _):
    x = numpy.linspace(-1, 1, picture.width)[None, :]
    y = numpy.linspace(-1, 1, picture.height)[:, None]
    light = 1 - 0.75 * numpy.clip(numpy.hypot(x, y) / math.sqrt(2), 0, 1) ** 1.8
    return Image.fromarray((numpy.asarray(picture) * light[..., None]).astype(numpy.uint8)), {"darkest": 0.25}


def film(picture, _):
    """Faded blacks, warm lights and teal shadows, like filters on phones."""
    red = [min(255, round(20 + 0.95 * v)) for v in range(256)]
    green = [round(14 + 0.88 * v) for v in range(256)]
    blue = [round(40 + 0.68 * v) for v in range(256)]
    return ImageEnhance.Color(picture.point(red + green + blue)).enhance(0.75), {"filter": "film"}


# Another size or shape.


def scale(share, across=None):
    """Scales both sides; `across` scales the width additionally."""

    def edit(picture, _):
        size = at_least_1(picture.width * (across or share)), at_least_1(picture.height * share)
        return picture.resize(size, Image.BILINEAR), {"height": share, "width": across or share}

    return edit


def any_scale(least, most):
    return lambda picture, chance: scale(chance.between(least, most))(picture, chance)


def aspect(by):
    """Makes it wider or higher."""
    return lambda picture, chance: (scale(1, 1 + by) if chance.whole(0, 1) else scale(1 + by, 1))(picture, chance)


# Parts of the picture.


def cut(picture, box):
    return picture.crop(box), {"box": list(box), "of": list(picture.size)}


def crop(share_x, share_y=None, place=None):
    """Removes this share of width and height at a random place; `place`: how much of that at the left and top."""

    def edit(picture, chance):
        gone_x = min(picture.width - 1, round(picture.width * share_x))
        gone_y = min(picture.height - 1, round(picture.height * (share_x if share_y is None else share_y)))
        left = round(gone_x * (chance.between(0, 1) if place is None else place))
        top = round(gone_y * (chance.between(0, 1) if place is None else place))
        return cut(picture, (left, top, left + picture.width - gone_x, top + picture.height - gone_y))

    return edit


def any_crop(least, most):
    return lambda picture, chance: crop(chance.between(least, most), chance.between(least, most))(picture, chance)


def square(picture, chance):
    side = min(picture.size)
    left, top = chance.whole(0, picture.width - side), chance.whole(0, picture.height - side)
    return cut(picture, (left, top, left + side, top + side))


def mirror(picture, _):
    return ImageOps.mirror(picture), {"flip": "left to right"}


def turn(how):
    return lambda picture, _: (picture.transpose(getattr(Image.Transpose, how)), {"turn": how.lower()})


def inside(size, degrees):
    """Width and height of the largest upright rectangle inside a rotated rectangle of this size."""
    long, short = max(size), min(size)
    sine, cosine = abs(math.sin(math.radians(degrees))), abs(math.cos(math.radians(degrees)))
    if short <= 2 * sine * cosine * long:  # two of its corners touch the same long side
        along, across = (short / 2 / sine, short / 2 / cosine)
    else:
        turned = cosine * cosine - sine * sine
        along, across = (long * cosine - short * sine) / turned, (short * cosine - long * sine) / turned
    return (along, across) if size[0] >= size[1] else (across, along)


def rotate(degrees, corners, sign=None):
    """Rotates about the centre within the picture's frame. corners: a colour, or "cut" to the part without empty corners."""

    def edit(picture, chance):
        angle = degrees * (sign or chance.one_of([-1, 1]))
        if corners != "cut":
            return picture.rotate(angle, Image.BICUBIC, fillcolor=corners), {"degrees": angle, "corners": corners}
        wide, high = inside(picture.size, angle)
        wide, high = max(1, math.floor(wide) - 2), max(1, math.floor(high) - 2)
        # The whole rotated picture has the same centre.
        whole = picture.rotate(angle, Image.BICUBIC, expand=True)
        left, top = (whole.width - wide) // 2, (whole.height - high) // 2
        return whole.crop((left, top, left + wide, top + high)), {"degrees": angle, "corners": "cut", "kept_px": [wide, high]}

    return edit


def perspective(picture, chance):
    """Moves each corner by up to 6 % of a side. Areas from outside get the colour of the edge."""
    w, h = picture.size
    corners = [(0, 0), (w, 0), (w, h), (0, h)]
    moved = [(x + chance.between(-0.06, 0.06) * w, y + chance.between(-0.06, 0.06) * h) for x, y in corners]
    rows, right = [], []
    for (x, y), (u, v) in zip(corners, moved, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        right += [u, v]
    matrix = numpy.linalg.solve(numpy.array(rows), numpy.array(right))
    out = picture.transform(picture.size, Image.Transform.PERSPECTIVE, matrix.tolist(), Image.BICUBIC)
    return out, {"corners": [list(corner) for corner in moved]}


# More around the picture.


def blurred_fill(picture, size):
    """The picture itself, blurred and enlarged to fill `size`, as phones do."""
    small = ImageOps.fit(picture, (at_least_1(size[0] / 8), at_least_1(size[1] / 8)), Image.BILINEAR)
    return small.filter(ImageFilter.GaussianBlur(max(small.size) / 20)).resize(size, Image.BILINEAR)


def canvas(picture, size, at, fill):
    size = tuple(map(at_least_1, size))
    out = blurred_fill(picture, size) if fill == "blurred" else Image.new("RGB", size, fill)
    out.paste(picture, tuple(map(round, at)))
    return out


def border(share, fill, of=max):
    """A border on all sides, by a share of the longer side. fill: a colour, "colour" for a random one, or "blurred"."""

    def edit(picture, chance):
        chosen = chance.colour() if fill == "colour" else fill
        px = at_least_1(of(picture.size) * share)
        size = picture.width + 2 * px, picture.height + 2 * px
        return canvas(picture, size, (px, px), chosen), {"border": share, "border_px": px, "fill": chosen}

    return edit


def any_border(least, most):
    def edit(picture, chance):
        return border(chance.between(least, most), chance.one_of(["white", "black", "colour", "blurred"]))(picture, chance)

    return edit


def fit(across, down, fill):
    """Adds bars on two sides, so that the aspect is across : down."""

    def edit(picture, _):
        wide = max(picture.width, round(picture.height * across / down))
        high = max(picture.height, round(picture.width * down / across))
        at = (wide - picture.width) // 2, (high - picture.height) // 2
        added = 1 - picture.width * picture.height / (wide * high)
        return canvas(picture, (wide, high), at, fill), {"fill": fill, "added_share": added}

    return edit


# Letters.


def letters(words, height):
    """A mask of words, this many pixels high."""
    height = at_least_1(height)
    font = ImageFont.truetype(str(FONT), max(4, height)) if FONT.exists() else ImageFont.load_default()
    left, top, right, bottom = font.getbbox(words)
    mask = Image.new("L", (max(1, right - left), max(1, bottom - top)))
    ImageDraw.Draw(mask).text((-left, -top), words, fill=255, font=font)
    return mask.resize((at_least_1(mask.width * height / mask.height), height), Image.BICUBIC)


def lines_in(words, wide, high):
    """A mask of words, broken into the number of lines that fills the box best."""
    words, best = words.split(), None
    for count in range(1, len(words) + 1):
        each = math.ceil(len(words) / count)
        rows = [letters(" ".join(words[i : i + each]), 48) for i in range(0, len(words), each)]
        shrink = min(wide / max(row.width for row in rows), high / (58 * len(rows)))
        if best is None or shrink > best[0]:
            best = shrink, rows
    shrink, rows = best
    mask = Image.new("L", (at_least_1(wide), at_least_1(high)))
    step = 58 * shrink
    top = (high - step * len(rows)) / 2
    for i, row in enumerate(rows):
        row = row.resize((at_least_1(row.width * shrink), at_least_1(48 * shrink)), Image.BILINEAR)
        mask.paste(row, (round((wide - row.width) / 2), round(top + i * step + 5 * shrink)))
    return mask


def ink(picture, mask, at, colour):
    out = picture.copy()
    out.paste(Image.new("RGB", mask.size, colour), tuple(map(round, at)), mask)
    return out


# Bars with contents.


def status_bar(size, dark, chance):
    """A bar with time, signal and battery; size: width and height."""
    back, fore = (("#101014", "white") if dark else ("white", "#202020"))
    bar = Image.new("RGB", size, back)
    wide, high = size
    bar = ink(bar, letters(f"{chance.whole(0, 23)}:{chance.whole(0, 59):02}", 0.35 * high), (0.05 * wide, 0.33 * high), fore)
    draw, unit = ImageDraw.Draw(bar), 0.09 * high
    for i in range(4):
        x = wide * 0.75 + 1.6 * i * unit
        draw.rectangle((x, high * 0.68 - (i + 1) * unit, x + unit, high * 0.68), fill=fore)
    draw.rectangle((wide * 0.88, high * 0.34, wide * 0.95, high * 0.68), outline=fore, width=max(1, round(unit / 3)))
    draw.rectangle((wide * 0.885, high * 0.39, wide * (0.89 + 0.05 * chance.between(0.2, 1)), high * 0.63), fill=fore)
    return bar


def tool_bar(size, dark, chance):
    back, fore = (("#101014", "white") if dark else ("#f4f4f6", "#2060d0"))
    bar = Image.new("RGB", size, back)
    wide, high = size
    draw, r = ImageDraw.Draw(bar), 0.22 * high
    for i in range(5):
        x, y = wide * (i + 0.5) / 5, high / 2
        shape = chance.whole(0, 2)
        if shape == 0:
            draw.ellipse((x - r, y - r, x + r, y + r), outline=fore, width=at_least_1(r / 4))
        elif shape == 1:
            draw.rectangle((x - r, y - r, x + r, y + r), outline=fore, width=at_least_1(r / 4))
        else:
            draw.polygon([(x - r, y + r), (x, y - r), (x + r, y + r)], fill=fore)
    return bar


def stacked(picture, above, below):
    high = [bar.height if bar else 0 for bar in (above, below)]
    out = Image.new("RGB", (picture.width, picture.height + sum(high)))
    out.paste(picture, (0, high[0]))
    if above:
        out.paste(above, (0, 0))
    if below:
        out.paste(below, (0, high[0] + picture.height))
    return out, {"above": high[0] / picture.height, "below": high[1] / picture.height}


def screenshot(dark):
    """A status bar above and a tool bar below, each 6 to 12 % of the picture's height."""

    def edit(picture, chance):
        high = [at_least_1(picture.height * chance.between(0.06, 0.12)) for _ in range(2)]
        above = status_bar((picture.width, high[0]), dark, chance)
        return stacked(picture, above, tool_bar((picture.width, high[1]), dark, chance))

    return edit


def meme(below_too):
    """White bars with black capitals, each 15 to 25 % of the picture's height."""

    def bar(picture, chance):
        size = picture.width, at_least_1(picture.height * chance.between(0.15, 0.25))
        mask = lines_in(chance.words(chance.whole(4, 9)), 0.9 * size[0], 0.85 * size[1])
        return ink(Image.new("RGB", size, "white"), mask, (0.05 * size[0], 0.07 * size[1]), "black")

    return lambda picture, chance: stacked(
        picture, bar(picture, chance), bar(picture, chance) if below_too else None
    )  # fmt: skip


# On top of the picture.


def placed(picture, share, aspect, chance):
    """Size and random position of a box with this share of the area and this aspect, as closely as it fits."""
    area = share * picture.width * picture.height
    wide = min(picture.width, math.sqrt(area * aspect))
    high = min(picture.height, area / wide)
    wide = min(picture.width, area / high)
    size = at_least_1(wide), at_least_1(high)
    return size, (chance.whole(0, picture.width - size[0]), chance.whole(0, picture.height - size[1]))


def box_of(size, at):
    return [at[0], at[1], at[0] + size[0], at[1] + size[1]]


def text(share):
    """White capitals with black outlines, in a box of this share of the picture."""

    def edit(picture, chance):
        size, at = placed(picture, share, chance.between(1.5, 4), chance)
        mask = lines_in(chance.words(chance.whole(3, 8)), *size)
        edge = mask.filter(ImageFilter.MaxFilter(2 * max(1, size[1] // 60) + 1))
        out = ink(ink(picture, edge, at, "black"), mask, at, "white")
        inked = float(numpy.asarray(edge).mean()) / 255 * size[0] * size[1] / (picture.width * picture.height)
        return out, {"covered": share, "inked": inked, "box": box_of(size, at)}

    return edit


def logo(share):
    """A filled disc, rectangle or diamond with letters, covering this share of the picture."""
    filled = {"disc": math.pi / 4, "rectangle": 1, "diamond": 0.5}  # share of its box

    def edit(picture, chance):
        shape = chance.one_of(list(filled))
        size, at = placed(picture, min(1, share / filled[shape]), chance.between(0.8, 2), chance)
        w, h = size
        plate, mask = Image.new("RGB", size, chance.colour()), Image.new("L", size)
        draw = ImageDraw.Draw(mask)
        if shape == "disc":
            draw.ellipse((0, 0, w - 1, h - 1), fill=255)
        elif shape == "rectangle":
            draw.rectangle((0, 0, w, h), fill=255)
        else:
            draw.polygon([(w / 2, 0), (w, h / 2), (w / 2, h), (0, h / 2)], fill=255)
        plate = ink(plate, lines_in(chance.one_of(NAMES), 0.6 * w, 0.35 * h), (0.2 * w, 0.325 * h), chance.colour())
        out = picture.copy()
        out.paste(plate, at, mask)
        return out, {"covered": share, "shape": shape, "box": box_of(size, at)}

    return edit


def sticker(share):
    """A face with a white rim."""

    def edit(picture, chance):
        size, at = placed(picture, min(1, share / (math.pi / 4)), 1, chance)
        w, h = size
        face, mask = Image.new("RGB", size, "white"), Image.new("L", size)
        ImageDraw.Draw(mask).ellipse((0, 0, w - 1, h - 1), fill=255)
        draw = ImageDraw.Draw(face)
        draw.ellipse((0.05 * w, 0.05 * h, 0.95 * w, 0.95 * h), fill="#ffcc33")
        for x in (0.35, 0.65):
            draw.ellipse(((x - 0.06) * w, 0.3 * h, (x + 0.06) * w, 0.46 * h), fill="#4a2f0a")
        draw.arc((0.25 * w, 0.3 * h, 0.75 * w, 0.8 * h), 20, 160, fill="#4a2f0a", width=at_least_1(0.05 * w))
        out = picture.copy()
        out.paste(face, at, mask)
        return out, {"covered": share, "box": box_of(size, at)}

    return edit


def band(picture, _):
    """A band in the lower third, a tenth of the height, 1.5 times as bright."""
    w, h = picture.size
    box = (w // 10, h * 7 // 10, max(w // 10 + 1, w * 9 // 10), max(h * 7 // 10 + 1, h * 8 // 10))
    out = picture.copy()
    out.paste(picture.crop(box).point([round((v + 255) / 2) for v in range(256)] * 3), box)
    return out, {"box": list(box)}


def tiled(picture, chance):
    """Slanted words all over the picture, partly transparent."""
    w, h = picture.size
    word = letters(f"(c) {chance.one_of(NAMES)} STOCK", max(8, min(w, h) / 16))
    mask = Image.new("L", (2 * max(w, h),) * 2)
    for row, y in enumerate(range(0, mask.height, 3 * word.height)):
        for x in range(-(row % 2) * word.width, mask.width, round(1.6 * word.width)):
            mask.paste(word, (x, y))
    mask = ImageOps.fit(mask.rotate(chance.between(20, 40)), (max(w, h),) * 2, Image.BILINEAR).crop((0, 0, w, h))
    strength = chance.between(0.3, 0.5)
    return ink(picture, mask.point(lambda v: round(v * strength)), (0, 0), "white"), {"opacity": strength}


# Other edits.


def avatar(picture, chance):
    picture, did = square(picture, chance)
    side = picture.width
    mask = Image.new("L", (4 * side, 4 * side))
    ImageDraw.Draw(mask).ellipse((0, 0, 4 * side - 1, 4 * side - 1), fill=255)
    return Image.composite(picture, Image.new("RGB", picture.size, "white"), mask.resize(picture.size, Image.BILINEAR)), did


def collage(picture, chance):
    """Next to another photo of the same height."""
    name, other = chance.other()
    other = other.resize((at_least_1(other.width * picture.height / other.height), picture.height), Image.BILINEAR)
    first = chance.whole(0, 1)
    out = Image.new("RGB", (picture.width + other.width, picture.height))
    out.paste(picture, (first * other.width, 0))
    out.paste(other, ((1 - first) * picture.width, 0))
    return out, {"beside": name, "share": picture.width / out.width}


def phone(picture, chance):
    """On the screen of a phone lying on a table."""
    w = picture.width
    screen = canvas(picture, (w, max(picture.height, 2 * w)), (0, max(0, (2 * w - picture.height) / 2)), "black")
    body = ImageOps.expand(screen, (round(0.05 * w), round(0.12 * w)), "#1a1a1c")
    ImageDraw.Draw(body).ellipse((body.width / 2 - 0.03 * w, 0.03 * w, body.width / 2 + 0.03 * w, 0.09 * w), fill="#303034")
    table = Image.new("RGB", (round(1.3 * body.width), round(1.1 * body.height)), chance.colour())
    table.paste(body, ((table.width - body.width) // 2, (table.height - body.height) // 2))
    return table, {"share": w * picture.height / (table.width * table.height)}


def time_stamp(picture, chance):
    date = f"{chance.whole(1, 28):02}.{chance.whole(1, 12):02}.20{chance.whole(10, 24)} {chance.whole(0, 23):02}:{chance.whole(0, 59):02}"
    mask = letters(date, max(6, picture.height / 24))
    mask = mask.crop((0, 0, min(mask.width, picture.width), mask.height))
    at = max(0, picture.width - mask.width - mask.height), max(0, picture.height - 2 * mask.height)
    return ink(picture, mask, at, "#ff9020"), {"box": box_of(mask.size, at)}


def mosaic(picture, chance):
    """A box of 15 % of the picture in coarse pixels, as used to hide faces."""
    size, at = placed(picture, 0.15, 1, chance)
    box = box_of(size, at)
    coarse = picture.crop(box).resize((6, 6), Image.BOX).resize(size, Image.NEAREST)
    out = picture.copy()
    out.paste(coarse, tuple(at))
    return out, {"covered": 0.15, "box": box}


def double_exposure(picture, chance):
    """Adds a quarter of the light of another photo."""
    name, other = chance.other()
    return ImageChops.blend(picture, ImageOps.fit(other, picture.size, Image.BILINEAR), 0.25), {"beside": name}
