"""The folder that a cluster is known by, and what stands in it."""

import json
import os
import stat
from dataclasses import asdict, dataclass, field
from pathlib import Path

NETWORK = "10.77.0"


def folder() -> Path:
    """keel-hosts in $KEEL_HOSTS, or a folder of this user in /tmp; only `up` makes it, and it may be deleted."""
    given = os.environ.get("KEEL_HOSTS")
    return Path(given, "keel-hosts") if given else Path(f"/tmp/keel-hosts-{os.getuid()}")


def is_ours(path: Path) -> bool:
    """Whether a folder is this user's and closed to others' writes: others can make one of that name in /tmp."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def name_of(host: int) -> str:
    return f"host{host}"


def address_of(host: int) -> str:
    return f"{NETWORK}.{host}"


@dataclass(frozen=True)
class Travel:
    """How frames travel: microseconds one way, most microseconds more, megabytes a second of a host's link (0: unlimited)."""

    delay: float = 1000.0
    jitter: float = 0.0
    rate: float = 0.0

    def __str__(self) -> str:
        jitter = f", up to {self.jitter:g} us more" if self.jitter else ""
        rate = f", {self.rate:g} MB/s a host" if self.rate else ""
        return f"{self.delay:g} us one way{jitter}{rate}"


@dataclass(frozen=True)
class Slow:
    """A host that stands still for a share of every period."""

    host: int
    share: float
    period: float = 0.01  # seconds

    def __str__(self) -> str:
        return f"{name_of(self.host)} stands still for {self.share:.0%} of every {1e3 * self.period:g} ms"


@dataclass
class Cluster:
    """A running cluster. Process numbers are those outside of it, but for `inside`."""

    root: int  # the process that everything ends with
    started: int  # clock ticks after boot at which that process was started: tells it from a later one with its number
    inside: list[int]  # one process of each host, numbered within the cluster
    realtime: bool
    privileged: bool
    ends: float  # seconds of the epoch
    travel: Travel = field(default_factory=Travel)
    slow: Slow | None = None

    @property
    def hosts(self) -> int:
        return len(self.inside)

    def write(self, path: Path) -> None:
        new = path.with_suffix(".new")
        new.write_text(json.dumps(asdict(self)))
        new.rename(path)

    @staticmethod
    def read(path: Path) -> "Cluster":
        values = json.loads(path.read_text())
        slow = values.pop("slow")
        return Cluster(**values | {"travel": Travel(**values["travel"]), "slow": Slow(**slow) if slow else None})


def start_of(process: int) -> int | None:
    """When a process was started, in clock ticks after boot; None if it has ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else int(fields[19])


def running() -> Cluster | None:
    """The cluster of this folder, if it runs."""
    if not is_ours(folder()):
        return None
    try:
        cluster = Cluster.read(folder() / "cluster.json")
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return cluster if start_of(cluster.root) == cluster.started else None
