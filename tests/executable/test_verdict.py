"""The verdict of a report: every word and number of it again from the records of timers, solves and schemes."""

import re
from collections.abc import Callable
from math import isclose

from keel_runner import INPUTS, ONCE, KeelTest, Record, Run
from record_schema import against_schema

BOX = ["problem.box=16", "problem.boxes=[2,2,2]", "problem.coefficients=smooth"]
LONG = ["run.warmup=0", "run.repeats=6"]  # at least 10 ms on any machine


def activity(timer: Record) -> str:
    for begin, word in (("smooth", "smoothing"), ("exchange.", "exchanges"), ("reduction", "all-reduces")):
        if timer["op"].startswith(begin):
            return word
    return str(timer["op"])


def percent(share: float) -> str:
    return f"{100 * share:.0f}%"


def saved(run: Run, timers: list[Record]) -> float:
    """Fraction of the time that the fastest schemes are predicted to save, if the deck chose among schemes on real nodes."""
    rows = run.records("scheme")
    if not run.record("run")["nodes_detected"] or any(row["predicted_seconds"] is None for row in rows):
        return 0
    uses: dict[tuple[int, str, int], list[Record]] = {}
    for row in rows:
        uses.setdefault((row["level"], row["purpose"], row["columns"]), []).append(row)
    gains: dict[int, float] = {}
    for (level, _, _), schemes in uses.items():
        def seconds(row: Record) -> float:
            together = row["predicted_on_one_socket"]
            return float(row["predicted_seconds"] if together is None else (row["predicted_seconds"] + together) / 2)

        chosen = next(row for row in schemes if row["chosen_by"])
        if chosen["chosen_by"] != "deck":
            return 0
        if seconds(chosen) > 0:
            gains[level] = min(gains.get(level, 1), 1 - min(map(seconds, schemes)) / seconds(chosen))
    waits = [row for row in timers if row["op"] in ("exchange.send", "exchange.wait")]
    return sum(gains.get(row["level"], 0) * row["t_mean"] for row in waits) / sum(row["t_mean"] for row in timers)


def recomputed(run: Run, solver: str | None, solves: int) -> Record:
    """The verdict on the timers of this solver, without its record's first fields."""
    head = run.record("run")
    timers = [row for row in run.records("timer") if row.get("solver") == solver]
    levels = range(max(row["level"] for row in timers) + 1)

    def total(number: str, counts: Callable[[Record], bool] = lambda _: True) -> float:
        return sum(row[number] for row in timers if counts(row))

    def share(word: str) -> float:
        return max(0, total("t_mean", lambda row: activity(row) == word) / seconds)

    seconds = total("t_mean")
    found: Record = {"solves": solves, "seconds": seconds, "flops_per_second": total("flops") / seconds}
    groups = list(dict.fromkeys((activity(row), row["level"]) for row in timers if row["op"] != "other"))
    word, level = max(groups, key=lambda group: total("t_mean", lambda row: (activity(row), row["level"]) == group))
    mine = total("t_mean", lambda row: (activity(row), row["level"]) == (word, level))
    moved = total("bytes_moved", lambda row: (activity(row), row["level"]) == (word, level))
    workers = head["levels"][level]["ranks"] if level < len(head["levels"]) else head["ranks"]
    triad = moved / mine * workers / head["ranks"] / head["triad_bytes_per_second"] if moved and word != "exchanges" else None
    found["largest"] = {"activity": word, "level": level, "share": mine / seconds, "triad_share": triad}
    found |= {"exchanges": share("exchanges"), "all_reduces": share("all-reduces"), "other": share("other"), "bottom": None}
    bottom = total("t_mean", lambda row: row["level"] == levels[-1])
    if len(levels) > 1:
        parts = {name: total("t_mean", lambda row, word=word: (activity(row), row["level"]) == (word, levels[-1])) / bottom if bottom else None
                 for name, word in (("exchanges", "exchanges"), ("all_reduces", "all-reduces"))}  # fmt: skip
        found["bottom"] = {"level": levels[-1], "share": bottom / seconds} | parts

    idle = ("exchanges", "all-reduces", "other")
    works = {at: [total(number, lambda row, at=at: row["level"] == at and activity(row) not in idle) for number in ("t_mean", "t_max")]
             for at in levels}  # fmt: skip
    costs = {at: slowest - mean for at, (mean, slowest) in works.items() if mean > 0 and head["ranks"] > 1}
    worst = max(costs, key=costs.__getitem__, default=None)
    found["imbalance"] = None if worst is None else {
        "level": worst, "max_over_mean": works[worst][1] / works[worst][0], "share": max(0, costs[worst] / seconds)}  # fmt: skip
    found["lines"] = lines(found, solver, 1e3 * seconds * solves, saved(run, timers))
    return found


def lines(found: Record, solver: str | None, milliseconds: float, saving: float) -> list[str]:
    name = f" of {solver}" if solver else ""
    if milliseconds < 10:
        return [f"Verdict{name}: none; {milliseconds:.2f} ms measured in all, less than 10 ms: raise run.repeats"]
    largest, bottom, worst = found["largest"], found["bottom"], found["imbalance"]
    of_triad = f" at {percent(largest['triad_share'])} of the triad" if largest["triad_share"] is not None else ""
    first = f"Verdict{name}: {percent(largest['share'])} {largest['activity']} on level {largest['level']}{of_triad}"
    parts = ", ".join(f"{word} {percent(found[key])}" for word, key in
                      (("exchanges", "exchanges"), ("all-reduces", "all_reduces"), ("other", "other")))  # fmt: skip
    if bottom:
        parts += f"; bottom {percent(bottom['share'])}"
        if bottom["share"]:
            parts += f", of it {percent(bottom['exchanges'])} exchanges, {percent(bottom['all_reduces'])} all-reduces"
    last = "none" if worst is None else (f"{worst['max_over_mean']:.2f} on level {worst['level']}, {percent(worst['share'])} of the time")
    return [
        f"{first}; {found['flops_per_second'] * 1e-9:.2f} GFlop/s in all",
        f"  {parts}",
        f"  imbalance{' of work, max/mean over ranks' if worst else ''}: {last}",
        *([f'  remedy: comm.scheme = "auto" is predicted to save {percent(saving)} of the time'] if saving > 0.1 else []),
    ]


def alike(one: object, other: object) -> bool:
    """Equal but for the order of sums."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(value, other[name]) for name, value in one.items())
    if isinstance(one, float) or isinstance(other, float):
        return isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)  # type: ignore[arg-type]
    return one == other


class VerdictTest(KeelTest):
    def hold(self, run: Run, expected: list[tuple[str | None, int]]) -> list[Record]:
        """The run's verdicts, one on each of these solvers' timers and numbers of solves; all are as recomputed."""
        self.assertEqual(against_schema(run.all_records), [])
        verdicts = run.records("verdict")
        self.assertEqual([(row.get("solver"), row["solves"]) for row in verdicts], expected)
        self.assertEqual(run.stdout.count("\nVerdict"), len(verdicts))
        for (solver, solves), row in zip(expected, verdicts, strict=True):
            found = recomputed(run, solver, solves)
            shown = {name: value for name, value in row.items() if name not in ("record", "schema", "solver")}
            self.assertTrue(alike(shown, found), f"{shown}\n{found}{run}")
            self.assertIn(" ".join(" ".join(row["lines"]).split()), run.flat)
        return verdicts


class Verdict(VerdictTest):
    def test_a_solve(self) -> None:
        for ranks in (1, 2, 4):
            for words in ([], ["run.steps=2", "problem.rhs=wave"], ["multigrid.agglomerate=4000", "problem.boundary=dirichlet"],
                          ["multigrid.bottom_grid=1", "output.details=true"]):  # fmt: skip
                with self.subTest(ranks=ranks, words=words):
                    run = self.valid(ranks, *BOX, *words, *LONG)
                    (verdict,) = self.hold(run, [(None, 12 if "run.steps=2" in words else 6)])
                    self.assertEqual(len(verdict["lines"]), 3)
                    self.assertEqual(verdict["imbalance"] is None, ranks == 1)
                    self.assertEqual(verdict["bottom"]["level"], len(run.record("run")["levels"]) - 1)

    def test_a_solve_that_waits_for_all_reduces_says_so(self) -> None:
        run = self.valid(4, "run.mode=krylov", "problem.box=4", "problem.boxes=[2,2,1]", "bottom.tolerance=1e-9",
                         "run.warmup=0", "run.repeats=200")  # fmt: skip
        (verdict,) = self.hold(run, [(None, 200)])
        self.assertIsNone(verdict["bottom"])  # one level is no bottom of others
        self.assertGreater(verdict["all_reduces"], 0.1)

    def test_other_modes(self) -> None:
        cases = {
            "krylov": ["run.mode=krylov", "bottom.solver=pipelined_cg", "bottom.max_iterations=1000"],
            "krylov by cycles": ["run.mode=krylov", "bottom.preconditioner=v_cycle", "bottom.scaling=none"],
            "full multigrid": ["multigrid.cycle=F", "multigrid.max_cycles=1", "problem.rhs=manufactured", "multigrid.bottom_box=2"],
            "fixed_point": [INPUTS / "smoke/fixed_point_mixed.toml", "problem.box=8"],
        }
        for ranks in (1, 2, 4):
            for name, words in cases.items():
                with self.subTest(ranks=ranks, mode=name):
                    run = self.valid(ranks, *words, *(() if name == "fixed_point" else BOX), *LONG)
                    (verdict,) = self.hold(run, [(None, 6)])
                    self.assertEqual(verdict["bottom"] is None, name == "krylov")

    def test_a_survey_judges_the_fastest(self) -> None:
        for ranks in (1, 2, 4):
            with self.subTest(ranks=ranks):
                run = self.valid(ranks, *BOX, "run.mode=survey", "run.survey=['bicgstab','cg','ca_cg s=4']", *LONG)
                fastest = min(run.records("survey"), key=lambda row: row["seconds_median"])["solver"]
                self.hold(run, [(fastest, 6)])

    def test_products_and_solves_with_a_matrix(self) -> None:
        words = ["run.mode=spmv", "problem.matrix=grid", *BOX, "run.solve=true", "bottom.solver=cg", "run.warmup=0", "run.repeats=40"]
        for ranks in (1, 2, 4):
            with self.subTest(ranks=ranks):
                (product,) = self.hold(self.valid(ranks, *words), [(None, 40)])
                self.assertIsNone(product["bottom"])
                _, solve = self.hold(self.valid(ranks, *words, "bottom.preconditioner=amg", "bottom.scaling=none"),
                                     [(None, 40), ("cg", 40)])  # fmt: skip
                self.assertGreater(solve["bottom"]["level"], 0)

    def test_a_run_too_short_has_none(self) -> None:
        for words in (["problem.box=4"], ["problem.box=4", "problem.rhs=zero"]):
            run = self.valid(2, *words, "multigrid.bottom_box=2", "multigrid.tolerance=0.5", *ONCE)
            (verdict,) = self.hold(run, [(None, 1)])
            self.assertEqual(len(verdict["lines"]), 1)
            self.assertRegex(verdict["lines"][0], r"^Verdict: none; \d\.\d\d ms measured in all, less than 10 ms: raise run.repeats$")

    def test_modes_without_timers_and_devices_that_run_behind_have_none(self) -> None:
        self.hold(self.valid(2, INPUTS / "smoke/network.toml"), [])
        if re.search(r"(?m)^gpu_emulated( +yes){5} ", self.text(None, "--backends")):
            for sync, expected in (("lazy", []), ("per_operation", [(None, 1)])):
                self.hold(self.valid(2, *BOX, *ONCE, "run.backend=gpu_emulated", f"run.gpu_sync={sync}"), expected)

    def test_virtual_nodes_have_no_remedy(self) -> None:
        machine = f"comm.machine={INPUTS}/machines/lassen.toml"
        run = self.valid(4, *BOX, *LONG, "problem.placement=scattered", "comm.neighbours=all", "comm.ranks_per_node=2", machine)
        (verdict,) = self.hold(run, [(None, 6)])
        self.assertEqual(len(verdict["lines"]), 3)
