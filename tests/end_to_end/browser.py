"""Headless Chromium, driven by the WebDriver protocol of Debian's chromium-driver."""

import json
import re
import shutil
import subprocess
import time
import unittest
import urllib.request

CHROMIUM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")
needs_browser = unittest.skipUnless(
    CHROMIUM and DRIVER, "there is no Chromium to open pages with (Debian: chromium, chromium-driver)"
)
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Browser:
    """One window. Files that pages offer for download are saved to `downloads`."""

    def __init__(self, downloads, width=1280, height=900):
        self.driver = subprocess.Popen([DRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            for line in self.driver.stdout:
                if found := re.search(r"started successfully on port (\d+)", line):
                    break
            else:
                raise RuntimeError("chromedriver did not start")
            self.base = f"http://127.0.0.1:{found[1]}/session"
            options = {
                "binary": CHROMIUM,
                "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--window-size={width},{height}"],
                "prefs": {"download.default_directory": str(downloads)},
            }
            wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            self.base += "/" + self.post("", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        except BaseException:
            self.driver.kill()
            self.driver.wait()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        try:
            self.ask("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        # Do not use a proxy from the environment.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=300) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def post(self, path, body):
        return self.ask("POST", path, body)

    def open(self, url):
        self.post("/url", {"url": url})

    def run(self, script, *args):
        """Runs the body of a function with `args` as `arguments`. Returns its result."""
        return self.post("/execute/sync", {"script": script, "args": list(args)})

    def wait_for(self, script, *args, seconds=180):
        """Waits until the expression is true."""
        end = time.monotonic() + seconds
        while not (value := self.run(script, *args)):
            if time.monotonic() > end:
                raise AssertionError(f"never came true: {script}")
            time.sleep(0.05)
        return value

    def wait_for_timers(self, ms=300):
        """Waits until everything that the page has deferred by less than this is done: a later timer fires after it."""
        self.run("window.timersAreDone = false; setTimeout(() => { window.timersAreDone = true; }, arguments[0])", ms)
        self.wait_for("return window.timersAreDone")

    def press(self, keys):
        """Sends keys, one after another, to the element with the focus."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.post("/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def click(self, css):
        element = self.post("/element", {"using": "css selector", "value": css})
        self.post(f"/element/{element[ELEMENT]}/click", {})

    def complaints(self):
        """Errors logged since the last call."""
        return [row["message"] for row in self.post("/se/log", {"type": "browser"}) if row["level"] == "SEVERE"]
