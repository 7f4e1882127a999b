"""The checkout under test: its commit, and what that changes."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def git(*words):
    """The output of git, or None if it cannot say, as in an unpacked archive."""
    try:
        done = subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def digest():
    """The digest of the commit, in hexadecimal; 0 without git."""
    return git("rev-parse", "HEAD") or "0"


def base():
    """The commit that the work began from: WINNOW_BASE, or where this branch left main. On main itself the last commit that is a
    day older than the newest. None where that is not known."""
    if given := os.environ.get("WINNOW_BASE"):
        return given
    head = git("rev-parse", "HEAD")
    for main in ("origin/HEAD", "origin/main", "main"):
        left = git("merge-base", "HEAD", main)
        if left and left != head:
            return left
    newest = git("show", "-s", "--format=%ct", "HEAD")
    return (git("rev-list", "-1", "--first-parent", f"--before={int(newest) - 86400}", "HEAD") or None) if newest else None


def changed(since):
    """Paths of files that differ from the commit `since`, including uncommitted ones; none if it is None."""
    if since is None:
        return set()
    tracked = git("diff", "--name-only", since) or ""
    others = git("ls-files", "--others", "--exclude-standard") or ""
    return set(tracked.splitlines()) | set(others.splitlines())
