"""Communication schemes and nodes: the same solution whoever carries the ghosts, messages as planned, nodes as found."""

import os
import re
import stat
import subprocess
import tempfile
import unittest
from itertools import product
from pathlib import Path

from keel_runner import ONCE, KeelTest, Record, Run, at_once

SCHEMES = {
    "standard": [],
    "two_step": [],
    "two_step/max_need": ["comm.partner_rule=max_need"],
    "three_step": [],
    "split": ["comm.message_cap=200"],
    "split/always": ["comm.message_cap=200", "comm.cap_rule=always"],
    "staged_axes": [],
}
WIDE = ["problem.box=8", "problem.boxes=[3,2,2]", "problem.coefficients=smooth", "problem.rhs=wave",
        "problem.placement=scattered", "comm.neighbours=all", "multigrid.interpolation=linear", *ONCE]  # fmt: skip


def words_of(scheme: str) -> list[str]:
    return [f"comm.scheme={scheme.partition('/')[0]}", *SCHEMES[scheme]]


class MapFile:
    """A node map in a file that is there as long as the test is."""

    def __init__(self, test: unittest.TestCase, text: str) -> None:
        folder = tempfile.TemporaryDirectory()
        test.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "nodes.txt"
        self.path.write_text(text)
        self.word = f"comm.node_map={self.path}"


class Solutions(KeelTest):
    def solution(self, ranks: int, *words: str) -> Record:
        solve = self.valid(ranks, *WIDE, *words).record("solve")
        return {name: solve[name] for name in ("residuals", "u_l2", "bottom", "exchanges")}

    def test_every_scheme_gives_the_same_residuals_to_the_last_bit_on_any_nodes(self) -> None:
        ragged = MapFile(self, "a\nb\na\na\nc\nb\na\na\n").word
        for ranks, nodes in [(8, [f"comm.ranks_per_node={n}" for n in (1, 2, 3, 4, 8)] + [ragged]),
                             (3, ["comm.ranks_per_node=2"])]:  # fmt: skip
            reference = self.solution(ranks)
            cases = list(product(SCHEMES, nodes))
            for case, solution in zip(
                cases, at_once(2, lambda case: self.solution(ranks, *words_of(case[0]), case[1]), cases), strict=True
            ):
                with self.subTest(ranks=ranks, case=case):
                    self.assertEqual(solution, reference)

    def test_overlap_and_persistent_requests_change_nothing(self) -> None:
        reference = self.solution(4)
        for scheme in SCHEMES:
            with self.subTest(scheme=scheme):
                words = ["comm.ranks_per_node=2", "comm.overlap=true", "comm.persistent=true", "comm.ghost_depth=2"]
                self.assertEqual(self.solution(4, *words_of(scheme), *words), reference)


class Messages(KeelTest):
    def test_messages_and_bytes_are_as_a_dry_run_plans_them(self) -> None:
        for scheme in SCHEMES:
            with self.subTest(scheme=scheme):
                words = [*(word for word in WIDE if "interpolation" not in word), *words_of(scheme), "comm.ranks_per_node=3"]
                run = self.valid(8, *words)
                text = self.text(8, "--dry-run", *words)
                planned = [list(map(int, line.split()[5:])) for line in text.splitlines() if re.match(r" +\d+ +\d+x", line)]
                solve = run.record("solve")
                cycles = solve["cycles"]
                exchanges = [10 * cycles, sum(visit["exchanges"] for visit in solve["bottom"])]
                names = ("messages", "bytes", "off_node_messages", "off_node_bytes")
                rows = [row for _, row in sorted(run.timer("exchange.send").items())]
                self.assertEqual([[row[name] for name in names] for row in rows],
                                 [[n * x for x in level] for n, level in zip(exchanges, planned, strict=True)])  # fmt: skip
                self.assertGreater(planned[0][2], 0)


class Nodes(KeelTest):
    def test_the_header_shows_who_is_on_which_node(self) -> None:
        run = self.valid(5, *WIDE, MapFile(self, "x # rank 0\n\ny\nx\nx\ny\n").word)
        self.assertIn("2 nodes, 2 to 3 ranks per node (virtual: comm.node_map)", run.stdout)
        self.assertRegex(run.stdout, r"(?m)^nodes +0: 0, 2-3; 1: 1, 4$")
        self.assertEqual(run.record("run")["node_of"], [0, 1, 0, 0, 1])
        self.assertNotIn("of its own", run.stdout)

    def test_nodes_of_one_rank_and_ranks_dealt_out_to_nodes_are_told(self) -> None:
        self.assertIn("every rank is a node of its own", self.valid(4, *WIDE, "comm.ranks_per_node=1").stdout)
        self.assertIn("1 node has one rank only", self.valid(3, *WIDE, "comm.ranks_per_node=2").stdout)
        dealt = self.valid(6, *WIDE, MapFile(self, "a\nb\n" * 3).word)
        self.assertIn("ranks are dealt out to the nodes in turn", dealt.stdout)
        for blocks in (2, 3):
            self.assertNotIn("warning   ranks", self.valid(6, *WIDE, f"comm.ranks_per_node={blocks}").stdout)

    def test_a_node_map_that_does_not_fit_is_refused(self) -> None:
        short = MapFile(self, "a\nb\n")
        self.refused(3, *WIDE, short.word, expected=["no node for rank 2: 2 lines for 3 ranks; add 1, or start 2 ranks"])
        self.refused(1, *WIDE, short.word, expected=["2 lines for 1 ranks; remove 1, or start 2 ranks"])
        two_words = MapFile(self, "a\nb c\n")
        self.refused(2, *WIDE, two_words.word, expected=['line 2: "c" after "b": give one node a line'])
        both = [short.word, "comm.ranks_per_node=1"]
        self.refused(2, *WIDE, *both, expected=["comm.ranks_per_node = 1: give only one of the two"])
        self.refused(2, *WIDE, "comm.node_map=/", expected=["cannot be read; give a file"])


class Detection(KeelTest):
    """Nodes that MPI itself reports, several on this machine."""

    AGENT = """#!/bin/sh
# What mpiexec starts in the place of ssh: HOST COMMAND ...; the command then finds itself on a machine of that name.
host=$1
shift
exec unshare {options} sh -c "hostname $host; $*"
"""

    def start(self, ranks: int, environment: dict[str, str], *words: str) -> Run:
        with tempfile.TemporaryDirectory() as folder:
            command = [str(self.mpiexec), *words, "-n", str(ranks), str(self.keel), *WIDE, "comm.scheme=three_step",
                       "output.json=run.json"]  # fmt: skip
            done = subprocess.run(command, cwd=folder, env=os.environ | {"OMP_NUM_THREADS": "1"} | environment,
                                  capture_output=True, text=True, timeout=120)  # fmt: skip
            files = {path.name: path.read_text() for path in Path(folder).iterdir()}
        run = Run(" ".join(command), done.returncode, done.stdout, done.stderr, files)
        self.assertEqual(run.status, 0, run)
        return run

    def library(self) -> str:
        return self.valid(1, *WIDE).record("run")["mpi"]

    def test_nodes_of_open_mpi_on_machines_of_other_names(self) -> None:
        if "Open MPI v4" not in self.library():
            self.skipTest("not Open MPI 4")
        options = "--uts" if os.geteuid() == 0 else "--user --map-root-user --uts"
        if subprocess.run(["unshare", *options.split(), "hostname", "na"], capture_output=True).returncode != 0:
            self.skipTest("unshare may not give a process a host name of its own here")
        with tempfile.TemporaryDirectory() as folder:
            agent = Path(folder) / "agent.sh"
            agent.write_text(self.AGENT.format(options=options))
            agent.chmod(agent.stat().st_mode | stat.S_IXUSR)
            run = self.start(6, {}, "-H", "na:3,nb:1,nc:2", "--mca", "plm", "rsh", "--mca", "plm_rsh_agent", str(agent))
        self.assertEqual(run.record("run")["node_of"], [0, 0, 0, 1, 2, 2])
        self.assertIn("3 nodes, 1 to 3 ranks per node (detected)", run.stdout)
        self.assertIn("1 node has one rank only; if MPI is wrong, set comm.ranks_per_node", run.stdout)
        here = self.valid(6, *WIDE, "comm.ranks_per_node=6").record("solve")
        self.assertEqual(run.record("solve")["residuals"], here["residuals"])

    def test_nodes_of_mpich_with_cliques(self) -> None:
        if "MPICH" not in self.library():
            self.skipTest("not MPICH")
        dealt = self.start(6, {"MPIR_CVAR_NUM_CLIQUES": "3"})
        self.assertEqual(dealt.record("run")["node_of"], [0, 1, 2, 0, 1, 2])
        self.assertIn("3 nodes, 2 ranks per node (detected)", dealt.stdout)
        self.assertIn("ranks are dealt out to the nodes in turn", dealt.stdout)
        blocks = self.start(6, {"MPIR_CVAR_NUM_CLIQUES": "3", "MPIR_CVAR_CLIQUES_BY_BLOCK": "1"})
        self.assertEqual(blocks.record("run")["node_of"], [0, 0, 1, 1, 2, 2])
