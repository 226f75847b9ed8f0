"""Split by Tables 3.7 and 3.8 of Lockhart 2023 and by the times of plans, and sentences of its chapter 3 beside both."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

from papers.closed_forms import cases, points
from papers.formulas import Counts, Machine, copy_time, device_forms, machine_named, table_3_7, table_3_8
from papers.points import Figure, Made, Point, Records
from papers.schemes import COLUMNS, MATRICES, NODES, faster_rule
from studies.evaluate.figures.style import INK, Picture, label_y, legend, new, plain_decades, series
from studies.records import Record

READINGS = ("as printed", "by shares")
SIZES = (10, 100, 1_000, 10_000, 100_000, 1_000_000)  # bytes a message
RECEIVERS = (4, 16)  # nodes that a node sends to
DEVICES, RANKS_PER_DEVICE = 32, 10  # eight nodes of lassen; the first rank of a device has its rows
FAMILIES = ("standard", "two_step", "three_step", "split")


Times = dict[str, float]  # seconds by scheme


@dataclass(frozen=True)
class Case:
    about: Record
    times: dict[str, Times]  # by reading of the tables, and by plans

    def record(self, kind: str) -> Record:
        """The fastest scheme and what split gains over the fastest other one, by each reading."""
        fastest = {reading: min(times, key=lambda scheme: times[scheme]) for reading, times in self.times.items()}
        gains = {f"gain of split {reading}": float(f"{gain(times):.3g}") for reading, times in self.times.items()}
        return {"record": kind, **self.about, **fastest, **gains}


@dataclass(frozen=True)
class Scenario:
    """A node's messages in figures 3.11 to 3.13: by all of its processes, or by one."""

    machine: str
    devices: bool
    messages: tuple[int, int]

    @property
    def title(self) -> str:
        return f"{self.machine}, devices" if self.devices else self.machine

    def senders(self, machine: Machine) -> int:
        return machine.devices() if self.devices else machine.ranks()


SCENARIOS = (Scenario("blue_waters", False, (32, 320)), Scenario("lassen", False, (40, 400)), Scenario("lassen", True, (32, 256)))


def counts_of(messages: int, nodes: int, senders: int, size: int) -> Counts:
    """Messages from `senders` processes of a node; no bytes go twice to a node."""
    each = messages / senders
    return {"messages": each, "bytes": each * size, "bytes_per_rank": each * size, "bytes_per_node": messages * size,
            "nodes_per_rank": min(each, nodes), "nodes_per_node": nodes, "bytes_per_node_pair": messages * size / nodes}  # fmt: skip


def scenario_cases() -> Iterator[Case]:
    for scenario in SCENARIOS:
        machine = machine_named(scenario.machine)
        table = table_3_8 if scenario.devices else table_3_7
        for senders, messages, nodes, size in product((scenario.senders(machine), 1), scenario.messages, RECEIVERS, SIZES):
            n = counts_of(messages, nodes, senders, size)
            about = {"scenario": scenario.title, "senders": senders, "messages": messages, "nodes": nodes, "bytes": size}
            yield Case(about, {reading: table(machine, n, reading == "by shares") for reading in READINGS})


def gain(times: Times) -> float:
    """The fastest other scheme's time over that of split, with its faster way to copy."""
    split = min(time for scheme, time in times.items() if scheme.startswith("split"))
    return min(time for scheme, time in times.items() if not scheme.startswith("split")) / split


def helps(times: Times) -> bool | None:
    """Whether split gains over standard; None where two-step or three-step does, and between devices."""
    if "split" not in times or min(times["two_step"], times["three_step"]) < times["standard"]:
        return None
    return times["split"] < times["standard"]


def dd_loses(times: Times) -> bool | None:
    return times["split md"] <= times["split dd"] if "split md" in times else None


def staged_wins(times: Times) -> bool | None:
    """Between devices, by the fastest of the schemes that can do both."""
    if "split md" not in times:
        return None
    best = {way: min(time for scheme, time in times.items() if scheme.endswith(way)) for way in (" staged", " device_aware")}
    return best[" staged"] < best[" device_aware"]


Holds = Callable[[Times], bool | None]
SENTENCES: dict[str, Holds] = {
    "split is the one to choose": lambda times: gain(times) > 1,
    "split gains where two-step and three-step lose": helps,
    "dd never beats md": dd_loses,
    "staged beats device-aware": staged_wins,
}


def pattern_cases(records: Records) -> Iterator[Case]:
    """The patterns of dry runs, also by the times of their plans with two sockets a node."""
    for machine in NODES:
        known = machine_named(machine)
        for case, schemes in cases(records, machine).items():
            first = schemes["standard"].record
            n = {name: (first["columns"] if "bytes" in name else 1) * value for name, value in first["pattern"].items()}
            if n["messages"]:
                times = {reading: table_3_7(known, n, reading == "by shares") for reading in READINGS}
                times["by plans"] = {family: faster_rule(schemes, family).seconds for family in FAMILIES}
                yield Case({"machine": machine, "pattern": case}, times)


def device_points() -> list[Point]:
    words = ("comm.machine=lassen", f"problem.ranks={DEVICES * RANKS_PER_DEVICE}", f"comm.ranks_per_device={RANKS_PER_DEVICE}",
             "comm.ranks_per_node=40", "comm.ranks_per_socket=20")  # fmt: skip
    return [Point(f"devices_{work}_{t}", f"results/node-aware/matrix_{work}.toml", (*words, f"problem.columns={t}"))
            for work in MATRICES for t in COLUMNS]  # fmt: skip


def device_cases(records: Records) -> Iterator[Case]:
    """Matrices on devices, by Table 3.8 and by the times of plans, to which the copies (3.7) of the table are added: split is MD. The
    plans of helpers stand beside (5.14) to (5.21)."""
    lassen = machine_named("lassen")
    for work, t in product(MATRICES, COLUMNS):
        schemes = {row["scheme"]: row for row in records(f"devices_{work}_{t}").of("scheme")}
        n = {name: (t if "bytes" in name else 1) * value for name, value in schemes["standard"]["pattern"].items()}
        times = {reading: table_3_8(lassen, n, reading == "by shares") for reading in READINGS}
        copies = copy_time(lassen, n["bytes_per_rank"], n["bytes_per_node_pair"])
        times["by plans"] = {scheme: row["predicted_seconds"] + copies for scheme, row in schemes.items()}
        gains = {f"gain of {way} over standard by plans": times["by plans"]["standard"] / times["by plans"][way] for way in ("split", "helpers")}
        if n["messages"]:
            neighbours = round(n["messages"]) + lassen.devices() - 1
            forms = device_forms(lassen, n["bytes"] / n["messages"], neighbours)
            gains["gain of helpers over standard by closed forms"] = forms["staged"] / forms["shared"]
        yield Case({"matrix": work, "t": t, **{name: float(f"{value:.3g}") for name, value in gains.items()}}, times)


def held(found: list[Case], reading: str, holds: Holds) -> str:
    """As "3 of 8", of the cases that the sentence is about."""
    answers = [answer for answer in (holds(case.times[reading]) for case in found) if answer is not None]
    return f"{sum(answers)} of {len(answers)}" if answers else "-"


def panels(found: list[Case]) -> Picture:
    figure, axes = new(len(SCENARIOS), 2, width=10.0, height=6.2, sharex=True, sharey=True)
    for across, scenario in enumerate(SCENARIOS):
        every = scenario.senders(machine_named(scenario.machine))
        for down, senders in enumerate((every, 1)):
            axis = axes[down][across]
            for number, (more, nodes) in enumerate(product((0, 1), RECEIVERS)):
                wanted = (scenario.title, senders, scenario.messages[more], nodes)
                shown = [case for case in found if tuple(case.about.values())[:4] == wanted]
                for reading, line in zip(READINGS, (":", "-"), strict=True):
                    label = f"{'more' if more else 'fewer'} messages to {nodes} nodes, {reading}"
                    gains = [gain(case.times[reading]) for case in shown]
                    axis.plot(SIZES, gains, label=label, **series(number) | {"linestyle": line, "marker": ""})
            axis.axhline(1, color=INK, linewidth=1)
            axis.set(xscale="log", yscale="log", xlabel="bytes a message")
            plain_decades(axis.get_xaxis(), axis.get_yaxis())
            axis.minorticks_off()
            sent = "one process sends" if senders == 1 else f"{senders} processes send"
            axis.set_title(f"{scenario.title}: {' or '.join(map(str, scenario.messages))},\n{sent}", fontsize=9)
    label_y(axes, "fastest other scheme over split")
    legend(figure, axes[0][0])
    caption = ("Time of the fastest other scheme over that of split by Tables 3.7 and 3.8: each message within a node with all of its "
               "bytes, as printed, or with a share.")  # fmt: skip
    return Picture(figure, caption, "predicted")


def make(records: Records, every: list[Point]) -> Made:
    scenarios, patterns, on_devices = list(scenario_cases()), list(pattern_cases(records)), list(device_cases(records))
    one, all_of_them = ([case for case in scenarios if (case.about["senders"] == 1) == single] for single in (True, False))
    sentences: list[Record] = []
    for sentence, holds in SENTENCES.items():
        shares = {f"{reading}, {name}": held(found, reading, holds)
                  for name, found in (("all send", all_of_them), ("one sends", one), ("patterns", patterns)) for reading in READINGS}  # fmt: skip
        sentences.append({"record": "sentence", "says": sentence, **shares, "by plans": held(patterns, "by plans", holds)})
    rows = [case.record("row") for case in scenarios] + [case.record("pattern") for case in patterns]
    rows += [case.record("device") for case in on_devices]
    return Made(panels(scenarios), rows + sentences)


FIGURES = [Figure("split", "Lockhart 2023, Tables 3.7 and 3.8, figures 3.11 to 3.13: split by closed forms and by plans",
                  lambda: points() + device_points(), make)]  # fmt: skip
