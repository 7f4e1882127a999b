"""How mpirun starts ranks on this machine."""

import pathlib

VARIABLES = pathlib.Path(__file__).resolve().parents[2] / "tools" / "local_mpirun.env"


def local_mpi():
    """The variables that tools/local_mpirun sets."""
    return dict(line.split("=", 1) for line in VARIABLES.read_text().splitlines() if not line.startswith("#"))
