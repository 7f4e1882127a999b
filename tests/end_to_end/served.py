"""A running `winnow review`, and requests to it."""

import http.client
import json
import os
import signal
import subprocess
import urllib.parse

from program import WINNOW


class Served:
    """A running `winnow review`; `before` is a command that runs it."""

    def __init__(self, *args, env=None, before=()):
        self.process = subprocess.Popen(
            [*before, WINNOW, "review", *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **(env or {})}
        )
        self.said = []
        for line in self.process.stderr:
            self.said.append(line)
            if line.startswith("http://"):
                self.address = line.strip()
                parts = urllib.parse.urlsplit(self.address)
                self.host, self.path = parts.netloc, parts.path
                return
        self.process.wait()
        raise AssertionError("it did not start: " + "".join(self.said))

    def ask(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection(self.host, timeout=60)
        try:
            connection.request(method, self.path + path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read(), answer.headers
        finally:
            connection.close()

    def groups(self, query=""):
        status, body, _ = self.ask("GET", "groups" + query)
        if status != 200:
            raise AssertionError(body)
        return json.loads(body)

    def post(self, path, value):
        headers = {"Origin": "http://" + self.host, "Content-Type": "application/json"}
        status, answer, _ = self.ask("POST", path, json.dumps(value), headers)
        return status, json.loads(answer) if status == 200 else answer.decode()

    def judge(self, *judgements):
        return self.post("judgements", judgements[0] if len(judgements) == 1 else list(judgements))

    def judge_all(self, verdict, query="", member="verdict"):
        return self.post("judgements/all" + query, {member: verdict})

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.kill()

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def end(self):
        """Ends it by Ctrl-C. Returns exit code, stdout and stderr."""
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


def said_of(group, verdict):
    hashes = list(dict.fromkeys(member["hash"] for member in group["members"]))
    return {"verdict": verdict, "images": hashes, "names": [member["name"] for member in group["members"]][: len(hashes)]}
