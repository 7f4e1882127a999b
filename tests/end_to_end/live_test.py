"""winnow train --live and winnow watch: what they show in a terminal and without one, and that they leave nothing behind."""

import codecs
import contextlib
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

from program import PATIENCE_S, WINNOW, Case, ends_by_a_second_signal, eventually

OPEN, CLOSE = b"\x1b[?1049h\x1b[?25l\x1b[?7l", b"\x1b[?7h\x1b[?25h\x1b[?1049l"


class Terminal:
    """A program whose stderr is a terminal, and what that terminal received."""

    def __init__(self, command, columns=80, rows=24, kind="xterm", env=()):
        self.master, slave = pty.openpty()
        self.resize(columns, rows)
        self.before = termios.tcgetattr(slave)
        self.process = subprocess.Popen(
            [WINNOW, *map(str, command)], stderr=slave, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
            env={**os.environ, "TERM": kind, **dict(env)},
        )  # fmt: skip
        self.slave = slave  # kept open, so that remaining output can be read after the process has gone
        self.got = b""

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            self.got += os.read(self.master, 1 << 16)

    def read_until(self, is_there, seconds=PATIENCE_S):
        end = time.monotonic() + seconds
        while not is_there(self) and time.monotonic() < end:
            self.read(0.1)
        return is_there(self)

    def until(self, condition):
        """Reads until it is true, which must happen."""
        eventually(lambda: self.read(0.05) or condition(), lambda: f"{condition} at {self.got[-2000:]}")

    def finish(self, seconds=PATIENCE_S):
        """The exit code, after all output has been read."""
        self.read_until(lambda t: t.process.poll() is not None, seconds)
        self.process.wait(timeout=60)
        after = termios.tcgetattr(self.slave)
        os.close(self.slave)
        with contextlib.suppress(OSError):  # nobody can write any more, and everything was read
            while True:
                self.read(PATIENCE_S)
        os.close(self.master)
        assert after == self.before, "the terminal's modes are other ones"
        self.out = self.process.stdout.read().decode()
        self.process.stdout.close()
        return self.process.returncode

    def frames(self):
        """Complete frames, each as the text of its lines."""
        drawn = self.got.partition(OPEN)[2].partition(CLOSE)[0].split(b"\x1b[H")[1:]
        return [frame for frame in drawn if frame.endswith(b"\x1b[J")]  # the rest of the last one may still arrive

    def screen(self):
        return Screen(self.columns, self.rows).take(self.frames()) if self.frames() else []

    def shown(self):
        return "\n".join(self.screen())


class Screen:
    """The text that a terminal shows after frames: cursor home, lines, erase to the end of the line and below."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.cells = [[" "] * columns for _ in range(rows)]

    def take(self, frames):
        for frame in frames:
            self.take_frame(codecs.getincrementaldecoder("utf-8")("strict").decode(frame))
        return ["".join(row).rstrip() for row in self.cells]

    def take_frame(self, text):
        x = y = 0
        for part in re.findall(r"\x1b\[[0-9?]*[A-Za-z]|.", text, re.DOTALL):
            if part == "\x1b[K":
                self.cells[y][x:] = [" "] * (self.columns - x)
            elif part == "\x1b[J":
                self.cells[y][x:] = [" "] * (self.columns - x)
                for row in range(y + 1, self.rows):
                    self.cells[row] = [" "] * self.columns
            elif part == "\r":
                x = 0
            elif part == "\n":
                y += 1
                assert y < self.rows, "a frame that is higher than the terminal scrolls it"
            else:
                assert not part.startswith("\x1b"), repr(part)
                assert x < self.columns - 1, "a line that reaches the edge loses a letter"
                self.cells[y][x] = part
                x += 1


class Live(Case):
    def setUp(self):
        super().setUp()
        self.use_tmpfs()
        self.learnable_idx(self.folder / "data", train=512, test=32)
        self.cache = self.folder / "cache"
        self.ok("ingest", self.folder / "data", "--out", self.cache)
        self.run_folder = self.folder / "run"

    def command(self, *more, epochs=60):
        return ["train", self.cache, "--out", self.run_folder, "--net", "lenet", "--recipe", "none", "--batch-size", 64,
                "--threads", 1, "--epochs", epochs, "--holdout", 0.25, "--log-interval", 3, "--lr", 0.02, "--live",
                *more]  # fmt: skip

    def start(self, command, **more):
        terminal = Terminal(command, **more)
        self.addCleanup(lambda: terminal.process.poll() is None and terminal.process.kill())
        return terminal

    def test_a_run_is_drawn_and_leaves_the_screen_as_it_was(self):
        began = time.monotonic()
        terminal = self.start(self.command("--json"))
        self.assertEqual(terminal.finish(), 0, terminal.got[-2000:])
        seconds = time.monotonic() - began
        self.assertEqual(terminal.got.count(OPEN), 1)
        self.assertEqual(terminal.got.count(CLOSE), 1)
        before, _, view = terminal.got.partition(OPEN)
        self.assertIn(b"1 rank, each with", before)
        after = view.partition(CLOSE)[2]
        self.assertNotIn(b"\x1b", before + after)
        self.assertIn(b"val accuracy", after)
        self.assertIn('"top1"', terminal.out)

        frames = terminal.frames()
        self.assertGreater(len(frames), 1)
        self.assertLess(len(frames), 4 * seconds + 3, "a few frames a second are enough")
        shown = terminal.screen()
        self.assertEqual(len(shown), 24)
        self.assertRegex(shown[0], r"^winnow train  run +all steps are done$")
        self.assertRegex(shown[1], r"^\[={24}\] 100.0 %  epoch \d+, loss 0\.\d+  \d+ images/s$")
        text = "\n".join(shown)
        self.assertRegex(text, r"loss  ⠒⠒ training [\d.]+  o val [\d.]+")
        self.assertRegex(text, r"accuracy  ⠒⠒ training [\d.]+ %  o val [\d.]+ %")
        self.assertRegex(text, r"[\u2801-\u28ff]{3}", "there is no curve")
        for name in ("lately", "so far"):
            shares = re.search(rf"{name} .*?(\d+) % +(\d+) % +(\d+) % +(\d+) %$", text, re.MULTILINE)
            self.assertAlmostEqual(sum(map(int, shares.groups())), 100, delta=2)

    def test_it_follows_the_size_of_the_terminal(self):
        terminal = self.start(self.command(epochs=3000))
        self.assertTrue(terminal.read_until(lambda t: "val" in t.shown() and len(t.frames()) > 3), terminal.shown())
        count = len(terminal.frames())
        terminal.resize(160, 30)
        self.assertTrue(terminal.read_until(lambda t: len(t.frames()) > count + 3))
        wide = Screen(160, 30).take(terminal.frames()[-2:-1])
        self.assertTrue(any(re.match("loss .* accuracy ", line) for line in wide), wide)
        terminal.resize(30, 8)
        count = len(terminal.frames())
        self.assertTrue(terminal.read_until(lambda t: len(t.frames()) > count + 3))
        Screen(30, 8).take(terminal.frames()[-2:-1])
        terminal.process.send_signal(signal.SIGTERM)
        self.assertEqual(terminal.finish(), 75)

    def test_signals_leave_the_screen_as_it_was(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number=number):
                terminal = self.start(self.command("--resume", "auto", epochs=3000))
                self.assertTrue(terminal.read_until(lambda t: len(t.frames()) > 2))
                terminal.process.send_signal(number)
                self.assertEqual(terminal.finish(), 75, terminal.got[-2000:])
                self.assertEqual(terminal.got.count(CLOSE), 1)
                after = terminal.got.partition(CLOSE)[2]
                self.assertIn(b"winnow: stopped", after)
                self.assertNotIn(b"\x1b", after)

    def test_a_second_signal_does_too(self):
        """A second signal, which ends a run before it reaches a clean point."""
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number=number):
                command = [*self.command(epochs=3000), "--resume", "auto"]
                trace = self.folder / f"trace-{number}"
                trace.touch()
                terminal = self.start(command, env={"WINNOW_FAILPOINTS": f"trace={trace},hang=file.write.before:metrics.jsonl:9"})
                written = re.compile(r"file.write.before\t.*metrics.jsonl\n")
                self.assertTrue(terminal.read_until(lambda t: len(t.frames()) > 0 and len(written.findall(trace.read_text())) >= 9))
                ends_by_a_second_signal(terminal.process, number, terminal.until)
                self.assertEqual(terminal.finish(), -number)
                self.assertTrue(terminal.got.endswith(CLOSE), terminal.got[-200:])

    def test_what_health_says_is_in_the_view_and_behind_it(self):
        """Health messages are in the view and after it, never written over it, even if the run hangs and draws nothing itself."""
        terminal = self.start(self.command("--stall-warning", 1, epochs=3000), columns=120,
                              env={"WINNOW_FAILPOINTS": "hang=file.write.before:metrics.jsonl:9"})  # fmt: skip
        self.assertTrue(terminal.read_until(lambda t: "rank 0" in t.shown()), terminal.shown())
        self.assertRegex(terminal.screen()[-1], r"rank 0 \(.+\), .*step")
        self.assertEqual(terminal.screen()[0][:17], "winnow train  run")
        ends_by_a_second_signal(terminal.process, signal.SIGINT, terminal.until)
        self.assertEqual(terminal.finish(), -signal.SIGINT)
        self.assertNotIn(b"winnow: ", terminal.got.partition(OPEN)[2])

    def test_without_a_terminal_it_says_so_and_goes_on(self):
        said = self.ok(*self.command(epochs=1)).err
        self.assertIn("--live draws in a terminal, but stderr is not one", said)
        self.assertNotIn("\x1b", said)
        terminal = self.start(["train", self.cache, "--out", self.folder / "dumb", *self.command(epochs=1)[4:]], kind="dumb")
        self.assertEqual(terminal.finish(), 0, terminal.got)
        self.assertNotIn(b"\x1b", terminal.got)

    def test_a_run_can_be_watched_from_elsewhere(self):
        self.ok(*self.command(epochs=4))
        terminal = self.start(["report", self.run_folder, "--live"])
        self.assertTrue(terminal.read_until(lambda t: "has ended" in t.shown()), terminal.got)
        self.assertIn("epoch 4.00 of 4", terminal.shown())
        self.assertIn("o val", terminal.shown())
        terminal.process.send_signal(signal.SIGINT)
        self.assertEqual(terminal.finish(), 0)
        self.assertTrue(terminal.got.endswith(CLOSE))
        self.refused(2, ["stderr is not one", "winnow watch", "--out"], "report", self.run_folder, "--live")
        self.refused(2, ["one run"], "report", self.run_folder, self.run_folder, "--live")
        self.refused(2, ["--out", "--live"], "report", self.run_folder)
        self.refused(2, ["no run"], "report", self.folder, "--live")

    def two_ranks(self, epochs=4, **more):
        command = [word for word in self.command(epochs=epochs) if word != "--live"]
        return self.ok(*command, ranks=2, **more)

    def test_watch_shows_a_run_as_report_does(self):
        self.two_ranks()
        for size in ((80, 24), (200, 50)):
            shown = []
            for command in (["watch", self.run_folder], ["report", self.run_folder, "--live"]):
                terminal = self.start(command, columns=size[0], rows=size[1])
                self.assertTrue(terminal.read_until(lambda t: "has ended" in t.shown()), terminal.got)
                shown.append(terminal.shown())
                terminal.process.send_signal(signal.SIGINT)
                self.assertEqual(terminal.finish(), 0)
                self.assertTrue(terminal.got.endswith(CLOSE))
                self.assertEqual(terminal.out, "")
            self.assertEqual(shown[0], shown[1])
            self.assertIn("all steps are done", shown[0])
            self.assertIn("o ", shown[0])
            self.assertRegex(shown[0], r"ranks, to step \d+ +compute  data wait    exposed     memory")
            for rank in (0, 1):
                self.assertRegex(shown[0], rf"(?m)^[> ] rank {rank} \(.+\) .* s .* [KMG]iB")
            self.assertEqual(len(re.findall(r"(?m)^> rank", shown[0])), 1)
            self.assertRegex(shown[0], "others wait for rank|no rank waits long")
            self.assertEqual("received" in shown[0], size[0] == 200)

    def test_watch_shows_a_run_that_stored_nothing_of_its_ranks(self):
        """As with runs of older versions, or with damaged files."""
        self.two_ranks()
        metrics = self.run_folder / "metrics.jsonl"
        rows = [json.loads(line) for line in metrics.read_text().splitlines()]
        kept = [{name: value for name, value in row.items() if not name.startswith("ranks.")} for row in rows]
        lines = [json.dumps(row) for row in kept]
        lines.insert(1, '{"step":4,"epoch":')
        lines.insert(2, "[]")
        lines.insert(3, "\x1b[2J \xff")
        metrics.write_bytes("\n".join(lines).encode("latin-1") + b"\n")
        (self.run_folder / "ranks.json").write_text('{"schema":"winnow.ranks/1","step":1,"ranks":[{"rank":0}')
        terminal = self.start(["watch", self.run_folder])
        self.assertTrue(terminal.read_until(lambda t: "has ended" in t.shown()), terminal.got)
        self.assertNotIn("rank ", terminal.shown())
        self.assertIn("accuracy  ⠒⠒ training", terminal.shown())
        terminal.process.send_signal(signal.SIGTERM)
        self.assertEqual(terminal.finish(), 0)
        (self.run_folder / "ranks.json").unlink()
        self.assertIn("; ended", self.ok("watch", self.run_folder, "--once").out)

    def test_watch_says_in_lines_what_it_has_no_terminal_for(self):
        self.two_ranks()
        out = self.ok("watch", self.run_folder).out  # ends, because the run has ended
        self.assertRegex(out, r"^run: step \d+, epoch 4.00 of 4, 100.0 %, loss [\d.]+, val [\d.]+ %(, test [\d.]+ %)?; ended\n$")
        self.assertNotIn("\x1b", out)
        other = self.folder / "other"
        self.ok("train", self.cache, "--out", other, *[word for word in self.command(epochs=1)[4:] if word != "--live"])
        lines = self.ok("watch", self.run_folder, other, "--once").out.splitlines()
        self.assertEqual([line.split(":")[0] for line in lines], ["run", "other"])

    def test_watch_follows_a_run_in_lines_until_it_ends(self):
        command = [word for word in self.command(epochs=40) if word != "--live"]
        run = subprocess.Popen([WINNOW, *map(str, command)], stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: run.poll() is None and run.kill())
        eventually((self.run_folder / "metrics.jsonl").exists, "a run")
        lines = self.ok("watch", self.run_folder).out.splitlines()
        self.assertEqual(run.wait(timeout=PATIENCE_S), 0)
        self.assertTrue(lines[-1].endswith("; ended"), lines)
        self.assertEqual(len(set(lines)), len(lines), "a line says something new")

    def test_watch_shows_several_runs_a_row_each(self):
        other = self.folder / "other"
        self.ok(*[word for word in self.command(epochs=2) if word != "--live"])
        self.ok("train", self.cache, "--out", other, *[word for word in self.command(epochs=1)[4:] if word != "--live"])
        (other / "summary.csv").unlink()  # as for a run that is not finished
        (other / "health").mkdir()
        (other / "health" / "h.log").write_text("2026-11-26T10:31:05+0000 waiting 12 s for rank 1 (h2)\x1b[2J\n")
        terminal = self.start(["watch", self.run_folder, other], columns=120)
        self.assertTrue(terminal.read_until(lambda t: "other" in t.shown()), terminal.got)
        shown = terminal.screen()
        self.assertEqual(shown[0], "winnow watch  2 runs")
        self.assertRegex(shown[3], r"^run +100.0 % +2\.\d+ +[\d.]+ +[\d.]+ % +\d+ +ended")
        self.assertRegex(shown[4], r"^other +100.0 % +1\.\d+ +[\d.]+ +[\d.]+ % +\d+ +-")
        self.assertRegex(shown[5], r"^other: 10:31:05 waiting 12 s for rank 1 \(h2\)")
        terminal.process.send_signal(signal.SIGINT)
        self.assertEqual(terminal.finish(), 0)
        self.assertEqual(terminal.got.count(CLOSE), 1)

    def test_watch_refuses_what_is_no_run(self):
        for runs in ([self.folder / "nothing"], [self.folder]):
            self.refused(2, ["no run", "winnow train"], "watch", *runs)
        self.refused(2, ["runs"], "watch")


if __name__ == "__main__":
    unittest.main(verbosity=2)
