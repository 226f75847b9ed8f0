"""Hosts with real latency: what is refused, and a solve on two of them after which nothing is left."""

import contextlib
import json
import os
import signal
import subprocess
import time
import unittest
from pathlib import Path
from unittest import mock

from namespaces import command, state
from support import InFolder

ROOT = Path(__file__).resolve().parents[2]
KEEL = os.environ.get("KEEL_EXECUTABLE", "")


def processes_of(folder: Path) -> list[str]:
    """Command lines that name the folder of a cluster."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if str(folder) in words and "test_hosts" not in words:
                found.append(words)
    return found


class Cluster(InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.top, self.folder = self.folder, self.folder / "keel-hosts"
        self.enterContext(mock.patch.dict(os.environ, KEEL_HOSTS=str(self.top)))
        self.addCleanup(command.down)

    def hosts(self, *words: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run([ROOT / "scripts/hosts", *map(str, words)], capture_output=True, text=True, check=False, timeout=1800)


class Refusals(Cluster):
    def test_what_cannot_be_is_refused_with_the_remedy(self) -> None:
        for words, text in ((("up", 1), "1 hosts: 2 to 64 are possible"),
                            (("up", 2, "--slow", "3:10%"), "--slow 3: there are hosts 1 to 2"),
                            (("up", 2, "--delay", "2"), "'2': wants a number and one of us, ms, s, as in 2ms"),
                            (("up", 2, "--slow", "1:100%"), "wants host:share or host:share:period, as in 2:10%:20ms"),
                            (("up", 2, "--delay", "2s"), "--delay and --jitter are 2 s together: at most 1 s"),
                            (("up", 2, "--jitter", "8s"), "--delay and --jitter are 8.001 s together: at most 1 s"),
                            (("up", 2, "--delay", f"{400 * '9'}s"), "--delay and --jitter are inf s together: at most 1 s"),
                            (("up", 2, "--rate", "1e-9"), "'1e-9': wants at least 0.01 MB/s, or 0: unlimited"),
                            (("up", 2, "--rate", "nan"), "'nan': wants at least 0.01 MB/s"),
                            (("run", 2, "true"), "no hosts are running; scripts/hosts up 4 --delay 1ms starts four")):  # fmt: skip
            with self.subTest(words=words):
                done = self.hosts(*words)
                self.assertEqual(done.returncode, 2)
                self.assertIn(text, done.stderr)
                self.assertFalse(self.folder.exists())

    def test_a_process_with_the_number_of_an_ended_one_is_no_cluster(self) -> None:
        self.folder.mkdir(mode=0o700)
        mine = state.Cluster(os.getpid(), (state.start_of(os.getpid()) or 0) + 1, [1, 2], False, True, 0.0)
        mine.write(self.folder / "cluster.json")
        self.assertIsNone(state.running())
        command.down()  # a kill by number alone would end this test
        self.assertFalse(self.folder.exists())

    def test_a_folder_that_others_can_write_is_neither_believed_nor_deleted(self) -> None:
        self.folder.mkdir()
        self.folder.chmod(0o770)
        mine = state.Cluster(os.getpid(), state.start_of(os.getpid()) or 0, [1, 2], False, True, 0.0)
        mine.write(self.folder / "cluster.json")
        self.assertIsNone(state.running())
        command.down()
        self.assertTrue(self.folder.exists())
        with self.assertRaisesRegex(command.Refused, "is not this user's alone"):
            command.make_folder()
        self.folder.chmod(0o700)
        (self.top / "other").touch()
        self.assertEqual(command.make_folder(), self.folder)
        self.assertTrue((self.top / "other").exists())  # nothing but the folder itself was deleted


class Solves(Cluster):
    def setUp(self) -> None:
        super().setUp()
        if why := command.why_impossible():
            self.skipTest(why)
        self.names = Path("/etc/hosts").read_bytes()

    def left_behind(self) -> list[str]:
        until = time.monotonic() + 600
        while (found := processes_of(self.folder)) and time.monotonic() < until:
            time.sleep(0.05)
        return found

    def test_a_solve_on_two_hosts_takes_the_latency_and_leaves_nothing(self) -> None:
        if not KEEL:
            self.skipTest("KEEL_EXECUTABLE names no keel")
        self.assertEqual(self.hosts("up", 2, "--delay", "3ms").returncode, 0)
        one_way, _ = command.excess(state.running() or self.fail("no cluster runs"))
        self.assertGreaterEqual(one_way, 3000)
        records = self.top / "records.json"
        done = self.hosts("run", 2, KEEL, ROOT / "inputs/quickstart.toml", "problem.box=8", "problem.boxes=[2,1,1]",
                          "bottom.solver=cg", "run.repeats=1", "run.warmup=0", f"output.json={records}")  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("RESULT VALID", done.stdout)
        self.assertIn("2 nodes, 1 rank per node (detected)", done.stdout)
        self.assertRegex(done.stderr, r"hosts: \d+ frames, delivered \d+ us late on average")
        found = [json.loads(line) for line in records.read_text().splitlines()]
        solve = next(one for one in found if one["record"] == "solve")
        self.assertGreater(solve["seconds"], 0.003 * solve["reductions"])  # each waits for a message at least
        self.hosts("set", "--delay", "0us")
        self.assertLess(command.excess(state.running() or self.fail("no cluster runs"))[0], one_way)
        self.assertEqual(self.hosts("down").returncode, 0)
        self.assertEqual(self.left_behind(), [])
        self.assertFalse(self.folder.exists())
        self.assertEqual(Path("/etc/hosts").read_bytes(), self.names)

    def test_hosts_as_far_apart_as_may_be_answer(self) -> None:
        done = self.hosts("up", 2, "--delay", "900ms", "--jitter", "100ms")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.hosts("set", "--jitter", "101ms")
        self.assertEqual((done.returncode, "are 1.001 s together: at most 1 s" in done.stderr), (2, True), done.stderr)

    def test_a_killed_cluster_takes_everything_with_it(self) -> None:
        self.assertEqual(self.hosts("up", 2, "--delay", "1ms", "--slow", "2:20%").returncode, 0)
        cluster = state.running() or self.fail("no cluster runs")
        endless = subprocess.Popen([ROOT / "scripts/hosts", "run", "2", "sh", "-c", f"sleep 1000 # {self.folder}"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        try:
            until = time.monotonic() + 600
            while sum("sleep 1000" in words for words in processes_of(self.folder)) < 4 and time.monotonic() < until:
                time.sleep(0.05)
            self.assertGreaterEqual(sum("sleep 1000" in words for words in processes_of(self.folder)), 4)  # two ranks and mpirun
            os.kill(cluster.root, signal.SIGKILL)
            self.assertNotEqual(endless.wait(timeout=600), 0)
        finally:
            endless.kill()
        self.assertIsNone(state.running())
        self.assertEqual(self.left_behind(), [])

    def test_it_ends_by_itself(self) -> None:
        self.assertEqual(self.hosts("up", 2, "--end-after", "15s").returncode, 0)
        self.assertEqual(self.left_behind(), [])
        self.assertIsNone(state.running())


class Options(unittest.TestCase):
    def test_what_is_not_given_stays(self) -> None:
        options = command.parser().parse_args(["set", "--jitter", "200us"])
        self.assertEqual(command.travel_of(options, state.Travel(5000, 0, 100)), state.Travel(5000, 200, 100))
