"""Loaders as guests of a process and a machine: shards in memory, other processes, caches that are removed, and nothing left behind."""

import importlib.util
import itertools
import json
import multiprocessing
import os
import pathlib
import pickle
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

from needs_package import ROOT, numpy, winnow

from memory_test import inside_own_mounts, needs_mounts, needs_shm
from package_test import Package
from program import ALL, PATIENCE_S, WINNOW, eventually, run


def digests_of(path, count=3, **more):
    loader = winnow.Loader(path, 36, **{"augment": "cifar", "tensors": "numpy", "threads": 1, **more})
    return [loader.next().digest() for _ in range(count)]


class InMemory(Package):
    def setUp(self):
        super().setUp()
        self.memory = self.folder / "memory"
        self.memory.mkdir()

    def copies(self):
        return self.ok("cache", "list", "--memory-dir", self.memory, "--json").json()["copies"]


class Memory(InMemory):
    def loader(self, **more):
        return winnow.Loader(self.path, 36, **{"tensors": "numpy", "memory_dir": self.memory, **more})

    def test_batches_are_those_from_disk(self):
        for augment in ("none", "cifar", "crop+flip+erase:p=0.9,value=random+mixup"):
            disk = digests_of(self.path, 5, augment=augment)
            for ranks in (1, 2, 3):
                with self.subTest(augment=augment, ranks=ranks):
                    parts = [digests_of(self.path, 5, augment=augment, rank=rank, ranks=ranks, memory_dir=self.memory) for rank in range(ranks)]
                    sums = [sum(int(digest, 16) for digest in step) % 2**64 for step in zip(*parts, strict=True)]
                    self.assertEqual([f"{sum:016x}" for sum in sums], disk)
        (row,) = self.copies()
        loader = self.loader()
        self.assertEqual((loader.copied_to, row["cache"], row["pinned"]), (row["folder"], str(self.path), False))
        self.assertIsNone(winnow.Loader(self.path, 36).copied_to)
        shards = sorted(path.name for path in (self.path / "shards").iterdir())
        for name in shards:
            self.assertEqual(pathlib.Path(row["folder"], name).read_bytes(), (self.path / "shards" / name).read_bytes())

    def test_a_state_goes_on_from_memory(self):
        first = self.loader(memory_dir=None)
        first.next()
        second = self.loader()
        second.load_state_dict(first.state_dict())
        self.assertEqual(second.next().digest(), first.next().digest())

    def test_evaluations(self):
        disk, memory = (winnow.Evaluation(self.path, 7, tensors="numpy", memory_dir=where) for where in (None, self.memory))
        self.assertEqual([batch.images.tobytes() for batch in memory], [batch.images.tobytes() for batch in disk])
        self.assertEqual(len(self.copies()), 1)

    def test_processes_and_the_program_share_one_copy(self):
        code = (f"import winnow; loader = winnow.Loader({str(self.path)!r}, 36, memory_dir={str(self.memory)!r}, threads=1); "
                "print(loader.copied_to, loader.next().digest())")  # fmt: skip
        started = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                    env={**os.environ, "RANK": str(rank), "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "4"})
                   for rank in range(4)]  # fmt: skip
        ended = [process.communicate(timeout=300) for process in started]
        self.assertEqual([process.returncode for process in started], [0] * 4, ended)
        (row,) = self.copies()
        self.assertEqual({out.split()[0] for out, _ in ended}, {row["folder"]})
        total = sum(int(out.split()[1], 16) for out, _ in ended) % 2**64
        self.assertEqual([f"{total:016x}"], digests_of(self.path, 1, augment="none"))
        trained = self.ok("train", self.path, "--out", self.folder / "run", "--net", "lenet", "--batch-size", 36, "--max-steps", 1, "--lr", 0.01,
                          "--memory-dir", self.memory)  # fmt: skip
        self.assertIn("were there already", trained.err)

    def test_a_copy_is_in_use_as_long_as_a_loader_lives_and_stays_then(self):
        loader = self.loader()
        batch = loader.next()
        copy = batch.images.copy()
        drop = ("cache", "drop", self.path, "--memory-dir", self.memory)
        self.refused(2, [f"process {os.getpid()}", "nothing of"], *drop)
        loader.close()
        self.refused(2, ["nothing of"], *drop)
        again = self.loader()
        del loader
        self.refused(2, ["nothing of"], *drop)
        pid = os.fork()
        if pid == 0:
            del again  # the parent still uses it
            os._exit(0)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        self.refused(2, ["nothing of"], *drop)
        again.next()
        del again
        self.assertEqual([row["in_use"] for row in self.copies()], [False])
        self.ok(*drop)
        self.assertEqual(list(self.memory.iterdir()), [])
        self.assertTrue((batch.images == copy).all())

    @needs_shm
    def test_memory_alone_is_that_of_the_machine(self):
        self.addCleanup(run, "cache", "drop", self.path)
        if str(self.path).startswith("/dev/shm"):
            self.assertIsNone(self.loader(memory_dir=None, memory=True).copied_to)  # it is already there, as winnow train reports
            return
        self.assertTrue(self.loader(memory_dir=None, memory=True).copied_to.startswith("/dev/shm/"))

    @needs_shm
    def test_from_a_network_file_system_it_is_read_from_a_copy_unasked(self):
        self.addCleanup(run, "cache", "drop", self.path)
        code = f"import winnow; loader = winnow.Loader({str(self.path)!r}, 36); print(loader.copied_to, loader.next().digest())"
        said = self.python(code, WINNOW_FAILPOINTS="eio=fs.type.before:cache/shards:1").split()
        self.assertRegex(said[0], "^/dev/shm/winnow-.*-copy-")
        self.assertEqual(said[1:], digests_of(self.path, 1, augment="none"))
        self.ok("cache", "drop", self.path)

    def test_errors_are_the_programs(self):
        train = ["train", self.path, "--out", self.folder / "run", "--net", "lenet", "--memory-dir"]
        nowhere = self.folder / "nowhere"
        said = self.refused(2, [str(nowhere)], *train, nowhere)
        with self.assertRaises(winnow.UsageError) as caught:
            self.loader(memory_dir=nowhere)
        self.assertIn(str(caught.exception), said.err)
        with self.assertRaisesRegex(winnow.UsageError, "nothing"):
            winnow.Loader(self.folder / "nothing", 36, memory_dir=self.memory)
        shard = next((self.path / "shards").iterdir())
        wrong = bytearray(shard.read_bytes())
        wrong[-100] ^= 1
        shard.chmod(0o644)
        shard.write_bytes(wrong)
        said = self.refused(1, [f"{shard} is damaged"], *train, self.memory)
        with self.assertRaises(winnow.DataError) as caught:
            self.loader()
        self.assertIn(str(caught.exception), said.err)
        self.assertEqual(list(self.memory.iterdir()), [])

    @needs_mounts
    def test_no_room(self):
        code = """
import sys, winnow
for ranks in (1, 2):
    try:
        winnow.Loader(sys.argv[1], 36, memory_dir=sys.argv[2], rank=0, ranks=ranks)
    except winnow.UsageError as error:
        print(error)
"""
        done = inside_own_mounts(
            """
            mount -t tmpfs -o size=32k none "$1"
            "$2" train "$3" --out "$4" --net lenet --memory-dir "$1" 2>&1 | sed -n 's/^winnow: //p'
            unset LOCAL_WORLD_SIZE OMPI_COMM_WORLD_LOCAL_SIZE
            "$5" -c "$6" "$3" "$1"
            ls -A "$1"
            """, self.memory, WINNOW, self.path, self.folder / "run", sys.executable, code)  # fmt: skip
        said = [re.sub(r"\d+ MiB", "N MiB", line) for line in done.stdout.splitlines()]
        self.assertEqual(len(said), 3, done.stdout + done.stderr)
        self.assertRegex(said[0], "where there is room for N MiB by the file system.*--memory-dir")
        self.assertEqual(said[1], said[0])
        self.assertEqual(said[2], said[0] + "; with replicas=1 each machine of the job holds a part of the cache")

    @staticmethod
    def naps(process):
        """How often the process's main thread has waited for something."""
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", status, re.MULTILINE)[1])

    def test_control_c_while_another_process_makes_the_copy(self):
        slow = subprocess.Popen([WINNOW, "cache", "load", self.path, "--memory-dir", self.memory], stderr=subprocess.PIPE,
                                env={**os.environ, "WINNOW_FAILPOINTS": "hang=file.rename.before:copy.json:1"})  # fmt: skip
        self.addCleanup(slow.communicate)
        self.addCleanup(slow.kill)
        eventually(lambda: list(self.memory.glob("*/copy.json.tmp")), "a copy that is being made")
        code = f"""
import signal, winnow
signal.signal(signal.SIGINT, signal.default_int_handler)
print("begun", flush=True)
try:
    winnow.Loader({str(self.path)!r}, 36, memory_dir={str(self.memory)!r})
    print("loaded")
except KeyboardInterrupt:
    print("stopped")
"""
        waits = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        self.addCleanup(waits.kill)
        self.assertEqual(waits.stdout.readline(), "begun\n")
        begun = self.naps(waits)
        eventually(lambda: waits.poll() is not None or self.naps(waits) > begun + 20, "a process that looks again and again")
        self.assertIsNone(waits.poll())
        waits.send_signal(signal.SIGINT)
        self.assertEqual(waits.communicate(timeout=PATIENCE_S)[0], "stopped\n")
        self.assertIsNone(slow.poll())


class Machines:
    """Ranks that are each treated as a machine with its own part. This holds for any way in which they communicate."""

    CODE = """
import json, os, signal, sys, time, numpy, winnow
def loader(**more):
    return winnow.Loader({path!r}, 36, **{{"augment": "cifar", "threads": 1, "tensors": "numpy", "memory_dir": {memory!r}, "replicas": 1,
                                          "ranks_per_machine": 1, **more}})
"""

    def write(self, code):
        """What each rank runs. What is to have a name of its own in BEGIN begins with that of the script."""
        script = self.folder / f"ranks-{len(list(self.folder.glob('ranks-*.py')))}.py"
        script.write_text((self.CODE + self.BEGIN).format(path=str(self.path), memory=str(self.memory), script=str(script)) + code)
        return script

    def sums(self, parts):
        return [f"{sum(int(digest, 16) for digest in step) % 2**64:016x}" for step in zip(*parts, strict=True)]

    CASES = ({}, {"replicas": 2}, {"augment": "crop+mixup", "micro_batch": 6}, {"sampling": "balanced", "seed": 7})

    def test_batches_are_those_of_one_machine(self):
        state = winnow.Loader(self.path, 36, augment="cifar", tensors="numpy")
        for _ in range(5):
            state.next()
        code = f"""
for more in {self.CASES!r}:
    own = loader(**more)
    seen = []
    for _ in range(8):
        seen.append(own.next().digest())
        own_traffic()
    told([seen, own.copied_to, own.received_bytes])
    own.close()
own = loader(epochs=3)
own.load_state_dict({state.state_dict()!r})
seen = [batch.digest() for batch in own]  # the rest of its epoch
own.set_epoch(0)
told(seen + [batch.digest() for batch in own])
"""
        told = self.told(3, code)
        for at, more in enumerate(self.CASES):
            with self.subTest(**more):
                plain = {name: value for name, value in more.items() if name != "replicas"}
                self.assertEqual(self.sums([rank[at][0] for rank in told]), digests_of(self.path, 8, **plain))
                self.assertEqual(len({rank[at][1] for rank in told}), 3)
                # With two replicas on three machines, the first machine has one to itself.
                self.assertEqual([rank[at][2] > 0 for rank in told], [more.get("replicas") != 2, True, True])
        whole = digests_of(self.path, 9)
        self.assertEqual(self.sums([rank[-1] for rank in told]), whole[5:6] + whole[:3])  # epochs begin at batches 0, 3, 6
        copies = [json.loads(path.read_text()).get("ids", [[0, 119]]) for path in self.memory.glob("*/copy.json")]
        held = sorted(sum(last - first + 1 for first, last in runs) for runs in copies)
        self.assertEqual((len(held), sum(held), held[-1]), (6, 120 + 240, 120))  # one replica, and two
        self.assertLess(held[-2], 80)

    def test_a_state_goes_on_on_another_number_of_machines(self):
        code = """
own = loader()
told([own.next().digest() for _ in range(4)])
told(own.state_dict())
"""
        first = self.told(2, code)
        self.assertEqual(first[0][1], first[1][1])
        then = self.told(3, f"own = loader()\nown.load_state_dict({first[0][1]!r})\ntold([own.next().digest() for _ in range(4)])")
        self.assertEqual(self.sums([rank[0] for rank in first]) + self.sums([rank[0] for rank in then]), digests_of(self.path, 8))

    def test_ends_in_the_middle_without_a_word(self):
        for end in ("", "del own; end()"):
            with self.subTest(end=end):
                self.told(2, f"own = loader()\nown.next()\n{end}\n")

    def test_what_fails_on_one_rank_is_an_error_on_all(self):
        told = self.told(2, f"""
for more in ({{"rank": 0, "ranks": 3}}, {{"replicas": 0}}, {{"ranks_per_machine": -1}}, {{"memory_dir": {str(self.folder / "nowhere")!r}}} if rank == 1 else {{}}, {{"selection": "far"}}):
    try:
        loader(**more)
    except winnow.UsageError as error:
        told(str(error))
""")  # fmt: skip
        for rank in told:
            for said, word in zip(rank, ("rank 0 of 3", "replica", "ranks_per_machine", "", "far"), strict=True):
                self.assertIn(word, said)
        self.assertIn("another rank failed", told[0][3])
        self.assertIn("nowhere", told[1][3])


@unittest.skipUnless(importlib.util.find_spec("torch"), "this Python has no torch")
class MachinesOfTorch(Machines, InMemory):
    BEGIN = """
import torch
import torch.distributed as d
rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
d.init_process_group("gloo", init_method="file://" + {script!r} + "-meet", rank=rank, world_size=ranks)
def told(what):
    print(json.dumps(what), flush=True)
def own_traffic():
    d.all_reduce(torch.ones(3))
end = d.destroy_process_group
"""

    def start(self, ranks, code, commands=None):
        script = self.write(code)
        started = []
        for rank in range(ranks):
            command = [sys.executable, str(script)]
            started.append(subprocess.Popen(commands[rank](command) if commands else command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                            env={**os.environ, "RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(ranks),
                                                 "OMP_NUM_THREADS": "1", "TORCH_CPP_LOG_LEVEL": "ERROR"}))  # fmt: skip
            self.addCleanup(started[-1].communicate)
            self.addCleanup(started[-1].kill)
        return started

    def told(self, ranks, code, commands=None):
        """Rows of what each rank reported. All must end well and print nothing else."""
        started = self.start(ranks, code, commands)
        ended = [process.communicate(timeout=300) for process in started]
        self.assertEqual([(process.returncode, err) for process, (_, err) in zip(started, ended, strict=True)], [(0, "")] * ranks)
        return [[json.loads(line) for line in out.splitlines()] for out, _ in ended]

    def test_a_rank_that_dies_is_no_hang(self):
        ranks = self.start(2, """
own = loader(ahead=1)
try:
    while True:
        own.next()
        if rank == 1:
            os.kill(os.getpid(), 9)
except winnow.SystemFault as error:
    told(str(error))
""")  # fmt: skip
        out, err = ranks[0].communicate(timeout=PATIENCE_S)
        self.assertEqual(ranks[0].returncode, 0, err)
        self.assertRegex(out, "torch.distributed failed: .*start the job again")

    def test_control_c_while_another_rank_is_waited_for(self):
        ranks = self.start(2, """
signal.signal(signal.SIGINT, signal.default_int_handler)
own = loader()
own.next()
if rank == 1:
    time.sleep(600)
try:
    told("begun")
    while True:
        own.next()
except KeyboardInterrupt:
    told("stopped")
""")  # fmt: skip
        self.assertEqual(ranks[0].stdout.readline(), '"begun"\n')
        time.sleep(1)  # usually it waits by then; it is stopped wherever it is
        ranks[0].send_signal(signal.SIGINT)
        self.assertEqual(ranks[0].stdout.readline(), '"stopped"\n')
        ranks[1].kill()
        self.assertEqual((ranks[0].communicate(timeout=PATIENCE_S)[1], ranks[0].returncode), ("", 0))

    def test_a_rank_that_fails_leaves_its_loader_without_waiting(self):
        ranks = self.start(2, """
try:
    with loader(ahead=1) as own:
        own.next()
        if rank == 1:
            raise LookupError("of this rank")
        while True:
            own.next()
except (LookupError, winnow.SystemFault) as error:
    told(type(error).__name__)
""")  # fmt: skip
        said = [rank.communicate(timeout=PATIENCE_S) for rank in ranks]
        self.assertEqual([(rank.returncode, out) for rank, (out, _) in zip(ranks, said, strict=True)],
                         [(0, '"SystemFault"\n'), (0, '"LookupError"\n')], said)  # fmt: skip

    def test_an_end_right_after_a_call_says_nothing(self):
        """A gloo thread still uses the tensors of the last call then. To make sure of that, it is denied the interpreter's lock."""
        script = self.folder / "ends.py"
        script.write_text(f"""
import os, sys, numpy, torch, torch.distributed
from winnow.group_torch import TorchGroup
ended = []
for job in range(6):
    ranks = []
    for rank in range(2):
        ranks.append(os.fork())
        if ranks[-1] == 0:
            meet = "file://{self.folder}/meet-" + str(job)
            torch.distributed.init_process_group("gloo", init_method=meet, rank=rank, world_size=2)
            group = TorchGroup(torch.distributed)
            sys.setswitchinterval(1000)
            for _ in range(3):
                group.maximum(numpy.ones(1, numpy.int32))
            sys.exit()
    ended += [os.waitpid(pid, 0)[1] for pid in ranks]
print(ended)
""")
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300,
                              env={**os.environ, "OMP_NUM_THREADS": "1", "TORCH_CPP_LOG_LEVEL": "ERROR"})  # fmt: skip
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, f"{[0] * 12}\n", ""))

    def test_without_a_process_group(self):
        with self.assertRaisesRegex(winnow.UsageError, "init_process_group"):
            winnow.Loader(self.path, 36, memory_dir=self.memory, replicas=1)

    @needs_mounts
    def test_a_machine_that_has_no_cache_gets_it_from_the_others(self):
        own = self.folder / "own"
        own.mkdir()
        self.path = self.path.rename(own / "cache")
        here = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"]), "bash", "-c",
                f'mount -t tmpfs -o size=1m none "{own}" && exec "$@"', "bash"]  # fmt: skip
        told = self.told(2, "own = loader()\ntold([os.path.exists(" + repr(str(self.path)) + "), [own.next().digest() for _ in range(6)]])",
                         [lambda command: command, lambda command: [*here, *command]])  # fmt: skip
        self.assertEqual([rank[0][0] for rank in told], [True, False])
        self.assertEqual(self.sums([rank[0][1] for rank in told]), digests_of(self.path, 6))


@unittest.skipUnless(importlib.util.find_spec("mpi4py") and shutil.which("mpirun"), "this Python has no mpi4py, or there is no mpirun")
class MachinesOfMpi(Machines, InMemory):
    BEGIN = """
rank, ranks = int(os.environ["OMPI_COMM_WORLD_RANK"]), int(os.environ["OMPI_COMM_WORLD_SIZE"])
def told(what):
    with open({script!r} + "-told-" + str(rank), "a") as file:
        print(json.dumps(what), file=file)
def own_traffic():
    from mpi4py import MPI
    MPI.COMM_WORLD.Allreduce(MPI.IN_PLACE, numpy.ones(3))
def end():
    from mpi4py import MPI
    MPI.Finalize()
"""

    def told(self, ranks, code):
        script = self.write(code)
        told = [pathlib.Path(f"{script}-told-{rank}") for rank in range(ranks)]
        for file in told:
            file.touch()
        # env: local_mpirun takes the file that a link leads to, and a Python of a virtual environment is a link.
        done = subprocess.run([ROOT / "tools" / "local_mpirun", str(ranks), shutil.which("env"), sys.executable, script],
                              capture_output=True, text=True, env={**os.environ, "WINNOW_MPI_TIMEOUT": "300"})  # fmt: skip
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        return [[json.loads(line) for line in file.read_text().splitlines()] for file in told]

    def test_ranks_without_mpi4py_are_told_what_to_install(self):
        (told,) = self.told(1, """
sys.modules["mpi4py.MPI"] = None
try:
    loader()
except winnow.UsageError as error:
    told(str(error))
""")  # fmt: skip
        self.assertIn("python3-mpi4py", told[0])


class Processes(Package):
    def test_a_loader_is_not_carried_to_another_process(self):
        loader = winnow.Loader(self.path, 36)
        for carry in (pickle.dumps, lambda loader: multiprocessing.get_context("spawn").Process(target=print, args=(loader,)).start()):
            with self.assertRaisesRegex(winnow.UsageError, "process that uses it"):
                carry(loader)

    def test_processes_that_are_forked_or_spawned_make_their_own(self):
        """Next to one whose threads are working."""
        here = winnow.Loader(self.path, 36, augment="cifar", tensors="numpy")
        first = here.next().digest()
        expected = digests_of(self.path)
        self.assertEqual(first, expected[0])
        for method in ("spawn", "fork"):
            with self.subTest(method=method), multiprocessing.get_context(method).Pool(2) as pool:
                self.assertEqual(pool.map(digests_of, [self.path] * 4), [expected] * 4)
        self.assertEqual(here.next().digest(), expected[1])

    RANK = """
import json, os, pathlib, sys, time
import winnow
path, folder, rank, ranks, step, last = sys.argv[1], pathlib.Path(sys.argv[2]), *map(int, sys.argv[3:])
loader = winnow.Loader(path, 36, augment="cifar", tensors="numpy", threads=1, rank=rank, ranks=ranks)
if step:
    loader.load_state_dict(json.loads((folder / f"state-{step}").read_text()))
with open(folder / f"rank-{rank}", "w") as out:
    while step < last:
        batch = loader.next()
        step += 1
        if rank == 0 and step % 3 == 0:
            (folder / "state").write_text(json.dumps(loader.state_dict()))
            os.replace(folder / "state", folder / f"state-{step}")
        print(json.dumps([step, batch.digest(), batch.ids.tolist()]), file=out, flush=True)
        time.sleep(0.01)
"""

    def test_random_kills_repeat_and_lose_nothing(self):
        """All ranks are killed at any time, as when a machine goes, and another number of ranks resumes."""
        last, most = 24, 50 if ALL else 6
        script = self.folder / "rank.py"
        script.write_text(self.RANK)
        whole = winnow.Loader(self.path, 36, augment="cifar", tensors="numpy", threads=1)
        batches = [whole.next() for _ in range(last)]
        due = [(batch.digest(), sorted(batch.ids.tolist())) for batch in batches]
        kills, length = 0, None  # length: seconds of the first job, which is not killed
        for job in itertools.count():
            folder = self.folder / f"run-{job}"
            folder.mkdir()
            at, found = 0, []
            while at < last:
                count = self.random.randint(1, 3)
                begin = time.monotonic()
                ranks = [subprocess.Popen([sys.executable, script, self.path, folder, *map(str, (rank, count, at, last))]) for rank in range(count)]
                if length and kills < most:
                    time.sleep(self.random.uniform(0, length))
                    kills += any(rank.poll() is None for rank in ranks)
                    for rank in ranks:
                        rank.kill()
                self.assertLessEqual({rank.wait() for rank in ranks}, {0, -signal.SIGKILL})
                length = length or time.monotonic() - begin
                parts = [path.read_text().split("\n")[:-1] if path.exists() else [] for path in (folder / f"rank-{rank}" for rank in range(count))]
                steps = list(zip(*([json.loads(line) for line in part] for part in parts)))  # completed by all ranks
                reached = at + len(steps)
                saved = [step for step in range(at + 1, reached + 1) if step == last or (folder / f"state-{step}").exists()]
                for rows in steps[: (saved[-1] if saved else at) - at]:
                    digest = sum(int(digest, 16) for _, digest, _ in rows) % 2**64
                    found.append((f"{digest:016x}", sorted(id for _, _, ids in rows for id in ids)))
                at = len(found)
                for path in folder.glob("rank-*"):
                    path.unlink()
            self.assertEqual(found, due)
            if kills == most:
                break

    def test_threads_load_side_by_side(self):
        from concurrent.futures import ThreadPoolExecutor

        expected = digests_of(self.path)
        with ThreadPoolExecutor(4) as threads:
            self.assertEqual(list(threads.map(digests_of, [self.path] * 12)), [expected] * 12)


def at_once_or_fails(picture):
    if picture.max() > 0:
        raise LookupError("of the transform")
    return picture


class Faults(Package):
    def test_a_cache_that_is_deleted_while_it_is_open(self):
        """Whatever is open continues to work; opening it again gives an error."""
        expected = digests_of(self.path, 6)
        cache = winnow.Cache(self.path)
        payloads = [record.payload for record in cache]
        loader = winnow.Loader(self.path, 36, augment="cifar", tensors="numpy", threads=1)
        seen = [loader.next().digest()]
        dataset = winnow.Dataset(cache)
        shutil.rmtree(self.path)
        seen += [loader.next().digest() for _ in range(3)]
        loader.close()  # and started again
        seen += [loader.next().digest() for _ in range(2)]
        self.assertEqual(seen, expected)
        self.assertEqual([record.payload for record in cache], payloads)
        self.assertEqual(len(list(dataset)), 96)
        for call in (lambda: cache.selection("near"), lambda: cache.ledger(), lambda: cache.fingerprints(), lambda: winnow.Cache(self.path),
                     lambda: winnow.Loader(cache, 36), lambda: winnow.verify(self.path)):  # fmt: skip
            with self.assertRaisesRegex(winnow.Error, re.escape(str(self.path))):
                call()
        pid = os.fork()
        if pid == 0:  # a child would have to open it again
            try:
                cache[0]
            except winnow.Error:
                os._exit(0)
            os._exit(1)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)

    def test_a_cache_that_is_replaced_while_it_is_open(self):
        cache = winnow.Cache(self.path)
        payload = cache[0].payload
        other = self.folder / "other"
        self.ok("ingest", self.source, "--out", other, "--hash", "dhash")
        self.path.rename(self.folder / "aside")
        other.rename(self.path)
        self.assertEqual(cache[0].payload, payload)
        pid = os.fork()
        if pid == 0:
            try:
                cache[0]
            except winnow.DataError as error:
                os._exit(0 if "replaced" in str(error) else 2)
            os._exit(1)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)

    def test_ids_of_other_types_and_shapes(self):
        cache = winnow.Cache(self.path)
        ids = cache.ids
        whole = cache.load(ids[:20:2].copy()).images.tobytes()
        for given in (ids[:20:2], ids[:20:2].astype(numpy.int32), ids[:20:2].tolist(), numpy.repeat(ids[:20], 2)[::4], ids[:20:2].astype(">u8")):
            self.assertEqual(cache.load(given).images.tobytes(), whole)
        self.assertEqual(cache.names(ids[18::-2]), cache.names(ids[:20:2].tolist())[::-1])
        for given in (ids[:4].astype(numpy.float64), [0.5], [True], ids[:4].reshape(2, 2), 3, [-1], ["0"], None):
            for call in (cache.load, cache.names):
                with self.subTest(given=given), self.assertRaisesRegex(winnow.UsageError, "ids must be"):
                    call(given)
        self.assertEqual(len(cache.load([])), 0)

    def test_weights_of_other_types_and_layouts(self):
        cache = winnow.Cache(self.path)
        weights = numpy.linspace(0, 3, 240).reshape(120, 2)
        plain = cache.select("mine", weights[:, 1].copy())
        for given in (weights[:, 1], weights[:, 1].astype(">f8"), weights[::-1, 1].copy()[::-1], weights[:, 1].tolist()):
            self.assertEqual(cache.select("mine", given), plain)
        self.assertEqual(cache.select("mine", numpy.arange(120) % 2 == 0).mask().tolist(), [row % 2 == 0 for row in range(120)])
        for given in (weights, ["a"] * 120, [1] * 119):
            with self.subTest(given=given), self.assertRaises((ValueError, TypeError)):
                cache.select("mine", given)

    def test_what_a_progress_callback_raises_leaves_the_old_selection(self):
        class Own(Exception):
            pass

        def fail(done, total):
            raise Own("enough")

        many = self.folder / "many"  # more than are compared at once
        self.write_idx(many, "train", [self.random.randbytes(16 * 16) for _ in range(1200)], [0] * 1200, 16)
        path = self.folder / "many-cache"
        winnow.ingest(many, path, hashes=["phash16"])
        seen = []
        winnow.dedup(path, hash="phash16", threshold=2, progress=lambda done, total: seen.append((done, total)))
        self.assertEqual((seen, seen[-1]), (sorted(seen), (1200, 1200)))
        before = (path / "selections" / "default.selection").read_bytes()
        with self.assertRaisesRegex(Own, "enough"):
            winnow.dedup(path, hash="phash16", threshold=70, progress=fail)
        self.assertEqual((path / "selections" / "default.selection").read_bytes(), before)
        self.assertEqual(winnow.Cache(path).selections(), ["default"])

    def test_what_a_transform_raises_comes_out_of_workers(self):
        dataset = winnow.Dataset(self.path, transform=at_once_or_fails)
        with self.assertRaisesRegex(LookupError, "of the transform"):
            dataset[0]
        for method in ("spawn", "fork"):
            with self.subTest(method=method), multiprocessing.get_context(method).Pool(2) as pool:
                with self.assertRaisesRegex(LookupError, "of the transform"):
                    pool.map(dataset.__getitem__, range(8))
        self.assertEqual(len(winnow.Dataset(self.path)[0][0]), self.SIDE)


class Lifetimes(Package):
    @staticmethod
    def held():
        """Bytes in memory, threads, open files."""
        bytes_held = int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096
        return bytes_held, len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))

    def test_many_loaders_leave_nothing(self):
        """Left half-way, closed, read from memory, iterated, and failed: 300, or 10,000 with WINNOW_TEST_ALL=1."""
        memory = self.folder / "memory"
        memory.mkdir()

        def one(number):
            kind = number % 5
            more = {"memory_dir": memory} if kind == 2 else {}
            if kind == 4:
                with self.assertRaises(winnow.UsageError):
                    winnow.Loader(self.path, 36, rank=40, ranks=41)
                return
            loader = winnow.Loader(self.path, 36, tensors="numpy", threads=1, augment="cifar", epochs=1, **more)
            if kind == 3:
                self.assertEqual(len(list(loader)), 3)
            else:
                loader.next()
            if kind == 1:
                loader.close()

        for number in range(200):
            one(number)
        before = self.held()
        for number in range(10_000 if ALL else 300):
            one(number)
        after = self.held()
        self.assertLess(after[0] - before[0], 8 << 20)
        self.assertEqual(after[1:], before[1:])


if __name__ == "__main__":
    unittest.main()
