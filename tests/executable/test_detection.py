"""Nodes that MPI itself reports, several on this machine: who is where, what is said of it, messages between them.

Open MPI is made to believe in machines of other names (fake_host); MPICH is told of hosts, or to see cliques on one.
"""

import shutil
import subprocess
from pathlib import Path

from keel_runner import INPUTS, Run, counted_messages, planned_messages
from test_verdict import VerdictTest

AGENT = Path(__file__).with_name("fake_host")
SMALL = ["problem.box=4", "problem.boxes=[3,2,2]", "problem.rhs=wave", "problem.placement=scattered",
         "comm.neighbours=all", "multigrid.bottom_box=2", "multigrid.tolerance=1e-4", "bottom.solver=bicgstab_fused",
         "run.deterministic=true", "run.warmup=0", "run.repeats=1", "multigrid.ghost_colours=both"]  # fmt: skip


class Detection(VerdictTest):
    def setUp(self) -> None:
        """Finds the words of mpiexec that put 6 ranks on 3 nodes: by 3, 1 and 2, and one after the other in turns."""
        mpi = self.valid(1, *SMALL).record("run")["mpi"]
        if mpi.startswith("Open MPI v4"):
            # Open MPI splits the agent's path at blanks, which a checkout's may have.
            agent = shutil.copy(AGENT, self.folder)
            there = subprocess.run([agent, "na", "hostname"], capture_output=True, text=True)
            if there.returncode == 77:
                self.skipTest(f"no process may have a host name of its own here: {there.stderr.strip()}")
            self.assertEqual(there.stdout, "na\n", there)
            hosts = ["--mca", "plm", "rsh", "--mca", "plm_rsh_agent", agent,
                     "--mca", "oob_tcp_if_include", "lo", "--mca", "btl_tcp_if_include", "lo"]  # fmt: skip
            self.unequal = [*hosts, "-H", "na:3,nb:1,nc:2", "--map-by", "slot"]
            self.in_turns = [*hosts, "-H", "na:2,nb:2,nc:2", "--map-by", "node"]
        elif "MPICH" in mpi:
            self.unequal = ["-launcher", "fork", "-hosts", "na:3,nb:1,nc:2"]
            self.in_turns = ["-genv", "MPIR_CVAR_NUM_CLIQUES", "3"]
        else:
            self.skipTest(f"not known here: how to make {mpi} report several nodes on one machine")

    def sends_as_on_pretended_nodes(self, run: Run, nodes: str, *scheme: str) -> None:
        """The run solved, and sent what is planned for these nodes, given by hand, and no other messages."""
        words = [*SMALL, *scheme, self.node_map(nodes)]
        solve = run.record("solve")
        pretended = self.valid(6, *words).record("solve")
        for name in ("residuals", "u_l2", "bottom", "exchanges"):
            self.assertEqual(solve[name], pretended[name], name)
        planned = planned_messages(self.planned(6, *words))
        exchanges = [10 * solve["cycles"], sum(visit["exchanges"] for visit in solve["bottom"])]
        self.assertEqual(counted_messages(run), [[n * x for x in row] for n, row in zip(exchanges, planned, strict=True)])
        for _, _, off_node_messages, off_node_bytes in planned:
            self.assertGreater(off_node_messages, 0)
            self.assertGreater(off_node_bytes, 0)

    def test_nodes_of_three_ranks_and_one_and_two(self) -> None:
        run = self.valid(6, *SMALL, "comm.scheme=three_step", mpi=self.unequal)
        facts = run.record("run")
        self.assertEqual((facts["nodes"], facts["node_of"]), (3, [0, 0, 0, 1, 2, 2]))
        self.assertTrue(facts["nodes_detected"])
        self.assertIn("; 3 nodes, 1 to 3 ranks per node (detected)", run.stdout)
        self.assertIn("\nnodes     0: 0-2; 1: 3; 2: 4-5\n", run.stdout)
        self.assertIn("\nwarning   1 node has one rank only; if MPI is wrong, set comm.ranks_per_node", run.stdout)
        self.assertNotIn("dealt out", run.stdout)
        self.sends_as_on_pretended_nodes(run, "a\na\na\nb\nc\nc\n", "comm.scheme=three_step")

    def test_ranks_dealt_out_to_the_nodes_in_turns(self) -> None:
        run = self.valid(6, *SMALL, "comm.scheme=two_step", mpi=self.in_turns)
        facts = run.record("run")
        self.assertEqual((facts["nodes"], facts["node_of"]), (3, [0, 1, 2, 0, 1, 2]))
        self.assertIn("; 3 nodes, 2 ranks per node (detected)", run.stdout)
        self.assertIn("\nnodes     0: 0, 3; 1: 1, 4; 2: 2, 5\n", run.stdout)
        self.assertIn("\nwarning   ranks are dealt out to the nodes in turn: neighbours are mostly off node", run.stdout)
        self.assertNotIn("one rank only", run.stdout)
        self.sends_as_on_pretended_nodes(run, "a\nb\nc\na\nb\nc\n", "comm.scheme=two_step")

    def test_a_scheme_that_loses_more_than_a_tenth_to_others_has_them_as_remedy(self) -> None:
        words = [word for word in SMALL if not word.startswith("run.repeats")]
        words += ["run.repeats=10", f"comm.machine={INPUTS}/machines/lassen.toml"]
        (verdict,) = self.hold(self.valid(6, *words, "comm.scheme=two_step", mpi=self.unequal), [(None, 10)])
        self.assertRegex(verdict["lines"][-1], r'^  remedy: comm.scheme = "auto" is predicted to save [1-9]\d% of the time$')
        (verdict,) = self.hold(self.valid(6, *words, "comm.scheme=auto", mpi=self.unequal), [(None, 10)])
        self.assertEqual(len(verdict["lines"]), 3)
