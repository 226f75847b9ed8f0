"""The report of a run: the JSON records, the text beside them, and counts of messages and reductions as predicted."""

import re
from collections import Counter
from math import fsum, log10
from statistics import fmean, median

from keel_runner import INPUTS, ONCE, KeelTest, Record, Run, counted_messages, planned_messages, strict_json
from record_schema import against_schema

EIGHT_BOXES = ["problem.boxes=[2,2,2]", "problem.coefficients=smooth"]
BOX = ["problem.box=16", *EIGHT_BOXES, *ONCE]
REFERENCE = [*BOX, "multigrid.reference_path=true"]  # an exchange of all cells before each half sweep


class Records(KeelTest):
    run_: Run

    @classmethod
    def setUpClass(cls) -> None:
        deck = INPUTS / "smoke/dirichlet.toml"
        cls.run_ = cls().valid(2, deck, "run.repeats=3", "run.warmup=1", "problem.box=32", "run.label=twice", times=2)

    def first(self) -> list[Record]:
        """The records of the first of the two runs."""
        records = [strict_json(line) for line in self.run_.lines]
        self.assertEqual(len(records) % 2, 0)
        return records[: len(records) // 2]

    def of_kind(self, kind: str) -> list[Record]:
        return [record for record in self.first() if record["record"] == kind]

    def test_a_second_run_appends_its_records(self) -> None:
        kinds = [strict_json(line)["record"] for line in self.run_.lines]
        half = len(kinds) // 2
        self.assertEqual(kinds[:half], kinds[half:])
        count = Counter(kinds[:half])
        self.assertGreater(count.pop("timer"), 10)
        self.assertGreater(count.pop("kernel"), 3)
        self.assertEqual(count, {"run": 1, "solve": 3, "check": 5, "verdict": 1, "result": 1})

    def test_the_run_record_tells_the_deck_as_resolved(self) -> None:
        (run,) = self.of_kind("run")
        self.assertEqual((run["ranks"], run["threads"], run["cells"]), (2, 1, [64, 64, 64]))
        self.assertEqual([level["box"] for level in run["levels"]], [32, 16, 8, 4])
        sections = {"problem", "multigrid", "bottom", "comm", "run", "network", "output", "anderson", "amg"}
        self.assertEqual(set(run["deck"]), sections)
        self.assertEqual(run["deck"]["problem"]["box"], 32)  # overridden
        self.assertEqual(run["deck"]["problem"]["boundary"], "dirichlet")  # from the deck
        self.assertEqual(run["deck"]["problem"]["b"], 0.9)  # default

    def test_the_run_record_tells_who_started_it_when_and_with_what(self) -> None:
        first, second = (record for record in self.run_.all_records if record["record"] == "run")
        self.assertNotEqual(first["id"], second["id"])
        self.assertLessEqual(first["date"], second["date"])
        self.assertEqual(first["id"][:8], first["date"][:10].replace("-", ""))
        self.assertEqual(first["label"], "twice")
        self.assertIn(" ".join(first["command"]), self.run_.command)
        self.assertEqual(first["environment"]["OMP_NUM_THREADS"], "1")
        self.assertEqual([name for name in first["environment"] if name.startswith(("OMPI_MCA_orte", "PATH"))], [])
        self.assertEqual(sum(host["ranks"] for host in first["hosts"]), 2)

    def test_the_parts_of_a_solve_are_those_of_its_operations(self) -> None:
        (result,) = self.of_kind("result")
        parts = dict.fromkeys(result["parts"], 0.0)
        for row in self.of_kind("timer"):
            op, bottom = row["op"], row["level"] == 3
            if op == "other":
                part = op
            elif op.startswith("reduction"):
                part = "all_reduce"
            elif op.startswith("exchange."):
                part = "bottom_exchange" if bottom else "v_cycle_exchange"
            else:
                part = "bottom" if bottom else "v_cycle"
            parts[part] += row["t_mean"]
        self.assertGreater(min(parts["v_cycle"], parts["bottom"], parts["all_reduce"]), 0)
        for part, seconds in parts.items():
            self.assertAlmostEqual(result["parts"][part], seconds, delta=1e-12, msg=part)
        self.assertLess(0, result["mpi_start_seconds"])
        self.assertLess(result["mpi_start_seconds"] + result["setup_seconds"], result["total_seconds"])

    def test_the_text_tells_the_share_of_each_level_the_last_of_them_the_bottom(self) -> None:
        timers = [record for record in self.run_.all_records if record["record"] == "timer"]
        timers = timers[len(timers) // 2 :]  # the second run, whose text is there
        levels = [fsum(row["t_mean"] for row in timers if row["level"] == level and row["op"] != "other") for level in range(4)]
        total = fsum(row["t_mean"] for row in timers)
        (shares,) = re.findall(r"(?m)^share +(.*)$", self.run_.stdout)
        for share, seconds in zip(shares.split(), [*levels, total], strict=True):
            self.assertAlmostEqual(float(share.removesuffix("%")), 100 * seconds / total, delta=0.51)

    def test_residuals_start_at_1_and_have_an_entry_a_cycle(self) -> None:
        for number, solve in enumerate(self.of_kind("solve")):
            self.assertEqual(solve["repeat"], number)
            self.assertEqual(solve["residuals"][0], 1)
            self.assertEqual(len(solve["residuals"]), solve["cycles"] + 1)
            self.assertLessEqual(solve["residuals"][-1], 1e-10)
            self.assertGreater(solve["residuals"][-2], 1e-10)
            self.assertEqual(len(solve["bottom"]), solve["cycles"])

    def test_the_figure_of_merit_is_cells_over_the_median_of_seconds(self) -> None:
        seconds = median(solve["seconds"] for solve in self.of_kind("solve"))
        (result,) = self.of_kind("result")
        self.assertEqual(result["seconds"], seconds)
        self.assertAlmostEqual(result["fom"] * seconds / 64**3, 1, delta=1e-12)
        self.assertEqual((result["unit"], result["valid"], result["exit"]), ("dof/s", True, 0))

    def test_what_a_solve_moves_is_the_sum_of_its_operations(self) -> None:
        (result,) = self.of_kind("result")
        (head,) = self.of_kind("run")
        moved, timers = result["moved"], self.of_kind("timer")
        total, seconds = fsum(row["bytes_moved"] for row in timers), fsum(row["t_mean"] for row in timers)
        digits = fmean(-log10(solve["residuals"][-1]) for solve in self.of_kind("solve"))
        self.assertAlmostEqual(moved["bytes"] / total, 1, delta=1e-12)
        self.assertAlmostEqual(moved["bytes_per_unknown"] * 64**3 / total, 1, delta=1e-12)
        self.assertAlmostEqual(moved["digits"], digits, delta=1e-12)
        self.assertGreater(digits, 10)
        self.assertAlmostEqual(moved["bytes_per_unknown_and_digit"] * 64**3 * digits / total, 1, delta=1e-12)
        self.assertAlmostEqual(moved["triad_share"] * head["triad_bytes_per_second"] * seconds / total, 1, delta=1e-12)

    def test_cycles_in_single_precision_say_so_and_move_half(self) -> None:
        wide, mixed = (self.valid(2, *BOX, f"multigrid.precision={word}") for word in ("double", "mixed"))
        double_solve, solve = wide.record("solve"), mixed.record("solve")
        self.assertLessEqual(solve["cycles"], double_solve["cycles"] + 1)
        self.assertEqual(double_solve["measured_after"], list(range(double_solve["cycles"] + 1)))
        self.assertEqual(len(solve["measured_after"]), len(solve["residuals"]))
        self.assertEqual((solve["measured_after"][0], solve["measured_after"][-1]), (0, solve["cycles"]))
        self.assertEqual(len(solve["bottom"]), solve["cycles"])
        per_digit = [run.record("result")["moved"]["bytes_per_unknown_and_digit"] for run in (wide, mixed)]
        self.assertLess(per_digit[1], 0.7 * per_digit[0])
        self.assertIn("\nFOM    non_benchmark.mixed_dof_per_second ", mixed.stdout)
        self.assertTrue([text for text in mixed.record("run")["remarks"] if "single precision" in text])
        self.assertEqual(wide.record("run")["remarks"], [])
        gmres = self.valid(1, INPUTS / "mixed_gmres.toml", "problem.box=8", *ONCE)
        self.assertIn("\nFOM    non_benchmark.mixed_dof_per_second ", gmres.stdout)

    def test_a_dry_run_knows_the_bytes_of_single_precision(self) -> None:
        wide, mixed, sent = (
            {(row["level"], row["purpose"]): row for row in self.run_keel(2, "--dry-run", *REFERENCE, word).record("plan")["levels"]}
            for word in ("multigrid.precision=double", "multigrid.precision=mixed", "comm.precision=single"))  # fmt: skip
        self.assertEqual(sent, mixed)
        self.assertEqual(set(mixed) - set(wide), {(0, "residual")})
        bottom = max(level for level, _ in wide)
        for place, row in wide.items():
            self.assertEqual(mixed[place]["messages"], row["messages"])
            self.assertEqual(mixed[place]["bytes"], row["bytes"] / (1 if place[0] == bottom else 2), place)
        self.assertEqual(mixed[0, "residual"]["bytes"], wide[0, "stencil"]["bytes"])

    def test_solves_that_do_no_work_have_no_figure(self) -> None:
        idle = "No figure of merit: a solve gained no digits (f = 0, or a first guess within the tolerance)"
        still = ["run.steps=2", "run.start=last", "problem.rhs=triangle", "multigrid.tolerance=0.5"]  # nothing changes
        for words in (["problem.rhs=zero"], ["run.mode=survey", "problem.rhs=zero"], ["run.mode=krylov", "problem.rhs=zero"], still):
            with self.subTest(words=words):
                run = self.valid(1, *BOX, *words)
                self.assertEqual(run.stdout.splitlines()[-2], idle)
                self.assertNotIn("\nFOM ", run.stdout)
                result = run.record("result")
                self.assertEqual([result[key] for key in ("fom", "fom_tolerance", "fom_digits")], [None, None, None])
                if (moved := result["moved"]) is not None:  # a survey's rows have theirs
                    self.assertEqual((moved["digits"] or 0, moved["bytes_per_unknown_and_digit"]), (0, None))
                for row in run.records("survey"):
                    self.assertEqual((row["converged"], row["speed_up"], row["cycles"]), (True, None, 0))

    def test_the_figure_says_where_its_solves_stop(self) -> None:
        for tolerance, least in ("0.5", 0.3), ("1e-10", 10):
            (line,) = (line for line in self.valid(1, *BOX, f"multigrid.tolerance={tolerance}").stdout.splitlines()
                       if line.startswith("FOM "))  # fmt: skip
            self.assertRegex(line, rf"^FOM +non_benchmark\.dof_per_second +\S+ +dof/s +tolerance {tolerance} +digits [\d.]+$")
            self.assertGreaterEqual(float(line.split()[-1]), least)

    def test_krylov_methods_and_solvers_of_a_survey_tell_what_they_move(self) -> None:
        krylov = self.valid(2, *BOX, "run.mode=krylov", "bottom.solver=cg", "bottom.max_iterations=1000")
        digits = -log10(krylov.record("solve")["residuals"][-1])
        self.assertAlmostEqual(krylov.record("result")["moved"]["digits"], digits, delta=1e-12)
        survey = self.valid(2, *BOX, "run.mode=survey", "run.survey=['cg', 'bicgstab']")
        self.assertIsNone(survey.record("result")["moved"])
        for row in survey.records("survey"):
            total = fsum(timer["bytes_moved"] for timer in survey.records("timer") if timer["solver"] == row["solver"])
            self.assertAlmostEqual(row["moved"]["bytes"] / total, 1, delta=1e-12)

    def test_the_text_says_what_the_records_say(self) -> None:
        run = self.valid(2, INPUTS / "smoke/dirichlet.toml", "problem.box=8")
        closing = [line for line in run.stdout.splitlines() if re.match(r"(CHECK|FOM|RESULT)\s", line)]
        self.assertEqual(closing, run.stdout.splitlines()[-len(closing) :])
        self.assertEqual(closing[-1], "RESULT VALID")
        fom = f"{run.record('result')['fom']:.6e}"
        digits = f"{run.record('result')['fom_digits']:.1f}"
        self.assertEqual(closing[-2].split(),
                         ["FOM", "non_benchmark.dof_per_second", fom, "dof/s", "tolerance", "1e-10", "digits", digits])  # fmt: skip
        checks = {line.split()[1]: line.split()[2:4] for line in closing if line.startswith("CHECK")}
        for check in run.records("check"):
            passed, value = checks.pop(check["name"])
            self.assertEqual(passed, "PASS" if check["passed"] else "FAIL")
            self.assertAlmostEqual(float(value), check["value"], delta=0.06 * abs(check["value"]) + 0.006)
        self.assertEqual(checks, {})
        solve = run.record("solve")
        cycles = re.findall(r"(?m)^ +(\d+) +(\d\.\d{5}e[+-]\d\d) ", run.stdout)
        self.assertEqual(cycles, [(str(k), f"{residual:.5e}") for k, residual in enumerate(solve["residuals"])])
        moved = run.record("result")["moved"]
        told = f"{moved['bytes_per_unknown']:.0f} bytes per unknown, {moved['bytes_per_unknown_and_digit']:.0f} for each of"
        self.assertEqual(run.flat.count(f"% of the triad; {told} {moved['digits']:.2f} decimal digits"), 1, run)
        messages = [row["messages"] for row in run.timer("exchange.send").values()]
        (line,) = re.findall(r"(?m)^messages +(.*)$", run.stdout)
        self.assertEqual(line.split(), [f"{m:.0f}" for m in [*messages, sum(messages)]])


class Details(KeelTest):
    """Details on request: times of each rank, and all times in the text."""

    WORDS = "problem.box=16", *EIGHT_BOXES, "run.repeats=2"

    def test_the_rows_of_ranks_are_what_the_row_of_all_says(self) -> None:
        for words in ([], ["run.mode=survey", "run.survey=['cg']"], ["run.mode=spmv", "problem.matrix=stencil7"]):
            run = self.valid(3, *(self.WORDS if words[-1:] != ["problem.matrix=stencil7"] else ["run.repeats=2"]), *words,
                             "output.details=true")  # fmt: skip
            self.assertEqual(against_schema(run.all_records), [])
            by_rank: dict[tuple[str, str, int], list[Record]] = {}
            for row in run.records("rank_timer"):
                by_rank.setdefault((row.get("solver", ""), row["op"], row["level"]), []).append(row)
            timers = run.records("timer")
            self.assertEqual(len(by_rank), len(timers))
            for timer in timers:
                rows = by_rank[timer.get("solver", ""), timer["op"], timer["level"]]
                self.assertEqual([row["rank"] for row in rows], [0, 1, 2])
                seconds = [row["seconds"] for row in rows]
                self.assertEqual((min(seconds), max(seconds)), (timer["t_min"], timer["t_max"]))
                self.assertEqual(rows[timer["rank_max"]]["seconds"], timer["t_max"])
                self.assertEqual(rows[0]["calls"], timer["calls"])
                for name in ("messages", "bytes", "off_node_messages", "off_node_bytes"):
                    self.assertEqual(max(row[name] for row in rows), timer[name])
                    self.assertAlmostEqual(fsum(row[name] for row in rows), timer[f"all_{name}"])

    def test_the_text_tells_all_times_if_asked(self) -> None:
        run = self.valid(2, *self.WORDS, "output.details=true")
        short = self.valid(2, *self.WORDS)
        self.assertNotIn("max on rank", short.stdout)
        timers = {(row["op"], row["level"]): row for row in run.records("timer")}
        told = re.findall(r"(?m)^(smooth|residual|restrict) .*\n  max .*\n  max on rank (.*)\n  min (.*)\n  calls (.*)$", run.stdout)
        self.assertEqual(len(told), len({op for op, _ in timers} & {"smooth", "residual", "restrict"}))
        for op, ranks, least, calls in told:
            rows = [timers[op, level] for level in range(4) if (op, level) in timers]
            self.assertEqual(ranks.split(), [str(row["rank_max"]) for row in rows])
            self.assertEqual(len(least.split()), 2 * len(rows))  # with their units
            numbers = [row["calls"] for row in rows]
            self.assertEqual(calls.split(), [f"{n:.0f}" for n in [*numbers, sum(numbers)]])


class Timers(KeelTest):
    """Whether the table is whole; how fast anything is, is not tested."""

    def timed(self, ranks: int) -> tuple[list[Record], float]:
        """The rows, and the mean of the solves' seconds, which are the slowest rank's."""
        run = self.valid(ranks, "problem.box=32", *EIGHT_BOXES, "run.repeats=4")
        return run.records("timer"), fmean(solve["seconds"] for solve in run.records("solve"))

    def test_all_rows_add_up_to_the_seconds_of_the_solves(self) -> None:
        rows, wall = self.timed(1)
        self.assertLessEqual({"smooth", "restrict", "interpolate", "reduction"}, {row["op"] for row in rows})
        self.assertAlmostEqual(fsum(row["t_mean"] for row in rows) / wall, 1, delta=1e-6)
        other = fsum(row["t_mean"] for row in rows if row["op"] == "other")
        self.assertGreaterEqual(other, -1e-6)  # nothing is booked twice
        self.assertLessEqual(other, 0.1 * wall)  # and little is not booked

    def test_kernels_of_a_krylov_method_are_all_of_its_time_and_counts(self) -> None:
        small = ("problem.box=8", "problem.boxes=[2,2,2]", *ONCE)
        for words in (["krylov_block_jacobi.toml"], ["krylov_v_cycle.toml"],
                      ["krylov.toml", "bottom.solver=deep_pipelined_cg"]):  # fmt: skip
            with self.subTest(words=words):
                run = self.valid(2, INPUTS / "smoke" / words[0], *words[1:], *small)
                kernels = {row["kernel"]: row for row in run.records("kernel")}
                solve = run.record("solve")
                self.assertAlmostEqual(fsum(row["t_mean"] for row in kernels.values()),
                                       fsum(row["t_mean"] for row in run.records("timer")), delta=1e-9)  # fmt: skip
                self.assertEqual(kernels["product"]["calls"], solve["applications"])
                if not solve["v_cycles"]:  # V-cycles take means if the problem is singular
                    reductions = sum(kernels.get(name, {"calls": 0})["calls"] for name in ("reduction", "reduction.begin"))
                    self.assertEqual(reductions, solve["reductions"])
                self.assertTrue(all(row["iterations"] == solve["iterations"] for row in kernels.values()))
                self.assertTrue(all(0 <= row["longest"] <= row["t_max"] * (1 + 1e-9) for row in kernels.values() if row["step"]
                                    and row["kernel"] != "other"))  # fmt: skip
                if "preconditioner_applications" in solve:
                    self.assertEqual(kernels["preconditioner"]["calls"], solve["preconditioner_applications"])
                self.assertIn("Kernels per iteration, of ", run.stdout)

    def test_powers_in_one_pass_move_fewer_bytes(self) -> None:
        # Residuals and messages: tests/solvers/systems/test_powers.cpp.
        moved = []
        for powers in ("matrix_powers", "fused_matrix_powers"):
            run = self.valid(2, INPUTS / "smoke/krylov_fused_powers.toml", f"bottom.powers={powers}")
            kernels = {row["kernel"]: row["bytes_moved"] for row in run.records("kernel")}
            moved.append(kernels["product"] + kernels["axpy"])
            self.assertAlmostEqual(fsum(kernels.values()), run.record("result")["moved"]["bytes"], delta=1)
            self.assertRegex(run.stdout, r"(?m)^all of them +[0-9.]+ [kMG]?B$")
        self.assertLess(moved[1], 0.8 * moved[0])

    def test_bottoms_and_matrices_have_kernels_too(self) -> None:
        survey = self.valid(2, *EIGHT_BOXES, "problem.box=8", "run.mode=survey", 'run.survey=["bicgstab","cg","smooth"]', *ONCE)
        self.assertEqual({row["solver"] for row in survey.records("kernel")}, {"bicgstab", "cg"})
        iterations = {row["solver"]: row["bottom_iterations"] for row in survey.records("survey")}
        for row in survey.records("kernel"):
            self.assertEqual(row["iterations"], iterations[row["solver"]])
        matrix = self.valid(2, "run.mode=spmv", "problem.matrix=diagonal", "problem.rows=256", "run.solve=true",
                            "bottom.solver=pipelined_cg", *ONCE)  # fmt: skip
        names = [row["kernel"] for row in matrix.records("kernel")]
        self.assertEqual(names[0], "product")
        self.assertLessEqual({"axpy", "dots", "reduction.begin", "reduction.wait"}, set(names))

    def test_the_mean_of_the_ranks_adds_up_too(self) -> None:
        # Ranks that the system holds up between the barrier and their start have less to add up: any of three runs.
        def share() -> float:
            rows, wall = self.timed(2)
            for row in rows:
                self.assertLessEqual(row["t_min"], row["t_mean"] * (1 + 1e-12), row)
                self.assertLessEqual(row["t_mean"], row["t_max"] * (1 + 1e-12), row)
                self.assertIn(row["rank_max"], (0, 1))
            total = fsum(row["t_mean"] for row in rows)
            self.assertLessEqual(total, wall * (1 + 1e-6))
            return total / wall

        self.assertTrue(any(share() >= 0.95 for _ in range(3)))


class Counts(KeelTest):
    def test_messages_are_those_of_the_planned_exchanges(self) -> None:
        """How many exchanges a cycle makes with each smoother: tests/solvers/multigrid/test_counts.cpp."""
        boxes = "problem.shape=[[0,0,0],[1,0,0],[1,1,0],[1,1,1],[0,1,1]]"
        for ranks, words in (
            (8, ["comm.ranks_per_node=2", "multigrid.interpolation=linear"]),
            (4, ["comm.ranks_per_node=4", "multigrid.smoother=chebyshev", "multigrid.pre=3", "multigrid.max_cycles=99"]),
            (3, ["problem.placement=scattered", "comm.ranks_per_node=1", "multigrid.pre=1"]),
            (4, [boxes, "problem.outside=neumann", "problem.boundary=dirichlet"]),
            (4, ["comm.ghost_depth=2", "comm.neighbours=all"]),
        ):
            with self.subTest(ranks=ranks, words=words):
                run = self.valid(ranks, *REFERENCE, *words)
                plan = self.planned(ranks, *REFERENCE, *words)
                solve = run.record("solve")
                in_bottom = sum(visit["exchanges"] for visit in solve["bottom"])
                expected = [[0.0] * 4 for _ in range(3)]
                exchanges = 0
                for level, traffic in zip(plan["levels"], planned_messages(plan), strict=True):
                    per_cycle = level["exchanges_per_cycle"]
                    number = in_bottom if per_cycle is None else solve["cycles"] * per_cycle
                    exchanges += number
                    of_level = expected[level["level"]]
                    of_level[:] = [sent + number * of_one for sent, of_one in zip(of_level, traffic, strict=True)]
                self.assertEqual(counted_messages(run), expected)
                self.assertEqual(solve["exchanges"], exchanges)
                reductions = {level: row["calls"] for level, row in run.timer("reduction").items()}
                self.assertEqual(sum(reductions.values()), solve["reductions"])

    def test_dropped_columns_are_told(self) -> None:
        words = ("bottom.solver=enlarged_cg", "bottom.block=8", "multigrid.bottom_box=8", "multigrid.pre=0")
        point = self.valid(2, *BOX, *words, "problem.rhs=point")
        self.assertEqual(point.record("solve")["bottom"][0]["columns_dropped"], 7)
        self.assertRegex(point.stdout, r"(?m)^ +1 .* converged .*, 7 columns dropped$")
        wave = self.valid(2, *BOX, *words, "problem.rhs=wave")
        self.assertEqual({visit["columns_dropped"] for visit in wave.record("solve")["bottom"]}, {0})
        self.assertNotIn("dropped", wave.stdout)
