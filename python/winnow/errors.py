"""What winnow raises. Each message is the sentence that the program would say: what failed, and what to do."""


class Error(RuntimeError):
    """Something failed. ``exit_code`` is that of the program for the same."""

    exit_code = 1


class UsageError(Error, ValueError):
    """What was asked for makes no sense."""

    exit_code = 2


class RefusedError(Error):
    """A gate that the caller set refuses the data: leaks between splits, too many bad inputs."""

    exit_code = 3


class DataError(Error):
    """A file of winnow's is damaged, cut short, or of a newer version."""


class SystemFault(Error, OSError):
    """The operating system said no: no space, no permission, no such file."""


class StoppedError(Error):
    """Ended early at a clean place, as was asked for; the same call goes on from there."""

    exit_code = 75
