"""The states of a study's starts as JUnit's XML, which services of continuous integration show: a test case a start."""

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from studies.execute.states import State
from studies.markdown import CONTROL


def outcome(state: State) -> str:
    """JUnit's element: a failure has a result that is not valid, an error has none; empty of a start that is done."""
    if state.word == "done":
        return ""
    if state.word == "failed":
        return "failure" if state.run and state.run.verdict == "INVALID" else "error"
    return "skipped"


def seconds(state: State) -> float:
    return float(state.run.result.get("total_seconds") or 0) if state.run else 0.0


def junit(name: str, states: Sequence[State]) -> bytes:
    outcomes = [outcome(state) for state in states]
    counts = {f"{what}s" if what != "skipped" else what: f"{outcomes.count(what)}" for what in ("failure", "error", "skipped")}
    totals = {"name": name, "tests": f"{len(states)}", **counts, "time": f"{sum(map(seconds, states)):.3f}"}
    top = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(top, "testsuite", totals)
    for state, what in zip(states, outcomes, strict=True):
        case = ElementTree.SubElement(suite, "testcase", classname=f"keel.{name}", name=f"{state.point}, round {state.round}",
                                      time=f"{seconds(state):.3f}")  # fmt: skip
        if what:
            told = CONTROL.sub(" ", state.reason or state.word)
            ElementTree.SubElement(case, what, message=told)
    ElementTree.indent(top)
    return bytes(ElementTree.tostring(top, encoding="utf-8", xml_declaration=True)) + b"\n"


def write_junit(path: Path, name: str, states: Sequence[State]) -> Path:
    """Unlike tables it replaces a file that is there: its name is the user's, for the next step."""
    path.write_bytes(junit(name, states))
    return path
