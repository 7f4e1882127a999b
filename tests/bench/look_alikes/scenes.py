"""Families of pictures as cameras and scanners of bodies take them. Each function (chance, count) draws one set-up."""

import numpy
from PIL import Image, ImageFilter

import draw
from draw import BLACK, GRAY, WHITE, write


def soft(size, radius, paint):
    """A mask from 0 to 1: what `paint` draws in white on black, blurred."""
    mask = Image.new("L", size)
    paint(draw.ImageDraw.Draw(mask))
    return numpy.asarray(mask.filter(ImageFilter.GaussianBlur(radius))) / 255


def ellipse(size, x, y, across, down, radius):
    """A soft ellipse, in shares of the sides."""
    w, h = size
    return soft(size, radius, lambda pen: pen.ellipse([(x - across) * w, (y - down) * h, (x + across) * w, (y + down) * h], fill=255))


def x_rays(chance, count):
    """Chest X-rays of different people by one machine: lungs, ribs, spine and heart."""
    size = w, h = chance.whole(420, 520), chance.whole(460, 560)
    mark, corner = chance.one_of("LR"), chance.yes()
    for _ in range(count):
        part = chance.rng.normal(0, 1, 12) * 0.016
        body = 0.62 * ellipse(size, 0.5, 0.6, 0.47 + part[0], 0.62, 18)
        for side in (-1, 1):
            body -= 0.42 * ellipse(size, 0.5 + side * (0.21 + part[1]), 0.5 + part[2], 0.145 + part[3], 0.31 + part[4], 12)
        body += 0.3 * ellipse(size, 0.56 + 2 * part[5], 0.64 + part[6], 0.14 + part[7], 0.17 + part[8], 14)
        body += 0.22 * soft(size, 5, lambda pen: pen.rectangle([0.47 * w, 0, 0.53 * w, h], fill=255))

        def ribs(pen, bend=part[9], step=0.072 + part[10] / 4):
            for side in (-1, 1):
                for i in range(9):
                    y = (0.16 + i * step) * h
                    reach = (0.3 + 0.012 * min(i, 5)) * w
                    box = [
                        0.5 * w + min(0, side * reach * 2) + side * 10,
                        y,
                        0.5 * w + max(0, side * reach * 2) + side * 10,
                        y + (0.24 + 4 * bend) * h,
                    ]
                    pen.arc(box, *((180, 300) if side > 0 else (240, 360)), fill=255, width=round(0.022 * h))
                pen.line([0.5 * w, 0.14 * h, (0.5 + side * 0.38) * w, (0.09 + bend) * h], fill=255, width=round(0.025 * h))

        body += 0.13 * soft(size, 2.5, ribs) + 0.12 * (draw.clouds(chance, w, h, 8, 5) - 0.5)
        picture = draw.tinted(body, [BLACK, (225, 228, 230)])
        write(draw.ImageDraw.Draw(picture), (30 if corner else w - 30, 24), mark, "DejaVuSans-Bold", 26, WHITE, "mm")
        yield draw.grained(picture, chance, 4)


def ct_slices(chance, count):
    """Slices of abdomens with the legend of one scanner: skin, fat, spine, organs, bowel."""
    size = w, h = 480, chance.whole(400, 480)
    legend = [chance.title(1).upper(), f"{chance.whole(80, 140)} kV {chance.whole(100, 400)} mA"]
    for _ in range(count):
        part = chance.rng.normal(0, 1, 12) * 0.02
        wide, high = 0.42 + part[0], 0.38 + part[1]
        values = 0.28 * ellipse(size, 0.5, 0.5, wide, high, 1.5) + 0.25 * ellipse(
            size, 0.5, 0.5, wide - 0.05 - abs(part[2]), high - 0.05 - abs(part[3]), 3
        )
        values += 0.4 * ellipse(size, 0.5 + part[4] / 2, 0.74, 0.055, 0.055, 1.5)
        for x, y in ((0.3, 0.42), (0.7, 0.45), (0.36, 0.66), (0.64, 0.66), (0.52, 0.36)):
            centre = (x + chance.rng.normal(0, 0.025)) * w, (y + chance.rng.normal(0, 0.025)) * h
            outline = draw.blob(chance, centre, chance.between(0.05, 0.13) * w)
            values += chance.between(0.08, 0.22) * soft(size, 1.5, lambda pen, outline=outline: pen.polygon(outline, fill=255))
        for _ in range(chance.whole(4, 12)):
            centre = chance.between(0.3, 0.7) * w, chance.between(0.25, 0.6) * h
            outline = draw.blob(chance, centre, chance.between(0.015, 0.035) * w, 7)
            values -= chance.between(0.3, 0.5) * soft(size, 1, lambda pen, outline=outline: pen.polygon(outline, fill=255))
        values += 0.08 * (draw.clouds(chance, w, h, 40, 3) - 0.5) * (values > 0.1)
        picture = draw.tinted(values, [BLACK, WHITE])
        draw.block(draw.ImageDraw.Draw(picture), (10, 10), [*legend, f"Im {chance.whole(1, 200)}"], "DejaVuSans", 11, (220, 220, 220))
        yield draw.grained(picture, chance, 5)


def cells(chance, count):
    """Stained tissue, seen with one microscope."""
    width, height = chance.whole(420, 560), chance.whole(420, 560)
    ground, body, core = chance.one_of(
        [
            ((244, 228, 238), (226, 170, 206), (96, 60, 140)),
            ((236, 240, 228), (190, 214, 180), (60, 110, 90)),
            ((10, 12, 24), (20, 70, 50), (90, 160, 250)),
        ]
    )
    number, radius = chance.whole(60, 130), chance.between(12, 20)
    for _ in range(count):
        picture = draw.tinted(
            draw.clouds(chance, width, height, 6, 5), [ground, tuple((a + b) // 2 for a, b in zip(ground, body, strict=True))]
        )
        pen = draw.ImageDraw.Draw(picture)
        for x, y in chance.rng.random((number, 2)) * (width, height):
            pen.polygon(draw.blob(chance, (x, y), radius * chance.between(0.8, 1.3)), fill=body)
            pen.polygon(draw.blob(chance, (x + 2, y), radius * chance.between(0.3, 0.5)), fill=core)
        yield draw.grained(picture.filter(ImageFilter.GaussianBlur(1)), chance, 4)


def satellite_tiles(chance, count):
    """Tiles of a town in the same light: blocks of roofs between roads."""
    side, street, roofs = chance.whole(400, 520), chance.whole(56, 84), [chance.tone(110, 200) for _ in range(4)]
    green, road = [(46, 66, 40), (96, 110, 70)], (130, 130, 128)
    for _ in range(count):
        picture = draw.tinted(draw.clouds(chance, side, side, 10, 6), green)
        pen = draw.ImageDraw.Draw(picture)
        for at in range(chance.whole(0, street), side, street):
            for line in ([at, 0, at, side], [0, at, side, at]):
                if chance.yes(0.85):
                    pen.line(line, fill=road, width=9)
        for x in range(12, side, 22):
            for y in range(12, side, 22):
                if chance.yes(0.6):
                    wide, high, roof = chance.whole(7, 16), chance.whole(7, 16), chance.one_of(roofs)
                    pen.rectangle([x + 3, y + 3, x + wide + 3, y + high + 3], fill=(30, 32, 34))
                    pen.rectangle([x, y, x + wide, y + high], fill=roof)
        yield draw.grained(picture, chance, 5)


def fields(chance, count):
    """Fields from the air, each with parallel rows."""
    side, crops = (
        chance.whole(420, 520),
        [chance.one_of([(120, 140, 60), (180, 160, 90), (90, 110, 50), (150, 120, 80), (200, 190, 120)]) for _ in range(5)],
    )
    y, x = numpy.mgrid[0:side, 0:side]
    for _ in range(count):
        seeds = chance.rng.random((chance.whole(9, 14), 2)) * side
        away = numpy.abs(seeds[:, 0, None, None] - x) + numpy.abs(seeds[:, 1, None, None] - y)
        nearest = away.argmin(0)
        second = numpy.partition(away, 1, 0)
        turn = chance.rng.uniform(0, numpy.pi, len(seeds))[nearest]
        rows = 0.92 + 0.08 * numpy.sin((x * numpy.cos(turn) + y * numpy.sin(turn)) * 1.1)
        colours = numpy.array([chance.one_of(crops) for _ in seeds])[nearest]
        light = rows * (0.8 + 0.4 * draw.clouds(chance, side, side, 4, 6)) * (1 - 0.5 * (second[1] - second[0] < 4))
        yield draw.grained(Image.fromarray(numpy.clip(colours * light[..., None], 0, 255).astype(numpy.uint8)), chance, 4)


def walls(chance, count):
    """Photos of one kind of brickwork in different places."""
    wide, high = chance.whole(70, 110), chance.whole(26, 40)
    columns, rows, brick = 6, 14, chance.one_of([(150, 74, 56), (186, 150, 110), (120, 118, 116)])
    width, height = wide * columns, high * rows
    for _ in range(count):
        picture = draw.tinted(draw.clouds(chance, width, height, 30, 4), [(150, 146, 138), (200, 196, 186)])
        mask = Image.new("L", picture.size)
        stones, pen, pencil = Image.new("RGB", picture.size), None, draw.ImageDraw.Draw(mask)
        pen = draw.ImageDraw.Draw(stones)
        for row in range(rows):
            for column in range(columns + 1):
                left, top = (column - 0.5 * (row % 2)) * wide + chance.between(-1, 1), row * high
                shade = chance.between(0.6, 1.3)
                pen.rectangle(
                    [left, top, left + wide, top + high], fill=tuple(min(255, int(shade * v + chance.between(-12, 12))) for v in brick)
                )
                pencil.rounded_rectangle([left + 3, top + 3, left + wide - 3, top + high - 3], 3, fill=255)
        rough = draw.lit(stones, 0.7 + 0.5 * draw.clouds(chance, width, height, 24, 6))
        picture.paste(rough, mask=mask.filter(ImageFilter.GaussianBlur(0.8)))
        yield draw.grained(picture, chance, 5)


# Small differences in rich pictures.


def figure(pen, x, y, height, chance):
    """A person standing or walking at a place on the ground."""
    shirt, trousers, skin, hair = chance.strong(), chance.tone(20, 90), chance.one_of(draw.SKINS), chance.one_of(draw.HAIRS)
    step = chance.between(0.02, 0.12) * height
    for side in (-1, 1):
        pen.line([x, y - 0.48 * height, x + side * step, y], fill=trousers, width=round(0.1 * height))
        pen.line(
            [x + side * 0.1 * height, y - 0.8 * height, x + side * (0.12 * height + step / 2), y - 0.45 * height],
            fill=shirt,
            width=round(0.07 * height),
        )
    pen.rounded_rectangle([x - 0.12 * height, y - 0.84 * height, x + 0.12 * height, y - 0.44 * height], 0.05 * height, fill=shirt)
    pen.ellipse([x - 0.075 * height, y - height, x + 0.075 * height, y - 0.82 * height], fill=skin)
    pen.chord([x - 0.08 * height, y - 1.01 * height, x + 0.08 * height, y - 0.84 * height], 180, 360, fill=hair)


def car(pen, x, y, length, chance):
    """A car from the side; y: the ground."""
    colour = chance.one_of([chance.strong(), chance.tone(200, 240), chance.tone(20, 50)])
    high = 0.18 * length
    pen.rounded_rectangle([x, y - 1.6 * high, x + length, y - 0.4 * high], 0.5 * high, fill=colour)
    pen.polygon(
        [
            (x + 0.18 * length, y - 1.5 * high),
            (x + 0.3 * length, y - 2.5 * high),
            (x + 0.7 * length, y - 2.5 * high),
            (x + 0.86 * length, y - 1.5 * high),
        ],
        fill=colour,
    )
    pen.polygon(
        [
            (x + 0.25 * length, y - 1.55 * high),
            (x + 0.33 * length, y - 2.3 * high),
            (x + 0.67 * length, y - 2.3 * high),
            (x + 0.76 * length, y - 1.55 * high),
        ],
        fill=(60, 80, 96),
    )
    for at in (0.2, 0.78):
        pen.ellipse(
            [x + (at - 0.09) * length, y - 0.09 * length * 2, x + (at + 0.09) * length, y],
            fill=(24, 24, 26),
            outline=(130, 130, 134),
            width=3,
        )


def street(chance, width, height):
    """Houses behind a road, at twice the size."""
    picture = draw.textured(chance, (2 * width, 2 * height), 150, 240, 2, 5)
    pen, x, ground = draw.ImageDraw.Draw(picture), 0, round(1.2 * height)
    while x < 2 * width:
        wide, top, colour = chance.whole(180, 340), chance.between(0.1, 0.5) * height, chance.tone(90, 210)
        pen.rectangle([x, top, x + wide, ground], fill=colour)
        for left in range(x + 20, x + wide - 50, 60):
            for up in range(round(top) + 24, ground - 60, 84):
                pen.rectangle([left, up, left + 34, up + 52], fill=chance.tone(40, 110), outline=(235, 235, 230), width=4)
        x += wide
    road = draw.tinted(draw.clouds(chance, 2 * width, 2 * height - ground, 20, 6), [(80, 80, 84), (126, 124, 122)])
    picture.paste(road, (0, ground))
    pen.rectangle([0, ground, 2 * width, ground + 40], fill=(168, 166, 160))
    for left in range(0, 2 * width, 150):
        pen.rectangle([left, 1.62 * height, left + 80, 1.62 * height + 12], fill=(225, 225, 220))
    return draw.lit(picture, 0.85 + 0.3 * draw.clouds(chance, *picture.size, 4, 7))


def street_cameras(chance, count):
    """One fixed camera with varying people, cars, light and time stamp."""
    width, height = chance.one_of([(640, 360), (560, 420), (704, 480)])
    scene, name = street(chance, width, height), f"CAM {chance.whole(1, 24):02}"
    for when in draw.distinct(lambda: f"{chance.date()} {chance.whole(6, 20):02}:{chance.digits(2)[0]}{chance.digits(1)}", count):
        picture, pen = draw.again(scene)
        for _ in range(chance.whole(1, 4)):
            y = chance.between(1.24, 1.36) * height
            figure(pen, chance.between(0.05, 0.95) * 2 * width, y, chance.between(0.26, 0.34) * height, chance)
        for _ in range(chance.whole(1, 2)):
            car(pen, chance.between(-0.1, 0.8) * 2 * width, chance.between(1.55, 1.85) * height, chance.between(0.5, 0.7) * height, chance)
        write(pen, (20, 20), f"{name}  {when}", "DejaVuSansMono-Bold", 30, WHITE)
        frame = draw.grained(draw.halved(picture), chance, 4)
        yield draw.through_jpeg(draw.lit(frame, numpy.full((height, width), chance.between(0.85, 1.1))), 70)


def car_parks(chance, count):
    """A fixed camera above a car park; other spaces are taken."""
    columns, rows, width, height = chance.whole(8, 11), chance.whole(3, 4), 720, 480
    asphalt = draw.tinted(draw.clouds(chance, width, height, 30, 6), [(84, 84, 88), (130, 128, 126)])
    pen, wide, high = draw.ImageDraw.Draw(asphalt), (width - 60) / columns, (height - 40) / rows
    for row in range(rows):
        for column in range(columns + 1):
            x, y = 30 + column * wide, 20 + row * high
            pen.line([x, y, x, y + 0.7 * high], fill=(215, 215, 205), width=3)
    light = 0.8 + 0.35 * draw.clouds(chance, width, height, 3, 5)
    for _ in range(count):
        picture, pen = draw.again(asphalt)
        for row in range(rows):
            for column in range(columns):
                if chance.yes(0.55):
                    x, y = 30 + (column + 0.5) * wide + chance.between(-3, 3), 20 + row * high + chance.between(4, 10)
                    colour = chance.one_of([chance.strong(), chance.tone(190, 240), chance.tone(20, 60)])
                    pen.rounded_rectangle([x - 0.3 * wide + 4, y + 4, x + 0.3 * wide + 4, y + 0.62 * high + 4], 8, fill=(40, 40, 42))
                    pen.rounded_rectangle([x - 0.3 * wide, y, x + 0.3 * wide, y + 0.62 * high], 8, fill=colour)
                    pen.rectangle([x - 0.22 * wide, y + 0.15 * high, x + 0.22 * wide, y + 0.46 * high], outline=(40, 50, 60), width=6)
        yield draw.through_jpeg(draw.grained(draw.lit(picture, light), chance, 4), 75)


def booth_faces(chance, count):
    """One photo booth: curtain and light stay the same, the face varies."""
    width, height = chance.whole(340, 420), chance.whole(440, 520)
    folds = 0.75 + 0.25 * numpy.sin(numpy.arange(2 * width) / chance.between(14, 30))[None, :] * numpy.ones((2 * height, 1))
    curtain = draw.lit(draw.textured(chance, (2 * width, 2 * height), 70, 200, 3, 6), folds)
    lamp = 0.8 + 0.4 * ellipse((width, height), chance.between(0.3, 0.7), 0.35, 0.5, 0.5, 60)
    for who in draw.people(chance, count):
        picture, pen = draw.again(curtain)
        x, y = chance.between(-0.03, 0.03) * width, chance.between(0, 0.06) * height
        draw.face(pen, (x, y, 2 * width + x, 2 * height + y), who)
        small = draw.halved(picture).filter(ImageFilter.GaussianBlur(0.7))
        yield draw.grained(draw.lit(small, lamp * (0.94 + 0.12 * draw.clouds(chance, width, height, 12, 5))), chance, 3)


def studio(chance, width, height):
    """A table in front of a wall, in soft light, at twice the size."""
    y = numpy.linspace(0, 1, 2 * height)[:, None] * numpy.ones((1, 2 * width))
    wall, table = chance.tone(180, 225), chance.tone(110, 200)
    room = draw.tinted(numpy.clip((y - 0.7) * 40, 0, 1), [wall, table])
    grain = 0.9 + 0.15 * draw.clouds(chance, 2 * width, 2 * height, 5, 7)
    return draw.lit(room, grain * (0.7 + 0.4 * ellipse(room.size, 0.4, 0.4, 0.5, 0.5, 160)))


def bottles(chance, count):
    """Product shots: the same bottle with other labels."""
    width, height, glass = chance.whole(360, 440), chance.whole(480, 600), chance.one_of([(30, 70, 40), (90, 50, 20), (40, 60, 90)])
    room, w, h = studio(chance, width, height), 2 * width, 2 * height
    left, right = 0.32 * w, 0.68 * w
    shade = 0.55 + 0.6 * numpy.sin(numpy.pi * numpy.clip((numpy.arange(w) - left) / (right - left), 0, 1)) ** 0.7
    for x in (0.38, 0.62):
        shade += 0.7 * numpy.exp(-(((numpy.arange(w) / w - x) / 0.008) ** 2))
    shape = Image.new("L", (w, h))
    pen = draw.ImageDraw.Draw(shape)
    pen.rounded_rectangle([left, 0.4 * h, right, 0.88 * h], 30, fill=255)
    pen.polygon([(left, 0.44 * h), (0.45 * w, 0.26 * h), (0.55 * w, 0.26 * h), (right, 0.44 * h)], fill=255)
    pen.rectangle([0.45 * w, 0.08 * h, 0.55 * w, 0.3 * h], fill=255)
    firm, paper, ink = chance.title(1), chance.tone(220, 250), chance.strong()
    for kind in draw.distinct(lambda: chance.title(1), count):
        body, pen = draw.new(w, h, glass)
        pen.rectangle([0.4 * w, 0.06 * h, 0.6 * w, 0.16 * h], fill=ink)
        pen.rectangle([left, 0.5 * h, right, 0.78 * h], fill=paper)
        write(pen, (w / 2, 0.54 * h), firm, "DejaVuSerif-Bold", 40, ink, "mm")
        draw.emblem(pen, (0.42 * w, 0.57 * h, 0.58 * w, 0.69 * h), chance)
        write(pen, (w / 2, 0.735 * h), kind, "DejaVuSerif", 34, BLACK, "mm")
        picture = room.copy()
        picture.paste(draw.lit(body, shade[None, :] * numpy.ones((h, 1))), mask=shape)
        yield draw.grained(draw.halved(picture), chance, 2)


def mugs(chance, count):
    """Product shots: the same mug with other prints."""
    side, mug = chance.whole(420, 500), chance.tone(200, 245)
    room, w = studio(chance, side, side), 2 * side
    shape = Image.new("L", (w, w))
    pen = draw.ImageDraw.Draw(shape)
    pen.ellipse([0.62 * w, 0.38 * w, 0.86 * w, 0.7 * w], outline=255, width=round(0.045 * w))
    pen.rounded_rectangle([0.24 * w, 0.28 * w, 0.7 * w, 0.82 * w], 40, fill=255)
    shade = 0.6 + 0.5 * numpy.sin(numpy.pi * numpy.clip((numpy.arange(w) / w - 0.22) / 0.56, 0, 1)) ** 0.6
    for _ in range(count):
        body, pen = draw.new(w, w, mug)
        draw.emblem(pen, (0.32 * w, 0.36 * w, 0.62 * w, 0.66 * w), chance)
        write(pen, (0.47 * w, 0.72 * w), chance.title(1), "DejaVuSans-Bold", 46, chance.strong(), "mm")
        picture = room.copy()
        picture.paste(draw.lit(body, shade[None, :] * numpy.ones((w, 1))), mask=shape)
        yield draw.grained(draw.halved(picture), chance, 2)


def shelves(chance, count):
    """A fixed camera in front of a shop's shelf, with other goods."""
    width, height, rows, columns = 640, 480, 3, chance.whole(7, 9)
    shelf = draw.textured(chance, (width, height), 130, 190, 4, 6)
    pen, high, wide = draw.ImageDraw.Draw(shelf), (height - 30) / rows, (width - 20) / columns
    for row in range(rows):
        pen.rectangle([0, (row + 1) * high + 8, width, (row + 1) * high + 24], fill=(90, 84, 78))
    usual = [[chance.strong() for _ in range(columns)] for _ in range(rows)]
    for _ in range(count):
        picture, pen = draw.again(shelf)
        for row in range(rows):
            for column in range(columns):
                box = [10 + column * wide + 5, row * high + 40, 10 + (column + 1) * wide - 5, (row + 1) * high + 8]
                if chance.yes(0.8):
                    pen.rectangle(box, fill=usual[row][column] if chance.yes(0.6) else chance.strong())
                    draw.emblem(pen, (box[0] + 6, box[1] + 20, box[2] - 6, box[3] - 30), chance, [WHITE, chance.tone(180, 240)])
        yield draw.through_jpeg(draw.grained(picture, chance, 4), 80)


# Different photos under the same overlay.


def watermarked(chance, count):
    """An agency's watermark, tiled or across the picture."""
    width, height, word = chance.whole(480, 640), chance.whole(360, 480), chance.title(1).lower()
    mark = Image.new("L", (2 * width, 2 * height))
    pen, step = draw.ImageDraw.Draw(mark), chance.one_of([120, 170, 1000])
    for y in range(height - 10 * step, height + 10 * step, step):
        for x in range(width - 10 * step, width + 10 * step, 2 * step):
            write(pen, (x, y), word, "DejaVuSans-Bold", 30 if step < 500 else 110, 255, "mm")
    mark = (
        mark.rotate(25).crop((width // 2, height // 2, width // 2 + width, height // 2 + height)).point([v * 45 // 100 for v in range(256)])
    )
    for _ in range(count):
        picture = draw.photo(chance, width, height)
        picture.paste(WHITE, mask=mark)
        yield picture


def captioned(chance, count):
    """A meme's bar with the same words above different photos."""
    width, height, lines = chance.whole(440, 600), chance.whole(320, 440), list(draw.broken(chance.words(14), 420, "DejaVuSans-Bold", 26))
    bar = 24 + 36 * len(lines)
    blank, pen = draw.new(width, height + bar)
    draw.block(pen, (width / 2, 12), [" ".join(line) for line in lines], "DejaVuSans-Bold", 26, anchor="ma")
    for _ in range(count):
        picture = blank.copy()
        picture.paste(draw.photo(chance, width, height), (0, bar))
        yield picture


def phone_frames(chance, count):
    """A phone's gallery: the bars of the phone above and below different photos."""
    width, height = chance.whole(360, 420), chance.whole(740, 840)
    ground, ink = chance.one_of([((0, 0, 0), WHITE), (WHITE, BLACK)])
    blank, pen = draw.new(width, height, ground)
    write(pen, (20, 12), f"{chance.whole(7, 22)}:{chance.whole(10, 59)}", "DejaVuSans-Bold", 14, ink)
    pen.rounded_rectangle([width - 46, 14, width - 18, 26], 3, outline=ink, width=2)
    write(pen, (width / 2, 60), chance.title(2), "DejaVuSans", 16, ink, "mm")
    for i, sign in enumerate("♡⇧✎☰"):
        write(pen, ((i + 0.5) * width / 4, height - 50), sign, "DejaVuSans", 26, ink, "mm")
    pen.rounded_rectangle([width / 3, height - 16, 2 * width / 3, height - 11], 2, fill=ink)
    high = round(width * chance.one_of([1.0, 1.33, 0.75]))
    for _ in range(count):
        picture = blank.copy()
        picture.paste(draw.photo(chance, width, high), (0, 84 + (height - 184 - high) // 2))
        yield picture


def app_frames(chance, count):
    """An app's post: name, signs and likes around different photos; the words vary, too."""
    width, high = chance.whole(400, 480), chance.whole(380, 460)
    blank, pen = draw.new(width, high + 220)
    write(pen, (16, 10), chance.title(1), "DejaVuSerif-BoldItalic", 24)
    pen.line([0, 50, width, 50], fill=(220, 220, 224))
    for i, sign in enumerate("♥✉➤"):
        write(pen, (28 + 44 * i, high + 126), sign, "DejaVuSans", 26, BLACK, "mm")
    for i in range(5):
        pen.ellipse([(i + 0.5) * width / 5 - 9, high + 190, (i + 0.5) * width / 5 + 9, high + 208], outline=GRAY, width=3)
    for _ in range(count):
        picture, pen = draw.again(blank)
        pen.ellipse([14, 58, 50, 94], fill=chance.strong())
        write(pen, (60, 66), chance.name().replace(" ", "_").lower(), "DejaVuSans-Bold", 14)
        picture.paste(draw.photo(chance, width, high), (0, 102))
        write(pen, (16, high + 146), f"{chance.whole(2, 9000)} likes", "DejaVuSans-Bold", 13)
        write(pen, (16, high + 166), " ".join(chance.words(6)), "DejaVuSans", 13)
        yield picture
