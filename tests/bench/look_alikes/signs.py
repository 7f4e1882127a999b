"""Families of codes, icons, boards and displays. Each function (chance, count) draws one template and yields pictures of other content."""

import itertools

import numpy
from PIL import Image

import draw
import screens
from draw import BLACK, GRAY, WHITE, block, write


def licence_plates(chance, count):
    """Licence plates of one state, cut from photos of cars."""
    width, height, ink = 520, chance.whole(240, 280), chance.one_of([BLACK, (20, 40, 120), (120, 20, 30)])
    ground, state = chance.one_of([(250, 250, 246), (250, 214, 60)]), chance.letters(chance.whole(1, 2))
    bumper = draw.lit(
        draw.tinted(draw.clouds(chance, width, height, 2, 3), [chance.tone(20, 60), chance.tone(60, 130)]),
        numpy.linspace(1.25, 0.6, height)[:, None] * numpy.ones((1, width)),
    )
    pen = draw.ImageDraw.Draw(bumper)
    box = [40, height // 2 - 52, width - 40, height // 2 + 52]
    pen.rounded_rectangle(box, 10, fill=ground, outline=ink, width=4)
    pen.rectangle([46, box[1] + 6, 82, box[3] - 6], fill=(20, 60, 160))
    write(pen, (64, box[3] - 16), state, "DejaVuSans-Bold", 16, WHITE, "mm")
    for plate in draw.distinct(lambda: f"{chance.letters(2)} {chance.letters(2)} {chance.digits(3)}", count):
        picture, pen = draw.again(bumper)
        write(pen, (90 + (width - 134) / 2, height / 2), plate, "DejaVuSansCondensed-Bold", 58, ink, "mm")
        yield draw.scanned(picture, chance, noise=5, turn=1.2, shift=4)


def qr_codes(chance, count):
    """One size and colour, with a company's sign or a line below if the template has one."""
    version, module = chance.whole(2, 6), chance.whole(8, 12)
    dark, label = chance.one_of([(0, 0, 0), (0, 0, 0), chance.tone(0, 90)]), chance.one_of(["", "SCAN ME", chance.title(1).upper()])
    for _ in range(count):
        code = draw.qr_code(chance, version, module, dark)
        picture, pen = draw.new(code.width, code.height + (50 if label else 0))
        picture.paste(code, (0, 0))
        write(pen, (code.width / 2, code.height + 14), label, "DejaVuSans-Bold", 26, dark, "mm")
        yield picture


def bar_codes(chance, count):
    width, height, label = chance.whole(400, 480), chance.whole(240, 300), chance.title(2)
    first = chance.digits(4)
    for number in draw.distinct(lambda: first + chance.digits(9), count):
        picture, pen = draw.new(width, height)
        write(pen, (width / 2, 20), label, "DejaVuSans", 16, anchor="mm")
        draw.bar_code(pen, (width // 2 - 142, 44, width // 2 + 150, height - 16), chance, number, modules=95)
        yield picture


def icons(chance, count):
    """Line icons of one set: a frame and three shapes."""
    side, stroke, ink, ground = 640, chance.whole(22, 36), chance.tone(20, 140), chance.one_of([WHITE, chance.tone(225, 250)])
    blank, pen = draw.new(side, side, ground)
    getattr(pen, chance.one_of(["ellipse", "rectangle"]))([70, 70, 570, 570], outline=ink, width=stroke)

    def mark(pen):
        x, y, reach = chance.between(210, 430), chance.between(210, 430), 35 * chance.whole(1, 3)
        left, top, right, bottom = box = [x - reach, y - reach, x + reach, y + reach]
        shape = chance.one_of(["ring", "frame", "triangle", "line", "dot"])
        if shape == "triangle":
            pen.line([left, bottom, x, top, right, bottom, left, bottom], fill=ink, width=stroke, joint="curve")
        elif shape == "line":
            pen.line([left, y, right, y], fill=ink, width=stroke)
        elif shape == "frame":
            pen.rectangle(box, outline=ink, width=stroke)
        else:
            pen.ellipse(box, outline=ink, width=stroke, fill=ink if shape == "dot" else None)

    def endless():
        while True:
            icon, pen = draw.again(blank)
            for _ in range(3):
                mark(pen)
            yield draw.halved(icon)

    return itertools.islice(draw.unlike(endless()), count)


def app_tiles(chance, count):
    """Tiles of one company's apps: the same background with another white sign."""
    side, colour = chance.whole(300, 400), chance.strong()
    for _ in range(count):
        picture, _ = draw.new(side + 40, side + 40, (245, 245, 247))
        picture.paste(screens.app_tile(chance, side, colour), (20, 20), screens.rounded(side))
        yield picture


PIECES = "♜♞♝♛♚♝♞♜" + "♟" * 8


def chess_boards(chance, count):
    cell, light, dark = (
        chance.whole(46, 64),
        *chance.one_of([((240, 217, 181), (181, 136, 99)), ((238, 238, 210), (118, 150, 86)), ((222, 227, 230), (140, 162, 173))]),
    )
    blank, pen = draw.new(8 * cell + 40, 8 * cell + 40, (50, 46, 44))
    for y in range(8):
        write(pen, (10, 20 + (y + 0.5) * cell), str(8 - y), "DejaVuSans", 12, WHITE, "mm")
        write(pen, (20 + (y + 0.5) * cell, 8 * cell + 30), "abcdefgh"[y], "DejaVuSans", 12, WHITE, "mm")
        for x in range(8):
            pen.rectangle(
                [20 + x * cell, 20 + y * cell, 20 + (x + 1) * cell - 1, 20 + (y + 1) * cell - 1], fill=dark if (x + y) % 2 else light
            )
    for _ in range(count):
        board, pen = draw.again(blank)
        left, pieces = chance.whole(5, 14), [(piece, side) for side in (WHITE, BLACK) for piece in PIECES]
        chosen = [("♚", WHITE), ("♚", BLACK), *chance.some([pair for pair in pieces if pair[0] != "♚"], left)]
        for (piece, side), place in zip(chosen, chance.some(range(64), len(chosen)), strict=True):
            at = 20 + (place % 8 + 0.5) * cell, 20 + (place // 8 + 0.5) * cell
            pen.text(
                at,
                piece,
                fill=side,
                font=draw.font("DejaVuSans", int(0.8 * cell)),
                anchor="mm",
                stroke_width=1,
                stroke_fill=BLACK if side == WHITE else (90, 90, 90),
            )
        yield board


SEGMENTS = {
    "0": "abcdef",
    "1": "bc",
    "2": "abged",
    "3": "abgcd",
    "4": "fgbc",
    "5": "afgcd",
    "6": "afgedc",
    "7": "abc",
    "8": "abcdefg",
    "9": "abcdfg",
}
SEGMENT_ENDS = {
    "a": (0, 0, 1, 0),
    "b": (1, 0, 1, 1),
    "c": (1, 1, 1, 2),
    "d": (0, 2, 1, 2),
    "e": (0, 1, 0, 2),
    "f": (0, 0, 0, 1),
    "g": (0, 1, 1, 1),
}


def displays(chance, count):
    """Meters with seven-segment displays, as seen by a camera."""
    digits, unit, glow = (
        chance.whole(4, 6),
        chance.one_of(["kWh", "V", "°C", "m³", "bar"]),
        chance.one_of([(255, 50, 40), (60, 255, 110), (40, 50, 50)]),
    )
    ground = (170, 186, 160) if sum(glow) < 200 else (18, 18, 22)
    width, height = 110 * digits + 120, chance.whole(300, 380)
    meter = draw.tinted(draw.clouds(chance, width, height, 2, 6), [chance.tone(90, 120), chance.tone(150, 190)])
    pen = draw.ImageDraw.Draw(meter)
    pen.rounded_rectangle([30, 50, width - 30, 250], 12, fill=ground, outline=(40, 40, 44), width=6)
    write(pen, (40, 16), f"{chance.title(1).upper()} {chance.letters(2)}-{chance.digits(3)}", "DejaVuSans-Bold", 20)
    write(pen, (width - 40, 268), unit, "DejaVuSans-Bold", 26, anchor="ra")
    faint = tuple(int(0.88 * a + 0.12 * b) for a, b in zip(ground, glow, strict=True))
    for number in draw.distinct(lambda: chance.digits(digits), count):
        picture, pen = draw.again(meter)
        for i, digit in enumerate(number):
            for segment, (x, y, u, v) in SEGMENT_ENDS.items():
                left, size, lean = 80 + 110 * i, 62, 4
                ends = [left + x * size - y * lean, 84 + y * size, left + u * size - v * lean, 84 + v * size]
                pen.line(ends, fill=glow if segment in SEGMENTS[digit] else faint, width=13)
        yield draw.scanned(picture, chance, noise=4, turn=0.5)


def gauges(chance, count):
    """A gauge with another reading."""
    side, name, most = chance.whole(360, 480), chance.one_of(["bar", "°C", "rpm", "V"]), chance.one_of([10, 100, 160, 6])
    blank, pen = draw.new(2 * side, 2 * side, chance.tone(120, 190))
    pen.ellipse([20, 20, 2 * side - 20, 2 * side - 20], fill=(250, 250, 246), outline=(60, 60, 66), width=26)
    write(pen, (side, 1.45 * side), name, "DejaVuSans-Bold", 44, anchor="mm")
    write(pen, (side, 1.6 * side), chance.title(1), "DejaVuSans", 36, GRAY, "mm")

    def at(share, radius):
        turn = numpy.radians(135 + 270 * share)
        return side + radius * side * numpy.cos(turn), side + radius * side * numpy.sin(turn)

    for i in range(51):
        pen.line([*at(i / 50, 0.9), *at(i / 50, 0.82 if i % 5 else 0.76)], fill=BLACK, width=4 if i % 5 else 8)
        if i % 5 == 0:
            write(pen, at(i / 50, 0.64), f"{most * i / 50:g}", "DejaVuSans", 34, anchor="mm")
    # Readings differ by at least a third of a small step.
    for reading in draw.distinct(lambda: chance.whole(0, 180), count):
        gauge, pen = draw.again(blank)
        pen.line([*at(reading / 180, -0.15), *at(reading / 180, 0.8)], fill=(200, 30, 30), width=12)
        pen.ellipse([side - 30, side - 30, side + 30, side + 30], fill=(60, 60, 66))
        yield draw.scanned(draw.halved(gauge), chance, noise=3, turn=0.2, shift=1)


def seat_maps(chance, count):
    """One hall with other seats taken."""
    columns, rows, free, taken = chance.whole(14, 20), chance.whole(10, 15), chance.strong(), (190, 190, 196)
    width, aisle = 26 * (columns + 2) + 60, columns // 2
    blank, pen = draw.new(width, 26 * rows + 150)
    pen.rounded_rectangle([width // 4, 40, 3 * width // 4, 66], 8, fill=(210, 214, 220))
    write(pen, (width / 2, 53), "STAGE", "DejaVuSans-Bold", 12, GRAY, "mm")
    write(pen, (20, 12), chance.title(3), "DejaVuSans-Bold", 15)
    for row in range(rows):
        write(pen, (16, 103 + 26 * row), "ABCDEFGHIJKLMNOP"[row], "DejaVuSans", 12, GRAY, "mm")
    for _ in range(count):
        picture, pen = draw.again(blank)
        full = chance.rng.random((rows, columns)) < chance.between(0.2, 0.8)
        for (row, column), gone in numpy.ndenumerate(full):
            x, y = 36 + 26 * column + 30 * (column >= aisle), 94 + 26 * row
            pen.rounded_rectangle([x, y, x + 19, y + 19], 5, fill=taken if gone else free)
        yield picture


def postage_stamps(chance, count):
    """One series: frame, country and face are the same; value and motif vary."""
    width, height, ink, country = 2 * chance.whole(300, 340), 2 * chance.whole(360, 420), chance.tone(20, 120), chance.title(1).upper()
    blank, pen = draw.new(width, height, (245, 240, 225))
    for along, across in ((width, height), (height, width)):
        for i in range(0, along + 1, 40):
            for end in (0, across):
                x, y = (i, end) if along == width else (end, i)
                pen.ellipse([x - 12, y - 12, x + 12, y + 12], fill=(60, 60, 64))
    pen.rectangle([50, 50, width - 50, height - 50], outline=ink, width=8)
    write(pen, (width / 2, height - 100), country, "DejaVuSerif-Bold", 56, ink, "mm")
    for who in draw.people(chance, count):
        stamp, pen = draw.again(blank)
        motif = Image.new("RGB", (width - 140, height - 260), tuple(min(255, v + 110) for v in ink))
        draw.face(draw.ImageDraw.Draw(motif), (0, 0, *motif.size), who)
        stamp.paste(draw.tinted(numpy.asarray(motif.convert("L")) / 255, [ink, (245, 240, 225)]), (70, 70))
        write(pen, (80, 84), str(chance.one_of([5, 10, 20, 25, 40, 60, 80, 110])), "DejaVuSerif-Bold", 70, WHITE)
        yield draw.scanned(draw.halved(stamp), chance, noise=5)


def bottle_labels(chance, count):
    """Labels of one winery: another wine, year and numbers."""
    width, height, brand, name = (
        chance.whole(400, 480),
        chance.whole(480, 580),
        chance.strong(),
        chance.one_of(["DejaVuSerif", "DejaVuSerifCondensed"]),
    )
    blank, pen = draw.new(width, height, (250, 246, 234))
    pen.rectangle([14, 14, width - 15, height - 15], outline=brand, width=4)
    draw.emblem(pen, (width / 2 - 70, 40, width / 2 + 70, 180), chance, [brand, (190, 160, 80)])
    write(pen, (width / 2, 210), f"Château {chance.title(1)}", "DejaVuSerif-BoldItalic", 30, brand, "mm")
    for wine, year in draw.distinct(lambda: (chance.title(1), chance.whole(1982, 2023)), count):
        label, pen = draw.again(blank)
        write(pen, (width / 2, 280), wine, name, 40, anchor="mm")
        write(pen, (width / 2, 340), str(year), draw.bold(name), 34, brand, "mm")
        draw.paragraph(pen, (50, 380), width - 100, chance.words(20), name, 11, GRAY)
        block(pen, (50, height - 60), [f"{chance.between(10, 15):.1f} % vol · 75 cl · L{chance.digits(6)}"], name, 13)
        yield label


def clocks(chance, count):
    """A station's clock at different times."""
    side, ground = chance.whole(320, 420), chance.tone(90, 200)
    blank, pen = draw.new(2 * side, 2 * side, ground)
    pen.ellipse([40, 40, 2 * side - 40, 2 * side - 40], fill=WHITE, outline=BLACK, width=20)
    write(pen, (side, 1.4 * side), chance.title(1), "DejaVuSans-Bold", 44, GRAY, "mm")

    def hand(pen, turn, inner, outer, width, colour=BLACK):
        x, y = numpy.sin(2 * numpy.pi * turn), -numpy.cos(2 * numpy.pi * turn)
        pen.line(
            [side + inner * side * x, side + inner * side * y, side + outer * side * x, side + outer * side * y], fill=colour, width=width
        )

    for i in range(60):
        hand(pen, i / 60, 0.78 if i % 5 else 0.66, 0.84, 8 if i % 5 else 20)
    for minutes in draw.distinct(lambda: 2 * chance.whole(0, 359), count):
        clock, pen = draw.again(blank)
        hand(pen, minutes / 720, -0.15, 0.48, 34)
        hand(pen, minutes / 60, -0.15, 0.74, 24)
        yield draw.halved(clock)
