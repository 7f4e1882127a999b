"""docs/read_cache.py reads what winnow wrote.

    read_cache_test.py MAKE_CACHE READ_CACHE

Exits with 77 if Python has no lmdb.
"""
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

try:
    import lmdb  # noqa: F401
except ImportError:
    print("skipped: this Python has no package lmdb (Debian: python3-lmdb)")
    sys.exit(77)

make_cache, read_cache = sys.argv[1:]
spec = importlib.util.spec_from_file_location("read_cache", read_cache)
module = importlib.util.module_from_spec(spec)
sys.dont_write_bytecode = True
spec.loader.exec_module(module)


def check(folder, *kind):
    subprocess.run([make_cache, folder, *kind], check=True)
    printed = subprocess.run([sys.executable, read_cache, folder / "cache"], check=True,
                             stdout=subprocess.PIPE).stdout
    assert printed == (folder / "lines").read_bytes(), "it lists other records than winnow does"
    assert printed.count(b"\n") == 180, "records are missing"

    payloads = b"".join(record[-1] for record in module.records(folder / "cache"))
    assert payloads == (folder / "payloads").read_bytes(), "payloads differ"
    return [(record[5], len(record[-1])) for record in module.records(folder / "cache")]


with tempfile.TemporaryDirectory() as name:
    check(pathlib.Path(name) / "plain")
    of_variants = check(pathlib.Path(name) / "variants", "variants")
    assert {size // (h * w * c) for (h, w, c), size in of_variants} == {1, 3}, "variants are missing"
