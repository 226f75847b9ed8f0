"""Runs of a page on hosts with latency: what is asked of scripts/hosts and of a dry run, and the points made of their records."""

import json
import tempfile
import unittest
from pathlib import Path
from subprocess import CompletedProcess
from unittest import mock

from support import needs

needs("jinja2")

from pages.latency import Hosts, delay_of, given
from pages.page import PageRun
from studies.records import Record

SURVEY = [{"record": "solve", "schema": 2, "solver": "cg", "seconds": 3.0},
          {"record": "survey", "schema": 2, "solver": "cg", "seconds_median": 2.0, "outcome": "converged", "reductions": 5, "parts": {"bottom": 1.0}}]  # fmt: skip
SOLVES = [{"record": "solve", "schema": 2, "solver": "cg", "seconds": seconds, "outcome": "converged", "iterations": 9} for seconds in (5.0, 1.0, 2.0)]
SCHEME = {"record": "scheme", "schema": 2, "scheme": "split", "level": 0, "purpose": "stencil", "columns": 1, "rounds": [3.0, 1.0, 2.0],
          "most_sent": {"off_node_messages": 3.0, "off_node_bytes": 80.0}, "predicted_seconds": None}  # fmt: skip
KERNEL = {"record": "orthogonalise", "schema": 2, "method": "mgs", "iteration": {"seconds": [1.0, 3.0, 2.0], "reductions": 11}}


class LatencyPage(unittest.TestCase):
    def points(self, run: PageRun, measured: list[Record], predicted: list[Record]) -> list[Record]:
        """The points of a run; `asked` and `dry` keep the words of each start."""
        self.asked: list[tuple[str, ...]] = []
        self.dry: list[list[str]] = []

        def written(words: list[str], records: list[Record]) -> CompletedProcess[str]:
            out = next((word.partition("=")[2] for word in words if word.startswith("output.json=")), "")
            if out:
                Path(out).write_text("".join(json.dumps(one) + "\n" for one in [{"record": "run", "schema": 2, "revision": "abc", "machine": {"processor": "EPYC"}}, *records]))
            return CompletedProcess(words, 0, "", "")

        def hosts(_: Hosts, *words: str, fails: int = 0) -> CompletedProcess[str]:
            self.asked.append(words)
            return written(list(words), measured)

        def dry(words: list[str], **_: object) -> CompletedProcess[str]:
            self.dry.append(words)
            return written(words, predicted)

        with tempfile.TemporaryDirectory() as scratch, mock.patch.object(Hosts, "command", hosts), mock.patch("subprocess.run", dry):
            on = Hosts(Path("/bin/keel"), Path(scratch))
            found = list(on.points(run))
            on.close()
        return found

    def test_each_network_is_measured_once_and_predicts_its_starts(self) -> None:
        run = PageRun("one", "measured", command="deck.toml", each={"a": "x=1", "b": "x=2"}, ranks=6, hosts=4, network=("--delay 500us", "--delay 2ms"))
        predicted = [{"record": "solve", "schema": 2, "solver": "cg", "seconds": 2.5, "latency": {"solve": {"messages": 10.0}}}]
        machine, *found = self.points(run, SURVEY, predicted)
        self.assertEqual((machine["record"], machine["revision"]), ("machine", "abc"))
        self.assertEqual([(one["delay"], one["each"]) for one in found], [(5e-4, "a"), (5e-4, "b"), (2e-3, "a"), (2e-3, "b")])
        self.assertEqual({(one["seconds"], one["predicted_seconds"], one["latencies"], one["reductions"]) for one in found}, {(2.0, 2.5, 10.0, 5)})
        self.assertEqual([words[0] for words in self.asked], ["up", "set", "run", "run", "run", "set", "run", "run", "run", "down"])
        machines = [next(word for word in words if word.startswith("network.write=")) for words in self.asked if "inputs/network.toml" in words]
        self.assertEqual(len(set(machines)), 2)
        self.assertEqual([words[-2].replace("comm.machine", "network.write") for words in self.dry], [each for each in machines for _ in "ab"])
        self.assertTrue(all({"problem.ranks=6", "comm.ranks_per_node=2"} <= set(words) for words in self.dry))

    def test_points_are_medians_of_solves_schemes_and_kernels(self) -> None:
        run = PageRun("one", "measured", command="deck.toml", ranks=8, hosts=4, network=("--delay 1ms",))
        predicted = [{**SCHEME, "predicted_seconds": 4.0}, {**KERNEL, "iteration": {"seconds": [6.0]}}]
        _, solved, scheme, kernel = self.points(run, [*SOLVES, SCHEME, {**SCHEME, "level": 1, "rounds": None}, KERNEL], predicted)
        self.assertEqual((solved["seconds"], solved["predicted_seconds"], solved["latencies"], solved["iterations"]), (2.0, None, None, 9))
        self.assertEqual((scheme["scheme"], scheme["seconds"], scheme["predicted_seconds"], scheme["messages"]), ("split", 2.0, 4.0, 3.0))
        self.assertEqual((kernel["method"], kernel["seconds"], kernel["predicted_seconds"], kernel["reductions"]), ("mgs", 2.0, 6.0, 11))

    def test_what_a_network_does_not_name_is_none(self) -> None:
        self.assertEqual(given("--delay 1ms"), ["--delay", "1ms", "--jitter=0us", "--rate=0", "--no-slow"])
        self.assertEqual(given("--slow 2:10%"), ["--slow", "2:10%", "--delay=0us", "--jitter=0us", "--rate=0"])
        self.assertEqual((delay_of("--jitter 1ms"), delay_of("--delay 500us --rate 100")), (0.0, 5e-4))
