"""Jobs: handing a job script to the batch system, and asking it what has become of the jobs."""

import json
import re
import shutil
import subprocess
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime

from studies.define.checked_toml import Refused
from studies.define.sites import PLACEHOLDER
from studies.execute.folder import Written

PATIENCE = 20  # seconds that a batch system has to answer


@dataclass(frozen=True)
class System:
    """How one batch system speaks."""

    number: str  # pattern of what submitting prints: the name of the job
    ask: tuple[str, ...]  # command that tells its state, the name behind it
    state: str = r"(\S+)"  # pattern of what that prints
    past: tuple[str, ...] = ()  # command that tells what became of a job that has left the queue, the name behind it
    after: str = "--dependency=afterany:{}"  # by which a job waits for the end of others, however they end
    between: str = ":"  # their names


PBS = System(r"^\s*(\d+(?:\[\])?(?:\.\S+)?)\s*$", ("qstat", "-f"), r"job_state = (\S+)", after="-W depend=afterany:{}")
SYSTEMS = {
    "slurm": System(r"Submitted batch job (\d+)", ("squeue", "--noheader", "--format=%T", "--jobs"),
                    past=("sacct", "--noheader", "--allocations", "--parsable2", "--format=State", "--jobs")),  # fmt: skip
    "pbs_alps": PBS,
    "pbs_pals": PBS,
    "lsf_jsrun": System(r"Job <(\d+)>", ("bjobs", "-noheader", "-o", "stat"),
                        after="-w 'ended({})'", between=") && ended("),  # fmt: skip
    "flux": System(r"^\s*([\u0192f]\w+|\d+)\s*$", ("flux", "jobs", "-n", "-o", "{status}"),
                   between=" --dependency=afterany:"),  # fmt: skip
}


def submit(written: Written, left: Collection[str]) -> int:
    """Submits the scripts of the points that are left, then the one that collects once their jobs have ended; the exit status."""
    launcher = written.facts["site"]["launcher"]
    if launcher not in SYSTEMS:
        raise Refused(
            f"{written.folder} is written for a machine without a batch system; scripts/study run {written.folder}"
        )
    nodes = {point["nodes"] for point in written.points if point["name"] in left}
    scripts = [job for job in written.facts["jobs"] if not job["starts"] or job["nodes"] in nodes]
    for script in scripts:
        text = (written.folder / script["script"]).read_text(encoding="utf-8")
        if line := re.search(rf"^#(SBATCH|PBS|BSUB|flux:)\s.*\b{PLACEHOLDER}\b.*$", text, re.M):
            raise Refused(f"{written.folder}/{script['script']}: {line[0]}: {PLACEHOLDER} stands for your account; change the line, or write "
                          "the study again, into another folder, with --account NAME")  # fmt: skip
    names: list[str] = []
    for script in scripts:
        if not script["starts"] and not all(names):
            print(f"the batch system named no job: {script['script']} is left; scripts/study collect {written.folder} makes the tables")
            continue
        system = SYSTEMS[launcher]
        command = script["submit"].replace("AFTER", system.after.format(system.between.join(names)))
        status, name = submit_one(written, command)
        if status:
            return status
        names.append(name)
    return 0


def submit_one(written: Written, command: str) -> tuple[int, str]:
    """Submits a job and notes it in the folder: the exit status, and the job's name, if there is one."""
    launcher = written.facts["site"]["launcher"]
    done = subprocess.run(["bash", "-c", command], cwd=written.folder, stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout, end="", flush=True)
    if done.returncode == 127:
        raise Refused(f"no {command.split()[0]} here; on the machine: cd {written.folder} && {command}")
    if done.returncode:
        return 1, ""
    found = re.search(SYSTEMS[launcher].number, done.stdout, re.M)
    job = {"job": found[1] if found else None, "date": datetime.now(UTC).isoformat(timespec="seconds"), "said": done.stdout}
    with (written.folder / "jobs.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(job) + "\n")
    return 0, found[1] if found else ""


def jobs_of(written: Written) -> list[str]:
    """The jobs that were submitted from here, the first one first."""
    path = written.folder / "jobs.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [job for line in lines if (job := json.loads(line)["job"])]


def ask(command: tuple[str, ...], job: str) -> subprocess.CompletedProcess[str] | str:
    """The batch system's answer, or why it gave none."""
    if not shutil.which(command[0]):
        return f"no {command[0]} here"
    try:
        return subprocess.run([*command, job], capture_output=True, text=True, check=False, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return f"{command[0]} has not answered in {PATIENCE} s"


def end_of_job(written: Written, system: System, job: str) -> str:
    """The end of a job that has left the queue: by the accounting, else by the last line that its script wrote."""
    path = written.folder / "ends.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    said = [line.partition(" ")[2] for line in lines if line.partition(" ")[0] == job]
    told = ask(system.past, job) if system.past else ""
    accounted = told.stdout.strip().partition("\n")[0] if isinstance(told, subprocess.CompletedProcess) else ""
    own = f"ended: {said[-1]}" if said else "" if accounted else "cancelled or killed: its script came to no end"
    return "; ".join(filter(None, (accounted, own)))


def state_of_job(written: Written, system: System, job: str) -> str:
    """As the batch system calls it, or why it is not known."""
    done = ask(system.ask, job)
    if isinstance(done, str):
        return f"not known: {done}"
    found = re.search(system.state, done.stdout)
    if done.returncode == 0 and found:
        return found[1]
    if done.returncode == 0 or re.search(r"unknown|invalid|not found|has finished", done.stderr, re.I):
        return end_of_job(written, system, job)
    program = system.ask[0]
    return f"not known: {(done.stderr.strip() or f'{program} ended with exit status {done.returncode}').splitlines()[0]}"


def jobs_text(written: Written) -> str:
    """A line a job; nothing where none was submitted from here."""
    system = SYSTEMS.get(written.facts["site"]["launcher"])
    jobs = jobs_of(written) if system else []
    return "".join(f"job     {job}: {state_of_job(written, system, job)}\n" for job in jobs) if system else ""
