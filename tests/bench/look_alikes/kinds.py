"""The table of kinds of look-alikes, one a row.

A kind's function (chance, count) draws one family: the template once, then `count` pictures of other content, any two of which a
person calls different.
"""

import dataclasses
import typing

import charts
import papers
import real
import scenes
import screens
import signs


@dataclasses.dataclass(frozen=True)
class Kind:
    group: str  # small: two pictures obviously differ; rich: a small part of a rich picture differs
    part: str  # tune, or judge: held out, must not be used for tuning
    draw: typing.Callable
    packages: tuple = ()  # Debian packages needed by a kind of real things
    made: bool = True

    @property
    def name(self):
        return self.draw.__name__

    def family(self, chance, count):
        """Up to `count` pictures; fewer if there are no more real things."""
        return self.draw(chance, count)


SMALL_TO_TUNE = [
    papers.journal_pages, papers.two_column_papers, papers.invoices, papers.machine_forms, papers.hand_forms, papers.receipts,
    papers.business_cards, papers.letter_pages, papers.tickets, papers.tables, papers.music, papers.handwriting, papers.sudokus,
    papers.answer_sheets, papers.calendars,
    charts.bar_charts, charts.line_charts, charts.scatter_plots, charts.spectrograms, charts.dashboards, charts.heat_maps,
    screens.editors, screens.chats, screens.shops, screens.slides, screens.spreadsheets, screens.calculators,
    signs.licence_plates, signs.qr_codes, signs.icons, signs.chess_boards, signs.displays, signs.seat_maps, signs.bottle_labels,
    scenes.x_rays, scenes.cells, scenes.satellite_tiles, scenes.walls,
]  # fmt: skip
SMALL_TO_JUDGE = [
    papers.identity_cards, papers.name_badges, papers.shipping_labels, papers.certificates, papers.cheques, papers.guitar_tabs,
    papers.crosswords, papers.comics,
    charts.pie_charts, charts.histograms, charts.heart_traces, charts.weather_maps,
    screens.terminals, screens.street_maps, screens.mailboxes, screens.home_screens,
    signs.bar_codes, signs.app_tiles, signs.gauges, signs.postage_stamps, signs.clocks,
    scenes.ct_slices, scenes.fields,
]  # fmt: skip
RICH_TO_TUNE = [scenes.street_cameras, scenes.booth_faces, scenes.bottles, scenes.watermarked, scenes.phone_frames]
RICH_TO_JUDGE = [scenes.car_parks, scenes.mugs, scenes.shelves, scenes.captioned, scenes.app_frames]
REAL_TO_JUDGE = ("flags", "emoji", "manual_pages", "pages_in_a_browser")


def table():
    made = [
        ("small", "tune", SMALL_TO_TUNE),
        ("small", "judge", SMALL_TO_JUDGE),
        ("rich", "tune", RICH_TO_TUNE),
        ("rich", "judge", RICH_TO_JUDGE),
    ]
    rows = [Kind(group, part, each) for group, part, kinds in made for each in kinds]
    rows += [
        Kind("small", "judge" if each.__name__ in REAL_TO_JUDGE else "tune", each, packages, made=False) for each, packages in real.ROWS
    ]
    assert len({kind.name for kind in rows}) == len(rows)
    return rows
