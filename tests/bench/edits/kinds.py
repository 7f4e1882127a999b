"""The table of kinds of edit, one a row."""

import dataclasses
import typing

import edits as e


@dataclasses.dataclass(frozen=True)
class Kind:
    """`part`: study, the kinds of winnow's own recall study; more; held_out, which must not be used for tuning."""

    part: str
    family: str
    name: str
    edit: typing.Callable
    quality: int = 90  # of the JPEG


def study():
    """The kinds of pipeline/recall/edits.cpp, made by Pillow."""
    for q in (95, 75, 50, 30, 10):
        yield "jpeg", f"jpeg_{q}", e.same, q
    for percent in (25, 50, 75, 150, 200):
        yield "scale", f"scale_{percent}", e.scale(percent / 100)
    for hundredths in (50, 80, 125, 200):
        yield "tone", f"gamma_{hundredths}", e.gamma(hundredths / 100)
    for thousandths in (2, 5, 10):
        yield "blur", f"blur_{thousandths}", e.blur(thousandths / 1000)
    yield "overlay", "band", e.band
    for percent in (2, 5):
        for fill in ("white", "black"):
            yield "border", f"border_{percent}_{fill}", e.border(percent / 100, fill)
    for percent in (1, 2, 5, 10):
        yield "crop", f"crop_{percent}", e.crop(percent / 100, place=0.75)
    for degrees in (1, 2, 5):
        yield "rotation", f"rotate_{degrees}", e.rotate(degrees, "black", sign=1)
    yield "turn", "mirror", e.mirror
    yield "turn", "upside_down", e.turn("FLIP_TOP_BOTTOM")
    yield "tone", "six_levels", e.six_levels
    yield "tone", "gray", e.gray
    copy = e.sequence(e.any_crop(0, 0.1), e.any_scale(0.5, 2), e.any_gamma(1.25), e.through_jpeg((50, 96)))
    for n in (1, 2, 3, 4):
        yield "combination", f"copy_{n}", copy, 95


def reframed():
    for percent in (5, 10, 15, 20, 25, 30, 40):
        yield "crop", f"crop_{percent}", e.crop(percent / 100)
    yield "crop", "crop_width_20", e.crop(0.2, 0)
    yield "crop", "crop_height_20", e.crop(0, 0.2)
    yield "crop", "crop_square", e.square
    for percent in (2, 5, 10):
        for fill in ("white", "black", "colour", "blurred"):
            yield "border", f"border_{percent}_{fill}", e.border(percent / 100, fill)
    for across, down in ((16, 9), (9, 16)):
        for fill in ("black", "blurred"):
            yield "bars", f"fit_{across}x{down}_{fill}", e.fit(across, down, fill)
    yield "bars", "screenshot_light", e.screenshot(dark=False)
    yield "bars", "screenshot_dark", e.screenshot(dark=True)
    yield "bars", "meme_above", e.meme(below_too=False)
    yield "bars", "meme_both", e.meme(below_too=True)
    for degrees in (2, 5, 10):
        for corners in ("black", "white", "cut"):
            yield "rotation", f"rotate_{degrees}_{corners}", e.rotate(degrees, corners)
    for how in ("ROTATE_90", "ROTATE_180", "ROTATE_270", "TRANSPOSE"):
        yield "turn", how.lower(), e.turn(how)


def rendered():
    for percent in (10, 25):
        yield "overlay", f"text_{percent}", e.text(percent / 100)
        yield "overlay", f"logo_{percent}", e.logo(percent / 100)
    yield "overlay", "watermark_tiled", e.tiled
    yield "overlay", "sticker_10", e.sticker(0.1)
    for percent in (70, 130):
        yield "tone", f"brightness_{percent}", e.brightness(percent / 100)
    for percent in (60, 150):
        yield "tone", f"contrast_{percent}", e.contrast(percent / 100)
    for percent in (40, 160):
        yield "tone", f"saturation_{percent}", e.saturation(percent / 100)
    yield "tone", "sepia", e.sepia
    yield "blur", "sharpen", e.sharpen
    yield "blur", "noise", e.noise(12)
    for percent in (10, 20):
        yield "scale", f"aspect_{percent}", e.aspect(percent / 100)


def combined():
    """Two or three edits at once, by random amounts."""
    rows = {
        "crop_gamma_jpeg": (e.any_crop(0.05, 0.25), e.any_gamma(1.6), e.through_jpeg((40, 85))),
        "crop_border": (e.any_crop(0.05, 0.25), e.any_border(0.02, 0.1)),
        "flip_crop": (e.mirror, e.any_crop(0.05, 0.25)),
        "rotate_5_crop": (e.rotate(5, "cut"), e.any_crop(0.05, 0.15)),
        "fit_text": (e.fit(16, 9, "black"), e.text(0.1)),
        "screenshot_scale": (e.screenshot(dark=False), e.any_scale(0.4, 0.8)),
        "border_meme": (e.any_border(0.02, 0.1), e.meme(below_too=False)),
    }
    for name, steps in rows.items():
        yield "combination", name, e.sequence(*steps)
    yield "combination", "crop_30_flip_jpeg_40", e.sequence(e.crop(0.3), e.mirror), 40


def held_out():
    yield "crop", "crop_35_rotate_3", e.sequence(e.rotate(3, "cut"), e.crop(0.35))
    yield "crop", "avatar", e.avatar
    yield "crop", "perspective", e.perspective
    yield "tone", "vignette", e.vignette
    yield "tone", "film_border", e.sequence(e.film, e.border(0.06, "white"))
    yield "bars", "phone", e.phone
    yield "bars", "collage", e.collage
    yield "overlay", "time_stamp", e.time_stamp
    yield "overlay", "mosaic_15", e.mosaic
    yield "overlay", "double_exposure", e.double_exposure


def table():
    parts = (("study", study), ("more", reframed), ("more", rendered), ("more", combined), ("held_out", held_out))
    rows = [Kind(part, row[0], f"{part}_{row[1]}" if part != "more" else row[1], *row[2:]) for part, of in parts for row in of()]
    assert len({kind.name for kind in rows}) == len(rows)
    return rows
