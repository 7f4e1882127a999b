"""Families of charts. Each function (chance, count) draws one template and yields pictures of other data."""

import numpy
from PIL import Image

import draw
from draw import BLACK, GRAY, WHITE, write


class Axes:
    """A chart's frame, title, names and grid, which belong to the template."""

    def __init__(self, chance, names=0, frame=None):
        self.width, self.height = frame or (chance.whole(520, 760), chance.whole(380, 540))
        self.font, self.colours = chance.one_of(draw.TEXT_FONTS), [chance.strong() for _ in range(6)]
        self.picture, pen = draw.new(self.width, self.height, chance.one_of([WHITE, WHITE, (248, 248, 242), (36, 38, 48)]))
        self.ink = WHITE if sum(self.picture.getpixel((0, 0))) < 300 else BLACK
        self.box = self.left, self.top, self.right, self.bottom = 64, 56, self.width - 30, self.height - 56
        self.word = chance.title(2)
        write(pen, (self.width / 2, 26), f"{self.word} by {chance.words_of(4, 9, 1)[0]}", draw.bold(self.font), 17, self.ink, "mm")
        steps, most = chance.whole(4, 6), chance.one_of([1, 10, 50, 100, 2000])
        for i in range(steps + 1):
            y = self.bottom - i * (self.bottom - self.top) / steps
            pen.line([self.left, y, self.right, y], fill=(200, 200, 206) if self.ink == BLACK else (80, 84, 96))
            write(pen, (self.left - 6, y), f"{most * i / steps:.4g}", self.font, 11, self.ink, "rm")
        for i, text in enumerate(chance.words_of(3, 6, names)):
            write(pen, (self.left + (i + 0.5) * (self.right - self.left) / names, self.bottom + 14), text, self.font, 11, self.ink, "mm")
        pen.line([self.left, self.top, self.left, self.bottom, self.right, self.bottom], fill=self.ink, width=2)

    def at(self, x, y):
        """The pixel at shares of both axes."""
        return self.left + x * (self.right - self.left), self.bottom - y * (self.bottom - self.top)


def bar_charts(chance, count):
    names, series = chance.whole(5, 9), chance.whole(1, 3)
    axes = Axes(chance, names)
    for heights in draw.apart(lambda: chance.rng.uniform(0.05, 0.98, (names, series)), count, 0.15):
        picture, pen = draw.again(axes.picture)
        for (i, j), height in numpy.ndenumerate(heights):
            (left, top), (right, bottom) = (
                axes.at((i + 0.15 + 0.7 * j / series) / names, height),
                axes.at((i + 0.15 + 0.7 * (j + 1) / series) / names, 0),
            )
            pen.rectangle([left, top, right - 1, bottom], fill=axes.colours[j])
        yield picture


def walk(chance, steps):
    """A curve of shares that rises and falls."""
    values = numpy.cumsum(chance.rng.normal(0, 1, steps)) + chance.between(-0.3, 0.3) * numpy.arange(steps)
    return 0.05 + 0.9 * (values - values.min()) / max(float(numpy.ptp(values)), 1e-6)


def line_charts(chance, count):
    steps, series = chance.one_of([12, 30, 60]), chance.whole(1, 3)
    axes = Axes(chance, 6)
    for curves in draw.apart(lambda: numpy.stack([walk(chance, steps) for _ in range(series)]), count, 0.25):
        picture, pen = draw.again(axes.picture)
        for colour, curve in zip(axes.colours, curves, strict=False):
            points = [axes.at(x, y) for x, y in zip(numpy.linspace(0, 1, steps), curve, strict=True)]
            pen.line(points, fill=colour, width=3, joint="curve")
            for x, y in points if steps < 20 else ():
                pen.ellipse([x - 4, y - 4, x + 4, y + 4], fill=colour)
        yield picture


def pie_charts(chance, count):
    size, parts, name = chance.whole(400, 520), chance.whole(4, 6), chance.one_of(draw.TEXT_FONTS)
    colours, hole = [chance.strong() for _ in range(parts)], chance.one_of([0, 0, 0.5])
    blank, pen = draw.new(2 * size + 320, 2 * size)
    write(pen, (size, 50), chance.title(2), draw.bold(name), 36, anchor="mm")
    for i, text in enumerate(chance.words_of(4, 8, parts)):
        pen.rectangle([2 * size, 300 + 60 * i, 2 * size + 32, 332 + 60 * i], fill=colours[i])
        write(pen, (2 * size + 48, 316 + 60 * i), text, name, 26, anchor="lm")
    for shares in draw.apart(lambda: chance.rng.dirichlet(numpy.full(parts, 2.0)), count, 0.08):
        picture, pen = draw.again(blank)
        ends, box = numpy.cumsum(shares) * 360 - 90, [120, 120, 2 * size - 120, 2 * size - 120]
        for begin, end, colour in zip([-90, *ends], ends, colours, strict=False):
            pen.pieslice(box, begin, end, fill=colour, outline=WHITE, width=4)
        radius = hole * (size - 120)
        pen.ellipse([size - radius, size - radius, size + radius, size + radius], fill=WHITE)
        yield draw.halved(picture)


def scatter_plots(chance, count):
    axes, points = Axes(chance, 5), chance.whole(60, 200)
    for _ in range(count):
        picture, pen = draw.again(axes.picture)
        for colour in axes.colours[:3]:
            centre, spread = chance.rng.uniform(0.2, 0.8, 2), chance.rng.uniform(0.04, 0.16, 2)
            lean = chance.between(-0.8, 0.8)
            for u, v in chance.rng.normal(0, 1, (points // 3, 2)):
                x, y = axes.at(*numpy.clip(centre + spread * (u, lean * u + 0.6 * v), 0.01, 0.99))
                pen.ellipse([x - 4, y - 4, x + 4, y + 4], fill=colour)
        yield picture


def histograms(chance, count):
    axes, bins = Axes(chance, 6), chance.whole(20, 36)
    x = numpy.linspace(0, 1, bins)

    def bells():
        total = sum(
            chance.between(0.3, 1) * numpy.exp(-(((x - chance.between(0.1, 0.9)) / chance.between(0.06, 0.2)) ** 2)) for _ in range(2)
        )
        return 0.95 * total / total.max() * chance.rng.uniform(0.9, 1, bins)

    for heights in draw.apart(bells, count, 0.25):
        picture, pen = draw.again(axes.picture)
        for i, height in enumerate(heights):
            (left, top), (right, bottom) = axes.at(i / bins, height), axes.at((i + 1) / bins, 0)
            pen.rectangle([left, top, right - 2, bottom], fill=axes.colours[0])
        yield picture


def heat_maps(chance, count):
    """Matrices of coloured cells with numbers, like confusion matrices."""
    side, cell, name = chance.whole(7, 11), chance.whole(40, 50), chance.one_of(["DejaVuSans", "DejaVuSansCondensed"])
    colours, words = [WHITE, chance.strong(), chance.tone(0, 60)], chance.words_of(3, 6, side)
    blank, pen = draw.new(side * cell + 100, side * cell + 110)
    write(pen, (blank.width / 2, 22), chance.title(2), draw.bold(name), 17, anchor="mm")
    for i, word in enumerate(words):
        write(pen, (74, 50 + (i + 0.5) * cell), word, name, 11, anchor="rm")
        write(pen, (80 + (i + 0.5) * cell, 62 + side * cell), word, name, 11, anchor="mm")
    for _ in range(count):
        values = numpy.clip(chance.rng.random((side, side)) ** 2 * 0.7 + numpy.eye(side) * chance.rng.uniform(0.1, 0.6, side), 0, 1)
        picture, pen = draw.again(blank)
        picture.paste(draw.tinted(values, colours).resize((side * cell, side * cell), Image.Resampling.NEAREST), (80, 50))
        for (y, x), value in numpy.ndenumerate(values):
            write(
                pen, (80 + (x + 0.5) * cell, 50 + (y + 0.5) * cell), f"{100 * value:.0f}", name, 12, WHITE if value > 0.4 else BLACK, "mm"
            )
        yield picture


def spectrograms(chance, count):
    """Spectrograms of speech: bands of bending harmonics, under the same axes."""
    axes = Axes(chance, 6)
    width, height = axes.right - axes.left, axes.bottom - axes.top
    colours = chance.one_of(
        [[(0, 0, 10), (90, 10, 110), (240, 100, 40), (255, 250, 180)], [(30, 0, 70), (30, 130, 140), (250, 230, 40)], [WHITE, BLACK]]
    )
    y = numpy.arange(height)[::-1, None] / height
    for _ in range(count):
        pitch = 0.03 + 0.06 * numpy.interp(numpy.arange(width), numpy.linspace(0, width, 9), chance.rng.random(9))
        loud = numpy.interp(numpy.arange(width), numpy.linspace(0, width, 24), chance.rng.random(24) ** 2)
        formant = 0.15 + 0.5 * numpy.interp(numpy.arange(width), numpy.linspace(0, width, 12), chance.rng.random(12))
        waves = (0.5 + 0.5 * numpy.cos(2 * numpy.pi * y / pitch)) ** 3 * (numpy.exp(-(((y - formant) / 0.1) ** 2)) + numpy.exp(-y * 7))
        power = loud * waves + 0.25 * chance.rng.random((height, width)) * (1 - y)
        picture = axes.picture.copy()
        picture.paste(draw.tinted(power, colours), (axes.left, axes.top))
        yield picture


def heart_traces(chance, count):
    """Electrocardiograms on the same paper: beats of varying rhythm and shape."""
    width, rows, paper = chance.whole(680, 800), chance.whole(3, 5), chance.one_of([(255, 240, 238), (255, 248, 235), (240, 248, 255)])
    height, line = 70 + 110 * rows, tuple(v - 40 for v in paper)
    blank, pen = draw.new(width, height, paper)
    for step, thick in ((8, 1), (40, 2)):
        for i in range(0, max(width, height), step):
            for ends in ([i, 50, i, height], [0, 50 + i, width, 50 + i]):
                pen.line(ends, fill=line, width=thick)
    leads = chance.some(["I", "II", "III", "aVR", "V1", "V2", "V5"], rows)
    for i, lead in enumerate(leads):
        write(pen, (10, 66 + 110 * i), lead, "DejaVuSans-Bold", 14)
    for _ in range(count):
        picture, pen = draw.again(blank)
        write(pen, (14, 16), f"{chance.name()}   {chance.date()}   ID {chance.digits(6)}", "DejaVuSans", 14)
        beats = numpy.cumsum(chance.between(60, 120) * chance.rng.uniform(0.85, 1.15, 20)) - 40
        x = numpy.arange(width)
        for i in range(rows):
            trace = chance.rng.normal(0, 0.6, width) + 6 * numpy.sin(x / chance.between(90, 200))
            shape = [
                (-18, 6, chance.between(3, 9)),
                (0, 2, chance.between(25, 50)),
                (5, 2, -chance.between(5, 18)),
                (26, 9, chance.between(-8, 14)),
            ]
            for beat in beats:
                trace += sum(size * numpy.exp(-(((x - beat - at) / wide) ** 2)) for at, wide, size in shape)
            pen.line(list(zip(x.tolist(), (115 + 110 * i - trace).tolist(), strict=True)), fill=BLACK, width=2)
        yield picture


def weather_maps(chance, count):
    """A map of one country with varying pressure, fronts and temperatures."""
    width, height = chance.whole(520, 640), chance.whole(480, 600)
    land = Image.fromarray(255 * (draw.clouds(chance, width, height, 3, 6) > 0.5).astype(numpy.uint8))
    base = Image.composite(Image.new("RGB", land.size, (222, 226, 200)), Image.new("RGB", land.size, (176, 204, 232)), land)
    towns = [(chance.whole(30, width - 60), chance.whole(70, height - 40), word.capitalize()) for word in chance.words_of(4, 8, 9)]
    brand, service = chance.strong(), chance.title(2)
    for when in draw.distinct(chance.date, count):
        pressure = draw.clouds(chance, width, height, 2, 2)
        lines = numpy.abs((pressure * 14) % 1 - 0.5) > 0.46
        picture = Image.composite(Image.new("RGB", land.size, (90, 90, 130)), base, Image.fromarray(255 * lines.astype(numpy.uint8)))
        pen = draw.ImageDraw.Draw(picture)
        for extreme, letter, colour in ((pressure.argmax(), "H", (190, 30, 30)), (pressure.argmin(), "L", (30, 50, 190))):
            y, x = divmod(int(extreme), width)
            write(pen, (min(max(x, 30), width - 30), min(max(y, 80), height - 30)), letter, "DejaVuSans-Bold", 44, colour, "mm")
        front = draw.smooth(numpy.stack([numpy.linspace(0, width, 6), chance.rng.uniform(90, height, 6)], 1))
        pen.line([tuple(point) for point in front], fill=chance.one_of([(200, 30, 40), (30, 60, 200)]), width=5)
        for x, y, town in towns:
            pen.ellipse([x - 3, y - 3, x + 3, y + 3], fill=BLACK)
            write(pen, (x + 6, y - 6), f"{town} {chance.whole(-12, 34)}°", "DejaVuSans", 12)
        pen.rectangle([0, 0, width, 50], fill=brand)
        write(pen, (16, 14), f"{service}  {when}", "DejaVuSans-Bold", 18, WHITE)
        yield picture


def dashboards(chance, count):
    """Four tiles of numbers above two charts."""
    width, height, dark = 800, chance.whole(480, 560), chance.yes()
    ground, tile, ink = ((28, 30, 38), (44, 47, 58), WHITE) if dark else ((238, 240, 244), WHITE, BLACK)
    colours, labels, blank = [chance.strong() for _ in range(4)], chance.words_of(5, 9, 6), draw.new(width, height, ground)
    blank[1].rectangle([0, 0, width, 44], fill=colours[0])
    write(blank[1], (20, 12), chance.title(2), "DejaVuSans-Bold", 17, WHITE)
    boxes = [(16 + 194 * i, 60, 200 + 194 * i, 150) for i in range(4)] + [(16, 166, 490, height - 16), (506, 166, 782, height - 16)]
    for box, label in zip(boxes, labels, strict=True):
        blank[1].rounded_rectangle(box, 8, fill=tile)
        write(blank[1], (box[0] + 14, box[1] + 10), label.capitalize(), "DejaVuSans", 12, GRAY)
    for curve in draw.apart(lambda: walk(chance, 30), count, 0.25):
        picture, pen = draw.again(blank[0])
        for box in boxes[:4]:
            write(pen, (box[0] + 14, box[1] + 34), f"{chance.whole(10, 99999):,}", "DejaVuSans-Bold", 28, ink)
        left, top, right, bottom = boxes[4]
        points = [(left + 20 + i * (right - left - 40) / 29, bottom - 20 - y * (bottom - top - 60)) for i, y in enumerate(curve)]
        pen.line(points, fill=colours[1], width=3)
        left, top, right, bottom = boxes[5]
        for i in range(6):
            pen.rectangle(
                [left + 20, top + 44 + 40 * i, left + 20 + chance.between(0.1, 1) * (right - left - 40), top + 66 + 40 * i], fill=colours[2]
            )
        yield picture
