#!/usr/bin/env python3
"""Checks a built site: every link leads somewhere, nothing is fetched from another server, Markdown is not left over.

    tools/site_parts/check.py FOLDER

Prints one line per finding. Exit code 1 if there is any.
"""

import html.parser
import pathlib
import re
import sys
import urllib.parse

LEFT_OVER = re.compile(r"^\s*(?:[*+-]|\d+\.) \S|^\s*\|.*\|\s*$|^\s*```|\]\([^)\s]+\)", re.MULTILINE)
FETCHES = {("img", "src"), ("script", "src"), ("link", "href"), ("source", "src"), ("iframe", "src"), ("object", "data")}


class Page(html.parser.HTMLParser):
    """Anchors and links of a page, and the text of its paragraphs outside of code."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.paragraphs = set(), [], []
        self.inside_paragraph = self.inside_code = 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif (tag, name) in FETCHES or (tag, name) == ("a", "href"):
                self.links.append((tag, value or ""))
        self.inside_code += tag in ("code", "pre", "script", "style")
        if tag == "p":
            self.inside_paragraph += 1
            self.paragraphs.append("")

    def handle_endtag(self, tag):
        self.inside_code -= tag in ("code", "pre", "script", "style")
        self.inside_paragraph -= tag == "p"

    def handle_data(self, data):
        if self.inside_paragraph:
            self.paragraphs[-1] += "code" if self.inside_code else data


def findings_of(site):
    pages = {path: Page(path.read_text()) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(site)
        for tag, link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                if tag != "a" and parts.scheme != "data":
                    yield f"{name}: fetches {link}"
                continue
            to = site if parts.path.startswith("/") else path.parent  # the page for errors is served at any path
            target = (to / urllib.parse.unquote(parts.path).lstrip("/")).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file() or not target.is_relative_to(site):
                yield f"{name}: dead link {link}"
            elif parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].anchors:
                yield f"{name}: dead anchor {link}"
        for paragraph in page.paragraphs:
            if found := LEFT_OVER.search(paragraph):
                yield f"{name}: looks like Markdown (a list and a table need an empty line before them): {found[0].strip()}"
    for path in sorted(site.rglob("*.css")):
        for address in re.findall(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')\s]+)", path.read_text()):
            yield f"{path.relative_to(site)}: fetches {address}"


if __name__ == "__main__":
    found = list(findings_of(pathlib.Path(sys.argv[1]).resolve()))
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(bool(found))
