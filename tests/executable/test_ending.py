"""How a run ends that is not let to its end: by signals, by the death of a rank. What it had found must be there."""

import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from keel_runner import KeelTest, Record, strict_json
from record_schema import against_schema

GRIDS = ["problem.box=8", "problem.boxes=[2,1,1]", "run.triad_mb=1"]
MANY = [*GRIDS, "run.repeats=100000"]


class Started:
    """A run of keel that goes on, in a folder of its own."""

    def __init__(self, test: KeelTest, ranks: int | None, *words: str) -> None:
        self.folder = Path(test.enterContext(tempfile.TemporaryDirectory()))
        self.deadline = time.monotonic() + test.seconds
        command = [str(test.keel), *words, "output.json=run.json"]
        if ranks is not None:
            command = [str(test.mpiexec), "-n", str(ranks), *command]
        with (self.folder / "stdout").open("w") as out, (self.folder / "stderr").open("w") as err:
            self.process = subprocess.Popen(
                command, cwd=self.folder, stdout=out, stderr=err, env=os.environ | {"OMP_NUM_THREADS": "1"},
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )  # fmt: skip
        test.addCleanup(self.end)
        self.keel = test.keel.resolve()

    def end(self) -> None:
        if self.process.poll() is None:
            for pid in self.ranks():
                os.kill(pid, signal.SIGKILL)
            self.process.kill()
            self.process.wait()

    def text(self, name: str = "stdout") -> str:
        path = self.folder / name
        return path.read_text() if path.exists() else ""

    def records(self, kind: str) -> list[Record]:
        """The records in the file. A last line without its end is pending while the run goes on, and a mistake after it."""
        running = self.process.poll() is None
        *lines, pending = self.text("run.json").split("\n")
        assert running or not pending, pending[-200:]
        return [record for record in map(strict_json, lines) if record["record"] == kind]

    def until(self, condition: Callable[[], bool]) -> None:
        """Waits for it while the run goes on."""
        while not condition():
            if self.process.poll() is not None or time.monotonic() > self.deadline:
                raise AssertionError(f"status {self.process.returncode}\n{self.text()}\n{self.text('stderr')}")
            time.sleep(0.01)

    def begun(self) -> None:
        self.until(lambda: "\n\n" in self.text())

    def solved(self, times: int = 1) -> None:
        self.until(lambda: len(self.records("solve")) >= times)

    def processor_seconds(self) -> float:
        """The output of the started process, so far."""
        state = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(state[11]) + int(state[12])) / os.sysconf("SC_CLK_TCK")

    def ranks(self) -> list[int]:
        """The processes of keel below the one that was started, or that one."""
        parents = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                except OSError:
                    continue
        ours = {self.process.pid}
        while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
            ours |= more
        found = []
        for pid in sorted(ours):
            try:
                if Path(f"/proc/{pid}/exe").resolve() == self.keel:
                    found.append(pid)
            except OSError:
                continue
        return found

    def ended(self) -> int:
        return self.process.wait(max(self.deadline - time.monotonic(), 1))


class Interrupted(KeelTest):
    def interrupted(self, run: Started, what: str) -> tuple[int, int]:
        """The run ended in order; how much was done, of how much."""
        self.assertEqual(run.ended(), 4, run.text() + run.text("stderr"))
        closing = run.text().splitlines()[-1]
        self.assertRegex(closing, rf"^RESULT INTERRUPTED  .*\d+ of \d+ {what}$")
        done, _, of, _ = closing.split()[-4:]
        (result,) = run.records("result")
        self.assertEqual((result["interrupted"], result["valid"], result["exit"], result["fom"]), (True, False, 4, None))
        self.assertEqual((result["interrupted_by"], against_schema([result])), ("signal", []))
        self.assertNotIn("FOM ", run.text())
        return int(done), int(of)

    def test_a_signal_to_one_rank_ends_a_run_after_the_solve_at_hand(self) -> None:
        for number, words in (
            (signal.SIGINT, ["run.mode=solve"]),
            (signal.SIGTERM, ["run.mode=krylov", "bottom.tolerance=1e-8"]),
        ):
            with self.subTest(words=words):
                run = Started(self, 2, *MANY, *words)
                run.solved(2)
                run.begun()  # mpiexec may forward output late
                self.assertTrue(run.text().startswith("Keel "), run.text())
                os.kill(run.ranks()[-1], number)
                done, of = self.interrupted(run, "solves")
                self.assertEqual(of, 100000)
                solves = run.records("solve")
                self.assertEqual([solve["repeat"] for solve in solves], list(range(done)))
                self.assertIn(f"Solve: median {run.text().split('Solve: median ')[1].split(' of ')[0]} of {done} (", run.text())
                self.assertIn("Time per solve", run.text())
                # Counts are those of one solve, however many there were.
                calls = {row["calls"] for row in run.records("timer") if row["op"] == "reduction"}
                self.assertEqual(sum(calls), solves[0]["reductions"])
                checks = {check["name"]: check["passed"] for check in run.records("check")}
                self.assertTrue(checks["residual_recomputed"] and checks["solves_converged"], checks)

    def test_a_survey_tells_the_solvers_that_had_a_turn(self) -> None:
        run = Started(self, 2, *MANY, "run.mode=survey", 'run.survey=["bicgstab","cg"]')
        run.solved(3)
        for pid in run.ranks():
            os.kill(pid, signal.SIGTERM)
        done, of = self.interrupted(run, "solves")
        self.assertEqual((len(run.records("solve")), of), (done, 200000))
        self.assertEqual([row["solver"] for row in run.records("survey")], ["bicgstab", "cg"])

    def test_spmv_tells_products_and_solves(self) -> None:
        run = Started(self, 2, "run.mode=spmv", "problem.matrix=random", "problem.rows=40", "problem.row_entries=5", "run.solve=true", "run.warmup=0",
                      "run.repeats=5000", "bottom.solver=bicgstab", "run.triad_mb=1")  # fmt: skip
        run.solved()
        os.kill(run.ranks()[0], signal.SIGINT)
        done, of = self.interrupted(run, "solves")
        self.assertEqual((len(run.records("solve")), of), (done, 5000))
        self.assertIn("RESULT INTERRUPTED  5000 of 5000 products, ", run.text())
        self.assertEqual(len(run.records("spmv")), 1)

    def test_modes_without_solves_end_as_well(self) -> None:
        for words in (["run.mode=exchange", *MANY], ["run.mode=network", "run.repeats=3000"]):
            with self.subTest(words=words):
                run = Started(self, 2, *words)
                run.begun()
                os.kill(run.ranks()[1], signal.SIGTERM)
                self.assertEqual(run.ended(), 4, run.text() + run.text("stderr"))
                self.assertRegex(run.text().splitlines()[-1], "^RESULT INTERRUPTED")
                (result,) = run.records("result")
                self.assertTrue(result["interrupted"])

    def test_before_the_first_solve_there_is_nothing_to_tell(self) -> None:
        run = Started(self, 2, *GRIDS, "run.repeats=3", "run.warmup=100000")
        run.begun()
        time.sleep(0.2)
        os.kill(run.ranks()[0], signal.SIGTERM)
        self.assertEqual(self.interrupted(run, "solves"), (0, 3))
        self.assertEqual([strict_json(line)["record"] for line in run.text("run.json").splitlines()], ["run", "result"])

    def test_a_second_signal_ends_the_run_at_once(self) -> None:
        run = Started(self, None, *GRIDS, "bottom.solver=smooth", "bottom.sweeps=1000000")
        run.begun()
        # Only a solve takes that long; a signal before it would end the run in order.
        computed = run.processor_seconds()
        run.until(lambda: run.processor_seconds() > computed + 0.5)
        run.process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        self.assertIsNone(run.process.poll(), run.text())
        run.process.send_signal(signal.SIGTERM)
        self.assertEqual(run.ended(), -signal.SIGTERM)


class ByTime(KeelTest):
    def test_a_time_limit_ends_a_run_like_a_signal(self) -> None:
        run = self.run_keel(2, *MANY, "run.time_limit=1.5", quick=False)
        self.assertEqual(run.status, 4, run)
        (result,) = run.records("result")
        solves = len(run.records("solve"))
        self.assertEqual(run.stdout.splitlines()[-1], f"RESULT INTERRUPTED  {solves} of 100000 solves (run.time_limit)")
        self.assertEqual((result["interrupted_by"], result["exit"], result["fom"]), ("time_limit", 4, None))
        self.assertEqual(result["done"], [{"what": "solves", "done": solves, "all": 100000}])
        self.assertTrue(all(check["passed"] for check in run.records("check")), run)


class Killed(KeelTest):
    def test_what_was_solved_outlives_a_rank_that_dies_and_no_other_run_writes_between(self) -> None:
        run = Started(self, 2, *MANY)
        run.solved(3)
        second = subprocess.run(
            [run.keel, *GRIDS, "output.json=run.json"], cwd=run.folder, capture_output=True, text=True, check=False
        )
        self.assertEqual((second.returncode, second.stdout), (2, ""), second)
        self.assertIn('output.json = "run.json": another run is writing to it; wait for its end, or choose another',
                      re.sub(r"\n +", " ", second.stderr))  # fmt: skip
        os.kill(run.ranks()[-1], signal.SIGKILL)
        self.assertNotIn(run.ended(), (0, 1, 2, 4))
        self.assertTrue(run.text().startswith("Keel "), run.text())
        self.assertEqual(len(run.records("run")), 1)
        self.assertGreaterEqual(len(run.records("solve")), 3)
        self.assertEqual(run.records("result"), [])
