"""Warnings of the header about where ranks run and who started them."""

import os
import re
import unittest
from pathlib import Path
from unittest.mock import patch

from keel_runner import ONCE, KeelTest, Run

SMALL = ["problem.box=4", "multigrid.bottom_box=2", *ONCE]
CPU = str(min(os.sched_getaffinity(0)))


def processors(text: str) -> set[int]:
    """The numbers of a list like "0-1,4"."""
    ends = [part.split("-") for part in text.split(",")]
    return {n for end in ends for n in range(int(end[0]), int(end[-1]) + 1)}


class Binding(KeelTest):
    def setUp(self) -> None:
        mpi = self.valid(1, *SMALL).record("run")["mpi"]
        self.unbound = ["--bind-to", "none"] if "Open MPI" in mpi else []

    def turns(self, run: Run) -> list[str]:
        warnings = [warning for warning in run.record("run")["warnings"] if "take turns" in warning]
        self.assertEqual(run.record("run")["shared_cores"], bool(warnings), run)
        for warning in warnings:
            self.assertIn(f"\nwarning   {warning}\n", run.stdout)
        return warnings

    def test_all_ranks_on_one_processor(self) -> None:
        mpiexec = str(self.mpiexec)
        with patch.object(type(self), "mpiexec", "taskset"):
            (warning,) = self.turns(self.valid(2, *SMALL, mpi=["-c", CPU, mpiexec, *self.unbound]))
        self.assertRegex(warning, r"^2 ranks x 1 thread on 1 processor: they take turns, .*; start at most 1 rank")
        if len(os.sched_getaffinity(0)) > 1:
            self.assertIn(f"they may run on processor {CPU} only", warning)
            self.assertRegex(warning, "mpiexec --bind-to.*srun --cpu-bind")

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one processor has no two places")
    def test_ranks_that_have_room(self) -> None:
        self.assertEqual(self.turns(self.valid(2, *SMALL, mpi=self.unbound)), [])
        # OpenMP's own binding narrows the first thread, not the others.
        for binding in ({"OMP_PROC_BIND": "close", "OMP_PLACES": "cores"}, {"OMP_PROC_BIND": "TRUE"}):
            with patch.dict(os.environ, binding), self.subTest(binding):
                run = self.valid(1, *SMALL, threads=2, mpi=self.unbound)
                self.assertEqual(self.turns(run), [])
                (used,) = map(processors, run.record("run")["bindings"])
                self.assertGreaterEqual(len(used), 2, run)
                self.assertLessEqual(used, os.sched_getaffinity(0), run)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one processor has no two places")
    def test_threads_that_openmp_binds_to_one_processor(self) -> None:
        place = f"{{{CPU}}}"
        for binding in (
            {"OMP_PLACES": place, "OMP_PROC_BIND": "true"},
            {"OMP_PLACES": place, "OMP_PROC_BIND": "Close"},
            {"GOMP_CPU_AFFINITY": CPU},
            {"OMP_PROC_BIND": "master", "OMP_PLACES": "threads"},
        ):
            with patch.dict(os.environ, binding), self.subTest(binding):
                (warning,) = self.turns(run := self.valid(None, *SMALL, threads=2))
                self.assertTrue(warning.startswith("1 rank x 2 threads on 1 processor: "), run)
                self.assertIn("OMP_PLACES)", warning)
        with patch.dict(os.environ, {"OMP_PROC_BIND": "False"}):
            (warning,) = self.turns(run := self.run_keel(None, *SMALL, threads=2, under=["taskset", "-c", CPU]))
        self.assertTrue(warning.startswith("1 rank x 2 threads on 1 processor: "), run)
        self.assertEqual(run.record("run")["bindings"], [CPU])

    def test_threads_reported_are_those_that_run(self) -> None:
        for environment in ({"OMP_THREAD_LIMIT": "1"}, {"OMP_DYNAMIC": "true"}, {"OMP_MAX_ACTIVE_LEVELS": "0"}):
            shown = {"OMP_DISPLAY_AFFINITY": "true", "OMP_AFFINITY_FORMAT": "thread %n of %N."}
            with patch.dict(os.environ, environment | shown), self.subTest(environment):
                run = self.valid(None, *SMALL, threads=33)
                running = map(int, re.findall(r"thread \d+ of (\d+)\.", run.stdout + run.stderr))
                self.assertEqual(run.record("run")["threads"], max(running, default=1), run)

    def test_without_a_number_of_threads_ranks_share_the_processors(self) -> None:
        unset = ["env", "-u", "OMP_NUM_THREADS"]
        mine = sorted(os.sched_getaffinity(0))
        half = max(1, len(mine) // 2)
        for ranks, before, expected in (
            (None, [], len(mine)), (2, [], half), (len(mine) + 1, [], 1), (None, ["taskset", "-c", str(mine[0])], 1),
            (None, ["env", "OMP_PROC_BIND=true"], len(mine)), (None, ["env", "OMP_NUM_THREADS=1"], 1),
        ):  # fmt: skip
            with self.subTest(ranks=ranks, before=before):
                run = self.run_keel(ranks, "problem.box=8", f"problem.boxes=[{ranks or 1},1,1]", *ONCE, under=[*unset, *before])
                self.assertEqual((run.status, run.record("run")["threads"]), (0, expected), run)
                chosen = "as OMP_NUM_THREADS is not set: processors / ranks"
                self.assertEqual(chosen in run.stdout, "OMP_NUM_THREADS=1" not in before)
                if expected * (ranks or 1) <= len(mine):
                    self.assertEqual([text for text in run.record("run")["warnings"] if "take turns" in text], [])

    def test_ranks_take_devices_in_turns(self) -> None:
        if "gpu_emulated" not in self.text(None, "--backends"):
            self.skipTest("gpu_emulated is not compiled in")
        with patch.dict(os.environ, {"KEEL_EMULATED_DEVICES": "2"}):
            devices = self.valid(4, *SMALL, "run.backend=gpu_emulated").record("run")["devices"]
        self.assertEqual("".join(device.split()[0] for device in devices), "0101")

    def test_a_quota_of_processor_time(self) -> None:
        root = Path("/sys/fs/cgroup")
        first = (root / "cpu").is_dir()
        parent = (root / "cpu" if first else root) / f"keel_test_{os.getpid()}"
        try:
            (parent / "step").mkdir(parents=True)
            self.addCleanup(lambda: [folder.rmdir() for folder in (parent / "step", parent)])
            (parent / ("cpu.cfs_quota_us" if first else "cpu.max")).write_text("50000" if first else "50000 100000")
        except OSError as error:
            self.skipTest(str(error))
        entering = ["sh", "-c", f'echo $$ > {parent}/step/cgroup.procs && exec "$@"', "sh"]
        run = self.run_keel(None, *SMALL, threads=2, under=entering)
        (warning,) = (some for some in run.record("run")["warnings"] if "quota" in some)
        self.assertIn(f"1 rank x 2 threads on a quota of 0.5 processors (control group {parent}): ", warning)
        self.assertTrue(run.record("run")["shared_cores"], run)


class Starting(KeelTest):
    def warnings(self, ranks: int | None, **environment: str) -> list[str]:
        with patch.dict(os.environ, environment):
            return self.valid(ranks, *SMALL, mpi=()).record("run")["warnings"]

    def test_one_rank_of_a_starter_that_started_several(self) -> None:
        another = "started by another MPI's mpiexec"
        starters = {
            "OMPI_COMM_WORLD_SIZE": another, "PMI_SIZE": another, "MV2_COMM_WORLD_SIZE": "started by mpirun_rsh of MVAPICH",
            "MPIRUN_NPROCS": "started by mpirun_rsh of MVAPICH", "JSM_NAMESPACE_SIZE": "started by jsrun",
            "FLUX_JOB_SIZE": "started by flux run", "SLURM_STEP_NUM_TASKS": "started by srun",
        }  # fmt: skip
        for name, starter in starters.items():
            tells_more = name.startswith(("JSM", "FLUX", "SLURM"))  # than the mpiexec inside of it
            for also in ({}, {"PMI_SIZE": "4"} if tells_more else {}, {"SLURM_NTASKS": "16"}):
                with self.subTest(name=name, also=also):
                    (warning,) = self.warnings(None, **{name: "4"}, **also)
                    self.assertRegex(warning, rf"_(SIZE|TASKS|NPROCS)=4, but this run has 1 rank: .*{starter}")
                    self.assertIn("start keel with the mpiexec of ", warning)
        self.assertIn("try flux run -o pmi=", self.warnings(None, FLUX_JOB_SIZE="4")[0])
        (warning,) = self.warnings(None, SLURM_NTASKS="8")
        self.assertEqual(warning, "SLURM_NTASKS=8: 8 tasks in this job, but this run has 1 rank; start keel with srun or mpiexec")

    def test_one_rank_that_was_meant_to_be_one(self) -> None:
        # The last but one: an mpiexec of one rank inside of a job of several tasks.
        for ranks, environment in ((None, {}), (None, {"SLURM_NTASKS": "1"}), (None, {"FLUX_JOB_SIZE": "1"}),
                                   (None, {"PMI_SIZE": "1", "FLUX_JOB_SIZE": "4"}), (1, {"SLURM_NTASKS": "8"})):  # fmt: skip
            self.assertEqual(self.warnings(ranks, **environment), [], environment)
