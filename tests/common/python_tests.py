#!/usr/bin/env python3
"""python_tests.py FILE.json: prints, as CTest reads them, the tests of the Python files that FILE.json names.

Each method of a unittest is a test of its own, but those of a class with a setUpClass are one. Nothing is imported: what a file
needs may be missing here. FILE.json is written by winnow_python_tests() of cmake/WinnowTests.cmake."""

import ast
import json
import pathlib
import sys


def tests_of(text):
    """The tests in a file's text, as unittest names them: Class.method, or Class. A class without a base is no TestCase, but a base of others."""
    classes = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)}

    def methods(name):
        """All methods that a class has, or inherits from a class of this file."""
        found = {}
        for base in classes[name].bases:
            if isinstance(base, ast.Name) and base.id in classes:
                found |= methods(base.id)
        return found | {node.name: node for node in classes[name].body if isinstance(node, ast.FunctionDef)}

    for name in classes:
        has = methods(name)
        tests = [method for method in has if method.startswith("test")]
        if not tests or not classes[name].bases:
            continue
        if "setUpClass" in has:
            yield name
        else:
            yield from (f"{name}.{method}" for method in tests)


def quoted(text):
    return f"[==[{text}]==]"


def main():
    given = json.loads(pathlib.Path(sys.argv[1]).read_text())
    labels, environment = (";".join(filter(None, given[key])) for key in ("labels", "environment"))
    for file in map(pathlib.Path, given["files"]):
        tests = list(tests_of(file.read_text()))
        if not tests:
            sys.exit(f"{file} has no tests")
        for test in tests:
            name = quoted(f"{given['room']}.{file.stem.removesuffix('_test')}.{test}")
            print(f"add_test({name} {quoted(given['python'])} -B {quoted(file)} -v {test})")
            print(f"set_tests_properties({name} PROPERTIES LABELS {quoted(labels)} TIMEOUT {given['timeout']} SKIP_RETURN_CODE 77 "
                  + ("" if "." not in test else r"SKIP_REGULAR_EXPRESSION [==[\nOK \(skipped=1\)]==] ")
                  + f"ENVIRONMENT {quoted(environment)})")


if __name__ == "__main__":
    main()
