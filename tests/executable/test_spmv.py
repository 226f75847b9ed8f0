"""run.mode = spmv: the same products on any ranks and schemes, counts, memory, refusals of files by line."""

import gzip
import os
import re
import tempfile
from pathlib import Path

from keel_runner import INPUTS, ONCE, KeelTest, Record, Run, shown_schemes
from test_arrays import numpy_file

RANDOM = ["run.mode=spmv", "problem.matrix=random", "problem.rows=700", "problem.ordering=random", *ONCE]
SCHEMES = ["standard", "two_step", "two_step/max_need", "three_step", "split", "split/always"]
SOLVE = ["run.solve=true", "bottom.solver=cg", "bottom.tolerance=1e-8"]


AMG = ["run.mode=spmv", "problem.matrix=stencil7", "problem.box=9", "problem.boxes=[1,1,1]", "run.solve=true",
       "bottom.tolerance=1e-8", *ONCE]  # fmt: skip
PRECONDITIONED = [*AMG, "bottom.preconditioner=amg", "bottom.solver=cg", "bottom.scaling=none"]


class AlgebraicMultigrid(KeelTest):

    def test_cycles_that_diverge_end_with_what_to_write_instead(self) -> None:
        beside = [line for row in range(2, 61) for line in (f"{row} {row - 1} -3", f"{row - 1} {row} 3")]
        matrix = self.matrix("skew.mtx", 60, [*(f"{row} {row} 1" for row in range(1, 61)), *beside], "general")
        run = self.run_keel(2, "run.mode=spmv", matrix, "run.solve=true", "bottom.solver=amg", *ONCE)
        self.assertEqual(run.status, 1)
        self.assertIn("grown 1e5-fold", run.record("solve")["vanished"])
        self.assertLess(run.record("solve")["iterations"], 200)
        self.assertIn('try amg.smoothing = "gauss_seidel"', run.stdout)

    def test_a_method_for_any_matrix_takes_any_preconditioner(self) -> None:
        matrix = self.matrix("two.mtx", 2, ["1 1 4", "1 2 1", "2 1 -2", "2 2 3"], "general")
        words = ["run.mode=spmv", matrix, "run.solve=true", "bottom.tolerance=1e-8", *ONCE]
        for method in ("bicgstab", "bicgstab_fused", "pipelined_bicgstab"):
            run = self.valid(1, *words, "bottom.preconditioner=amg", f"bottom.solver={method}", "bottom.scaling=none")
            self.assertNotIn("preconditioner_symmetry", run.stdout)
        self.valid(1, *words, "bottom.solver=amg")
        symmetric = self.run_keel(1, *words, "bottom.preconditioner=amg", "bottom.solver=cg", "bottom.scaling=none")
        self.assertIn("CHECK  preconditioner_symmetry  FAIL", symmetric.stdout)

    def test_a_krylov_method_on_the_coarsest_level_is_reported(self) -> None:
        run = self.valid(2, *PRECONDITIONED, "amg.coarsest=krylov")
        coarsest = run.record("amg")["coarsest"]
        self.assertEqual([coarsest[key] for key in ("by", "solver", "missed", "visits")],
                         ["krylov", "cg", 0, run.record("solve")["iterations"] + 1])  # fmt: skip
        self.assertIn("Algebraic multigrid: smoothed aggregation (MIS-2), 3 levels", run.stdout)
        self.assertIn("by cg to 0.001 in at most 500 iterations; a solve: ", run.stdout)

    def test_blocks_of_rows_precondition_without_a_message_more(self) -> None:
        # Every method of the family: tests/solvers/systems/test_block_jacobi.cpp.
        words = (*AMG, "bottom.scaling=none", "bottom.solver=cg")
        alone = self.valid(2, *words).record("solve")
        blocks = (*words, "bottom.norm=natural", "bottom.preconditioner=block_ic0")
        by_cg = self.valid(2, *blocks).record("solve")
        self.assertLess(by_cg["iterations"], 0.7 * alone["iterations"])
        self.assertEqual(by_cg["exchanges"], by_cg["iterations"] + 1)
        self.valid(3, *AMG, "bottom.scaling=none", "bottom.preconditioner=block_ic0", "bottom.solver=bicgstab")
        dry = self.run_keel(1, "--dry-run", *blocks, "problem.ranks=4", "comm.ranks_per_node=2", "comm.machine=hopper")
        self.assertIn("no seconds are predicted of a preconditioner whose blocks are the rows of each rank", " ".join(dry.stdout.split()))

    def test_a_dry_run_for_other_ranks_plans_what_these_send_and_chooses_what_they_choose(self) -> None:
        # A machine that does not compute: with one that does, set-up is predicted and not only counted.
        machine = self.file("messages.toml", (INPUTS / "machines/blue_waters.toml").read_text().partition("[compute]")[0])
        words = [*PRECONDITIONED, "comm.ranks_per_node=2", f"comm.machine={machine}"]
        sent = {"amg_values": "product", "amg_rows": "setup_rows", "amg_transfers": "interpolate",
                "amg_returns": "restrict", "amg_partial_rows": "setup_partial_rows"}  # fmt: skip
        used = {"amg_values": "values_by", "amg_rows": "rows_by", "amg_transfers": "transfers_by",
                "amg_returns": "transfers_by", "amg_partial_rows": "partial_rows_by"}  # fmt: skip
        hmis = ["amg.coarsening=hmis", "amg.theta=0.25"]
        for scheme, rows_scheme, ownership, coarsest, ranks, more in (
            ("split", "comm_scheme", "root", "gathered", 4, []),
            ("two_step", "comm_scheme", "root", "gathered", 4, []),
            ("three_step", "two_step", "root", "gathered", 4, []),
            ("auto", "comm_scheme", "root", "krylov", 4, []),
            ("auto", "two_step/max_need", "condensed", "replicated", 4, []),
            ("three_step", "comm_scheme", "condensed", "replicated", 4, []),
            ("three_step", "comm_scheme", "condensed", "replicated", 3, ["problem.matrix=elasticity", "problem.box=20"]),
            ("three_step", "comm_scheme", "root", "replicated", 2, hmis),
            ("two_step", "comm_scheme", "condensed", "replicated", 4, hmis),
            ("auto", "comm_scheme", "root", "replicated", 8, hmis),
        ):
            with self.subTest(scheme=scheme, rows_scheme=rows_scheme, ownership=ownership, coarsest=coarsest, ranks=ranks):
                given = {word.partition("=")[0] for word in more}
                chosen = [*(word for word in words if word.partition("=")[0] not in given), f"comm.scheme={scheme}", f"amg.ownership={ownership}",
                          f"amg.coarsest={coarsest}", f"amg.rows_scheme={rows_scheme}", *more]  # fmt: skip
                # Solves carry four vectors at a time, cycles one: that decides where messages are cut.
                if scheme == "split":
                    chosen.remove("bottom.solver=cg")
                    chosen += ["bottom.solver=enlarged_cg", "bottom.block=4", "comm.message_cap=64"]
                planned = self.run_keel(1, "--dry-run", *chosen, f"problem.ranks={ranks}")
                run = self.valid(ranks, *chosen)
                levels = run.record("amg")["levels"]
                rows = [row for row in planned.records("scheme") if row["purpose"] in sent and row["chosen_by"]]
                self.assertEqual(len(rows), 5 * (len(levels) - 1) + (coarsest == "krylov"))
                if rows_scheme != "comm_scheme":
                    apart = {(row["scheme"], row["chosen_by"]) for row in rows if row["purpose"].endswith("rows")}
                    self.assertEqual(apart, {(rows_scheme, "deck")})
                for key in ("by", "solver", "collectives", "words"):
                    self.assertEqual(planned.record("plan")["amg_coarsest"][key], run.record("amg")["coarsest"][key], key)
                moves = ", besides rows that move to fewer ranks" if ownership == "condensed" else ""
                self.assertRegex(planned.stdout, rf"\nset-up: [1-9]\d+ exchanges, [1-9]\d+ all-reduces{moves}\n")
                for row in rows:
                    level = levels[row["level"]]
                    # The finest level's products are by the choice for solves.
                    if row["level"] > 0 or row["purpose"] != "amg_values":
                        self.assertEqual(row["scheme"], level[used[row["purpose"]]], row)
                    for key in ("messages", "bytes", "off_node_messages", "off_node_bytes"):
                        self.assertEqual(row["all"][key], level[sent[row["purpose"]]]["all"][key], row)
                self.assertEqual(levels[0]["setup_moved"]["all"]["messages"] > 0, ownership == "condensed")

    def test_schemes_tried_on_every_level_bring_the_same_and_change_no_solution(self) -> None:
        runs = [self.valid(4, *PRECONDITIONED, "comm.ranks_per_node=2", *tried)
                for tried in ([], ["comm.scheme=tuned", "comm.transport=auto"])]  # fmt: skip
        sizes = [[level["nonzeros"] for level in run.record("amg")["levels"]] for run in runs]
        self.assertEqual(*sizes)
        self.assertEqual(*(run.record("solve")["iterations"] for run in runs))
        self.assertIn("amg_items_of_schemes", runs[1].stdout)

    def test_what_cannot_be_set_up_is_a_breakdown_with_a_name(self) -> None:
        # Every outcome: tests/solvers/amg/test_amg.cpp.
        rows = 60
        line = {(row, row): "2" for row in range(1, rows + 1)}
        for row in range(1, rows):
            line[row, row + 1] = line[row + 1, row] = "-1"
        apart = {(1, 1): "1", (60, 60): "1", (30, 30): "1", (31, 31): "1", (30, 31): "0", (31, 30): "0"}
        for entries, words, outcome, remedy in (
            ({(7, 7): "0"}, [], "zero_diagonal", "; solve without algebraic multigrid"),
            (apart, [], "singular", "; give amg.coarsest"),
            (apart, ["amg.coarsest=krylov"], "ready", ""),
            ({}, ["amg.theta=0.9", "amg.max_dense=59"], "too_large", "; give amg.coarsest"),
        ):
            with self.subTest(outcome=outcome):
                matrix = self.matrix("line.mtx", rows, [f"{row} {column} {value}" for (row, column), value in (line | entries).items()], "general")
                run = self.run_keel(2, "run.mode=spmv", matrix, "run.solve=true", "bottom.solver=amg", "bottom.tolerance=1e-8", *ONCE, *words)
                amg, solve = run.record("amg"), run.record("solve")
                self.assertEqual((amg["outcome"], solve["outcome"] == "breakdown", solve["vanished"]), (outcome, bool(remedy), amg["missing"]))
                self.assertEqual(run.status, 1 if remedy else 0, run)
                self.assertIn(remedy, run.flat)

    def test_levels_below_the_grids_are_told_as_those_of_a_matrix_and_choose_for_themselves(self) -> None:
        words = ["problem.box=8", "problem.boxes=[2,2,2]", "multigrid.bottom_box=4", "bottom.solver=amg", "comm.ranks_per_node=2"]
        for more in ([], ["comm.scheme=auto", "comm.machine=blue_waters"], ["comm.scheme=tuned", "multigrid.cycle=F"],
                     ["comm.scheme=two_step", "multigrid.bottom_grid=2"]):  # fmt: skip
            with self.subTest(more=more):
                run = self.valid(4, *words, *more, *ONCE)
                amg = run.record("amg")
                self.assertIn("Under level 1, whose solver is amg; its level 0 is that level.", run.stdout)
                self.assertEqual(amg["levels"][0]["rows"], 8 * 4**3)
                self.assertEqual(amg["levels"][0]["ranks_with_rows"], 2 if "multigrid.bottom_grid=2" in more else 4)
                self.assertEqual(amg["operator_complexity"],
                                 sum(level["nonzeros"] for level in amg["levels"]) / amg["levels"][0]["nonzeros"])  # fmt: skip
                cycles = [row for row in run.records("timer") if row.get("solver") == "amg.cycles"]
                sent = {row["level"]: row for row in cycles if row["op"] == "exchange.send"}
                visits = {row["calls"] for row in cycles if row["op"] == "interpolate"}  # one a cycle, on each level
                (times,) = visits
                for number, level in enumerate(amg["levels"][:-1]):
                    for key in ("messages", "bytes", "off_node_messages", "off_node_bytes"):
                        parts = [level[what]["all"][key] for what in ("product", "product", "interpolate", "restrict")]
                        self.assertEqual(sent[number][f"all_{key}"], times * sum(parts), (number, key))
                # All of that is on the grids' coarsest level, beside what the outer iteration sends there itself.
                of_grids = [row for row in run.records("timer") if "solver" not in row and row["level"] == 1]
                for op in ("restrict", "interpolate"):
                    within = [row for row in cycles if row["op"] == op]
                    self.assertEqual([row["calls"] for row in of_grids if row["op"] == op], [sum(row["calls"] for row in within)])
                chosen = {level[by] for level in amg["levels"] for by in ("values_by", "rows_by", "transfers_by") if level[by]}
                if "comm.scheme=auto" in more:
                    self.assertGreater(len(chosen), 1)
                self.assertEqual("amg_items_of_schemes" in run.stdout, "comm.scheme=tuned" in more)
                self.assertGreater(amg["setup_seconds"], 0)
        survey = self.valid(2, "problem.box=8", "problem.boxes=[2,1,1]", "run.mode=survey", "bottom.scaling=none",
                            "run.survey=['amg','cg preconditioner=amg','cg']", *ONCE)  # fmt: skip
        self.assertEqual([record["solver"] for record in survey.records("amg")], ["amg", "cg preconditioner=amg"])

    def test_bits_on_any_number_of_ranks_need_one_rank_that_coarsens(self) -> None:
        problem = ["problem.box=8", "problem.boxes=[2,2,1]", "problem.boundary=dirichlet", "problem.coefficients=smooth",
                   "problem.rhs=random", "multigrid.bottom_box=4", "multigrid.tolerance=1e-8", "run.deterministic=true", *ONCE]  # fmt: skip
        by_cg = ["bottom.solver=cg", "bottom.scaling=none", "bottom.preconditioner=amg"]
        for bottom, key in ((["bottom.solver=amg"], "bottom.solver"), (by_cg, "bottom.preconditioner")):
            expected = [f'run.deterministic = true: {key} = "amg" coarsens by the rows of each rank']
            self.refused(2, *problem, *bottom, expected=expected)
            held = [self.valid(ranks, *problem, *bottom, f"multigrid.bottom_grid={place}", threads=threads).record("solve")
                    for ranks, threads, place in ((1, 1, "gather"), (2, 2, "gather"), (3, 1, "replicate"))]  # fmt: skip
            for solve in held:
                self.assertEqual((solve["residuals"], solve["u_l2"]), (held[0]["residuals"], held[0]["u_l2"]))
        survey = [*problem, "run.mode=survey", "run.survey=['bicgstab','cg','amg']"]
        run = self.valid(2, *survey)
        self.assertRegex(run.stdout, r"(?m)^amg left out: run.deterministic = true")
        self.assertEqual([row["solver"] for row in run.records("survey")], ["bicgstab", "cg"])
        self.assertIn("amg left out", self.text(1, "--dry-run", *survey))
        self.refused(2, *survey[:-1], "run.survey=['amg','cg']", expected=["run.deterministic = true"])
        gathered = self.valid(2, *survey, "multigrid.bottom_grid=gather").records("survey")
        self.assertEqual([row["solver"] for row in gathered], ["bicgstab", "cg", "amg"])


class Spmv(KeelTest):

    def test_a_method_for_symmetric_matrices_warns_of_another(self) -> None:
        def warnings(upper: float, solver: str) -> list[str]:
            entries = [f"{row} {row} 4" for row in range(1, 21)] + [f"{row + 1} {row} -1" for row in range(1, 20)]
            matrix = self.matrix("band.mtx", 20, [*entries, *(f"{row} {row + 1} {upper}" for row in range(1, 20))], "general")
            run = self.run_keel(2, "run.mode=spmv", matrix, "run.solve=true", f"bottom.solver={solver}", *ONCE)
            return [warning for warning in run.record("run")["warnings"] if "the matrix is not symmetric" in warning]

        self.assertEqual([len(warnings(-1.001, solver)) for solver in ("cg", "ca_cg", "bicgstab")], [1, 1, 0])
        self.assertEqual(warnings(-1, "cg"), [])
        # Its differences are zero together along each diagonal.
        turning = self.run_keel(2, "run.mode=spmv", "problem.matrix=convection", "problem.peclet=50", "problem.box=6", "run.solve=true", *ONCE)
        self.assertIn("the matrix is not symmetric", str(turning.record("run")["warnings"]))

    def test_the_laplacian_and_its_eigenvalues_pipelined_as_deep_as_in_the_paper(self) -> None:
        for deck, iterations in (("laplace_2d", 32), ("diagonal", 77)):
            for ranks, depth in ((1, 0), (2, 1), (3, 2), (8, 3)):
                solver = [f"bottom.depth={depth}", "bottom.solver=deep_pipelined_cg"] if depth else []
                with self.subTest(deck=deck, ranks=ranks, depth=depth):
                    run = self.valid(ranks, INPUTS / f"papers/{deck}.toml", "problem.rows=1024", *solver)
                    self.assertAlmostEqual(run.record("solve")["iterations"], iterations, delta=1)
                    self.assertEqual(run.record("solve")["restarts"], 0)
                    if deck == "diagonal":
                        self.assertEqual(run.record("spmv")["all"]["messages"], 0)

    def test_ranks_that_find_files_of_other_sizes_by_the_same_name_are_refused(self) -> None:
        head = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 "
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            (Path(first) / "a.mtx").write_text(head + "1\n")
            words = ("run.mode=spmv", "problem.matrix=a.mtx", *ONCE)
            others = [":", "-wdir", second, "-n", 1, self.keel, *words]
            # Rank 0 alone reads the entries.
            for text, found in ((None, "none that it can read"), (head.replace("2 2 2", "3 3 2") + "1\n", "3 rows and 2 entries"), (head, "")):
                if text:
                    (Path(second) / "a.mtx").write_text(text)
                run = self.run_keel(1, *words, *others, mpi=("-wdir", first), records=False, quick=False)
                self.assertEqual(run.status, 2 if found else 0, run)
                complaint = f'a.mtx": rank 1 finds {found}' if found else ""
                self.assertIn(complaint, run.stderr)
            os.mkfifo(Path(first) / "pipe.mtx")
            self.refused(1, "run.mode=spmv", f"problem.matrix={first}/pipe.mtx", expected=["is a folder or a device"])

    def test_a_compressed_file_is_the_file(self) -> None:
        entries = [f"{row} {row} 2D+00" for row in range(1, 41)] + [f"{row + 1} {row} -1" for row in range(1, 40)]
        plain = Path(self.matrix("line.mtx", 40, entries).partition("=")[2])
        packed = gzip.compress(plain.read_bytes())
        file = self.file("line.mtx.gz", packed)
        words = ("run.mode=spmv", *SOLVE, *ONCE)
        solves = [self.valid(2, *words, f"problem.matrix={name}").record("solve") for name in (plain, file)]
        for key in ("residuals", "true_residual"):
            self.assertEqual(solves[0][key], solves[1][key])
        for wrong in (packed[:-20], packed[:60] + b"\0\0\0" + packed[63:]):
            file = self.file("line.mtx.gz", wrong)
            self.refused(2, *words, f"problem.matrix={file}", expected=["compressed data damaged or cut short"])

    def test_a_right_hand_side_comes_from_a_file_on_any_ranks_and_in_any_order(self) -> None:
        # Rows with eigenvalue 1 have all of f, so that a step is enough if f is in the order of the rows.
        rows = 40
        matrix = self.matrix("two.mtx", rows, [f"{row} {row} {1 + row % 2}" for row in range(1, rows + 1)])

        def f(n: int, _: int = 0) -> float:
            return n % 2 * (n + 1) / 8

        text = "%%MatrixMarket matrix array real general\n% f\n\n40 1\n" + "".join(f"{f(n)}\n" for n in range(rows))
        for ranks, name, ordering, content in (
            (1, "f.mtx", "random", text.encode()), (3, "f.mtx.gz", "rcm", gzip.compress(text.encode())),
            (3, "f.npy", "natural", numpy_file((rows,), f)), (3, "f.npy", "random", numpy_file((rows, 1), f)),
        ):  # fmt: skip
            with self.subTest(name=name, ordering=ordering):
                run = self.valid(ranks, "run.mode=spmv", matrix, *SOLVE, "bottom.scaling=none", f"problem.rhs={self.file(name, content)}",
                                 f"problem.ordering={ordering}", *ONCE)  # fmt: skip
                self.assertEqual((run.record("solve")["iterations"], run.record("result")["norm_f"]), (1, 5))

    def test_a_right_hand_side_that_does_not_fit_is_refused(self) -> None:
        matrix = self.matrix("two.mtx", 3, [f"{row} {row} 2" for row in range(1, 4)])
        words = ["run.mode=spmv", matrix, *SOLVE]
        text = self.file("f.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n2\nnan\n")
        array = self.file("f.npy", numpy_file((2,), lambda n: 1.0))
        for file, complaint in ((text, "f.mtx:5: value nan: must be a finite number"),
                                (array, "has the shape (2,), not (3,), a value for each row of the matrix")):  # fmt: skip
            for action in ([], ["--dry-run"]):
                self.refused(2, *action, *words, f"problem.rhs={file}", expected=[complaint], records=not action)
        self.refused(2, *words, "problem.rhs=none.mtx", expected=["none.mtx\": cannot be read"])
        self.refused(1, "run.mode=spmv", matrix, f"problem.rhs={array}", expected=["problem.rhs: needs run.solve = true"])
        self.refused(1, "problem.box=8", f"problem.rhs={text}", expected=["is no array of NumPy"])

    def test_a_right_hand_side_loses_the_mean_that_a_singular_matrix_cannot_give(self) -> None:
        words = ["run.mode=spmv", "problem.matrix=grid", "problem.box=4", "problem.boxes=[2,1,1]", "problem.a=0", *SOLVE, *ONCE]
        f = self.file("f.npy", numpy_file((128,), lambda n: 3.0 + n % 2))
        for ranks in (1, 2):
            run = self.valid(ranks, *words, f"problem.rhs={f}")
            self.assertAlmostEqual(run.record("result")["removed_mean"], 3.5 / 4)
            self.assertIn("so f has lost its mean, 8.750e-01 of max|f|", run.flat)
        run = self.valid(1, *words, f"problem.rhs={self.file('f.npy', numpy_file((128,), lambda n: 0.0))}")
        self.assertEqual(run.record("solve")["iterations"], 0)
        self.assertIs(run.record("result")["zero_right_side"], True)

    def test_a_dry_run_reads_no_more_lines_than_its_limit(self) -> None:
        # 6 s are 200 MB; a limit of the system ends what reads all of 2 GB.
        head = b"%%MatrixMarket matrix coordinate real general\n"
        part = gzip.compress(b"% a comment\n" * 8_000_000, 1)
        file = self.file("b.mtx.gz", gzip.compress(head + b"1 1 1\n") + part * 20 + gzip.compress(b"1 1 1\n"))
        words = ("--dry-run", "run.mode=spmv", f"problem.matrix={file}", "run.dry_run_limit=0.1")
        run = self.run_keel(None, *words, records=False, quick=False, under=["bash", "-c", 'ulimit -t 12; exec "$@"', "-"])
        self.assertEqual((run.status, run.stdout), (2, ""), run)
        self.assertIn("more than 200.0 MB: a dry run reads no more", run.stderr)

    def test_a_matrix_of_more_than_any_memory_holds_is_refused_dry_or_not(self) -> None:
        words = ("run.mode=spmv", "problem.matrix=banded", "problem.rows=1099511627776")
        for action in ([], ["--dry-run"]):
            self.refused(2, *action, *words, expected=["1099511627776 rows and 18691697672120 entries on 2 ranks: at least"])
        self.refused(1, "--dry-run", *words, "problem.ranks=2", "comm.ranks_per_node=2", expected=["1099511627776 rows, 18691697672120"])

    def test_the_deck_runs_and_can_be_tried_dry(self) -> None:
        words = (INPUTS / "spmv.toml", "problem.box=8", "comm.ranks_per_node=2")
        run = self.valid(4, *words, "run.repeats=1")
        text = self.text(4, "--dry-run", *words)
        self.assertIn("by the scheme three_step", text)
        lines = r"(?m)^(rows|nonzeros|entries|ghost entries|messages a product|bytes a product|  of them off node) +(\d+) +(\d+)$"
        planned, counted = (re.findall(lines, told.replace("nonzeros", "entries ")) for told in (text, run.stdout))
        self.assertEqual(len(planned), 7)
        self.assertIn("FOM    spmv.nonzeros_per_second", run.stdout)
        self.assertEqual(planned, counted)


class Schemes(KeelTest):
    """All schemes side by side, and who chooses among them."""

    SHUFFLED = [*RANDOM, "problem.columns=3"]
    LASSEN = f"comm.machine={INPUTS}/machines/lassen.toml"

    def chosen(self, run: Run, purpose: str) -> Record:
        (row,) = (r for r in run.records("scheme") if r["purpose"] == purpose and r["chosen_by"] is not None)
        return row

    def test_a_run_and_dry_runs_of_ranks_there_or_not_tell_the_same_of_all_schemes(self) -> None:
        grid = ["problem.matrix=grid", "problem.box=4", "problem.boxes=[4,2,1]", "problem.rows=default", "problem.ordering=default"]
        for ranks, nodes, matrix in ((2, 1, grid), (3, 2, ["problem.matrix=arrow"]), (4, 2, ["problem.ordering=rcm"]),
                                     (8, 3, [])):  # fmt: skip
            words = [*self.SHUFFLED, *matrix, f"comm.ranks_per_node={nodes}", "comm.message_cap=400"]
            words = list({word.partition("=")[0]: word for word in words}.values())
            run = self.valid(ranks, *words, *SOLVE, self.LASSEN)
            rows = run.records("scheme")
            self.assertEqual([(r["purpose"], r["columns"], r["scheme"]) for r in rows],
                             [(p, t, s) for p, t in (("product", 3), ("solve", 1)) for s in SCHEMES])  # fmt: skip
            self.assertEqual([row.pop("pattern") for row in rows], [None] * len(rows))
            there, planned = self.compared(ranks, *words, *SOLVE, self.LASSEN)
            virtual, virtual_rows = self.compared(None, *words, *SOLVE, self.LASSEN, f"problem.ranks={ranks}", "output.details=true")
            for row in virtual_rows:
                pairs = row.pop("pairs")
                self.assertEqual([sum(pair[n] for pair in pairs) for n in (2, 3)], [row["all"][key] for key in ("messages", "bytes")])
                self.assertEqual(len({(source, target) for source, target, *_ in pairs if source != target}), len(pairs))
            self.assertEqual(planned, virtual_rows)
            self.assertEqual([line for line in there.splitlines() if not line.startswith("nodes ")], virtual.splitlines())
            # The pattern is counted where one rank knows all of it.
            counted = [row.pop("pattern") for row in planned]
            self.assertEqual([one is not None for one in counted[: len(SCHEMES)]], [s == "standard" for s in SCHEMES])
            self.assertEqual(rows, planned)
            first, last = ({key: cells[:8] for key, cells in shown_schemes(text).items()} for text in (run.stdout, there))
            self.assertEqual(len(first), len(rows))
            self.assertEqual(first, last)

    def test_tuned_tries_every_scheme_and_keeps_the_fastest(self) -> None:
        cases = [(4, ["comm.ranks_per_node=2"])]
        if re.search(r"(?m)^gpu_emulated( +yes){5} ", self.text(None, "--backends")):
            cases.append((2, ["run.backend=gpu_emulated", "run.gpu_sync=lazy", "comm.ranks_per_node=1"]))
        for ranks, words in cases:
            run = self.valid(ranks, *self.SHUFFLED, *SOLVE, *words, "comm.scheme=tuned")
            for purpose, columns in (("product", 3), ("solve", 1)):
                row = self.chosen(run, purpose)
                self.assertEqual((row["chosen_by"], row["columns"]), ("tuned", columns))
                rivals = [r["rounds"] for r in run.records("scheme") if r["purpose"] == purpose]
                self.assertEqual(min(row["rounds"]), min(min(rounds) for rounds in rivals))
            self.assertEqual(run.record("spmv")["all"]["messages"], self.chosen(run, "product")["all"]["messages"])

    def test_one_table_serves_products_and_solves_of_as_many_vectors(self) -> None:
        run = self.valid(2, *RANDOM, *SOLVE, "comm.ranks_per_node=1")
        self.assertEqual([(r["purpose"], r["chosen_by"]) for r in run.records("scheme")],
                         [("product", "deck" if scheme == "standard" else None) for scheme in SCHEMES])  # fmt: skip
        block = self.valid(2, *RANDOM, "run.solve=true", "bottom.solver=enlarged_cg", "bottom.tolerance=1e-8",
                           "bottom.splitting=interleaved", "comm.ranks_per_node=1")  # fmt: skip
        self.assertEqual(self.chosen(block, "solve")["columns"], 4)
        one_node = self.valid(2, *RANDOM)
        self.assertEqual(one_node.records("scheme"), [])
        self.assertNotIn("Schemes: one exchange", one_node.stdout)

    def test_more_ranks_than_boxes_or_rows(self) -> None:
        self.compared(1, "run.mode=spmv", "problem.box=3", "problem.boxes=[1,1,1]", "problem.ranks=40", "comm.ranks_per_node=4")
        self.valid(3, "run.mode=spmv", "problem.box=3", "problem.boxes=[1,1,1]", *ONCE)

    def test_what_is_too_large_to_plan_for_is_refused(self) -> None:
        self.refused(1, "--dry-run", "run.mode=spmv", "problem.matrix=banded", "problem.rows=1099511627776", "problem.ranks=256",
                     "comm.ranks_per_node=16", expected=["on 256 ranks: a dry run takes about"])  # fmt: skip


class Devices(KeelTest):
    """Ranks without rows take part in exchanges: one rank of a device has its rows, the others help."""

    SCHEMES = ("standard", "two_step", "three_step", "split", "split/always", "helpers")

    def test_helpers_send_and_have_no_rows_whatever_the_scheme_and_a_dry_run_plans_the_same(self) -> None:
        for ranks, nodes, per_device, schemes in ((4, 2, 2, self.SCHEMES), (8, 4, 2, self.SCHEMES[2::3]), (8, 4, 4, self.SCHEMES[1::2])):
            words = [*RANDOM, *SOLVE, f"comm.ranks_per_node={nodes}", f"comm.ranks_per_device={per_device}", "comm.message_cap=200"]
            alone = self.valid(ranks // per_device, *RANDOM, *SOLVE).record("solve")
            for scheme in schemes:
                with self.subTest(ranks=ranks, per_device=per_device, scheme=scheme):
                    run = self.valid(ranks, *words, f"comm.scheme={scheme}")
                    spmv, solve = run.record("spmv"), run.record("solve")
                    self.assertEqual(spmv["most_rows"], -(-700 * per_device // ranks))
                    self.assertLessEqual(abs(solve["iterations"] - alone["iterations"]), 1)
                    dry = self.run_keel(1, "--dry-run", *words, f"comm.scheme={scheme}", f"problem.ranks={ranks}")
                    plan = dry.record("plan")
                    self.assertEqual(plan["rows"]["most"], spmv["most_rows"])
                    self.assertEqual((plan["all"], plan["busiest"]), (spmv["all"], spmv["busiest"]))

    def test_levels_of_algebraic_multigrid_are_on_owners_alone_and_blocks_are_theirs(self) -> None:
        nodes = ["comm.ranks_per_node=4", "comm.ranks_per_device=4"]
        alone, helped = self.valid(2, *PRECONDITIONED), self.valid(8, *PRECONDITIONED, *nodes, "comm.scheme=helpers")
        self.assertEqual([level["rows"] for level in helped.record("amg")["levels"]], [level["rows"] for level in alone.record("amg")["levels"]])
        self.assertEqual([level["ranks_with_rows"] for level in helped.record("amg")["levels"]][0], 2)
        self.assertEqual(helped.record("solve")["iterations"], alone.record("solve")["iterations"])
        blocks = [*AMG, "bottom.scaling=none", "bottom.norm=natural", "bottom.preconditioner=block_ic0", "bottom.solver=cg"]
        iterations = [self.valid(*words).record("solve")["iterations"] for words in ((2, *blocks), (8, *blocks, *nodes))]
        self.assertEqual(*iterations)

    def test_a_gpu_copies_on_the_ranks_that_have_rows(self) -> None:
        if not re.search(r"(?m)^gpu_emulated( +yes){5} ", self.text(None, "--backends")):
            self.skipTest("no emulated GPU in this build")
        for scheme in ("split", "helpers"):
            self.valid(4, *RANDOM, *SOLVE, "run.backend=gpu_emulated", "comm.device=staged", "comm.ranks_per_node=2",
                       "comm.ranks_per_device=2", f"comm.scheme={scheme}")  # fmt: skip
