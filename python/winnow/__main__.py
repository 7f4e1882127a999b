"""``python -m winnow`` runs the program, as ``winnow`` does."""

import os
import sys

from . import errors, program


def main() -> None:
    try:
        path = program.path()
    except errors.UsageError as error:
        sys.exit(f"winnow: {error}")
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
