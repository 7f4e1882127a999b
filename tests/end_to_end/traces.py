"""The records that common/failpoint.h writes, and the rules that nothing is lost in a power failure."""

import os
import pathlib
import re


def read(path):
    """The points of a trace, [(point, file)]."""
    return [tuple(line.split("\t")) for line in pathlib.Path(path).read_text().splitlines()]


class Lost(AssertionError):
    """Something was relied on before it was durable."""


class Disk:
    """Replays a trace and knows at each moment what a power failure would destroy: the content of a file until the file
    is synced, names in a folder until the folder is.

    `commits` matches the paths whose renaming vouches for everything before it. For files that `beside` matches, which
    another thread extends meanwhile, that is what was there at the previous checkpoint.
    """

    def __init__(self, points, commits, beside="$^"):
        self.commits = commits
        self.beside = beside
        self.relied_on = {}  # path -> number of its changes at the link before the newest folder
        self.at_link = {}
        self.changes = {}  # path -> number of its changes
        self.synced = {}  # path -> number of changes that were synced
        self.syncing = {}
        self.removed_in = set()  # folders in which only removals are not yet synced
        # A file that is renamed later is made under another name, which may be lost.
        self.temporary = {file for point, file in points if point == "file.rename.before"}
        for number, (point, file) in enumerate(points):
            act, _, phase = point.rpartition(".")
            try:
                getattr(self, phase)(act, file)
            except Lost as lost:
                raise Lost(f"line {number + 1}, {point} {file}: {lost}") from None

    def change(self, path, removal=False):
        if not removal:
            self.removed_in.discard(path)
        elif not self.unsynced_at(path):
            self.removed_in.add(path)
        self.changes[path] = self.changes.get(path, 0) + 1

    def unsynced_at(self, path):
        return self.changes.get(path, 0) > self.synced.get(path, 0)

    def unsynced(self, below=None):
        return [
            path
            for path in self.changes
            if self.unsynced_at(path) and (below is None or path == below or path.startswith(below + "/"))
        ]

    def missing(self):
        """Files that are not synced, except those that another thread has only extended."""

        def has_grown(path):
            return re.search(self.beside, path) and self.synced.get(path, 0) >= self.relied_on.get(path, 0)

        return [path for path in self.unsynced() if not has_grown(path)]

    def need(self, unsynced):
        if unsynced:
            raise Lost("not synced: " + ", ".join(unsynced))

    def before(self, act, file):
        folder = os.path.dirname(file) or "."
        if act in ("file.sync", "lmdb.sync", "dir.sync"):
            self.syncing[file] = self.changes.get(file, 0)
        elif act in ("file.write", "lmdb.commit"):
            self.change(file)
        elif act in ("file.create", "lmdb.create"):
            self.change(file)
            if file not in self.temporary:
                self.change(folder)
        elif act in ("file.rename", "link.rename", "dir.rename"):
            if re.search(self.commits, file):
                self.need(self.missing())
            if act == "link.rename":
                self.at_link = dict(self.changes)
            self.need(self.unsynced(below=file + ".part" if act == "dir.rename" else file))
            self.change(folder)
        elif act == "dir.create":
            self.relied_on = self.at_link
            self.change(folder)
        elif act == "dir.remove":
            # Everything that makes it unnecessary is durable by now.
            self.need([path for path in self.missing() if path not in self.removed_in])

    def after(self, act, file):
        if act in ("file.sync", "lmdb.sync", "dir.sync"):
            self.synced[file] = max(self.synced.get(file, 0), self.syncing[file])
        elif act in ("file.remove", "dir.remove", "dir.rename"):
            gone = file + ".part" if act == "dir.rename" else file
            for path in self.unsynced(below=gone):
                del self.changes[path]
            self.change(os.path.dirname(file) or ".", removal=act != "dir.rename")

    def at_end(self):
        """A removed file that comes back is no loss."""
        self.need([path for path in self.unsynced() if path not in self.removed_in])


def without_syncs_of(points, path):
    return [(point, file) for point, file in points if not (file == path and ".sync." in point)]
