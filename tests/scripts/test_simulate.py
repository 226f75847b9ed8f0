"""scripts/simulate: what SimGrid is told of a machine and its platform, and what is said of what cannot be."""

import re

from studies.define.checked_toml import Refused
from studies.define.platforms import INPUTS, options, read_machine, read_platform, words
from studies.execute.simulate import main
from support import InFolder, ended

MACHINE = """\
[machine]
ranks_per_node = 4
injection = { beta = 1e-10 }
[host]
eager_from = 500
rendezvous_from = 8000
[host.node]
short = { alpha = 1e-6, rate = 1e9 }
eager = { alpha = 2e-6, rate = 2e9 }
rendezvous = { alpha = 3e-6, rate = 4e9 }
[host.off_node]
short = { alpha = 2.4e-6, rate = 1e9, overhead = 0.4e-6 }
eager = { alpha = 4e-6, rate = 2.5e9 }
rendezvous = { alpha = 5.6e-6, rate = 5e9 }
[compute]
rate = 1e9
launch = 1e-6
"""
PLATFORM = '[node]\ncores = 8\n[fabric]\nshape = "torus"\nnodes = 32\nhop = 1e-7\nrate = 5e9\n'


class Simulate(InFolder):
    def test_a_message_off_the_node_takes_what_the_machine_s_file_says(self) -> None:
        machine, platform = read_machine(self.file("m.toml", MACHINE)), read_platform(self.file("p.toml", PLATFORM))
        told = dict(word.split("=") for word in words(machine, platform, 5).split())
        self.assertEqual(told["counts"], "2,2,2")
        self.assertEqual((told["nic_rate"], told["cores"]), ("1e+10", "8"))
        given = dict(option.split(":", 1) for option in options(machine))
        # The sender's copies, a byte of each protocol, and the rest beside the links' latency and fastest rate.
        self.assertEqual(given["smpi/or"], "0:4e-07:0")
        self.assertEqual(given["smpi/os"], given["smpi/ois"])
        # Whatever is no rendezvous travels without being asked for.
        self.assertEqual((given["smpi/async-small-thresh"], given["smpi/send-is-detached-thresh"]), ("8000", "65536"))
        copied = [[float(number) for number in part.split(":")] for part in given["smpi/os"].split(";")]
        ends = copied[0][1] + 4e-7
        wires = {"outside": 2 * float(told["nic_latency"]) + float(told["hop"]), "inside": float(told["inner_latency"])}
        alphas = {"outside": (2.4e-6, 4e-6, 5.6e-6), "inside": (1e-6, 2e-6, 3e-6)}
        rates = {"outside": (1e9, 2.5e9, 5e9), "inside": (1e9, 2e9, 4e9)}
        for where in ("inside", "outside"):
            parts = [[float(number) for number in part.split(":")] for part in told[where].split(";")]
            self.assertEqual([part[0] for part in parts], [0, 500, 8000])
            self.assertEqual(float(told[where + "_rate"]), max(rates[where]))
            for (_, more, each), copy, alpha, rate in zip(parts, copied, alphas[where], rates[where], strict=True):
                self.assertGreaterEqual(each, 0)
                self.assertAlmostEqual((ends + wires[where] + more) * 1e6, alpha * 1e6)
                self.assertAlmostEqual((each + copy[2] + 1 / max(rates[where])) * 1e9, 1e9 / rate)

    def test_every_platform_has_room_for_what_it_promises(self) -> None:
        files = sorted((INPUTS / "platforms").glob("*.toml"))
        self.assertGreaterEqual(len(files), 4)
        source = (INPUTS / "platforms/platform.cpp").read_text()
        for path in files:
            platform = read_platform(path)
            self.assertIn(f'"{platform.fabric["shape"]}"', source)
            for nodes in (1, 2, 5, 64, platform.nodes):
                counts = platform.counts(nodes)
                whole = 1
                for count in counts:
                    whole *= count
                self.assertGreaterEqual(whole, nodes, path)

    def test_what_is_started_is_printed(self) -> None:
        status, out, err = ended(main, "deck.toml", "run.repeats=2", "--machine", "hopper", "--ranks", 6, "--print")
        self.assertEqual((status, err), (0, ""))
        self.assertTrue(out.startswith("KEEL_PLATFORM='name=hopper shape=torus counts=2 cores=24 hop=1.05e-07 "), out)
        self.assertRegex(out, r" smpirun -quiet -platform \S+/libkeel_platform.so -hostfile \S+ -np 6 ")
        self.assertRegex(out, r"deck.toml run.repeats=2 comm.machine=hopper\n$")

    def test_everything_that_is_wrong_is_told_at_once_with_a_remedy(self) -> None:
        lacking = re.sub(r"\[compute\](.|\n)*|short = .*|injection.*", "", MACHINE)
        status, _, err = ended(main, "--machine", self.file("lacking.toml", lacking), "--platform", "hoper", "--ranks", 0,
                                       "run.label=a b", "--print")  # fmt: skip
        self.assertEqual(status, 2)
        for part in ("a simulation needs compute.rate, compute.launch, machine.injection, host.off_node.short, host.node.short;"
                     " measure", '--platform hoper: no such platform; choose cori', 'did you mean "hopper"?',
                     "--ranks 0: wants a number from 1 on", "run.label=a b: smpirun would take it apart"):  # fmt: skip
            self.assertIn(part, err)

    def test_a_platform_without_the_nodes_or_cores_is_refused(self) -> None:
        machine, platform = self.file("m.toml", MACHINE), self.file("p.toml", PLATFORM)
        status, _, err = ended(main, "--machine", machine, "--platform", platform, "--ranks", 129, "--print")
        self.assertEqual(status, 2)
        self.assertIn("--ranks 129: 33 nodes of 4 ranks; platform p has 32: at most 128 ranks", err)
        status, _, err = ended(main, "--machine", machine, "--platform", platform, "--ranks", 128, "--ranks-per-node", 9,
                                       "--print")  # fmt: skip
        self.assertEqual(status, 2)
        self.assertIn("9 ranks a node: a node of platform p has 8 cores; choose --ranks-per-node", err)

    def test_a_wrong_platform_file_is_told_with_its_lines(self) -> None:
        wrong = '[node]\ncores = 0\n[fabric]\nshape = "dragonfly"\nnodes = 3\nhop = 1e-7\nrate = 5e9\nlinks = [1, 2]\n'
        wrong += "link = 3\n"
        with self.assertRaises(Refused) as refused:
            read_platform(self.file("p.toml", wrong))
        told = str(refused.exception)
        for part in (":2: node.cores = 0: wants at least 1", ":8: fabric.links = [1, 2]: wants 3 whole numbers",
                     ':9: fabric.link: unknown key', "[fabric] has no chassis"):  # fmt: skip
            self.assertIn(part, told)

    def test_a_look_that_takes_no_time_is_refused(self) -> None:
        given = dict(option.split(":", 1) for option in options(read_machine(self.file("m.toml", MACHINE + "look = 5e-8\n"))))
        self.assertEqual(given["smpi/test"], "5e-08")
        with self.assertRaisesRegex(Refused, "compute.look = 0: who asks again and again would ask for ever"):
            read_machine(self.file("n.toml", MACHINE + "look = 0\n"))

    def test_an_alpha_without_latency_is_refused(self) -> None:
        with self.assertRaisesRegex(Refused, "must be more than twice the overhead of 4e-07 s"):
            read_machine(self.file("m.toml", MACHINE.replace("short = { alpha = 1e-6", "short = { alpha = 7e-7")))
