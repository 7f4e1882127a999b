"""Families of screenshots. Each function (chance, count) draws one window and yields pictures of other content."""

import numpy
from PIL import Image

import draw
from draw import BLACK, GRAY, WHITE, block, write

MONO = "DejaVuSansMono"


def window(chance, width, height, ground, title=""):
    """A window with its bar. The pen for its contents begins at y = 32."""
    picture, pen = draw.new(width, height, ground)
    pen.rectangle([0, 0, width, 31], fill=chance.one_of([(60, 62, 70), (222, 222, 226), (40, 44, 60)]))
    for i, colour in enumerate(((236, 96, 88), (244, 190, 64), (98, 196, 84))):
        pen.ellipse([12 + 20 * i, 10, 24 + 20 * i, 22], fill=colour)
    write(pen, (width / 2, 16), title, "DejaVuSans", 12, GRAY, "mm")
    return picture, pen


def code_line(chance, depth):
    """Words of made-up code with their roles."""
    a, b, c = chance.words_of(3, 8, 3)
    lines = [
        [("if", 1), (f" {a}", 0), (" > ", 0), (chance.digits(2), 2), (":", 0)],
        [(a, 0), (" = ", 0), (b, 3), (f"({c}, ", 0), (f'"{a}"', 4), (")", 0)],
        [("return", 1), (f" {a}.", 0), (b, 3), ("()", 0)],
        [("def ", 1), (a, 3), (f"({b}, {c}):", 0)],
        [(f"# {' '.join(chance.words(5))}", 5)],
        [("for ", 1), (a, 0), (" in ", 1), (b, 3), (f"({chance.digits(3)}):", 0)],
        [("assert ", 1), (f"{a}[{chance.digits(1)}] == ", 0), (chance.digits(4), 2)],
        [],
    ]
    return [("    " * depth, 0), *chance.one_of(lines)]


# Background, side bar, and text colours by a word's role.
EDITOR_COLOURS = [
    ((30, 31, 38), (38, 40, 48), [(220, 220, 226), (200, 120, 220), (210, 150, 100), (100, 170, 240), (150, 200, 120), (110, 116, 124)]),
    ((40, 44, 52), (33, 37, 43), [(171, 178, 191), (198, 120, 221), (209, 154, 102), (97, 175, 239), (152, 195, 121), (92, 99, 112)]),
    (WHITE, (242, 242, 246), [(30, 30, 34), (130, 20, 150), (20, 110, 70), (20, 60, 180), (170, 40, 30), (130, 136, 140)]),
]


def editors(chance, count):
    width, height, size = chance.whole(700, 860), chance.whole(480, 620), chance.whole(12, 15)
    ground, side, inks = chance.one_of(EDITOR_COLOURS)
    blank, pen = window(chance, width, height, ground, f"{chance.words_of(4, 8, 1)[0]} - editor")
    pen.rectangle([0, 32, 160, height], fill=side)
    block(pen, (16, 48), [f"{word}.py" for word in chance.words_of(4, 9, 16)], "DejaVuSans", 12, inks[5], 1.7)
    pen.rectangle([0, height - 22, width, height], fill=chance.strong())
    rows = (height - 76) // round(1.4 * size)
    for i in range(rows):
        write(pen, (190, 46 + i * round(1.4 * size)), str(i + 1), MONO, size, inks[5], "ra")
    for _ in range(count):
        picture, pen = draw.again(blank)
        depth = 0
        for row in range(rows):
            x, depth = 204, min(3, max(0, depth + chance.whole(-1, 1)))
            for text, role in code_line(chance, depth):
                write(pen, (x, 46 + row * round(1.4 * size)), text, MONO, size, inks[role])
                x += draw.width_of(text, MONO, size)
        yield picture


def terminals(chance, count):
    width, height, size = chance.whole(640, 800), chance.whole(420, 560), chance.whole(12, 15)
    ground, ink, accent = chance.one_of(
        [
            ((16, 16, 20), (220, 220, 220), (110, 220, 110)),
            ((0, 43, 54), (147, 161, 161), (133, 153, 0)),
            ((48, 10, 36), (238, 238, 236), (138, 226, 52)),
        ]
    )
    prompt = f"{chance.words_of(3, 6, 1)[0]}@{chance.words_of(4, 7, 1)[0]}"
    blank, _ = window(chance, width, height, ground, prompt)
    for _ in range(count):
        picture, pen = draw.again(blank)
        for row in range((height - 50) // round(1.3 * size)):
            y = 42 + row * round(1.3 * size)
            if chance.yes(0.2):
                write(pen, (12, y), f"{prompt}:~$", MONO, size, accent)
                write(pen, (12 + draw.width_of(f"{prompt}:~$ ", MONO, size), y), " ".join(chance.words(3)), MONO, size, ink)
            else:
                line = chance.one_of(
                    [
                        lambda: f"-rw-r--r-- 1 {chance.digits(6)} {chance.date()} {chance.words_of(4, 9, 1)[0]}.dat",
                        lambda: f"[{chance.digits(2)}.{chance.digits(4)}] {' '.join(chance.words(6))}",
                    ]
                )()
                write(pen, (12, y), line, MONO, size, ink)
        yield picture


def chats(chance, count):
    width, height, mine = chance.whole(380, 440), chance.whole(700, 840), chance.one_of([(220, 248, 198), (0, 132, 255), (130, 90, 220)])
    ground, ink = chance.one_of([(236, 229, 221), WHITE, (240, 242, 245)]), WHITE if sum(mine) < 500 else BLACK
    bar = chance.tone(30, 110)
    for _ in range(count):
        picture, pen = draw.new(width, height, ground)
        pen.rectangle([0, 0, width, 70], fill=bar)
        pen.ellipse([16, 16, 54, 54], fill=chance.strong())
        write(pen, (68, 24), chance.name(), "DejaVuSans-Bold", 16, WHITE)
        y = 86
        while y < height - 130:
            own, lines = chance.yes(), list(draw.broken(chance.words(chance.whole(2, 16)), width * 0.6, "DejaVuSans", 14))
            wide = max(draw.width_of(" ".join(line), "DejaVuSans", 14) for line in lines) + 70
            left, high = (width - wide - 12 if own else 12), 16 + 20 * len(lines)
            pen.rounded_rectangle(
                [left, y, left + wide, y + high], 10, fill=mine if own else ((255, 255, 255) if ground != WHITE else (234, 234, 238))
            )
            block(pen, (left + 12, y + 7), [" ".join(line) for line in lines], "DejaVuSans", 14, ink if own else BLACK)
            write(pen, (left + wide - 8, y + high - 6), f"{chance.whole(0, 23):02}:{chance.whole(0, 59):02}", "DejaVuSans", 9, GRAY, "rs")
            y += high + 8
        pen.rounded_rectangle([12, height - 54, width - 70, height - 14], 20, fill=WHITE, outline=(210, 210, 214))
        pen.ellipse([width - 56, height - 54, width - 16, height - 14], fill=bar)
        yield picture


def goods(chance, width, height):
    """A small synthetic picture of something for sale."""
    picture, pen = draw.new(2 * width, 2 * height, chance.tone(236, 252))
    draw.emblem(pen, (0.2 * width, 0.2 * height, 1.8 * width, 1.8 * height), chance)
    return draw.halved(picture)


def shops(chance, count):
    width, height, brand, across = chance.whole(720, 860), chance.whole(560, 700), chance.strong(), chance.whole(3, 4)
    blank, pen = draw.new(width, height)
    pen.rectangle([0, 0, width, 56], fill=brand)
    write(pen, (20, 14), chance.title(1).lower(), "DejaVuSans-Bold", 26, WHITE)
    pen.rounded_rectangle([190, 12, width - 150, 44], 6, fill=WHITE)
    write(pen, (width - 20, 20), "Basket (2)", "DejaVuSans", 14, WHITE, "ra")
    write(pen, (20, 70), " > ".join(chance.words_of(4, 9, 3)), "DejaVuSans", 11, GRAY)
    wide = (width - 40) // across
    for _ in range(count):
        page, pen = draw.again(blank)
        for i in range(across * ((height - 90) // 230)):
            x, y = 20 + i % across * wide, 96 + i // across * 240
            page.paste(goods(chance, wide - 20, 140), (x, y))
            write(pen, (x, y + 148), chance.title(2), "DejaVuSans", 13, (20, 70, 150))
            write(pen, (x, y + 168), "★" * chance.whole(2, 5), "DejaVuSans", 13, (230, 150, 20))
            write(pen, (x, y + 188), f"€ {chance.amount()}", "DejaVuSans-Bold", 16)
        yield page


def street_maps(chance, count):
    """The window of a map, showing other places."""
    width, height = chance.whole(640, 800), chance.whole(480, 620)
    land, road, trunk = chance.one_of([((242, 239, 233), WHITE, (250, 210, 130)), ((232, 236, 230), (250, 250, 246), (240, 150, 120))])
    for _ in range(count):
        picture, pen = draw.new(2 * width, 2 * height, land)
        for colour, number in (((200, 224, 180), 5), ((170, 205, 228), 2)):
            for _ in range(number):
                pen.polygon(
                    draw.blob(chance, (chance.whole(0, 2 * width), chance.whole(0, 2 * height)), chance.whole(80, 320)), fill=colour
                )
        turn = chance.between(0, 1.5)
        for colour, number, wide in ((road, 26, 10), (road, 10, 18), (trunk, 4, 26)):
            for _ in range(number):
                angle = turn + chance.one_of([0, numpy.pi / 2]) + chance.rng.normal(0, 0.12)
                x, y, bend = chance.whole(0, 2 * width), chance.whole(0, 2 * height), chance.rng.normal(0, 60, (5, 2))
                line = draw.smooth(numpy.linspace(-1600, 1600, 5)[:, None] * (numpy.cos(angle), numpy.sin(angle)) + (x, y) + bend)
                pen.line([tuple(point) for point in line], fill=tuple(v - 30 for v in colour), width=wide + 4, joint="curve")
                pen.line([tuple(point) for point in line], fill=colour, width=wide, joint="curve")
        for word in chance.words_of(4, 9, 14):
            write(
                pen,
                (chance.whole(40, 2 * width - 160), chance.whole(140, 2 * height - 40)),
                word.capitalize(),
                "DejaVuSans",
                24,
                (90, 90, 100),
            )
        pen.rounded_rectangle([24, 24, 640, 104], 12, fill=WHITE)
        write(pen, (50, 44), chance.title(2), "DejaVuSans", 32, GRAY)
        for i, sign in enumerate("+-"):
            pen.rectangle([2 * width - 90, 2 * height - 190 + 80 * i, 2 * width - 20, 2 * height - 120 + 80 * i], fill=WHITE, outline=GRAY)
            write(pen, (2 * width - 55, 2 * height - 155 + 80 * i), sign, "DejaVuSans", 40, anchor="mm")
        yield draw.halved(picture)


def spreadsheets(chance, count):
    width, height, columns, rows = 800, chance.whole(480, 600), 9, 24
    blank, pen = window(chance, width, height, WHITE, f"{chance.words_of(4, 8, 1)[0]}.ods")
    pen.rectangle([0, 32, width, 84], fill=(236, 238, 240))
    for i in range(18):
        pen.rectangle([10 + 30 * i, 40, 30 + 30 * i, 58], fill=chance.tone(120, 210))
    step = (height - 104) / rows
    draw.grid(pen, (0, 84, width, height - 20), [0.05 + i * 0.95 / columns for i in range(columns)], rows, (208, 210, 214))
    for i in range(columns):
        write(pen, (40 + (i + 0.5) * (width - 40) / columns, 84 + step / 2), "ABCDEFGHI"[i], "DejaVuSans", 10, GRAY, "mm")
    for i in range(1, rows):
        write(pen, (20, 84 + (i + 0.5) * step), str(i), "DejaVuSans", 10, GRAY, "mm")
    for _ in range(count):
        picture, pen = draw.again(blank)
        for row in range(1, chance.whole(14, rows - 1)):
            y = 84 + (row + 0.5) * step
            write(pen, (46, y), chance.words_of(3, 9, 1)[0], "DejaVuSans", 10, anchor="lm")
            for i in range(1, chance.whole(5, columns)):
                write(pen, (36 + (i + 1) * (width - 40) / columns, y), chance.amount(2000), "DejaVuSans", 10, anchor="rm")
        yield picture


def mailboxes(chance, count):
    width, height, brand = 800, chance.whole(500, 620), chance.strong()
    blank, pen = window(chance, width, height, WHITE)
    pen.rectangle([0, 32, 170, height], fill=(244, 245, 248))
    pen.rounded_rectangle([20, 48, 150, 84], 8, fill=brand)
    write(pen, (85, 66), "Compose", "DejaVuSans-Bold", 13, WHITE, "mm")
    block(pen, (24, 104), ["Inbox", "Starred", "Sent", "Drafts", "Archive", *chance.words_of(4, 9, 4)], "DejaVuSans", 13, leading=2)
    for _ in range(count):
        picture, pen = draw.again(blank)
        for y in range(44, height - 30, 34):
            new = chance.yes(0.3)
            name = "DejaVuSans-Bold" if new else "DejaVuSans"
            write(pen, (190, y), chance.name(), name, 13)
            write(pen, (340, y), " ".join(chance.words(9))[:52], name, 13, BLACK if new else GRAY)
            write(pen, (width - 14, y), chance.date()[:6], "DejaVuSans", 11, GRAY, "ra")
            pen.line([180, y + 24, width, y + 24], fill=(230, 230, 234))
        yield picture


def calculators(chance, count):
    """The window of a calculator, with other numbers."""
    width, height, dark = chance.whole(320, 380), chance.whole(440, 520), chance.yes()
    ground, key, ink = ((32, 34, 40), (56, 60, 70), WHITE) if dark else ((240, 240, 244), WHITE, BLACK)
    blank, pen = window(chance, width, height, ground, "Calculator")
    for i, sign in enumerate("C()/789*456-123+0.%="):
        x, y = 12 + i % 4 * (width - 24) / 4, 160 + i // 4 * (height - 170) / 5
        pen.rounded_rectangle(
            [x + 3, y + 3, x + (width - 24) / 4 - 3, y + (height - 170) / 5 - 3], 8, fill=(240, 140, 40) if sign == "=" else key
        )
        write(pen, (x + (width - 24) / 8, y + (height - 170) / 10), sign, "DejaVuSans", 20, ink, "mm")
    for a, b in draw.distinct(lambda: (chance.whole(100, 99999), chance.whole(2, 999)), count):
        picture, pen = draw.again(blank)
        write(pen, (width - 20, 64), f"{a} × {b}", "DejaVuSans", 18, GRAY, "ra")
        write(pen, (width - 20, 96), f"{a * b:,}", "DejaVuSans", 36, ink, "ra")
        yield picture


def slides(chance, count):
    """Slides with the same template: title and points, some with a picture."""
    width, height, brand, name = (
        800,
        chance.one_of([450, 600]),
        chance.strong(),
        chance.one_of(["DejaVuSans", "DejaVuSansCondensed", "DejaVuSerif"]),
    )
    blank, pen = draw.new(width, height)
    pen.rectangle([0, 0, width, 80] if chance.yes() else [0, 0, 40, height], fill=brand)
    lettering = WHITE if blank.getpixel((400, 20)) == brand else brand
    draw.emblem(pen, (width - 80, height - 70, width - 20, height - 10), chance, [brand, GRAY])
    write(pen, (60, height - 30), f"{chance.name()} · {chance.title(2)}", name, 12, GRAY)
    for i in range(count):
        slide, pen = draw.again(blank)
        write(pen, (60, 22), chance.title(chance.whole(2, 4)), draw.bold(name), 32, lettering)
        write(pen, (width - 90, height - 30), str(i + 2), name, 12, GRAY, "ra")
        y = 120
        for _ in range(chance.whole(3, 5)):
            pen.ellipse([62, y + 6, 72, y + 16], fill=brand)
            y = draw.paragraph(pen, (86, y), 620, chance.words(chance.whole(3, 14)), name, 20, justified=False) + 14
        yield slide


def home_screens(chance, count):
    """A phone's home screen: rows of app tiles, with other apps."""
    width, height = chance.whole(360, 420), chance.whole(720, 820)
    wall = draw.textured(chance, (width, height), 30, 200, 2, 3)
    cell, rows = width // 4, (height - 140) // (width // 4 + 12)
    for _ in range(count):
        picture, pen = draw.again(wall)
        write(pen, (20, 10), f"{chance.whole(0, 23):02}:{chance.whole(0, 59):02}", "DejaVuSans-Bold", 14, WHITE)
        for i in range(4 * rows):
            x, y = i % 4 * cell + 14, 50 + i // 4 * (cell + 12)
            picture.paste(app_tile(chance, cell - 28), (x, y), rounded(cell - 28))
            write(pen, (x + cell / 2 - 14, y + cell - 20), chance.words_of(4, 8, 1)[0].capitalize(), "DejaVuSans", 11, WHITE, "mm")
        yield picture


def rounded(side):
    mask = Image.new("L", (2 * side, 2 * side))
    draw.ImageDraw.Draw(mask).rounded_rectangle([0, 0, 2 * side - 1, 2 * side - 1], side // 2, fill=255)
    return mask.resize((side, side), Image.Resampling.BOX)


def app_tile(chance, side, colour=None, fill=None):
    """A sign on a background."""
    picture, pen = draw.new(2 * side, 2 * side, colour or chance.strong())
    draw.emblem(pen, (0.4 * side, 0.4 * side, 1.6 * side, 1.6 * side), chance, [fill or WHITE, chance.tone(200, 250)])
    return draw.halved(picture)
