#!/usr/bin/env python3
"""Lists the records of a winnow cache: read_cache.py CACHE (docs/formats/shard.md; needs lmdb)."""
import json
import os
import struct
import sys

import lmdb


def shards(cache):
    """Where each shard is, and the first id and the last id in it."""
    with open(os.path.join(cache, "manifest.json"), encoding="utf-8") as manifest:
        return [(os.path.join(cache, shard["file"]), shard["first_id"], shard["last_id"])
                for shard in json.load(manifest)["shards"]]


def open_shard(path):
    return lmdb.open(path, subdir=False, readonly=True, lock=False)


def unpack(pack):
    """(id, split, labels, group, coding, (height, width, channels), payload) of every record of a pack.

    Of a record with variants the payload is all of them, one after another, each height x width x channels bytes.
    """
    (count,) = struct.unpack_from("<I", pack)
    for at in struct.unpack_from(f"<{count}Q", pack, 8):
        (_, version, coding, split, labels, group, number, height, width, channels, variants,
         size) = struct.unpack_from("<QHBBHHQIIHHI", pack, at)
        assert version <= 2, f"record {number} has version {version}"
        group_at = at + 40 + 4 * labels
        start = (group_at + group + 7) // 8 * 8 + 8 * variants  # packs begin at multiples of 8
        yield (number, ("none", "train", "val", "test")[split],
               struct.unpack_from(f"<{labels}i", pack, at + 40),
               pack[group_at:group_at + group], ("raw", "encoded")[coding],
               (height, width, channels), pack[start:start + size])


def records(cache):
    """Every record of a cache, in order of ids."""
    for path, _, _ in shards(cache):
        with open_shard(path) as env, env.begin() as txn:
            for _, pack in txn.cursor():
                yield from unpack(pack)


def record(env, number):
    """The record of one id in an open shard: it is in the last pack whose key is not above the id."""
    with env.begin() as txn, txn.cursor() as cursor:
        key = struct.pack(">Q", number)
        if not cursor.set_range(key):
            cursor.last()
        elif cursor.key() != key:
            cursor.prev()
        return next(row for row in unpack(cursor.value()) if row[0] == number)


if __name__ == "__main__":
    for number, split, labels, group, coding, shape, payload in records(sys.argv[1]):
        print(number, split, list(labels), group, coding, shape, len(payload), "bytes")
