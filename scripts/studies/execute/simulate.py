"""The command scripts/simulate: keel on a simulated machine, by SimGrid's smpirun."""

import argparse
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from shutil import which

from studies.define.checked_toml import Refused
from studies.define.platforms import find, mistakes, options, read_machine, read_platform, words
from studies.execute.keel import SIMULATED
from studies.layout import named

ABOUT = """keel on a machine that is not there: messages cross a simulated network, operations take the time that they declare.

    scripts/simulate DECK.toml --machine hopper --ranks 64 [section.key=value ...]

Wants SimGrid (Debian: libsimgrid-dev) and a build of its own:
    cmake --preset simulated -G Ninja && cmake --build --preset simulated
Documents: docs/how-to/simulate.md. Exit status: keel's; 2 also where something is refused here."""


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog=named("scripts/simulate"), description=named(ABOUT), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("words", nargs="*", metavar="WORD", help="of keel: DECK.toml, section.key=value")
    made.add_argument("--machine", required=True, help="what messages and computing cost: inputs/machines/NAME.toml, or a path")
    made.add_argument("--platform", help="how nodes are connected: inputs/platforms/NAME.toml; by default the machine's name")
    made.add_argument("--ranks", type=int, required=True, help="simulated ranks")
    made.add_argument("--ranks-per-node", type=int, help="by default the machine's")
    made.add_argument("--keel", type=Path, default=SIMULATED, help="by default the build of the preset simulated")
    made.add_argument("--option", action="append", default=[], metavar="NAME:VALUE", help="further --cfg of SimGrid")
    made.add_argument("--print", action="store_true", help="print what would be started, and start nothing")
    return made


def unfit(word: str) -> bool:
    """smpirun splits words at blanks and lets the shell expand them."""
    return any(character in word for character in " \t\n\\*?'") or word.startswith("--cfg")


def main(arguments: Sequence[str]) -> int:
    given = parser().parse_intermixed_args(arguments)
    wrong = []
    found = {}
    for what, word, read in (
        ("machine", given.machine, read_machine),
        ("platform", given.platform or Path(given.machine).stem, read_platform),
    ):
        try:
            found[what] = read(find(word, f"{what}s"))
        except Refused as refusal:
            wrong.append(str(refusal))
    for key, number in (("--ranks", given.ranks), ("--ranks-per-node", given.ranks_per_node)):
        if number is not None and number < 1:
            wrong.append(f"{key} {number}: wants a number from 1 on")
    wrong += [f"{word}: smpirun would take it apart; put it into the deck" for word in given.words if unfit(word)]
    library = given.keel.parent / "libkeel_platform.so"
    if not given.print:
        if not which("smpirun"):
            wrong.append("no smpirun in PATH; install SimGrid (Debian: libsimgrid-dev)")
        if not (given.keel.is_file() and library.is_file()):
            wrong.append(f"{given.keel}: not built; cmake --preset simulated -G Ninja && cmake --build --preset simulated")
    if len(found) == 2 and not wrong:
        per_node = min(given.ranks_per_node or found["machine"].ranks_per_node, given.ranks)
        wrong += mistakes(found["machine"], found["platform"], given.ranks, per_node)
    if wrong:
        print("\n".join(wrong), file=sys.stderr)
        return 2
    machine, platform = found["machine"], found["platform"]
    hosts = [f"nid{rank // per_node}" for rank in range(given.ranks)]
    environment = {"KEEL_PLATFORM": words(machine, platform, -(-given.ranks // per_node)), "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory(prefix="keel-simulate-") as folder:
        hostfile = Path(folder, "hosts")
        hostfile.write_text("\n".join(hosts) + "\n")
        command = ["smpirun", "-quiet", "-platform", str(library), "-hostfile", str(hostfile), "-np", str(given.ranks)]
        command += [f"--cfg={option}" for option in (*options(machine), *given.option)]
        command += ["--log=xbt_cfg.thresh:warning", "--log=smpi_coll.thresh:warning"]
        command += [str(given.keel), *given.words, f"comm.machine={given.machine}"]
        if given.print:
            print(*(f"{name}={shlex.quote(value)}" for name, value in environment.items()), shlex.join(command))
            return 0
        return ended(subprocess.Popen(command, env=os.environ | environment, start_new_session=True))


def ended(child: subprocess.Popen[bytes]) -> int:
    """Its exit status. Signals to this process are passed to smpirun and keel, too."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, frame: os.killpg(child.pid, number))
    status = child.wait()
    return status if status >= 0 else 128 - status
