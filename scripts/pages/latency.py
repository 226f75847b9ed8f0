"""Runs of a page on hosts with real latency (scripts/hosts), each beside its prediction by what run.mode = network
measured on the same hosts."""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from namespaces.command import latency
from pages.page import ROOT, PageRun, at, whole_records
from studies.define.checked_toml import Refused
from studies.records import Record

COUNTS = ("cycles", "iterations", "bottom_iterations", "evaluations", "reductions", "reduction_words", "exchanges",
          "orthogonalisation_reductions")  # fmt: skip


class Hosts:
    """The hosts that runs take place on, and the machine file of each way in which they were set."""

    def __init__(self, keel: Path, scratch: Path):
        self.keel, self.scratch, self.count = keel, scratch, 0
        self.machines: dict[tuple[str, int], Path] = {}

    def close(self) -> None:
        if self.count:
            self.command("down")

    def points(self, run: PageRun) -> Iterator[Record]:
        """A record of the machine, then one for each method, or scheme and level, of each start on each way in which hosts are set."""
        if self.count != run.hosts:
            self.close()
            self.command("up", str(run.hosts))
            self.count = run.hosts
        for network in run.network:
            self.command("set", *given(network))
            machine = self.machine(network, run.ranks)
            for each, words in run.starts():
                load = os.getloadavg()[0]
                measured = self.start(run.ranks, words, run.may_fail)
                if (network, each) == (run.network[0], next(run.starts())[0]):
                    yield {"record": "machine", "processor": measured[0]["machine"]["processor"], **{name: measured[0].get(name) for name in ("revision", "date", "mpi")}}
                predicted = self.predicted(run, machine, words)
                for point in measured_points(measured, {key_of(one): one for one in predicted if key_of(one)}):
                    named = {"each": each} if each else {}
                    yield {"record": "point", "ranks": run.ranks, "network": network, "delay": delay_of(network), **named, **point, "load": load}

    def machine(self, network: str, ranks: int) -> Path:
        """The machine file that run.mode = network writes there; for one rank, that of any number, else of two."""
        if ranks == 1:
            ranks = next((others for known, others in self.machines if known == network), 2)
        path = self.scratch / f"machine{len(self.machines)}.toml"
        if (network, ranks) not in self.machines:
            self.start(ranks, ["inputs/network.toml", "run.repeats=3", f"network.write={path}"])
            self.machines[network, ranks] = path
        return self.machines[network, ranks]

    def start(self, ranks: int, words: list[str], may_fail: bool = False) -> list[Record]:
        out = self.scratch / "run.json"
        out.unlink(missing_ok=True)
        done = self.command("run", str(ranks), str(self.keel), *words, f"output.json={out}", fails=1 if may_fail else 0)
        if not out.exists():
            raise Refused(done.stdout[-2000:] + done.stderr)
        return whole_records(out)

    def predicted(self, run: PageRun, machine: Path, words: list[str]) -> list[Record]:
        out = self.scratch / "dry_run.json"
        out.unlink(missing_ok=True)
        more = [f"problem.ranks={run.ranks}", f"comm.ranks_per_node={-(-run.ranks // run.hosts)}", f"comm.machine={machine}"]
        command = [str(self.keel), "--dry-run", *words, *more, f"output.json={out}"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Refused(f"{shlex.join(command)}:\n{done.stderr}")
        return whole_records(out)

    def command(self, *words: str, fails: int = 0) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(ROOT / "scripts/hosts"), *words]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode not in (0, fails):
            raise Refused(f"{shlex.join(command)}\nended with exit status {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done


def given(network: str) -> list[str]:
    """The words of scripts/hosts set; what is not named is none."""
    words = shlex.split(network)
    return [*words, *(f"{name}=0{unit}" for name, unit in (("--delay", "us"), ("--jitter", "us"), ("--rate", "")) if name not in words),
            *([] if "--slow" in words else ["--no-slow"])]  # fmt: skip


def delay_of(network: str) -> float:
    """Seconds one way."""
    words = shlex.split(network)
    return latency(words[words.index("--delay") + 1]) / 1e6 if "--delay" in words else 0.0


def key_of(record: Record) -> tuple[object, ...] | None:
    """The fields that a measured record and its prediction have in common."""
    if record["record"] in ("survey", "solve"):
        return ("solve", record["solver"])
    if record["record"] == "scheme":
        return ("scheme", *(record[name] for name in ("scheme", "level", "purpose", "columns")))
    if record["record"] == "orthogonalise":
        return ("orthogonalise", record["method"])
    return None


def measured_points(records: Sequence[Record], predictions: dict[tuple[object, ...], Record]) -> Iterator[Record]:
    """Median seconds of each method or scheme, its counts, and what was predicted; null where nothing was."""
    alike: dict[tuple[object, ...], list[Record]] = {}
    survey = any(record["record"] == "survey" for record in records)  # has the medians of its solves
    for record in records:
        if (key := key_of(record)) and not (survey and record["record"] == "solve"):
            alike.setdefault(key, []).append(record)
    for key, found in alike.items():
        first, predicted = found[0], predictions.get(key, {})
        if first["record"] == "orthogonalise":
            yield {"method": first["method"], "seconds": median(first["iteration"]["seconds"]), "reductions": first["iteration"]["reductions"],
                   "predicted_seconds": median(predicted["iteration"]["seconds"]) if predicted else None}  # fmt: skip
            continue
        if first["record"] == "scheme":
            if first["rounds"]:
                yield {"scheme": first["scheme"], "level": first["level"], "purpose": first["purpose"], "seconds": median(first["rounds"]),
                       "predicted_seconds": predicted.get("predicted_seconds"), "messages": at(first, "most_sent.off_node_messages"),
                       "bytes": at(first, "most_sent.off_node_bytes")}  # fmt: skip
            continue
        seconds = first["seconds_median"] if "seconds_median" in first else median(one["seconds"] for one in found)
        latencies = at(predicted, "latency.solve.messages") if predicted.get("latency") else None
        yield {"solver": first["solver"], "seconds": seconds, "predicted_seconds": predicted.get("seconds"), "latencies": latencies,
               "outcome": first["outcome"], **{name: first[name] for name in COUNTS if name in first},
               **({"parts": first["parts"]} if "parts" in first else {})}  # fmt: skip
