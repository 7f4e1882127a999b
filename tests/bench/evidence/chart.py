"""Small charts as SVG: lines with error bars, and rows of points with theirs."""

import html
import math

COLOURS = ["#00796b", "#c0562f", "#5c6bc0", "#8d6e1f", "#ad1457", "#546e7a"]
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 640, 62, 16, 34, 44


def text(x, y, said, anchor="middle", size=12, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"{more}>{html.escape(said)}</text>'


def line(x1, y1, x2, y2, colour="#d0d0d0", more=""):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"{more}/>'


def ticks(low, high, count=5):
    """Round numbers from low to high."""
    if high <= low:
        high = low + 1
    raw = (high - low) / count
    step = 10 ** math.floor(math.log10(raw))
    step *= next(factor for factor in (1, 2, 5, 10) if factor * step >= raw)
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 10) for i in range(first, math.floor(high / step + 1e-9) + 1)]


def page(height, title, parts):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" fill="#222">',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        text(WIDTH / 2, 20, title, size=14), *parts, "</svg>", "",
    ])  # fmt: skip


class Axes:
    """Where values lie on the page. `log`: the horizontal axis is logarithmic."""

    def __init__(self, xs, ys, height, log=False):
        self.log = log
        self.x0, self.x1 = (self.of_x(min(xs)), self.of_x(max(xs)))
        room = 0.05 * ((max(ys) - min(ys)) or 1)
        self.y0, self.y1 = min(ys) - room, max(ys) + room
        self.height = height

    def of_x(self, x):
        return math.log10(x) if self.log else x

    def x(self, value):
        return LEFT + (self.of_x(value) - self.x0) / ((self.x1 - self.x0) or 1) * (WIDTH - LEFT - RIGHT)

    def y(self, value):
        return self.height - BOTTOM - (value - self.y0) / (self.y1 - self.y0) * (self.height - BOTTOM - TOP)


def curves(path, title, x_label, y_label, series, log=False, x_ticks=None):
    """`series`: dictionaries of name, points (x, y, low, high; low is None where there is no range), dashed."""
    height = 380 + 16 * ((len(series) + 1) // 2)
    xs = [p[0] for s in series for p in s["points"]]
    ys = [v for s in series for p in s["points"] for v in p[1:] if v is not None]
    axes = Axes(xs, ys, 380, log)
    parts = []
    for y in ticks(axes.y0, axes.y1):
        parts += [line(LEFT, axes.y(y), WIDTH - RIGHT, axes.y(y)), text(LEFT - 6, axes.y(y) + 4, f"{y:g}", "end", 11)]
    for x in x_ticks or ticks(min(xs), max(xs)):
        parts.append(text(axes.x(x), 380 - BOTTOM + 16, f"{x:g}", size=11))
    for i, s in enumerate(series):
        parts += curve(axes, s, COLOURS[s.get("colour", i) % len(COLOURS)], 4 * (i % 2) - 2)
        x, y = LEFT + (i % 2) * 290, 384 + 16 * (i // 2 + 1) - 8
        parts += legend(x, y, s, COLOURS[s.get("colour", i) % len(COLOURS)])
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, 380 - 10, x_label))
    parts.append(text(16, 190, y_label, more=' transform="rotate(-90 16 190)"'))
    path.write_text(page(height, title, parts))


def dash(s):
    return ' stroke-dasharray="5 4"' if s.get("dashed") else ""


def legend(x, y, s, colour):
    return [line(x, y - 4, x + 24, y - 4, colour, ' stroke-width="2"' + dash(s)), text(x + 30, y, s["name"], "start", 11)]


def curve(axes, s, colour, aside):
    placed = [(axes.x(p[0]), axes.y(p[1])) for p in s["points"]]
    parts = [f'<polyline fill="none" stroke="{colour}" stroke-width="2"{dash(s)} points="'
             + " ".join(f"{x:.1f},{y:.1f}" for x, y in placed) + '"/>']  # fmt: skip
    for (x, y), p in zip(placed, s["points"]):
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>')
        if p[2] is not None:
            parts.append(line(x + aside, axes.y(p[2]), x + aside, axes.y(p[3]), colour))
    return parts


def rows(path, title, x_label, entries, zero=True):
    """`entries`: (name, value, low, high), a row each; a line at zero."""
    height = TOP + BOTTOM + 24 * len(entries)
    left = 210
    values = [v for e in entries for v in e[1:] if v is not None] + ([0] if zero else [])
    low, high = min(values), max(values)
    room = 0.05 * ((high - low) or 1)
    low, high = low - room, high + room

    def at(value):
        return left + (value - low) / (high - low) * (WIDTH - left - RIGHT)

    parts = []
    for x in ticks(low, high):
        parts += [line(at(x), TOP, at(x), height - BOTTOM), text(at(x), height - BOTTOM + 16, f"{x:g}", size=11)]
    if zero:
        parts.append(line(at(0), TOP, at(0), height - BOTTOM, "#777"))
    for i, (name, value, least, most) in enumerate(entries):
        y = TOP + 24 * i + 12
        parts.append(text(left - 8, y + 4, name, "end"))
        if least is not None:
            parts.append(line(at(least), y, at(most), y, COLOURS[0], ' stroke-width="2"'))
        parts.append(f'<circle cx="{at(value):.1f}" cy="{y}" r="4" fill="{COLOURS[0]}"/>')
    parts.append(text((left + WIDTH - RIGHT) / 2, height - 10, x_label))
    path.write_text(page(height, title, parts))


def differences(path, title, table):
    """The rows of Bench.compare as a chart, the first left out, for the others are beside it."""
    entries = [(row["arm"], *(float(row[key]) if row[key] else None for key in ("difference", "least", "most"))) for row in table[1:]]
    entries = [entry for entry in entries if entry[1] is not None]
    if entries:
        rows(path, title, f"points of accuracy beside: {table[0]['arm']}", entries)
