"""Groups of duplicates as an HTML page, for notebooks."""

from __future__ import annotations

import base64
import html
import itertools
import os
import struct
import zlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .cache import Cache

_MOST_BYTES = 8 << 20  # encoded pictures of a page
_MOST_MEMBERS = 12  # members shown per group
_GROUPS_AT_ONCE = 64  # groups whose pictures are loaded together
_NEEDED = ("group", "id", "name", "split", "weight", "distance", "rule")

_STYLE = """
.winnow-groups { font: 13px/1.4 system-ui, sans-serif; }
.winnow-groups section { border-top: 1px solid #8886; padding: .5em 0; }
.winnow-groups h4 { font-size: 13px; margin: 0 0 .4em; }
.winnow-groups div { display: flex; flex-wrap: wrap; gap: .8em; }
.winnow-groups figure { margin: 0; width: 130px; }
.winnow-groups img { border: 3px solid #1a7f37; }
.winnow-groups .out img { border-color: #cf222e; border-style: dashed; }
.winnow-groups .grown { image-rendering: pixelated; }
.winnow-groups figcaption { overflow-wrap: anywhere; }
"""


class Shown:
    """Groups of duplicates that a notebook displays: pictures, names, distance of each copy from the kept sample, and what is
    kept.

    The HTML is self-contained and has at most 8 MiB of pictures; if groups do not fit, it says so.
    """

    def __init__(self, cache: Cache, rows: Iterable[Mapping[str, Any]], limit: int, picture_px: int) -> None:
        if limit < 1 or picture_px < 1:
            raise UsageError(f"limit (a number of groups) and picture_px (pixels) must be at least 1, not {limit!r} and {picture_px!r}")
        self._cache = cache
        self._limit = limit
        self._side_px = picture_px
        self._groups: dict[int, list[Mapping[str, Any]]] = {}
        for row in rows:
            lacking = [name for name in _NEEDED if name not in row]
            if lacking:
                raise UsageError(f"the rows to show lack {', '.join(lacking)}; take rows of Cache.groups()")
            self._groups.setdefault(int(row["group"]), []).append(row)

    def __len__(self) -> int:
        """Number of all groups, shown or not."""
        return len(self._groups)

    def __repr__(self) -> str:
        return f"<winnow groups of {self._cache.path!r}: {len(self):,}; a notebook shows up to {self._limit:,}, save(path) writes a page>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes an HTML page for any browser."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'<!doctype html><meta charset="utf-8"><title>Groups of duplicates</title>{self._repr_html_()}')

    def _repr_html_(self) -> str:
        parts: list[str] = []
        used = 0
        groups = itertools.islice(self._groups.items(), self._limit)
        while used <= _MOST_BYTES and (some := list(itertools.islice(groups, _GROUPS_AT_ONCE))):
            ids = [int(row["id"]) for _, rows in some for row in rows[:_MOST_MEMBERS]]
            pictures = _pictures(self._cache, ids, self._side_px)
            for group, rows in some:
                used += sum(len(pictures[int(row["id"])]) for row in rows[:_MOST_MEMBERS])
                if used > _MOST_BYTES:
                    break
                parts.append(_section(group, rows, pictures))
        count = f"{len(parts):,} of {len(self):,} groups" if len(parts) < len(self) else f"{len(self):,} groups"
        return f'<article class="winnow-groups"><style>{_STYLE}</style><p>{count} of duplicates</p>{"".join(parts)}</article>'


def _section(group: int, rows: list[Mapping[str, Any]], pictures: Mapping[int, str]) -> str:
    shown = rows[:_MOST_MEMBERS]
    kept = sum(row["weight"] > 0 for row in rows)
    figures = "".join(_figure(row, pictures[int(row["id"])]) for row in shown)
    more = f"<p>and {len(rows) - len(shown):,} more</p>" if len(rows) > len(shown) else ""
    return f"<section><h4>group {group}: {kept:,} of {len(rows):,} kept</h4><div>{figures}</div>{more}</section>"


def _figure(row: Mapping[str, Any], picture: str) -> str:
    name = html.escape(str(row["name"]).encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
    weight = float(row["weight"])
    distance = int(row["distance"])
    if weight > 0:
        fate = "kept" if weight == 1 else f"kept, weight {weight:.3g}"
    else:
        fate = f"removed ({html.escape(str(row['rule']))}), {distance} bit{'' if distance == 1 else 's'} away"
        if row.get("transformation"):
            fate += f"; {html.escape(str(row['transformation']))}, {100 * float(row['probability']):.1f} % sure"
    return (
        f'<figure{"" if weight > 0 else " class=out"}>{picture}<figcaption>{fate}<br>{name}<br>{html.escape(str(row["split"]))}, '
        f"id {int(row['id'])}</figcaption></figure>"
    )


def _pictures(cache: Cache, ids: list[int], side_px: int) -> dict[int, str]:
    """An HTML element for each sample: its whole picture within a square of that side."""
    if not cache.has_images:
        return dict.fromkeys(ids, "<p>no picture in this cache</p>")
    table = cache.fingerprints(["widths_px", "heights_px"])
    rows = table.ids.searchsorted(ids)
    by_size: dict[tuple[int, int], list[int]] = {}
    for id, width_px, height_px in zip(ids, map(int, table.widths_px[rows]), map(int, table.heights_px[rows]), strict=True):
        share = min(1.0, side_px / max(width_px, height_px))
        size = max(1, round(height_px * share)), max(1, round(width_px * share))
        by_size.setdefault(size, []).append(id)
    elements = {}
    for size, some in by_size.items():
        for id, pixels in zip(some, cache.load(some, image_size=size).raw.images, strict=True):
            elements[id] = _element(pixels, side_px)
    return elements


def _element(pixels: NDArray[np.uint8], side_px: int) -> str:
    height_px, width_px, _ = pixels.shape
    kind, raw = _encoded(pixels)
    grown = side_px / max(height_px, width_px)
    mark = ' class="grown"' if grown > 1 else ""
    size = f'width="{max(1, round(width_px * grown))}" height="{max(1, round(height_px * grown))}"'
    return f'<img{mark} {size} alt="" src="data:image/{kind};base64,{base64.b64encode(raw).decode()}">'


def _encoded(pixels: NDArray[np.uint8]) -> tuple[str, bytes]:
    """The smaller of a PNG and, if Pillow is installed, a JPEG."""
    png = _png(pixels)
    try:
        from PIL import Image
    except ModuleNotFoundError:
        return "png", png
    import io

    jpeg = io.BytesIO()
    Image.fromarray(pixels if pixels.shape[2] == 3 else pixels[:, :, 0]).save(jpeg, "JPEG", quality=80)
    return ("jpeg", jpeg.getvalue()) if jpeg.tell() < len(png) else ("png", png)


def _png(pixels: NDArray[np.uint8]) -> bytes:
    """(height, width, 1 or 3) u8 as a PNG file."""
    import numpy

    height_px, width_px, channels = pixels.shape
    flat = pixels.reshape(height_px, width_px * channels)
    # Each row begins with filter type 2: differences from the row above.
    lines = numpy.empty((height_px, flat.shape[1] + 1), numpy.uint8)
    lines[:, 0] = 2
    lines[0, 1:] = flat[0]
    lines[1:, 1:] = flat[1:] - flat[:-1]

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width_px, height_px, 8, 2 if channels == 3 else 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines.tobytes(), 6)) + chunk(b"IEND", b"")
