"""Hooks for mkdocs: pages that the program writes, and links to files that are not on the site."""

import json
import logging
import os
import pathlib
import posixpath
import re

from mkdocs.structure.files import File

log = logging.getLogger("mkdocs.hooks")
ROOT = pathlib.Path(__file__).resolve().parents[2]
# tools/site lets `winnow reference` write here, by the paths that pages have on the site.
GENERATED = pathlib.Path(os.environ.get("WINNOW_SITE_SOURCE", ROOT / "build" / "site-source"))
OVERVIEW = "reference/commands/winnow.md"
FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1\s*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[([^\[\]]*)\]\(([^()\s]+)\)")


def lists_in(nav):
    yield nav
    for item in nav:
        for below in item.values() if isinstance(item, dict) else ():
            if isinstance(below, list):
                yield from lists_in(below)


def on_files(files, config):
    pages = sorted(path.relative_to(GENERATED).as_posix() for path in GENERATED.rglob("*.md"))
    for page in pages:
        files.append(File(page, str(GENERATED), config["site_dir"], config["use_directory_urls"]))
    for part in lists_in(config["nav"]):
        if any(isinstance(item, dict) and OVERVIEW in item.values() for item in part):
            part[1:] = [{f"winnow {pathlib.PurePath(page).stem}": page} for page in pages if page != OVERVIEW]
    return files


def on_nav(nav, config, files):
    listed = {page.file.src_uri for page in nav.pages}
    for file in files.documentation_pages():
        if file.src_uri not in listed:
            log.warning(f"mkdocs.yml does not list the page {file.src_uri}")
    return nav


def on_page_markdown(markdown, page, config, files):
    """A link to a file outside docs/, or a folder, becomes its name: the repository has no public address to link to."""

    def plain(link):
        image, text, target = link.groups()
        path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page.file.src_uri), target.partition("#")[0]))
        is_folder = (ROOT / path).is_dir()  # which has no page
        if image or "://" in target or target.startswith(("#", "mailto:")) or (path.startswith("docs/") and not is_folder):
            return link[0]
        if not (ROOT / path).exists():
            log.warning(f"{page.file.src_uri} links to {target}, which does not exist")
        return f"`{path}`" if text.strip("`") in (path, target) else f"{text} (`{path}`)"

    out, at = [], 0
    for fence in FENCE.finditer(markdown):
        out += [LINK.sub(plain, markdown[at : fence.start()]), fence[0]]
        at = fence.end()
    return "".join([*out, LINK.sub(plain, markdown[at:])])


def on_post_build(config):
    """Search for pages opened as files: browsers let these fetch neither the index nor the worker's script."""
    site = pathlib.Path(config["site_dir"])
    [worker] = site.glob("assets/javascripts/workers/search.*.min.js")
    index = json.loads((site / "search" / "search_index.json").read_text())
    (site / "search" / "from_file.js").write_text(
        f"var __search = {{index: Promise.resolve({json.dumps(index)}), "
        f"worker: URL.createObjectURL(new Blob([{json.dumps(worker.read_text())}]))}};\n"
    )
