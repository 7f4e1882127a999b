"""Families of papers. Each function (chance, count) draws one template and yields pictures of other content."""

import calendar

import numpy
from PIL import Image

import draw
from draw import BLACK, GRAY, WHITE, block, column, grid, write


def journal_pages(chance, count):
    width, height = chance.whole(480, 640), chance.whole(680, 860)
    name, size, margin = chance.one_of(draw.TEXT_FONTS), chance.whole(10, 13), chance.whole(40, 64)
    journal, first = f"{chance.title(3)} · Vol. {chance.whole(3, 80)}", chance.whole(10, 300)
    for i in range(count):
        page, pen = draw.new(width, height)
        write(pen, (margin, 24), journal, name, 10, GRAY)
        pen.line([margin, 40, width - margin, 40], fill=GRAY)
        write(pen, (width / 2, height - 22), str(first + i), name, 10, GRAY, "mm")
        column(pen, (margin, 54, width - margin, height - 40), chance, name, size, heads=0.15)
        yield page


def two_column_papers(chance, count):
    width, height = chance.whole(560, 680), chance.whole(760, 900)
    name, conference = chance.one_of(draw.TEXT_FONTS), f"Proceedings of {chance.title(2)} {chance.whole(1998, 2024)}"
    first, middle = chance.whole(1, 400), width // 2
    for i in range(count):
        page, pen = draw.new(width, height)
        write(pen, (middle, 20), conference, name, 9, GRAY, "mm")
        write(pen, (middle, height - 18), str(first + i), name, 9, GRAY, "mm")
        write(pen, (middle, 56), chance.title(3), draw.bold(name), 18, anchor="mm")
        write(pen, (middle, 84), f"{chance.name()}, {chance.name()}", name, 11, anchor="mm")
        for left in (36, middle + 10):
            column(pen, (left, 110, left + middle - 46, height - 34), chance, name, 9)
        yield page


def letter_pages(chance, count):
    """Scanned letters on the paper of one company."""
    width, height = 600, chance.whole(780, 850)
    name, brand, firm = chance.one_of(draw.TEXT_FONTS), chance.strong(), chance.title(2)
    head, pen = draw.new(width, height, (250, 249, 245))
    draw.emblem(pen, (60, 36, 110, 86), chance)
    write(pen, (124, 46), firm, draw.bold(name), 22, brand)
    block(pen, (width - 60, 40), [*chance.address(), chance.phone()], name, 9, GRAY, anchor="ra")
    pen.line([60, height - 60, width - 60, height - 60], fill=brand, width=2)
    write(pen, (width / 2, height - 44), f"{firm} · {chance.phone()} · IBAN {chance.digits(16)}", name, 9, GRAY, "mm")
    for _ in range(count):
        page, pen = draw.again(head)
        block(pen, (60, 130), [chance.name(), *chance.address()], name, 12)
        write(pen, (width - 60, 200), chance.date(), name, 12, anchor="ra")
        y = 250
        for _ in range(chance.whole(2, 4)):
            y = draw.paragraph(pen, (60, y), width - 120, chance.words(chance.whole(20, 60)), name, 12, justified=False) + 10
        block(pen, (60, y + 20), ["Yours sincerely,", "", chance.name()], name, 12)
        yield draw.scanned(page, chance)


def invoices(chance, count):
    width, height = chance.whole(560, 640), chance.whole(760, 860)
    name, brand, edges = chance.one_of(draw.TEXT_FONTS), chance.strong(), [0, 0.12, 0.58, 0.7, 0.84, 1]
    blank, pen = draw.new(width, height)
    draw.emblem(pen, (40, 30, 100, 90), chance)
    write(pen, (114, 44), chance.title(2), draw.bold(name), 20, brand)
    block(pen, (width - 40, 34), [*chance.address(), chance.phone()], name, 10, GRAY, anchor="ra")
    write(pen, (40, 200), "INVOICE", draw.bold(name), 24, brand)
    table = (40, 270, width - 40, 550)
    pen.rectangle([40, 270, width - 40, 290], fill=brand)
    grid(pen, table, edges, 14, (205, 205, 210))
    places = [40 + share * (width - 80) for share in edges]
    for x, text in zip(places, ("Item", "Description", "Qty", "Price", "Total"), strict=False):
        write(pen, (x + 5, 274), text, draw.bold(name), 11, WHITE)
    for i, text in enumerate(("Subtotal", "VAT 19 %", "Total")):
        write(pen, (places[3] - 40, 566 + 20 * i), text, name, 12)
    draw.paragraph(pen, (40, height - 70), width - 80, chance.words(40), name, 9, GRAY)
    for number in draw.distinct(lambda: chance.digits(6), count):
        page, pen = draw.again(blank)
        block(pen, (40, 120), [chance.name(), *chance.address()], name, 12)
        block(pen, (width - 40, 196), [f"No. {number}", chance.date()], name, 12, anchor="ra")
        total = 0
        for row in range(chance.whole(2, 11)):
            quantity, price = chance.whole(1, 20), chance.between(2, 180)
            total += quantity * price
            cells = (chance.digits(4), " ".join(chance.words(3)), str(quantity), f"{price:.2f}", f"{quantity * price:,.2f}")
            for x, text in zip(places, cells, strict=False):
                write(pen, (x + 5, 294 + 20 * row), text, name, 11)
        for i, share in enumerate((1, 0.19, 1.19)):
            write(pen, (width - 46, 566 + 20 * i), f"{share * total:,.2f}", name, 12, anchor="ra")
        yield page


# Name of a field, and its entries.
FIELDS = {
    "Name": lambda chance: chance.name(),
    "Former name": lambda chance: chance.name(),
    "Date of birth": lambda chance: chance.date(),
    "Date of issue": lambda chance: chance.date(),
    "Expires": lambda chance: chance.date(),
    "Street": lambda chance: chance.address()[0],
    "Town": lambda chance: chance.address()[1],
    "Place of birth": lambda chance: chance.title(1),
    "Phone": lambda chance: chance.digits(10),
    "Account": lambda chance: chance.digits(9),
    "Number": lambda chance: chance.digits(8),
    "Occupation": lambda chance: chance.title(1),
    "Employer": lambda chance: chance.title(2),
    "Remarks": lambda chance: " ".join(chance.words(3)),
}


def form(chance, width, height):
    """An empty form, with the places of its fields and of its boxes to tick."""
    name, brand = chance.one_of(draw.TEXT_FONTS), chance.tone(20, 110)
    blank, pen = draw.new(width, height, chance.one_of([WHITE, (252, 250, 240), (240, 248, 242)]))
    write(pen, (40, 30), f"Form {chance.letters(2)}-{chance.whole(10, 99)}: {chance.title(3)}", draw.bold(name), 16, brand)
    y = draw.paragraph(pen, (40, 60), width - 80, chance.words(45), name, 9, GRAY) + 10
    fields, ticks = [], []
    labels = chance.some(list(FIELDS), len(FIELDS))
    while len(labels) > 2:
        edges = [40, width - 40] if chance.yes(0.4) else [40, width // 2, width - 40]
        for left, right in zip(edges, edges[1:], strict=False):
            pen.rectangle([left, y + 12, right - 8, y + 40], outline=brand)
            label = labels.pop()
            write(pen, (left, y), label, name, 9, brand)
            fields.append((label, left + 6, y + 14))
        y += 50
    for _ in range(3):
        for x in range(40, width - 100, 130):
            pen.rectangle([x, y, x + 12, y + 12], outline=brand)
            write(pen, (x + 18, y), " ".join(chance.words(2)), name, 9, brand)
            ticks.append((x, y))
        y += 22
    return blank, fields, ticks


def machine_forms(chance, count):
    """Filled by machine, with letters of a typewriter."""
    blank, fields, ticks = form(chance, chance.whole(560, 640), chance.whole(740, 840))
    for _ in range(count):
        page, pen = draw.again(blank)
        for label, x, y in fields:
            write(pen, (x, y + 4), FIELDS[label](chance), "DejaVuSansMono", 14)
        for x, y in chance.some(ticks, len(ticks) // 3):
            write(pen, (x + 6, y + 6), "x", "DejaVuSansMono-Bold", 14, anchor="mm")
        yield page


def hand_forms(chance, count):
    """Filled by hand by different people, and scanned."""
    blank, fields, ticks = form(chance, chance.whole(560, 640), chance.whole(740, 840))
    for _ in range(count):
        page, (mask, ink) = blank.copy(), draw.ink_for(blank)
        slant, size = chance.between(0, 0.5), chance.between(7, 10)
        for label, x, y in fields:
            at = x + chance.between(0, 14)
            for word in FIELDS[label](chance).split()[:3]:
                at = draw.scrawl(ink, (at, y + 19), word, size, slant, chance)
        for x, y in chance.some(ticks, len(ticks) // 3):
            ink.line([2 * x, 2 * y + 4, 2 * x + 10, 2 * y + 22, 2 * x + 30, 2 * y - 8], fill=255, width=4)
        yield draw.scanned(draw.inked(page, mask, chance.one_of([(30, 40, 120), (25, 25, 30)])), chance)


def answer_sheets(chance, count):
    """Answer sheets of a test with circles to fill, scanned."""
    columns, rows, choices = chance.whole(2, 3), chance.whole(18, 25), chance.whole(4, 5)
    width, height, colour = 90 + columns * 190, 150 + rows * 26, chance.strong()
    blank, pen = draw.new(width, height)
    write(pen, (40, 30), chance.title(3), "DejaVuSans-Bold", 18, colour)
    write(pen, (40, 70), "Name", "DejaVuSans", 11, colour)
    pen.rectangle([90, 60, width - 60, 92], outline=colour)
    places = [[[(90 + 190 * c + 28 * k, 122 + 26 * r) for k in range(choices)] for r in range(rows)] for c in range(columns)]
    for c, questions in enumerate(places):
        for r, circles in enumerate(questions):
            write(pen, (66 + 190 * c, circles[0][1]), str(c * rows + r + 1), "DejaVuSans", 10, colour, "rm")
            for k, (x, y) in enumerate(circles):
                pen.ellipse([x - 9, y - 9, x + 9, y + 9], outline=colour)
                write(pen, (x, y), "ABCDE"[k], "DejaVuSans", 9, colour, "mm")
    for _ in range(count):
        page, (mask, ink) = blank.copy(), draw.ink_for(blank)
        at = 100
        for word in chance.name().split():
            at = draw.scrawl(ink, (at, 84), word, 9, 0.2, chance)
        for questions in places:
            for circles in questions:
                x, y = chance.one_of(circles)
                ink.polygon(draw.blob(chance, (2 * x, 2 * y), 17), fill=255)
        yield draw.scanned(draw.inked(page, mask, (60, 60, 70)), chance)


def receipts(chance, count):
    width, height, size = chance.whole(300, 360), chance.whole(600, 760), chance.whole(12, 14)
    head = [chance.title(2).upper(), *chance.address(), f"TAX NO {chance.digits(9)}", ""]
    goods = [" ".join(chance.words_of(3, 9, 2)).upper()[:16] for _ in range(40)]
    for _ in range(count):
        paper, pen = draw.new(width, height, (244, 242, 236))
        y = block(pen, (width / 2, 24), head, "DejaVuSansMono", size, anchor="ma")
        total = 0
        for thing in chance.some(goods, chance.whole(6, 20)):
            price = chance.between(0.5, 30)
            total += price
            write(pen, (24, y), thing, "DejaVuSansMono", size)
            write(pen, (width - 24, y), f"{price:.2f}", "DejaVuSansMono", size, anchor="ra")
            y += round(1.4 * size)
        pen.line([24, y + 6, width - 24, y + 6], fill=BLACK)
        write(pen, (24, y + 14), "TOTAL", "DejaVuSansMono-Bold", size + 4)
        write(pen, (width - 24, y + 14), f"{total:.2f}", "DejaVuSansMono-Bold", size + 4, anchor="ra")
        block(
            pen,
            (width / 2, y + 48),
            [f"{chance.date()} {chance.whole(8, 19):02}:{chance.whole(0, 59):02}", "THANK YOU"],
            "DejaVuSansMono",
            size,
            anchor="ma",
        )
        yield draw.scanned(paper, chance, noise=6, turn=0.8)


def business_cards(chance, count):
    width, height = chance.one_of([(510, 300), (600, 340), (480, 310)])
    name, brand, left = chance.one_of(draw.TEXT_FONTS), chance.strong(), chance.whole(150, 190)
    firm, blank = chance.title(2), draw.new(width, height)
    pen = blank[1]
    pen.rectangle([0, height - 26, width, height] if chance.yes() else [0, 0, 18, height], fill=brand)
    draw.emblem(pen, (40, 60, 130, 150), chance, [brand, chance.strong()])
    write(pen, (85, 166), firm, draw.bold(name), 12, brand, "ma")
    block(pen, (left, height - 84), [*chance.address(), f"www.{firm.split()[0].lower()}.example"], name, 12, GRAY)
    for who in draw.distinct(chance.name, count):
        card, pen = draw.again(blank[0])
        write(pen, (left, 54), who, draw.bold(name), 22)
        write(pen, (left, 86), chance.title(2), name, 14, GRAY)
        block(pen, (left, 124), [chance.phone(), f"{who.split()[1].lower()}@{firm.split()[0].lower()}.example"], name, 14)
        yield card


def identity_cards(chance, count):
    """With a face. The names of fields and the background belong to the template."""
    width, height, brand = 600, 380, chance.tone(90, 170)
    ground = draw.tinted(
        0.5 + 0.5 * numpy.sin(draw.clouds(chance, width, height, 3, 2) * 60), [tuple(min(255, v + 70) for v in brand), (245, 245, 245)]
    )
    blank, pen = draw.again(ground)
    pen.rectangle([0, 0, width, 54], fill=brand)
    write(pen, (24, 14), f"{chance.title(1).upper()} IDENTITY CARD", "DejaVuSans-Bold", 20, WHITE)
    labels = ["Name", *chance.some(["Date of birth", "Number", "Expires", "Place of birth", "Street", "Date of issue"], 4)]
    for i, label in enumerate(labels):
        write(pen, (230, 72 + 44 * i), label, "DejaVuSans", 9, GRAY)
    for who in draw.people(chance, count):
        card, pen = draw.again(blank)
        portrait, pencil = draw.new(360, 440, (215, 220, 226))
        draw.face(pencil, (0, 0, 360, 440), who)
        card.paste(draw.halved(portrait), (28, 76))
        for i, label in enumerate(labels):
            write(pen, (230, 84 + 44 * i), FIELDS[label](chance).upper()[:20], "DejaVuSans", 15)
        block(
            pen,
            (28, 318),
            [f"ID<{chance.letters(12)}<<{chance.digits(10)}<<<", f"{chance.digits(9)}{chance.letters(6)}<<<<<<<<{chance.digits(5)}"],
            "DejaVuSansMono",
            18,
        )
        yield card


def name_badges(chance, count):
    width, height, brand = chance.whole(360, 420), chance.whole(480, 560), chance.strong()
    blank, pen = draw.new(width, height)
    pen.rectangle([0, 0, width, 130], fill=brand)
    draw.emblem(pen, (20, 24, 96, 100), chance, [WHITE, chance.tone(180, 240)])
    block(pen, (112, 40), [chance.title(2), f"{chance.title(1)} {chance.whole(2010, 2025)}"], "DejaVuSans-Bold", 18, WHITE)
    role = chance.strong()
    for who in draw.distinct(chance.name, count):
        badge, pen = draw.again(blank)
        for i, word in enumerate(who.split()):
            write(pen, (width / 2, 200 + 50 * i), word, "DejaVuSans-Bold", 38 - 4 * i, anchor="mm")
        write(pen, (width / 2, 310), chance.title(2), "DejaVuSans", 18, GRAY, "mm")
        pen.rectangle([0, height - 60, width, height], fill=role)
        write(pen, (width / 2, height - 30), chance.one_of(["SPEAKER", "VISITOR", "STAFF", "PRESS"]), "DejaVuSans-Bold", 24, WHITE, "mm")
        yield badge


def tickets(chance, count):
    width, height, ground, name = 720, 280, chance.tone(190, 250), chance.one_of(draw.TEXT_FONTS)
    blank, pen = draw.new(width, height, ground)
    draw.emblem(pen, (30, 40, 190, 200), chance)
    write(pen, (220, 40), chance.title(2), draw.bold(name), 30)
    write(pen, (220, 86), f"{chance.date()}  {chance.whole(17, 21)}:30  {chance.title(1)} Hall", name, 16)
    for y in range(6, height, 14):
        pen.line([550, y, 550, y + 7], fill=BLACK, width=2)
    for i, label in enumerate(("BLOCK", "ROW", "SEAT")):
        write(pen, (220 + 100 * i, 140), label, name, 12, GRAY)
    for code in draw.distinct(lambda: chance.digits(10), count):
        ticket, pen = draw.again(blank)
        for i, text in enumerate((chance.letters(1), str(chance.whole(1, 40)), str(chance.whole(1, 60)))):
            write(pen, (220 + 100 * i, 160), text, draw.bold(name), 30)
        write(pen, (220, 216), chance.name(), name, 18)
        side, pencil = draw.new(240, 120, ground)
        draw.bar_code(pencil, (20, 10, 220, 110), chance, code)
        ticket.paste(side.rotate(90, expand=True), (575, 20))
        yield ticket


def shipping_labels(chance, count):
    width, height, name = 440, chance.whole(600, 680), chance.one_of(["DejaVuSans", "DejaVuSansCondensed"])
    blank, pen = draw.new(width, height)
    pen.rectangle([6, 6, width - 7, height - 7], outline=BLACK, width=3)
    for y in (110, 290, 350, height - 150):
        pen.line([6, y, width - 7, y], fill=BLACK, width=3)
    draw.emblem(pen, (24, 24, 94, 94), chance, [BLACK, GRAY])
    write(pen, (112, 40), chance.title(2).upper(), draw.bold(name), 26)
    block(pen, (24, 122), ["FROM:", chance.title(2), *chance.address()], name, 11)
    for number in draw.distinct(lambda: chance.digits(12), count):
        label, pen = draw.again(blank)
        block(pen, (60, 196), [chance.name(), *chance.address()], draw.bold(name), 19)
        write(pen, (24, 304), f"{chance.letters(2)} {chance.digits(3)}", draw.bold(name), 32)
        write(pen, (width - 24, 312), f"{chance.between(0.2, 30):.1f} kg", name, 20, anchor="ra")
        draw.bar_code(pen, (76, height - 136, 420, height - 20), chance, number)
        label.paste(draw.qr_code(chance, 3, 3), (width // 2 - 52, 360 + (height - 620) // 2))
        yield label


def certificates(chance, count):
    width, height, brand, name = 760, 540, chance.strong(), chance.one_of(["DejaVuSerif", "DejaVuSerifCondensed"])
    blank, pen = draw.new(width, height, (252, 248, 236))
    for i in range(0, 24, 6):
        pen.rectangle([16 + i, 16 + i, width - 17 - i, height - 17 - i], outline=brand, width=2 if i % 12 else 4)
    write(pen, (width / 2, 100), "CERTIFICATE", draw.bold(name), 44, brand, "mm")
    write(pen, (width / 2, 160), "This is to certify that", name, 16, anchor="mm")
    write(pen, (width / 2, 280), f"has passed the course in {chance.title(2)}", name, 16, anchor="mm")
    draw.emblem(pen, (width / 2 - 40, 380, width / 2 + 40, 460), chance, [brand, (200, 170, 70)])
    for who in draw.distinct(chance.name, count):
        sheet, pen = draw.again(blank)
        write(pen, (width / 2, 220), who, "DejaVuSerif-Italic", 38, anchor="mm")
        write(pen, (width / 2, 320), f"with {chance.whole(50, 100)} of 100 points", name, 16, anchor="mm")
        write(pen, (120, 440), chance.date(), name, 16)
        mask, ink = draw.ink_for(sheet)
        draw.scrawl(ink, (width - 250, 452), chance.words_of(5, 8, 1)[0], 13, 0.4, chance)
        yield draw.inked(sheet, mask, (30, 40, 120))


def cheques(chance, count):
    """Filled by hand, on the background of one bank."""
    width, height, brand = 720, 320, chance.tone(70, 150)
    ground = draw.tinted(draw.clouds(chance, width, height, 40, 2), [tuple(min(255, v + 90) for v in brand), (240, 244, 240)])
    blank, pen = draw.again(ground)
    write(pen, (30, 26), f"{chance.title(1)} Bank", "DejaVuSerif-Bold", 26, brand)
    for y, label, right in ((120, "Pay to", 480), (165, "The sum of", 680), (255, "For", 300), (255, "", 690)):
        left = 30 if label else 440
        write(pen, (left, y - 14), label, "DejaVuSerif", 12)
        pen.line([left + 84 * bool(label), y, right, y], fill=BLACK)
    pen.rectangle([520, 92, 690, 126], outline=BLACK, fill=WHITE)
    for _ in range(count):
        cheque, pen = draw.again(blank)
        mask, ink = draw.ink_for(cheque)
        amount, slant = chance.digits(chance.whole(2, 5)), chance.between(0.1, 0.5)
        lines = [((120, 115), chance.name()), ((120, 160), " ".join(chance.words_of(4, 8, 4))), ((530, 118), amount),
                 ((120, 250), chance.words_of(4, 9, 1)[0]), ((460, 248), chance.name()), ((540, 60), chance.date())]  # fmt: skip
        for (x, y), text in lines:
            for word in text.split():
                x = draw.scrawl(ink, (x, y), word, 9, slant, chance)
        write(pen, (60, 284), f"|:{chance.digits(6)}|: {chance.digits(9)}|| {chance.digits(4)}", "DejaVuSansMono", 20)
        yield draw.scanned(draw.inked(cheque, mask, (30, 35, 100)), chance)


def calendars(chance, count):
    """Months of one calendar, with entries."""
    side, height, brand = chance.whole(80, 96), chance.whole(66, 84), chance.strong()
    name, days = chance.one_of(draw.TEXT_FONTS), ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"]
    kept = chance.title(2)
    for year, month in draw.distinct(lambda: (chance.whole(2000, 2029), chance.whole(1, 12)), count):
        page, pen = draw.new(7 * side + 40, 6 * height + 130)
        pen.rectangle([0, 0, page.width, 70], fill=brand)
        write(pen, (24, 16), f"{calendar.month_name[month]} {year}", draw.bold(name), 30, WHITE)
        write(pen, (page.width - 20, 30), kept, name, 12, WHITE, "ra")
        grid(pen, (20, 100, page.width - 20, page.height - 30), [i / 7 for i in range(8)], 6, (190, 190, 196))
        for i, day in enumerate(days):
            write(pen, (20 + side * (i + 0.5), 86), day, draw.bold(name), 13, brand, "mm")
        for row, week in enumerate(calendar.Calendar().monthdayscalendar(year, month)):
            for i, day in enumerate(week):
                at = 24 + side * i, 103 + height * row
                if day:
                    write(pen, at, str(day), name, 14)
                if day and chance.yes(0.25):
                    pen.rectangle(
                        [at[0], at[1] + 24, at[0] + side - 10, at[1] + 40],
                        fill=chance.one_of([(210, 230, 250), (250, 220, 210), (220, 245, 215)]),
                    )
                    write(pen, (at[0] + 3, at[1] + 26), chance.words_of(4, 8, 1)[0], name, 10)
        yield page


def tables(chance, count):
    """Pages of numbers under the same headings."""
    columns, rows = chance.whole(5, 8), chance.whole(22, 30)
    width, height, name = 110 + 74 * columns, 90 + 20 * rows, chance.one_of(["DejaVuSans", "DejaVuSansCondensed", "DejaVuSerif"])
    blank, pen = draw.new(width, height)
    write(pen, (20, 18), chance.title(3), draw.bold(name), 16)
    edges = [0, *((90 + 74 * i) / (width - 40) for i in range(columns)), 1]
    grid(pen, (20, 60, width - 20, 60 + 20 * rows), edges, rows, (190, 190, 196))
    for i, word in enumerate(["", *chance.words_of(3, 7, columns)]):
        write(pen, (26 + (90 + 74 * (i - 1) if i else 0), 63), word, draw.bold(name), 11)
    names = chance.words_of(3, 9, rows)
    for row in range(1, rows):
        write(pen, (26, 63 + 20 * row), names[row], name, 11)
    scale = 10 ** chance.rng.integers(0, 4, columns)
    for _ in range(count):
        page, pen = draw.again(blank)
        for row in range(1, rows):
            for i, value in enumerate(chance.rng.random(columns) * scale):
                write(pen, (106 + 74 * (i + 1), 63 + 20 * row), f"{value:.{2 if scale[i] < 100 else 0}f}", name, 11, anchor="ra")
        yield page


def staff(pen, left, right, y, gap, lines=5):
    for i in range(lines):
        pen.line([left, y + i * gap, right, y + i * gap], fill=BLACK)


def music(chance, count):
    """Scores: notes with stems, beams and bars on staves."""
    width, height, gap, systems = chance.whole(600, 700), chance.whole(760, 880), 8, chance.whole(7, 9)
    for _ in range(count):
        page, pen = draw.new(2 * width, 2 * height)
        write(pen, (width, 60), chance.title(3), "DejaVuSerif-Bold", 44, anchor="mm")
        write(pen, (2 * width - 80, 120), chance.name(), "DejaVuSerif-Italic", 24, anchor="rm")
        for i in range(systems):
            y = 200 + i * (2 * height - 260) // systems
            staff(pen, 80, 2 * width - 80, y, 2 * gap)
            pen.line([(110 + 24 * a, y + 4 * gap - 22 * b) for a, b in draw.STROKES["g"]], fill=BLACK, width=5, joint="curve")
            pitch, x = chance.whole(0, 8), 200
            while x < 2 * width - 130:
                pitch = min(10, max(-2, pitch + chance.whole(-3, 3)))
                at, up = y + (8 - pitch) * gap, pitch < 5
                full = chance.yes(0.8)
                pen.ellipse([x, at - gap, x + 20, at + gap], fill=BLACK if full else WHITE, outline=BLACK, width=3)
                stem = x + 19 if up else x + 1
                pen.line([stem, at, stem, at + (-56 if up else 56)], fill=BLACK, width=3)
                if full and chance.yes(0.4):
                    end = at + (-56 if up else 56)
                    pen.line([stem, end, stem + 16, end + (22 if up else -22)], fill=BLACK, width=5)
                x += chance.one_of([38, 46, 60])
                if chance.yes(0.22):
                    pen.line([x, y, x, y + 8 * gap], fill=BLACK, width=2)
                    x += 24
        yield draw.halved(page)


def guitar_tabs(chance, count):
    width, height, systems = chance.whole(560, 640), chance.whole(700, 800), chance.whole(6, 8)
    for _ in range(count):
        page, pen = draw.new(width, height)
        write(pen, (width / 2, 30), chance.title(3), "DejaVuSans-Bold", 20, anchor="mm")
        for i in range(systems):
            y = 80 + i * (height - 110) // systems
            staff(pen, 30, width - 30, y, 11, 6)
            block(pen, (36, y - 6), "TAB", "DejaVuSans-Bold", 14, leading=1.3)
            for x in range(62, width - 40, 18):
                if chance.yes(0.15):
                    pen.line([x, y, x, y + 55], fill=BLACK)
                    continue
                for string in chance.some(range(6), chance.one_of([0, 1, 1, 1, 2, 3])):
                    pen.rectangle([x - 5, y + 11 * string - 5, x + 5, y + 11 * string + 5], fill=WHITE)
                    write(pen, (x, y + 11 * string), str(chance.whole(0, 12)), "DejaVuSans", 11, anchor="mm")
        yield page


def handwriting(chance, count):
    """Pages of one writer on ruled paper, scanned."""
    width, height, gap = chance.whole(520, 620), chance.whole(640, 780), chance.whole(28, 34)
    slant, size, colour = chance.between(0.1, 0.5), chance.between(7, 9), chance.one_of([(30, 40, 130), (25, 25, 30), (60, 30, 90)])
    blank, pen = draw.new(width, height, (250, 248, 240))
    for y in range(70, height - 20, gap):
        pen.line([0, y, width, y], fill=(180, 200, 225))
    pen.line([60, 0, 60, height], fill=(230, 150, 150))
    for _ in range(count):
        page, (mask, ink) = blank.copy(), draw.ink_for(blank)
        for y in range(70, height - 20, gap):
            x = 70 + chance.between(0, 8)
            end = width - 70 - (chance.between(0, 300) if chance.yes(0.2) else 0)
            while x < end:
                x = draw.scrawl(ink, (x, y - 2), chance.words(1)[0], size, slant, chance)
        yield draw.scanned(draw.inked(page, mask, colour), chance)


def crosswords(chance, count):
    """Without answers: black squares, numbers, clues."""
    side, cell = chance.one_of([11, 13, 15]), chance.whole(26, 32)
    width, name = side * cell + 60, chance.one_of(draw.TEXT_FONTS)
    for number in draw.distinct(lambda: chance.whole(100, 2000), count):
        page, pen = draw.new(width, side * cell + 220)
        write(pen, (30, 16), f"Crossword No. {number}", draw.bold(name), 20)
        black = chance.rng.random((side, side)) < 0.17
        black |= black[::-1, ::-1]
        entries = 0
        for y in range(side):
            for x in range(side):
                at = 30 + x * cell, 56 + y * cell
                pen.rectangle([*at, at[0] + cell, at[1] + cell], fill=BLACK if black[y, x] else WHITE, outline=BLACK)
                if not black[y, x] and (x == 0 or black[y, x - 1] or y == 0 or black[y - 1, x]):
                    entries += 1
                    write(pen, (at[0] + 2, at[1] + 1), str(entries), name, 8)
        for left in (30, width // 2 + 6):
            column(pen, (left, side * cell + 70, left + width // 2 - 44, side * cell + 210), chance, name, 9, heads=0)
        yield page


def sudokus(chance, count):
    cell, name, hard = chance.whole(44, 54), chance.one_of(draw.TEXT_FONTS), chance.whole(24, 34)
    blank, pen = draw.new(9 * cell + 60, 9 * cell + 110)
    for i in range(10):
        for line in ([30 + i * cell, 70, 30 + i * cell, 70 + 9 * cell], [30, 70 + i * cell, 30 + 9 * cell, 70 + i * cell]):
            pen.line(line, fill=BLACK, width=1 if i % 3 else 3)
    for number in draw.distinct(lambda: chance.whole(1, 999), count):
        page, pen = draw.again(blank)
        write(pen, (30, 24), f"Sudoku {number}", draw.bold(name), 22)
        relabel, rows, columns = chance.some(range(9), 9), shuffled(chance), shuffled(chance)
        for place in chance.some(range(81), hard):
            y, x = divmod(place, 9)
            digit = relabel[(3 * (rows[y] % 3) + rows[y] // 3 + columns[x]) % 9] + 1
            write(pen, (30 + (x + 0.5) * cell, 70 + (y + 0.5) * cell), str(digit), name, cell // 2, anchor="mm")
        yield page


def shuffled(chance):
    """Nine rows in an order that keeps triples together, as a sudoku allows."""
    return [3 * band + row for band in chance.some(range(3), 3) for row in chance.some(range(3), 3)]


def comics(chance, count):
    """Pages of panels with talking figures."""
    width, height = chance.whole(560, 640), chance.whole(720, 820)
    across, down = chance.whole(2, 3), chance.whole(3, 4)
    sky, cast, title = chance.tone(190, 250), [draw.person(chance) for _ in range(3)], chance.title(2)
    for i in range(count):
        page, pen = draw.new(2 * width, 2 * height)
        write(pen, (40, 20), title, "DejaVuSans-BoldOblique", 40)
        write(pen, (2 * width - 40, 30), str(i + 1), "DejaVuSans", 26, anchor="ra")
        wide, high = (2 * width - 60) // across, (2 * height - 100) // down
        for panel in range(across * down):
            left, top = 30 + panel % across * wide, 80 + panel // across * high
            box = Image.new("RGB", (wide - 20, high - 20), sky if chance.yes(0.6) else chance.tone(150, 250))
            pencil = draw.ImageDraw.Draw(box)
            for who in chance.some(cast, chance.whole(1, 2)):
                x, scale = chance.between(0, 0.5) * wide, chance.between(0.45, 0.75)
                draw.face(pencil, (x, high * (1 - scale), x + scale * high * 0.8, high), who)
            pencil.ellipse([20, 8, wide - 60, 100], fill=WHITE, outline=BLACK, width=4)
            lines = list(draw.broken(chance.words(chance.whole(4, 9)), wide - 160, "DejaVuSans-Bold", 20))[:2]
            block(pencil, (wide / 2 - 20, 30), [" ".join(line).upper() for line in lines], "DejaVuSans-Bold", 20, anchor="ma")
            page.paste(box, (left, top))
            pen.rectangle([left, top, left + wide - 20, top + high - 20], outline=BLACK, width=6)
        yield draw.halved(page)
