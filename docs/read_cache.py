#!/usr/bin/env python3
"""Lists the records of a winnow cache: read_cache.py CACHE (docs/formats/shard.md; needs lmdb)."""
import json
import os
import struct
import sys

import lmdb


def records(cache):
    """(id, split, labels, group, coding, (height, width, channels), payload) of every record.

    Of a record with variants the payload is all of them, one after another, each height x width x channels bytes.
    """
    with open(os.path.join(cache, "manifest.json"), encoding="utf-8") as manifest:
        shards = json.load(manifest)["shards"]
    for shard in shards:
        path = os.path.join(cache, shard["file"])
        with lmdb.open(path, subdir=False, readonly=True, lock=False) as env, env.begin() as txn:
            for _, pack in txn.cursor():
                (count,) = struct.unpack_from("<I", pack)
                for at in struct.unpack_from(f"<{count}Q", pack, 8):
                    (_, version, coding, split, labels, group, number, height, width, channels, variants,
                     size) = struct.unpack_from("<QHBBHHQIIHHI", pack, at)
                    assert version <= 2, f"record {number} of {path} has version {version}"
                    group_at = at + 40 + 4 * labels
                    start = (group_at + group + 7) // 8 * 8 + 8 * variants  # packs begin at multiples of 8
                    yield (number, ("none", "train", "val", "test")[split],
                           struct.unpack_from(f"<{labels}i", pack, at + 40),
                           pack[group_at:group_at + group], ("raw", "encoded")[coding],
                           (height, width, channels), pack[start:start + size])


if __name__ == "__main__":
    for number, split, labels, group, coding, shape, payload in records(sys.argv[1]):
        print(number, split, list(labels), group, coding, shape, len(payload), "bytes")
