"""The layout of the files of tests/data/vectors, for the scripts that make them."""

import json


def print_vectors(about, **tables):
    """One JSON object: what the numbers are, and tables by their names, each a list of objects, a row a line."""
    print("{")
    print('"about": ' + json.dumps(about), end="")
    for name, rows in tables.items():
        print(f',\n"{name}": [')
        print(",\n".join(map(row_text, rows)))
        print("]", end="")
    print("\n}")


def row_text(row):
    """A tensor has a line of its own."""
    text = ""
    for name, value in row.items():
        is_tensor = isinstance(value, dict) and "shape" in value
        text += ("{" if not text else ",\n " if is_tensor else ", ") + f'"{name}": ' + json.dumps(value)
    return text + "}"


def hash_text(value):
    """A number of 64 bits: JSON's readers may keep 53 bits of one."""
    return f"{value:016x}"
