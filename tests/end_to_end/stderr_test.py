"""If nobody can read winnow's messages - a full disk, a closed terminal, a reader that has ended - its work is unaffected."""

import os
import signal
import subprocess
import unittest

from program import PATIENCE_S, ROOT, RUN_S, WINNOW, Case, eventually, lines_of_metrics, ranks_of, tensors

RECIPE = ["--net", "lenet", "--recipe", "none", "--batch-size", 32, "--augment", "none", "--log-interval", 1, "--seed", 3, "--threads", 1]
SHORT = [*RECIPE, "--lr", 0.02, "--epochs", 2]


class Stderr(Case):
    def setUp(self):
        super().setUp()
        self.use_tmpfs()
        self.learnable_idx(self.folder / "data", train=96, test=32)
        self.cache = self.folder / "cache"
        self.ok("ingest", self.folder / "data", "--out", self.cache)

    def kinds(self):
        """Kinds of stderr by name, opened for one run of the program."""
        yield "full", lambda: open("/dev/full", "wb")
        yield "closed", lambda: None
        yield "read by nobody", self.broken_pipe

    def broken_pipe(self):
        reader, writer = os.pipe()
        os.close(reader)
        return os.fdopen(writer, "wb")

    def code(self, stderr, *args, ranks=0):
        """The exit code of winnow ARGS if nobody reads its messages."""
        command = [ROOT / "tools" / "local_mpirun", str(ranks)] if ranks else []
        command += [WINNOW, *map(str, args)]
        if stderr is None:
            command = ["sh", "-c", 'exec "$@" 2>&-', "sh", *command]
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=stderr, timeout=RUN_S).returncode

    def test_every_verb_ends_as_it_would(self):
        self.ok("train", self.cache, "--out", self.folder / "whole", *SHORT)
        whole = tensors(self.folder / "whole" / "checkpoints" / "latest" / "model.safetensors")
        for kind, opened in self.kinds():
            with self.subTest(kind=kind):
                out, cache = self.folder / f"run {kind}", self.folder / f"cache {kind}"
                verbs = [
                    (0, "ingest", self.folder / "data", "--out", cache),
                    (0, "verify", cache),
                    (0, "dedup", cache),
                    (0, "train", self.cache, "--out", out, *SHORT),
                    (0, "eval", out, self.cache),
                    (0, "onnx", out, "--to", self.folder / "net.onnx"),
                    (0, "info", cache),
                    (2, "train", self.cache, "--out", out, *SHORT),  # the run exists
                    (2, "info", self.folder / "none"),
                    (2, "train", "--no-such-flag"),
                    (1, "train", self.cache, "--out", self.folder / f"grown {kind}", *RECIPE, "--lr", 1e30, "--epochs", 2, "--warmup-epochs", 0),
                ]
                for code, *words in verbs:
                    stderr = opened()
                    self.assertEqual(self.code(stderr, *words), code, words)
                    if stderr is not None:
                        try:
                            stderr.close()
                        except OSError:
                            pass
                self.assertEqual(tensors(out / "checkpoints" / "latest" / "model.safetensors"), whole)

    def test_ranks_go_on_too(self):
        with open("/dev/full", "wb") as full:
            self.assertEqual(self.code(full, "train", self.cache, "--out", self.folder / "run", *SHORT, ranks=2), 0)
        self.assertTrue((self.folder / "run" / "summary.csv").exists())

    def started(self, out, *more, before=(), **how):
        """A training that takes a while."""
        process = subprocess.Popen([*before, WINNOW, *map(str, ["train", self.cache, "--out", out, *RECIPE, "--lr", 0.001, "--epochs", 100000, *more])], **how)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        eventually((out / "checkpoints" / "latest").exists, "a checkpoint")
        return process

    def test_a_reader_that_ends_does_not_end_a_training(self):
        """As with `winnow train 2>&1 | tee log`, where Ctrl-C ends tee first."""
        out = self.folder / "run"
        process = self.started(out, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        process.stderr.close()
        process.stderr = None
        lines = lines_of_metrics(out)
        eventually(lambda: lines_of_metrics(out) > lines + 20, "more lines of metrics")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(PATIENCE_S), 75)

    def test_a_closed_terminal_leaves_a_checkpoint(self):
        out = self.folder / "run"
        process = self.started(out, stderr=subprocess.PIPE, text=True)
        process.send_signal(signal.SIGHUP)
        _, said = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 75, said)
        self.assertIn("--resume auto", said)

    def test_under_nohup_a_closed_terminal_is_nothing(self):
        out = self.folder / "run"
        ignores = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
        process = self.started(out, stderr=subprocess.DEVNULL, preexec_fn=ignores)
        process.send_signal(signal.SIGHUP)
        lines = lines_of_metrics(out)
        eventually(lambda: lines_of_metrics(out) > lines + 20, "more lines of metrics")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(PATIENCE_S), 75)

    def test_ranks_say_what_mpirun_does(self):
        """At the SIGTERM that mpirun sends them. Here it does not come from mpirun: that of Open MPI 5 then passes on none of their messages."""
        out = self.folder / "run"
        job = self.started(out, before=[ROOT / "tools" / "local_mpirun", "2"], stderr=subprocess.PIPE, text=True)
        ranks = eventually(lambda: ranks_of(job), "ranks")
        self.assertEqual(len(ranks), 2)
        for rank in ranks:
            os.kill(rank, signal.SIGTERM)
        _, said = job.communicate(timeout=PATIENCE_S)
        self.assertIn("send SIGUSR1 to mpirun", said)
        self.assertIn("--resume auto", said)

    def test_a_reader_of_the_output_that_ends_is_nothing_to_tell(self):
        said = subprocess.run(["bash", "-c", f'"{WINNOW}" info "{self.cache}" | true; echo ${{PIPESTATUS[0]}}'], capture_output=True, text=True)
        self.assertEqual(said.stderr, "")
        self.assertIn(said.stdout.strip(), ("0", "141"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
