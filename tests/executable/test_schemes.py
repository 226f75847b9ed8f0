"""Communication schemes and nodes: the same solution whoever carries the ghosts, messages as planned, nodes as given."""

import re
from pathlib import Path

from keel_runner import INPUTS, ONCE, KeelTest, counted_messages, planned_messages

SCHEMES = {
    "standard": [],
    "two_step": [],
    "two_step/max_need": [],
    "three_step": [],
    "split": ["comm.message_cap=200"],
    "split/always": ["comm.message_cap=200"],
    "staged_axes": [],
}
WIDE = ["problem.box=8", "problem.boxes=[3,2,2]", "problem.coefficients=smooth", "problem.rhs=wave",
        "problem.placement=scattered", "comm.neighbours=all", "multigrid.interpolation=linear", "multigrid.tolerance=1e-4",
        *ONCE]  # fmt: skip


def words_of(scheme: str) -> list[str]:
    return [f"comm.scheme={scheme}", *SCHEMES[scheme]]


class Solutions(KeelTest):
    def test_messages_of_one_colour_change_nothing_and_carry_what_a_dry_run_plans(self) -> None:
        for ranks, more in [(2, []), (3, ["problem.boxes=[4,2,2]", "multigrid.fused_box=1", "comm.scheme=split", "comm.message_cap=1024"]),
                            (4, ["comm.scheme=two_step", "problem.boundary=dirichlet"]),
                            (8, ["comm.scheme=staged_axes", "multigrid.fused_box=1", "comm.overlap=true"]),
                            (8, ["comm.scheme=three_step", "multigrid.relaxation=1.1"]),
                            (4, ["problem.dimensions=2", "problem.boxes=[4,3,1]", "comm.neighbours=all"])]:  # fmt: skip
            with self.subTest(ranks=ranks, words=more):
                words = ["problem.box=16", "problem.rhs=random", "problem.coefficients=smooth",
                         "multigrid.tolerance=1e-4", "run.deterministic=true", "run.repeats=1", "run.warmup=0",
                         "comm.ranks_per_node=2", *more]  # fmt: skip
                needed = [*words, "multigrid.ghost_colours=needed"]
                both, run = self.valid(ranks, *words, "multigrid.ghost_colours=both"), self.valid(ranks, *needed)
                for name in ("residuals", "u_l2", "bottom", "exchanges"):
                    self.assertEqual(run.record("solve")[name], both.record("solve")[name])
                plan = self.planned(None, *needed, f"problem.ranks={ranks}")["levels"]
                self.assertTrue(any(row["one_colour"] for row in plan))
                cycles = run.record("solve")["cycles"]
                counted, whole = ({row["level"]: row for row in of.records("timer") if row["op"] == "exchange.send"}
                                  for of in (run, both))  # fmt: skip
                bottom = max(counted)
                for level in range(bottom):
                    rows = [row for row in plan if row["level"] == level]
                    expected = [cycles * sum(row["exchanges_per_cycle"] * row[name] for row in rows) for name in ("messages", "bytes")]
                    if "multigrid.fused_box=1" in more and level == 0:
                        # The first leg begins from zeros, and the right-hand side gets its ghosts once.
                        of_colour, all_cells = (next(row["bytes"] for row in rows if row["purpose"] == "smoothing" and row["one_colour"] is one)
                                                for one in (True, False))  # fmt: skip
                        expected[1] += all_cells - of_colour
                    self.assertEqual([counted[level][name] for name in ("messages", "bytes")], expected)
                    self.assertEqual(counted[level]["messages"], whole[level]["messages"])
                    self.assertLess(counted[level]["bytes"], whole[level]["bytes"])
                self.assertEqual(counted[bottom]["bytes"], whole[bottom]["bytes"])


class Messages(KeelTest):
    def test_messages_and_bytes_are_as_a_dry_run_plans_them_and_change_no_residual(self) -> None:
        residuals = []
        for scheme in SCHEMES:
            with self.subTest(scheme=scheme):
                words = [*(word for word in WIDE if "interpolation" not in word), *words_of(scheme), "comm.ranks_per_node=3",
                         "multigrid.ghost_colours=both"]  # fmt: skip
                run = self.valid(8, *words)
                planned = planned_messages(self.planned(None, *words, "problem.ranks=8"))
                solve = run.record("solve")
                residuals.append(solve["residuals"])
                self.assertEqual(residuals[-1], residuals[0])
                exchanges = [10 * solve["cycles"], sum(visit["exchanges"] for visit in solve["bottom"])]
                self.assertEqual(counted_messages(run),
                                 [[n * x for x in level] for n, level in zip(exchanges, planned, strict=True)])  # fmt: skip
                self.assertGreater(planned[0][2], 0)


class Nodes(KeelTest):
    def test_the_header_shows_who_is_on_which_node(self) -> None:
        run = self.valid(5, *WIDE, self.node_map("x # rank 0\n\ny\nx\nx\ny\n"))
        self.assertIn("2 nodes, 2 to 3 ranks per node (virtual: comm.node_map)", run.stdout)
        self.assertRegex(run.stdout, r"(?m)^nodes +0: 0, 2-3; 1: 1, 4$")
        self.assertEqual(run.record("run")["node_of"], [0, 1, 0, 0, 1])
        self.assertNotIn("of its own", run.stdout)

    def test_nodes_of_one_rank_and_ranks_dealt_out_to_nodes_are_told(self) -> None:
        self.assertIn("every rank is a node of its own", self.valid(4, *WIDE, "comm.ranks_per_node=1").stdout)
        self.assertIn("1 node has one rank only", self.valid(3, *WIDE, "comm.ranks_per_node=2").stdout)
        self.assertNotIn("one rank only", self.valid(1, *WIDE).stdout)
        dealt = self.valid(6, *WIDE, self.node_map("a\nb\n" * 3))
        self.assertIn("ranks are dealt out to the nodes in turn", dealt.stdout)
        for blocks in (2, 3):
            self.assertNotIn("warning   ranks", self.valid(6, *WIDE, f"comm.ranks_per_node={blocks}").stdout)

    def test_split_may_take_the_cap_of_the_machine(self) -> None:
        words = [*WIDE, "comm.scheme=split", "comm.ranks_per_node=2", "comm.machine=lassen"]
        volumes = [{(r["level"], r["scheme"]): r["all"] for r in self.valid(4, *words, cap).records("scheme")}
                   for cap in ("comm.message_cap=0", "comm.message_cap=16384", "comm.message_cap=100")]  # fmt: skip
        self.assertEqual(volumes[0], volumes[1])
        self.assertNotEqual(volumes[0], volumes[2])
        self.refused(2, *WIDE, "comm.scheme=split", "comm.message_cap=0", expected=["comm.machine's to say; give one with [host]"])

    def test_sockets_are_those_of_the_map_of_the_key_or_of_the_machine(self) -> None:
        plans = {}
        for name, words in {
            "map": [self.node_map("a:x\na:x\na:y\na:y\nb:x\nb:x\nb:y\nb:y\n")],
            "key": ["comm.ranks_per_node=4", "comm.ranks_per_socket=2"],
            "machine": ["comm.ranks_per_node=4"],
            "nobody": ["comm.ranks_per_node=4", f"comm.machine={self.unsocketed()}"],
        }.items():
            machine = [] if name == "nobody" else ["comm.machine=blue_waters"]
            run = self.valid(8, *WIDE, *machine, *words)
            plans[name] = {(r["level"], r["scheme"]): (r["predicted_seconds"], r["predicted_on_one_socket"])
                           for r in run.records("scheme")}  # fmt: skip
            sockets = run.record("run")["socket_of"]
            told = {"map": "2 ranks per socket (virtual: comm.node_map)", "key": "2 ranks per socket (virtual: comm.ranks_per_socket)",
                    "machine": "4 ranks per socket (virtual: comm.machine)"}  # fmt: skip
            if name == "nobody":
                self.assertIsNone(sockets)
                self.assertIn("on 1 socket", run.stdout)
                self.assertIn("comm.ranks_per_socket says how many do", " ".join(run.stdout.split()))
            else:
                self.assertIn(told[name], run.stdout)
                self.assertEqual(sockets, [0, 0, 0, 0] * 2 if name == "machine" else [0, 0, 1, 1] * 2)
        self.assertEqual(plans["map"], plans["key"])
        for use, (seconds, near) in plans["nobody"].items():
            self.assertLessEqual(near, seconds)
            self.assertEqual(plans["machine"][use], (near, None))  # the machine has all four on one
            self.assertLessEqual(plans["machine"][use][0], plans["key"][use][0])
            self.assertLessEqual(plans["key"][use][0], seconds)

    def unsocketed(self) -> Path:
        """Blue Waters, of which nobody says how many ranks share a socket."""
        text = (INPUTS / "machines/blue_waters.toml").read_text()
        return self.file("machine.toml", re.sub(r"(?m)^ranks_per_socket.*$", "", text))
