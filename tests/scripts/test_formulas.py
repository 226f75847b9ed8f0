"""The papers' closed forms (scripts/papers/formulas.py) against golden values and against what they count."""

import json
import unittest
from pathlib import Path

from papers.formulas import (
    DeviceExchange,
    Network,
    closed_form_time,
    copy_time,
    machine_named,
    network,
    off_node_time,
    on_node_time,
    shared_time,
    split_time,
    standard_time,
    table_3_7,
    table_3_8,
    three_step_time,
    two_step_time,
    within_node_time,
)

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = json.loads((ROOT / "tests/golden/models.json").read_text())
LASSEN = machine_named("lassen")
SOME = {"messages": 10, "bytes": 4000, "bytes_per_rank": 3000, "bytes_per_node": 9000, "bytes_per_node_sent": 12000,
        "nodes_per_rank": 2, "nodes_per_node": 3, "bytes_per_node_pair": 5000}  # fmt: skip
# s_node has no duplicates, nor has what leaves a node in the program that made the golden values.
NAMES = {"messages": "m", "bytes": "s", "bytes_per_rank": "s_proc", "bytes_per_node": "s_node", "bytes_per_node_sent": "s_node",
         "nodes_per_rank": "m_proc2node", "nodes_per_node": "m_node2node", "bytes_per_node_pair": "s_node2node"}  # fmt: skip


class NodeAware(unittest.TestCase):
    def same(self, ours: float, golden: float) -> None:
        self.assertAlmostEqual(ours, golden, delta=1e-12 * abs(golden))

    def test_closed_forms_have_the_golden_values(self) -> None:
        for point in GOLDEN["models"]:
            given, want = point["input"], point["expect"]
            n = {name: given["counts"][letters] for name, letters in NAMES.items()}
            net: Network = network(machine_named(given["machine"]), given["msg_bytes"], given["ppn"])
            t = given["t"]
            for ours, name in ((net.off_node.alpha, "alpha"), (net.off_node.beta, "beta"), (net.on_node.alpha, "alpha_l"),
                               (net.on_node.beta, "beta_l"), (net.injection, "betaN"),
                               (on_node_time(net, n["messages"], n["bytes"]), "eq_2_4"), (standard_time(net, n, t), "eq_003_4"),
                               (two_step_time(net, n, t), "eq_2_6_4_9"), (three_step_time(net, n, t), "eq_003_6")):  # fmt: skip
                self.same(ours, want[name])

    def test_they_go_by_the_schemes_mean_message_the_columns_and_the_ranks_of_a_node(self) -> None:
        for scheme, form, size in (("standard", standard_time, 800), ("two_step", two_step_time, 3000), ("three_step", three_step_time, 10000)):
            self.assertEqual(closed_form_time(scheme, SOME, 2, LASSEN, 4), form(network(LASSEN, size, 4), SOME, 2))
            self.assertIsNone(closed_form_time(scheme, {**SOME, "messages": 0}, 2, LASSEN, 4))
        self.assertEqual(network(LASSEN, 10000, 1).on_node.time(8), 0)

    def test_standard_counts_what_it_sends_twice_from_a_rank_and_from_a_node(self) -> None:
        """Each of four ranks sends a long item to all four ranks of the next node."""
        size = 8e5
        n = {"messages": 4, "bytes": 4 * size, "bytes_per_node_sent": 16 * size}
        machine = machine_named("blue_waters")
        net = network(machine, size, 4)
        self.same(closed_form_time("standard", n, 1, machine, 4) or 0, 4 * net.off_node.alpha + 16 * size * net.injection)

    def test_the_tables_with_split_and_their_equations_have_the_golden_values(self) -> None:
        ways = {"host": "staged", "device": "device_aware"}
        schemes = {"standard": "standard", "nap3": "three_step", "nap2": "two_step", "split": "split"}
        self.assertEqual(len(GOLDEN["tables"]), 5)
        for point in GOLDEN["tables"]:
            want, counts, t = point["expect"], point["input"]["counts"], point["input"]["t"]
            n = {name: (t if "bytes" in name else 1) * counts[letters] for name, letters in NAMES.items()}
            machine = machine_named(point["input"]["machine"])
            size, of_socket, messages = n["bytes"], machine.ranks("socket"), n["messages"]
            found = {"eq_3_1": within_node_time(machine, "host", of_socket, size),
                     "eq_3_3": within_node_time(machine, "host", of_socket, size),
                     "eq_3_4_ppg4": within_node_time(machine, "host", of_socket / 4, size),
                     "eq_3_5": off_node_time(machine, "host", messages, size, n["bytes_per_node"], size / messages),
                     "split_shares": split_time(machine, n, shares=True)}  # fmt: skip
            for name, letters in {scheme: letters for letters, scheme in schemes.items()}.items():
                self.same(table_3_7(machine, n)[name], want["table_3_7"][letters])
            self.assertEqual(table_3_7(machine, n, shares=True)["split"], found["split_shares"])
            if "table_3_8" in want:
                table, by_shares = table_3_8(machine, n), table_3_8(machine, n, shares=True)
                found |= {"eq_3_2": within_node_time(machine, "host", machine.devices("socket"), size),
                          "eq_3_2_device": within_node_time(machine, "device", machine.devices("socket"), size),
                          "eq_3_6": off_node_time(machine, "device", messages, size, 0, size / messages),
                          "eq_3_7": copy_time(machine, n["bytes_per_rank"], n["bytes_per_node_pair"]),
                          "eq_3_7_by_4": copy_time(machine, n["bytes_per_rank"], n["bytes_per_node_pair"], 4),
                          "split_md_shares": by_shares["split md"], "split_dd_shares": by_shares["split dd"]}  # fmt: skip
                for name, seconds in want["table_3_8"].items():
                    scheme, _, way = name.partition("_")
                    self.same(table[f"{schemes[scheme]} {ways.get(way, way)}"], seconds)
                self.assertEqual(len(table), len(want["table_3_8"]))
            self.assertEqual(set(found), set(want) - {"table_3_7", "table_3_8"})
            for name, seconds in found.items():
                self.same(seconds, want[name])


class Devices(unittest.TestCase):
    def near(self, ours: float, wanted: float) -> None:
        self.assertAlmostEqual(ours, wanted, delta=1e-12 * wanted)

    def test_exchanges_shared_with_helpers_have_the_golden_values(self) -> None:
        self.assertEqual(len(GOLDEN["mirge"]), 3)
        for point in GOLDEN["mirge"]:
            given, want = point["input"], point["expect"]
            for field, size in want["bytes"].items():
                for copies, times in ((True, want["time"][field]), (False, want["time_nocopy"][field])):
                    found = shared_time(LASSEN, DeviceExchange(size, given["n_pb"], given["ppg"], copies, as_printed=True))
                    for ours, name in ((found.to_helpers, "st1"), (found.on_node, "st2_on"), (found.off_node, "st2_off"),
                                       (found.from_helpers, "st3"), (found.total, "total")):  # fmt: skip
                        self.near(ours, times[name])
                    self.assertEqual((found.messages_of_helper, found.sending_ranks), (times["m_max"], times["ppn_active"]))
