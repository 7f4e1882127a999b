"""Processes of a launcher that MPI does not see as ranks of one job are refused, with the command to type instead."""

import os
import socket
import unittest

from program import Case, run

TORCHRUN = {"WORLD_SIZE": "2", "RANK": "0", "LOCAL_RANK": "0", "TORCHELASTIC_RUN_ID": "none"}
SRUN = {"SLURM_STEP_NUM_TASKS": "4", "SLURM_NTASKS": "4", "SLURM_PROCID": "0"}
WRONG = (
    ({"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "0"}, ["mpirun started 4 ranks", "MPI sees each alone", "type mpirun -np 4 winnow"]),
    ({"PMI_SIZE": "4", "PMI_RANK": "0"}, ["started 4 ranks", "MPI sees each alone", "srun --mpi=pmix -n 4"]),
    (SRUN, ["srun started 4 tasks", "MPI sees each alone", "type srun --mpi=pmix -n 4 winnow"]),
    (TORCHRUN, ["torchrun", "started 2 processes", "type mpirun -np 2 winnow", "env -u WORLD_SIZE"]),
)
# A shell in a batch job, one process under torchrun, one rank under mpirun, one task under srun.
RIGHT = (
    {"SLURM_NTASKS": "8", "SLURM_NPROCS": "8", "SLURM_PROCID": "0", "SLURM_JOB_ID": "3"},
    {**TORCHRUN, "WORLD_SIZE": "1"},
    {"OMPI_COMM_WORLD_SIZE": "1", "SLURM_STEP_NUM_TASKS": "3", "SLURM_PROCID": "1"},
    {**SRUN, "SLURM_STEP_NUM_TASKS": "1"},
)


class Launch(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "images/train/a").mkdir(parents=True)
        (self.folder / "images/train/a/one.ppm").write_bytes(b"P6\n16 16\n255\n" + bytes(range(256)) * 3)

    def ingest(self, name):
        return "ingest", self.folder / "images", "--out", self.folder / name

    def test_what_mpi_does_not_see_is_refused(self):
        for variables, words in WRONG:
            with self.subTest(variables=variables):
                self.refused(2, words, *self.ingest("cache"), env=variables)
                self.refused(2, words, "cache", "load", self.folder / "cache", env=variables)
                self.assertFalse((self.folder / "cache").exists())

    def test_what_announces_one_is_one(self):
        for number, variables in enumerate(RIGHT):
            with self.subTest(variables=variables):
                self.ok(*self.ingest(f"cache-{number}"), env=variables)

    def test_verbs_of_one_process_run_where_nothing_joins_them(self):
        for variables in (SRUN, TORCHRUN):
            self.ok("hash", self.folder / "images", "--hash", "phash", env=variables)
        self.refused(2, ["one process", "without mpirun"], "tune", self.folder / "cache", env={"OMPI_COMM_WORLD_SIZE": "4"})

    def test_torchrun_on_each_machine_that_mpirun_started(self):
        self.ok(*self.ingest("one"), ranks=2, env={**TORCHRUN, "WORLD_SIZE": "2"})
        refused = run(*self.ingest("four"), ranks=2, env={**TORCHRUN, "WORLD_SIZE": "8"})
        self.assertEqual(refused.code, 2, refused.err)
        self.assertIn("started 8 processes, but MPI sees each alone", refused.err)

    def test_machines_are_told_before_the_first_step(self):
        self.ok(*self.ingest("cache"))
        for ranks in (0, 2):
            train = ["train", self.folder / "cache", "--out", self.folder / f"run-{ranks}", "--net", "lenet", "--image-size", 28, "--batch-size", 4]
            said = self.ok(*train, "--micro-batch", 2, "--epochs", 1, "--threads", 1, "--json", ranks=ranks)
            (machine,) = said.json()["machines"]
            self.assertEqual(machine["ranks"], list(range(max(1, ranks))))
            self.assertEqual(machine["cores_each"], len(os.sched_getaffinity(0)))  # local_mpirun binds no rank
            self.assertEqual(machine["binding"], "none")
            lines = [line for line in said.err.splitlines() if line.startswith(f"{socket.gethostname()}: rank")]
            self.assertEqual(len(lines), 1, said.err)
            self.assertIn(f"on {machine['cores']} of {machine['cores_online']} core", lines[0])
            self.assertIn(machine["build"], lines[0])
            self.assertNotIn("stay idle", said.err)


if __name__ == "__main__":
    unittest.main()
