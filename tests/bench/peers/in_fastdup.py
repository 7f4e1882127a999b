"""in_fastdup.py WORK FOLDER PAIRS.csv GROUPS.csv: similar pairs and the members of groups, as fastdup finds them by default."""

import os
import pathlib
import sys

os.environ["SENTRY_OPT_OUT"] = "1"
import fastdup

work, folder, pairs, groups = sys.argv[1:]
run = fastdup.create(work_dir=work, input_dir=folder)
run.run(overwrite=True)


def base(name):
    return pathlib.PurePath(str(name)).name


with open(pairs, "w") as file:
    file.write("name,other_name\n")
    similar = run.similarity()
    for a, b in {tuple(sorted((base(a), base(b)))) for a, b in zip(similar["filename_from"], similar["filename_to"])}:
        file.write(f"{a},{b}\n")
with open(groups, "w") as file:
    file.write("group,name\n")
    members = run.connected_components()[0]
    for group, name in zip(members["component_id"], members["filename"]):
        file.write(f"{group},{base(name)}\n")
