"""The program that comes with the package, and its verbs in this process."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import errors

_CLASSES = {2: errors.UsageError, 3: errors.RefusedError, 75: errors.StoppedError}


def path() -> str:
    """Path of the program: the package's own, else the one on the PATH."""
    own = pathlib.Path(__file__).parent / "program" / "winnow"
    found = str(own) if own.exists() else shutil.which("winnow")
    if found is None:
        raise errors.UsageError("the program winnow is neither in this package nor on the PATH; install a wheel that contains it")
    return found


@dataclass(frozen=True)
class Finished:
    """The output of a verb (a command of the program)."""

    out: str
    """Standard output."""
    said: str
    """Messages for people."""

    def json(self) -> Any:
        """The object that a verb prints with ``--json``."""
        return json.loads(self.out.strip().splitlines()[-1])


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def run(*words: str | int | float | os.PathLike[str]) -> Finished:
    """Runs the program: ``winnow WORDS...``. If it fails, raises the error class of its exit code, with its message."""
    command = [path(), *(os.fspath(word) if isinstance(word, os.PathLike) else str(word) for word in words)]
    done = subprocess.run(command, capture_output=True, text=True, errors="surrogateescape")
    if done.returncode != 0:
        sentences = [line for line in done.stderr.splitlines() if line.startswith("winnow: ")]
        sentence = sentences[-1].removeprefix("winnow: ") if sentences else done.stderr.strip()
        raise _CLASSES.get(done.returncode, errors.Error)(sentence or f"the program ended with code {done.returncode}")
    return Finished(done.stdout, done.stderr)


def verb(*words: str | int | float | os.PathLike[str], progress: Callable[[int, int], object] | None = None) -> Finished:
    """Runs ``winnow WORDS...`` within this process; WORDS begin with dedup, index, split or tune. Environment variables are
    ignored.

    progress: called now and then with how much of a step is done, and how much there is. If it raises, the work ends as at Ctrl-C.
    """
    from . import _core  # whoever starts the program needs no library here

    told = _core.run_verb([os.fsencode(word if isinstance(word, os.PathLike) else str(word)) for word in words], progress)
    return Finished(_text(told.lines), _text(told.sentences))
