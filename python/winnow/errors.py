"""Errors that winnow raises. Each message is the one the program would print: what failed, and what to do."""


class Error(RuntimeError):
    """Something failed. ``exit_code`` is the program's exit code for the same failure."""

    exit_code = 1


class UsageError(Error, ValueError):
    """The request makes no sense."""

    exit_code = 2


class RefusedError(Error):
    """A check that the caller configured refuses the data: leaks between splits, or too many bad inputs."""

    exit_code = 3


class DataError(Error):
    """A file of winnow's is damaged, truncated, or of a newer version."""


class SystemFault(Error, OSError):
    """The operating system refused: no space, no permission, no such file."""


class StoppedError(Error):
    """The work ended early, as requested, with its files in a consistent state; the same call continues from there."""

    exit_code = 75
