"""Sites: the nodes of a machine, how ranks are placed on them, and what a job script there has to say."""

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from studies.define.checked_toml import CheckedToml, Key, Refused, shown
from studies.define.platforms import Machine, Platform, find, mistakes, read_machine, read_platform
from studies.define.points import Point
from studies.layout import INPUTS, LAUNCHERS

SITES = INPUTS / "sites"

PLACEHOLDER = "PROJECT"  # in place of an account in the sites that come with Keel
BIND_GPUS = ("flux", "lsf_jsrun", "slurm")  # launchers that show each rank the GPUs nearest to it
NO_GPUS = ("hosts", "pbs_alps", "simulated")
CRAY_PROGRESS = {"MPICH_ASYNC_PROGRESS": "1", "MPICH_MAX_THREAD_SAFETY": "multiple"}

ENVIRONMENTS = ("environment", "gpu_environment")

TABLES = {
    "node": {
        "cores": Key(int, "cores of a node; 0 = those of this machine", least=0, needed=True),
        "sockets": Key(int, "sockets of a node", least=1),
        "memory_gb": Key((int, float), "memory of a node; 0 = that of this machine", least=0),
        "gpus": Key(int, "GPUs of a node", least=0),
        "nics": Key(int, "network cards of a node", least=0),
        "reserved_cores": Key(int, "cores of a node that the system keeps for itself", least=0),
        "machine": Key(str, "whose costs scripts/study plan --times takes: a name of inputs/machines, or a path"),
    },
    "run": {
        "threads": Key(int, "threads of a rank, unless the study says", least=1),
        "ranks_per_node": Key(int, "ranks on a node, unless the study says; 0 = the most that its cores allow", least=0),
        "progress_cores": Key(int, "cores left free for each rank's thread that moves messages on", least=0),
        "gpus_per_rank": Key(int, "GPUs of a rank", least=0),
        "gpu_bind": Key(str, "closest: the launcher shows a rank its own GPUs; none: all of the node, and Keel takes the nearest",
                        ("closest", "none")),
        "options": Key(list, "further words for the launcher"),
    },
    "simulation": {
        "machine": Key(str, "what messages and computing cost: a name of inputs/machines, or a path"),
        "platform": Key(str, "how nodes are connected: a name of inputs/platforms, or a path; by default the machine's"),
    },
    "job": {
        "account": Key(str, "whom the batch system charges"),
        "queue": Key(str, "queue or partition"),
        "directives": Key(list, "further lines of the job script's head, as they are to stand there"),
        "setup": Key(list, "lines of shell before the first run, such as module load"),
        "longest_minutes": Key(int, "longest job that the queue takes; what is left is resumed", least=1),
    },
}


@dataclass(frozen=True)
class Site:
    path: Path
    launcher: str
    about: str
    cores: int
    sockets: int = 1
    memory_gb: float = 0.0
    gpus: int = 0
    nics: int = 0
    reserved_cores: int = 0
    threads: int = 1
    ranks_per_node: int = 0
    progress_cores: int = 0
    gpus_per_rank: int = 0
    gpu_bind: str = "closest"
    options: tuple[str, ...] = ()
    machine: str = ""
    platform: str = ""
    account: str = ""
    queue: str = ""
    directives: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    longest_minutes: int = 0
    environment: dict[str, str] = field(default_factory=dict)
    gpu_environment: dict[str, str] = field(default_factory=dict)  # added if ranks get GPUs

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def simulated(self) -> bool:
        """All its ranks are processes of one, on this machine."""
        return self.launcher == "simulated"

    @property
    def here(self) -> bool:
        """Without a batch system."""
        return self.simulated or self.launcher in ("local", "hosts")

    @property
    def placeholder(self) -> bool:
        """True if the account, or a directive, is not yet the user's."""
        return any(PLACEHOLDER in text for text in (self.account, *self.directives))

    def charged_to(self, account: str) -> "Site":
        if wrong := unfit_name(account):
            raise Refused(f"--account {shown(account)}: {wrong}")
        directives = tuple(line.replace(PLACEHOLDER, account) for line in self.directives)
        return replace(self, account="" if directives != self.directives else account, directives=directives)

    def simulation(self) -> tuple[Machine, Platform]:
        """The simulated machine; Refused if it cannot be read."""
        return (read_machine(find(self.machine, "machines")),
                read_platform(find(self.platform or Path(self.machine).stem, "platforms")))  # fmt: skip

    @property
    def usable_cores(self) -> int:
        return self.cores - self.reserved_cores


@dataclass(frozen=True)
class Placement:
    """The nodes and cores that the ranks of a point get."""

    nodes: int
    ranks: int
    ranks_per_node: int
    threads: int
    cores_per_rank: int  # threads, and what MPI's own thread is left
    ranks_in_memory: int  # ranks in one memory: those of a node, or all that are simulated


def unfit_name(name: str) -> str:
    """Why a name may not stand in a directive, which no quotes protect; empty if it may."""
    return "" if name.isprintable() and " " not in name else "wants no blank and no control character, since it becomes a word of a directive"


def unfit_line(line: str) -> str:
    return "" if line.replace("\t", " ").isprintable() else "wants one line without control characters"


def launchers() -> list[str]:
    return sorted(path.name.partition(".")[0] for path in LAUNCHERS.glob("*.sh.j2"))


def read_site(path: Path) -> Site:
    """Refuses what is wrong, all at once, with file:line."""
    file = CheckedToml(path)
    values = file.values
    tables = {name: Key(dict, f"[{name}]", needed=name == "node") for name in (*TABLES, *ENVIRONMENTS)}
    file.check(values, (), {"launcher": Key(str, "how ranks are started", launchers(), needed=True),
                            "about": Key(str, "which machine this is, and what of it was tried", needed=True)} | tables,
               "a site")  # fmt: skip
    found: dict[str, Any] = {}
    for name, keys in TABLES.items():
        table = values.get(name, {})
        if isinstance(table, dict):
            file.check(table, (name,), keys, f"[{name}]")
            for key, value in table.items():
                if isinstance(value, list) and not all(isinstance(word, str) for word in value):
                    file.refuse((name, key), f"{name}.{key}: wants an array of texts")
                found[key] = tuple(value) if isinstance(value, list) else value
    for place, unfit in ((("job", "account"), unfit_name), (("job", "queue"), unfit_name), (("job", "directives"), unfit_line),
                         (("run", "options"), unfit_line)):  # fmt: skip
        value = found.get(place[1]) or ()
        for text in (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ():
            if isinstance(text, str) and (wrong := unfit(text)):
                file.refuse(place, f"{'.'.join(place)} = {shown(text)}: {wrong}")
    for name in ENVIRONMENTS:
        found[name] = table = values.get(name, {})
        for key, value in table.items() if isinstance(table, dict) else ():
            if not isinstance(value, str) or not key.replace("_", "").isalnum():
                file.refuse((name, key), f'{name}.{key} = {value!r}: wants NAME = "text"')
    cores = found.get("cores", 0)
    if isinstance(cores, int) and cores and int(found.get("reserved_cores", 0) or 0) >= cores:
        file.refuse(("node", "reserved_cores"), f"node.reserved_cores: leaves none of {cores} cores")
    if not file.mistakes:
        check_gpus(file, values["launcher"], found)
    simulated = values.get("launcher") == "simulated"
    model = values.get("simulation")
    if simulated and not (isinstance(model, dict) and "machine" in model):
        file.refuse(("launcher",), 'launcher = "simulated": wants simulation.machine, a name of inputs/machines')
    if not simulated and model:
        file.refuse(("simulation",), '[simulation]: only launcher = "simulated" has one')
    for key in ("machine", "platform"):
        if str(found.get(key, "")).endswith(".toml"):
            found[key] = str((path.parent / str(found[key])).resolve())  # as seen from the site's file
    file.done()
    if not cores:
        found["cores"] = len(os.sched_getaffinity(0))
    if not found.get("memory_gb"):
        own = simulated or not cores
        found["memory_gb"] = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9 if own else 0.0
    return Site(path=path, launcher=values["launcher"], about=values["about"], **found)


def check_gpus(file: CheckedToml, launcher: str, found: dict[str, Any]) -> None:
    """Refuses GPUs that the launcher cannot give to ranks as the site wants."""
    closest = found.get("gpu_bind", "closest") == "closest"
    if found.get("gpus_per_rank") and closest and launcher not in BIND_GPUS:
        remedy = ("" if launcher in NO_GPUS else
                  '; gpu_bind = "none" shows all GPUs of a node to its ranks, and Keel takes the nearest')  # fmt: skip
        file.refuse(("run", "gpus_per_rank"), f'run.gpus_per_rank: launcher "{launcher}" gives no GPUs to ranks{remedy}')
    if not closest and (launcher in NO_GPUS or launcher == "lsf_jsrun"):
        file.refuse(("run", "gpu_bind"), f'run.gpu_bind = "none": launcher "{launcher}" cannot show all GPUs to each rank')


def place(site: Site, point: Point) -> tuple[Placement, list[str]]:
    """The placement of the point's ranks, and its problems: "error: ..." or "warning: ..."."""
    threads = point.threads or site.threads
    per_rank = threads + site.progress_cores
    if site.simulated:
        return place_simulated(site, point, threads)
    here = site.launcher == "local"  # one node, whose cores may be shared: for trying things out
    per_node = point.ranks_per_node or site.ranks_per_node or max(site.usable_cores // per_rank, 1)
    whole = not here and point.ranks >= per_node  # a node has as many ranks as it may have
    per_node = point.ranks if here else min(per_node, point.ranks)
    nodes = -(-point.ranks // per_node)
    found = []
    if per_node * per_rank > site.usable_cores:
        kept = f" (and {site.progress_cores} each for MPI's progress)" if site.progress_cores else ""
        found.append(f"{'warning' if here else 'error'}: {per_node} ranks a node x {threads} threads{kept} want"
                     f" {per_node * per_rank} cores; {site.usable_cores} can be used"
                     + (": they share them, and times mean little" if here else ""))  # fmt: skip
    if point.ranks % per_node:
        found.append(
            f"warning: {point.ranks} ranks leave the last of {nodes} nodes with {point.ranks % per_node} of {per_node}"
        )
    if site.gpus_per_rank and per_node * site.gpus_per_rank > site.gpus:
        found.append(f"error: {per_node} ranks a node x {site.gpus_per_rank} GPUs are more than the node's {site.gpus}")
    cray = {key: site.environment.get(key) == value for key, value in CRAY_PROGRESS.items()}
    if len(set(cray.values())) > 1:
        given, missing = sorted(cray, key=cray.get, reverse=True)  # type: ignore[arg-type]
        found.append(f"warning: {given}={CRAY_PROGRESS[given]} without {missing}={CRAY_PROGRESS[missing]}: Cray MPICH wants both")
    asynchronous = [key for key, value in site.environment.items() if key.endswith("ASYNC_PROGRESS") and value == "1"]
    if asynchronous and not site.progress_cores:
        found.append(f"warning: {asynchronous[0]}=1 starts a thread a rank; run.progress_cores = 1 would leave it a core")
    if whole and not site.gpus_per_rank and per_node * per_rank < site.usable_cores:
        found.append(f"warning: {per_node * per_rank} of {site.usable_cores} cores of a node are used; threads or ranks_per_node"
                     " of the study change that")  # fmt: skip
    return Placement(nodes, point.ranks, per_node, threads, per_rank, per_node), found


def place_simulated(site: Site, point: Point, threads: int) -> tuple[Placement, list[str]]:
    machine, platform = site.simulation()
    per_node = min(point.ranks_per_node or site.ranks_per_node or machine.ranks_per_node, point.ranks)
    found = [f"error: {mistake}" for mistake in mistakes(machine, platform, point.ranks, per_node)]
    if threads != 1:
        found.append(f"error: {threads} threads: a simulated rank has one; its machine says what computing costs it")
    return Placement(-(-point.ranks // per_node), point.ranks, per_node, 1, 1, point.ranks), found
