"""The layout of the files of tests/data/vectors, for the scripts that make them."""

import json


def print_vectors(about, **tables):
    """Prints one JSON object: a description of the numbers, and named tables, each a list of objects, one row per line."""
    print("{")
    print('"about": ' + json.dumps(about), end="")
    for name, rows in tables.items():
        print(f',\n"{name}": [')
        print(",\n".join(map(row_text, rows)))
        print("]", end="")
    print("\n}")


def row_text(row):
    """A row as text. A tensor has a line of its own."""
    text = ""
    for name, value in row.items():
        is_tensor = isinstance(value, dict) and "shape" in value
        text += ("{" if not text else ",\n " if is_tensor else ", ") + f'"{name}": ' + json.dumps(value)
    return text + "}"


def hash_text(value):
    """A 64-bit number as text: some readers of JSON keep only 53 bits."""
    return f"{value:016x}"
