"""The tests in a build's CTest."""

import json
import pathlib
import subprocess

import choice

COSTS = pathlib.Path(__file__).with_name("costs.txt")


def listed(build):
    """CTest's own list of a build's tests, as it prints it."""
    done = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"ctest cannot list the tests of {build}:\n{done.stderr}{done.stdout}")
    return json.loads(done.stdout)["tests"]


def properties(test):
    return {row["name"]: row["value"] for row in test.get("properties", ())}


def costs():
    """The contents of tests/gate/costs.txt; see choice.read_costs."""
    return choice.read_costs(COSTS.read_text()) if COSTS.exists() else {}


def tests_of(build):
    """The tests of a build in the order of their numbers, which begin at 1."""
    known = costs()
    tests = []
    for test in listed(build):
        labels = frozenset(properties(test).get("LABELS", ()))
        measured, _ = known.get(test["name"], (None, None))
        tests.append(choice.Test(test["name"], labels, choice.cost_of(labels, measured)))
    return tests


def words_for(build, tests, chosen):
    """CTest's arguments for some of tests_of(build): there are too many for a regular expression."""
    numbers = {test.name: i for i, test in enumerate(tests, 1)}
    file = pathlib.Path(build) / "Testing" / "chosen.txt"
    file.parent.mkdir(exist_ok=True)
    file.write_text("0,0,0," + ",".join(str(numbers[test.name]) for test in chosen) + "\n")
    return ["-I", file]
