"""Every flag of every verb that takes a number has a range, which the help shows. It refuses what is outside, not a number, or does not fit."""

import json
import re
import unittest

from program import Case, run

TOO_LARGE = "99999999999999999999999"  # exceeds 64 bits; used where the number must be whole
NO_NUMBERS = ("nan", "-nan", "inf", "-inf", "1e400", "-1e400", TOO_LARGE, "", "1x", "0x", "--", "one")
BOUNDS = re.compile(r"([\[(])(\S+), (\S+)([\])])$")


def flags_of(verb):
    """(verb, flag, kind, range) of all flags that take numbers, for this verb and those below it."""
    for option in verb["options"] + verb["positionals"]:
        if re.fullmatch(r"U?INT|FLOAT|POINTS", option["value"]):
            yield verb["name"].split()[1:], max(option["names"], key=len), option["value"], option["range"]
    for below in verb.get("verbs", []):
        yield from flags_of(below)


def outside(opens, least, most, closes):
    """Numbers just outside a range, as text."""
    if opens == "(":
        yield least
    if closes == ")":
        yield most
    whole = re.fullmatch(r"-?\d+", least) and re.fullmatch(r"\d+", most)
    below, above = (int(least) - 1, int(most) + 1) if whole else (float(least) - max(1e-9, abs(float(least)) / 100), float(most) * 1.01)
    yield from (f"{below!r}", f"{above!r}")


class Numbers(Case):
    @classmethod
    def setUpClass(cls):
        cls.flags = list(flags_of(run("reference").json()["program"]))

    def test_each_has_a_range(self):
        self.assertGreater(len(self.flags), 150)
        for verb, flag, kind, bounds in self.flags:
            self.assertRegex(bounds, BOUNDS, (verb, flag, kind))

    def refuses(self, verb, flag, text):
        done = run(*verb, f"{flag}={text}")
        self.assertEqual(done.code, 2, (verb, flag, text, done.err))
        self.assertEqual(len(done.err.splitlines()), 1, done.err)
        self.assertIn(flag, done.err)
        self.assertEqual(done.out, "")

    def test_none_takes_what_lies_outside(self):
        """Every kind of text that is no number once for each flag and range, and one of them for each verb."""
        known = set()
        for i, (verb, flag, kind, bounds) in enumerate(self.flags):
            text = NO_NUMBERS[i % len(NO_NUMBERS)]
            self.refuses(verb, flag, "1e400" if text == TOO_LARGE and kind not in ("INT", "UINT") else text)
            if (flag, bounds) in known:
                continue
            known.add((flag, bounds))
            for text in outside(*BOUNDS.search(bounds).groups()):
                self.refuses(verb, flag, text)
        for text in NO_NUMBERS:
            for verb, flag in ((["train"], "--holdout"), (["train"], "--seed"), (["train"], "--max-steps"), (["dedup"], "--threshold")):
                self.refuses(verb, flag, text)

    def test_each_takes_the_ends_of_its_range(self):
        known = set()
        for verb, flag, _, bounds in self.flags:
            if (flag, bounds) in known:
                continue
            known.add((flag, bounds))
            opens, least, most, closes = BOUNDS.search(bounds).groups()
            for text in ([least] if opens == "[" else []) + ([most] if closes == "]" else []):
                done = run(*verb, f"{flag}={text}", "--help")
                self.assertEqual((done.code, done.err), (0, ""), (verb, flag, text))

    def test_shares_are_taken_in_percent(self):
        """A number between 0 and 1 may be given as a percentage."""
        shares = [(verb, flag, bounds) for verb, flag, _, bounds in self.flags
                  if float((of := BOUNDS.search(bounds))[2]) >= 0 and float(of[3]) <= 1]  # fmt: skip
        self.assertGreater(len(shares), 20)
        for verb, flag, bounds in shares:
            _, least, most, _ = BOUNDS.search(bounds).groups()
            done = run(*verb, f"{flag}={50 * (float(least) + float(most)):.6f}%", "--help")
            self.assertEqual((done.code, done.err), (0, ""), (verb, flag))
            self.refuses(verb, flag, "101%")

    def test_every_door_is_the_same(self):
        job = self.folder / "job.toml"
        for flag, texts in (("holdout", ("nan", "inf", "-1", "2")), ("lr", ("nan", "0", "-inf")), ("seed", ("-1", "18446744073709551616")),
                            ("warmup-epochs", ("1e300", "nan")), ("bucket-size", ("18014398509481984",)), ("threads", ("100000",))):  # fmt: skip
            for text in texts:
                done = run("train", env={"WINNOW_TRAIN_" + flag.upper().replace("-", "_"): text})
                self.assertEqual(done.code, 2, (flag, text, done.err))
                self.assertIn(flag, done.err.lower().replace("_", "-"))
                job.write_text(f"[train]\n{flag} = {text}\n")
                done = run("--config", job, "train")
                self.assertEqual(done.code, 2, (flag, text, done.err))
                self.assertIn(flag, done.err)
        self.assertEqual(json.loads(run("reference").out)["schema"], "winnow.reference/1")


if __name__ == "__main__":
    unittest.main(verbosity=2)
