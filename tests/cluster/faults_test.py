"""A fault of each kind on four hosts, one after the other: the sentence that names it, how it ends, and the results of a run that nothing happened to.

Many at random, with the times that people are given by default: tests/bench/faults/measure.
"""

import os
import pathlib
import tempfile
import unittest

import faults
from hosts_case import PATIENCE_S, TMPFS, HostsCase

STALL_S, HANG_S = 5, 8


class FaultsTest(HostsCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        temporary = tempfile.TemporaryDirectory(dir=TMPFS)
        cls.addClassCleanup(temporary.cleanup)
        folder = pathlib.Path(temporary.name)
        cls.setup_of = faults.Setup(os.environ["WINNOW"], os.environ["HUNG_DISK"], folder, STALL_S, HANG_S)
        faults.make_cache(cls.setup_of.winnow, folder)
        cls.hosts = faults.Hosts(folder)
        cls.addClassCleanup(cls.hosts.close)

    def setUp(self):
        self.setup_of.learns = ()

    def start(self, name, *more):
        job = faults.Job(self.setup_of, self.hosts, self.setup_of.folder / name, *more)
        self.addCleanup(job.end)
        self.assertTrue(job.within(PATIENCE_S, lambda: job.is_over() or job.has_begun()) and not job.is_over(), job.text())
        return job

    def meet(self, job, *hit):
        """Runs the faults. Each is named, and nobody else is. A rank is named as slow only if metrics show that it is."""
        faults.happen(job, hit, patience_s=PATIENCE_S)  # the benchmark judges how soon
        for fault in hit:
            if isinstance(fault, faults.Slowed) and not fault.named and not faults.is_slow(job, fault.rank):
                print("the machine is so busy that the slowed rank is no slower than others")
                continue
            self.assertTrue(fault.named, f"{fault.kind}: {job.text()}")
        self.assertEqual(faults.accused_wrongly(job), [])

    def check(self, job):
        """Stopped at a checkpoint, the results are those of an undisturbed run."""
        job.within(PATIENCE_S, lambda: job.is_over() or job.checkpoints())
        self.assertEqual(job.ask_to_stop(), 75, job.text())
        reference = faults.undisturbed(self.setup_of, job.steps())
        self.assertEqual(faults.same_as_undisturbed(job, reference) + faults.census_differs(job, reference), [])

    def test_what_passes_is_named_and_the_run_goes_on(self):
        self.setup_of.hang_s = 1800
        job = self.start("run")
        link = faults.Cut(3)
        link.lasts_s = 0
        rounds = [[faults.Frozen(1), link], [faults.HungDisk(2)], [faults.Slowed(1)]]
        if os.environ.get("WINNOW_TEST_ALL") == "1":  # a busy machine takes cores from all ranks
            rounds.append([faults.CoreTaken(3)])
        for hit in rounds:
            self.meet(job, *hit)
            job.within(PATIENCE_S, lambda so_far=job.steps(): job.is_over() or job.steps() >= so_far + 3)
        self.check(job)
        self.assertEqual(faults.accused_wrongly(job), [])  # nor meanwhile

    def test_what_does_not_pass_is_named_and_the_run_ends_and_goes_on(self):
        self.does_not_pass("other", killed=2, frozen=0)

    def test_a_pipeline_that_is_disturbed_has_the_results_of_one_process(self):
        """Ranks of either stage."""
        self.setup_of.learns = ("--local", "greedy", "--stages", "2")
        pipeline = ("--pipeline", "--stage-ranks", "3,1")
        self.setup_of.hang_s = 1800
        job = self.start("pipeline", *pipeline)
        link = faults.Cut(1)
        link.lasts_s = 0
        for hit in ([faults.Frozen(3)], [link]):
            self.meet(job, *hit)
            job.within(PATIENCE_S, lambda so_far=job.steps(): job.is_over() or job.steps() >= so_far + 3)
        self.check(job)
        self.does_not_pass("stages", *pipeline, killed=3, frozen=1)

    def does_not_pass(self, name, *more, killed, frozen):
        self.setup_of.hang_s = HANG_S
        job = self.start(name, *more)
        self.meet(job, faults.Killed(killed))
        self.assertNotIn(job.process.returncode, (0, 2, 3, 75), job.text())  # 137; with Open MPI 5, the codes with which ranks end by themselves
        job = self.start(name, *more, "--resume", "auto")
        code = 75 if job.checkpoints() else 1
        self.meet(job, faults.FrozenForEver(frozen))
        self.assertEqual(job.process.returncode, code, job.text())
        job = self.start(name, *more, "--resume", "auto")
        self.check(job)


if __name__ == "__main__":
    unittest.main()
