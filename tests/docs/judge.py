#!/usr/bin/env python3
"""Judges the groups of a cache of docs/example_photos.py, as the tutorial says that its reader does.

    judge.py CACHE

Talks to `winnow review` as its page does: the group that reaches 60 bits is no duplicate (key 2), all others are
(keys a a 1).
"""

import http.client
import json
import re
import signal
import subprocess
import sys
import urllib.parse


def ask(address, path, value):
    parts = urllib.parse.urlsplit(address)
    connection = http.client.HTTPConnection(parts.netloc, timeout=60)
    headers = {"Origin": f"http://{parts.netloc}", "Content-Type": "application/json"}
    connection.request("POST", parts.path + path, json.dumps(value), headers)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        sys.exit(f"{path}: {answer.status} {body.decode()}")


def main():
    server = subprocess.Popen(["winnow", "review", sys.argv[1]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    address = next(found[0] for text in server.stdout if (found := re.search(r"http://\S+", text)))
    ask(address, "judgements/all?least=60", {"verdict": "different"})
    ask(address, "judgements/all", {"verdict": "duplicate"})
    server.send_signal(signal.SIGINT)
    print(server.communicate(timeout=60)[0], end="")


if __name__ == "__main__":
    main()
