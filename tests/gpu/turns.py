"""Images/s of winnow and of PyTorch by turns: programs that keep a net ready, asked one after the other."""

import dataclasses
import json
import queue
import statistics
import subprocess
import threading
import time

from parts import FAILED, PASSED, STOPPED, end

TURNS = 3
WARM_UP, STEPS = 10, 30
WARM_UP_AGAIN = 3  # in later turns, as the net is ready


@dataclasses.dataclass(frozen=True)
class Case:
    net: str
    side: int
    classes: int
    batch: int
    dtype: str
    compiled: bool = False  # whether PyTorch is also asked for a compiled one

    @property
    def name(self):
        return f"{self.net} {self.dtype}"

    def words(self, turn):
        """As programs read it: the net, its images, steps to warm up and to measure."""
        warm_up = WARM_UP if turn == 0 else WARM_UP_AGAIN
        return f"{self.net} {self.side} {self.classes} {self.batch} {self.dtype} {warm_up} {STEPS}"


# The most wanted first: the time may be over before the last.
CASES = (Case("resnet50", 224, 1000, 256, "bf16", compiled=True), Case("resnet20", 32, 10, 1024, "bf16", compiled=True),
         Case("resnet20", 32, 10, 1024, "tf32"), Case("resnet20", 32, 10, 1024, "f32"), Case("resnet50", 224, 1000, 256, "tf32"))  # fmt: skip


class OutOfTime(Exception):
    pass


class Contestant:
    """A program that reads cases and answers each with a line of JSON, after one with its facts."""

    def __init__(self, command, log, pause=time.sleep):
        self.pause = pause
        with log.open("ab") as said:
            self.child = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said,
                                          text=True, start_new_session=True)  # fmt: skip
        self.lines = queue.Queue()
        self.facts = None
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.child.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def line(self, limit):
        while True:
            try:
                line = self.lines.get_nowait()
            except queue.Empty:
                if limit.is_over():
                    raise OutOfTime from None
                self.pause(0.01)
                continue
            return {"error": "it ended"} if line is None else json.loads(line)

    def measure(self, words, limit):
        """What it answers. OutOfTime: nothing came before the limit."""
        if self.facts is None:
            self.facts = self.line(limit)
            if "error" in self.facts:
                return self.facts
        try:
            self.child.stdin.write(words + "\n")
            self.child.stdin.flush()
        except BrokenPipeError:
            return {"error": "it ended"}
        return self.line(limit)

    def close(self):
        end(self.child)
        self.child.stdout.close()
        try:
            self.child.stdin.close()
        except BrokenPipeError:
            pass


def spread(values):
    return {"median": statistics.median(values), "least": min(values), "most": max(values), "turns": values}


def fields_of(answers):
    """Fields of an item from what each contestant answered, a list of answers a contestant."""
    fields = {}
    for name, turns in answers.items():
        good = [answer for answer in turns if "error" not in answer]
        if not good:
            fields[name] = {"error": turns[-1]["error"]} if turns else {"error": "not measured"}
            continue
        fields[name] = {key: spread([answer[key] for answer in good]) for key in good[0]}
    for name in answers:
        ratios = [ours["images_per_second"] / theirs["images_per_second"]
                  for ours, theirs in zip(answers["winnow"], answers[name]) if "error" not in ours and "error" not in theirs]  # fmt: skip
        if name != "winnow" and ratios:
            fields[f"times_{name}"] = spread(ratios)
    return fields


def measure_case(case, contestants, limit):
    """(state, fields): all contestants by turns, in one order and the other."""
    names = [name for name in contestants if case.compiled or name != "compiled"]
    answers = {name: [] for name in names}
    try:
        for turn in range(TURNS):
            for name in names if turn % 2 == 0 else reversed(names):
                answers[name].append(contestants[name].measure(case.words(turn), limit))
    except OutOfTime:
        return STOPPED, fields_of(answers)
    return FAILED if any("error" in answer for answer in answers["winnow"]) else PASSED, fields_of(answers)


def bench(cases, contestants, report, limit):
    """An item a case, the order of turns reversed in every second one."""
    for case in cases:
        state, fields = measure_case(case, contestants, limit)
        for name, contestant in contestants.items():
            if contestant.facts:
                report.whole["facts"].setdefault(name, contestant.facts.get("facts", contestant.facts))
        report.add(case.name, state, batch=case.batch, **fields)
