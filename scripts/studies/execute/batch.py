"""Jobs: handing a job script to the batch system, and asking it what has become of the jobs."""

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime

from studies.define.checked_toml import Refused
from studies.execute.folder import Written

PATIENCE = 20  # seconds that a batch system has to answer


@dataclass(frozen=True)
class System:
    """How one batch system speaks."""

    number: str  # pattern of what submitting prints: the name of the job
    ask: tuple[str, ...]  # command that tells its state, the name behind it
    state: str = r"(\S+)"  # pattern of what that prints


PBS = System(r"^\s*(\d+(?:\[\])?(?:\.\S+)?)\s*$", ("qstat", "-f"), r"job_state = (\S+)")
SYSTEMS = {
    "slurm": System(r"Submitted batch job (\d+)", ("squeue", "--noheader", "--format=%T", "--jobs")),
    "pbs_alps": PBS,
    "pbs_pals": PBS,
    "lsf_jsrun": System(r"Job <(\d+)>", ("bjobs", "-noheader", "-o", "stat")),
    "flux": System(r"^\s*([\u0192f]\w+|\d+)\s*$", ("flux", "jobs", "-n", "-o", "{status}")),
}


def submit(written: Written) -> int:
    """Hands the job script over, and notes the job in the folder; the exit status."""
    command = written.facts["submit"]
    launcher = written.facts["site"]["launcher"]
    if launcher not in SYSTEMS:
        raise Refused(
            f"{written.folder} is written for a machine without a batch system; scripts/study run {written.folder}"
        )
    done = subprocess.run(["bash", "-c", command], cwd=written.folder, stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout, end="", flush=True)
    if done.returncode == 127:
        raise Refused(f"no {command.split()[0]} here; on the machine: cd {written.folder} && {command}")
    if done.returncode:
        return 1
    found = re.search(SYSTEMS[launcher].number, done.stdout, re.M)
    job = {"job": found[1] if found else None, "date": datetime.now(UTC).isoformat(timespec="seconds"), "said": done.stdout}
    with (written.folder / "jobs.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(job) + "\n")
    return 0


def jobs_of(written: Written) -> list[str]:
    """The jobs that were submitted from here, the first one first."""
    path = written.folder / "jobs.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [job for line in lines if (job := json.loads(line)["job"])]


def state_of_job(system: System, job: str) -> str:
    """As the batch system calls it, or why it is not known."""
    program = system.ask[0]
    if not shutil.which(program):
        return f"not known: no {program} here"
    try:
        done = subprocess.run([*system.ask, job], capture_output=True, text=True, check=False, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return f"not known: {program} has not answered in {PATIENCE} s"
    found = re.search(system.state, done.stdout)
    if done.returncode == 0 and found:
        return found[1]
    if done.returncode == 0 or re.search(r"unknown|invalid|not found|has finished", done.stderr, re.I):
        return "gone: ended, or cancelled"
    return f"not known: {(done.stderr.strip() or f'{program} ended with exit status {done.returncode}').splitlines()[0]}"


def jobs_text(written: Written) -> str:
    """A line a job; nothing where none was submitted from here."""
    system = SYSTEMS.get(written.facts["site"]["launcher"])
    return "".join(f"job     {job}: {state_of_job(system, job)}\n" for job in jobs_of(written)) if system else ""
