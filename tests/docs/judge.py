#!/usr/bin/env python3
"""Judges the groups of a cache of docs/example_photos.py, as the tutorial says that its reader does.

    judge.py CACHE

Talks to `winnow review` as its page does. Of the groups that reach to 50 bits or more, pictures that far from the one
which stays are none of its duplicates (key 2, with the picture chosen or, where all are strangers, without). All
other groups are duplicates (keys a a 1).
"""

import http.client
import json
import re
import signal
import subprocess
import sys
import urllib.parse

STRANGERS = 50  # bits


def ask(address, method, path, value=None):
    parts = urllib.parse.urlsplit(address)
    connection = http.client.HTTPConnection(parts.netloc, timeout=60)
    headers = {"Origin": f"http://{parts.netloc}", "Content-Type": "application/json"}
    connection.request(method, parts.path + path, None if value is None else json.dumps(value), headers)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        sys.exit(f"{path}: {answer.status} {body.decode()}")
    return json.loads(body)


def line(members):
    return {"verdict": "different", "images": [m["hash"] for m in members], "names": [m["name"] for m in members]}


def said_of(group):
    """Lines as the page would send them."""
    members = group["members"]
    strangers = [m for m in members if m["distance"] >= STRANGERS]
    if len(strangers) == len(members) - 1:
        return [line(members)]
    return [line([stranger, other]) for stranger in strangers for other in members if other is not stranger]


def main():
    server = subprocess.Popen(["winnow", "review", sys.argv[1]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    address = next(found[0] for text in server.stdout if (found := re.search(r"http://\S+", text)))
    for group in ask(address, "GET", f"groups?first=0&count=200&least={STRANGERS}")["groups"]:
        print(*(f"{m['name']} {m['distance']}" for m in group["members"]), sep=", ")
        for row in said_of(group):
            ask(address, "POST", "judgements", row)
    ask(address, "POST", "judgements/all", {"verdict": "duplicate"})
    server.send_signal(signal.SIGINT)
    print(server.communicate(timeout=60)[0], end="")


if __name__ == "__main__":
    main()
