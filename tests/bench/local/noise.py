"""Caches of noise for measurements of memory and time, which do not depend on the contents of images."""

import random
import subprocess


def noise_cache(winnow, work, name, side, images, classes):
    """A cache of so many images, made once in `work`."""
    cache = work / f"{name}.cache"
    if cache.exists():
        return cache
    rng = random.Random(1)
    for i in range(images):
        path = work / f"{name}.images" / "train" / f"{i % classes:03}" / f"{i:05}.ppm"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"P6 %d %d 255\n" % (side, side) + rng.randbytes(3 * side * side))
    subprocess.run([winnow, "ingest", work / f"{name}.images", "--out", cache], check=True, capture_output=True)
    return cache
