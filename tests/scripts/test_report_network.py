"""scripts/report network: ratios, the sentence and the page of two machine files, against golden text."""

import re
from pathlib import Path

from studies.machines import read_messages
from studies.views import command
from studies.views.network import rows, sentence
from support import InFolder, ended, needs

FILE = """
[machine]
injection = {{ beta = 1e-10 }}
[host]
eager_from = 500
rendezvous_from = 8000
[host.{where}]
short = {{ alpha = {alpha}, rate = 1e9 }}
rendezvous = {{ alpha = 4e-6, beta = {beta} }}
[noise]
all_reduce = 1e-6
"""


class Network(InFolder):
    def machine(self, name: str, alpha: float = 2e-6, beta: float = 1e-9, where: str = "off_node") -> Path:
        return self.file(name, FILE.format(alpha=alpha, beta=beta, where=where))

    def test_protocols_are_used_by_size(self) -> None:
        one = read_messages(self.machine("a.toml"))
        self.assertEqual([one.protocol("off_node", size) for size in (1, 500, 7999, 8000)], ["short"] * 3 + ["rendezvous"])
        self.assertAlmostEqual(one.seconds("off_node", 1000), 2e-6 + 1e-6)
        self.assertAlmostEqual(one.seconds("off_node", 10000), 4e-6 + 10e-6)

    def test_ratios_and_the_sentence(self) -> None:
        machines = [read_messages(self.machine("a.toml")), read_messages(self.machine("b.toml", alpha=1e-6))]
        self.assertEqual(rows(machines), [
            ["between nodes", "short: alpha, us", "2.00", "1.00", "2.00"],
            ["between nodes", "short: GB/s", "1.00", "1.00", "1.00"],
            ["between nodes", "rendezvous: alpha, us", "4.00", "4.00", "1.00"],
            ["between nodes", "rendezvous: GB/s", "1.00", "1.00", "1.00"],
            ["machine", "injection of a node, GB/s", "10.0", "10.0", "1.00"],
            ["machine", "all-reduce beyond its messages, us", "1.00", "1.00", "1.00"],
        ])  # fmt: skip
        self.assertEqual(sentence(machines), "between nodes, on a and b, 8 bytes take 2.01 and 1.01 us, b is 1.99 times as fast;"
                         " 1 MiB take 1053 and 1053 us, no difference")  # fmt: skip
        other = read_messages(self.machine("c.toml", where="node"))
        self.assertEqual(sentence([machines[0], other]), "the files have no class of messages in common, no ratio")
        self.assertEqual(rows([machines[0], other])[0], ["in a node", "short: alpha, us", "-", "2.00", "-"])

    def test_the_page_has_answer_ratios_and_pictures(self) -> None:
        needs("jinja2", "matplotlib", "pandas")
        status, out, told = ended(command.main, "network", self.machine("a.toml"), "hopper", "--output", self.folder / "page.html")
        self.assertEqual(status, 0, told)
        self.assertTrue(out.startswith("between nodes, on a and hopper, 8 bytes take "), out)
        page = (self.folder / "page.html").read_text()
        for text in ("<p><strong>Between nodes, on a and hopper", "<th>a / hopper</th>", 'id="latency"', 'id="bandwidth"', ">in a node</text>"):
            self.assertIn(text, page)
        self.assertEqual(re.findall(r'(?:src|href)="(?!#|data:)[^"]*', page), [])

    def test_other_files_are_refused(self) -> None:
        deck = self.file("deck.toml", "[problem]\nbox = 8\n")
        self.assertEqual(ended(command.main, "network", "hopper", deck), (2, "", f"{deck}: no alpha and rate of [host.off_node],"
                         " [host.node] or [host.socket]; write a machine file by run.mode=network network.write=FILE\n"))  # fmt: skip
        status, _, told = ended(command.main, "network", "hoper", "lassen")
        self.assertEqual((status, "did you mean" in told), (2, True))
