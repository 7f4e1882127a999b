"""in_imagededup.py HASH FOLDER PAIRS.csv: the duplicate pairs of a folder, all else as imagededup has it by default."""

import csv
import sys

from imagededup import methods

name, folder, out = sys.argv[1:]
if __name__ == "__main__":
    found = getattr(methods, name)().find_duplicates(image_dir=folder)
    with open(out, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["name", "other_name"])
        rows.writerows((a, b) for a, of in found.items() for b in of if a < b)
