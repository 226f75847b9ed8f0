"""scripts/hosts: a cluster on one machine, whose messages between hosts take real time."""

import argparse
import contextlib
import fcntl
import json
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

from namespaces.state import Cluster, Slow, Travel, address_of, folder, is_ours, name_of, running, start_of
from studies.layout import named

HERE = Path(__file__).resolve().parent
UNITS = {"us": 1.0, "ms": 1e3, "s": 1e6}
TIMES = {"s": 1.0, "min": 60.0, "h": 3600.0}
TOOLS = {"unshare": "util-linux", "nsenter": "util-linux", "ip": "iproute2", "g++": "g++", "mpirun": "openmpi-bin"}
MOST_HOSTS = 64
# Linux gives up asking for a host's address after 3 s, which is a frame each way.
LONGEST_WAY = 1e6  # microseconds
LEAST_RATE = 0.01  # megabytes a second: a frame of 9000 bytes takes 0.9 s


class Refused(Exception):
    """A request that cannot be met; the text names the remedy."""


def number_with_unit(text: str, units: dict[str, float], what: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)(\w+)", text)
    if not found or found[2] not in units:
        raise argparse.ArgumentTypeError(f"{text!r}: wants a number and one of {', '.join(units)}, as in {what}")
    return float(found[1]) * units[found[2]]


def latency(text: str) -> float:
    return number_with_unit(text, UNITS, "2ms")


def rate(text: str) -> float:
    value = float(text)
    if value != 0 and not LEAST_RATE <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r}: wants at least {LEAST_RATE} MB/s, or 0: unlimited")
    return value


def duration(text: str) -> float:
    return number_with_unit(text, TIMES, "4h")


def slow_host(text: str) -> Slow:
    """HOST:PERCENT or HOST:PERCENT:PERIOD."""
    found = re.fullmatch(r"(\d+):(\d+(?:\.\d+)?)%(?::(.+))?", text)
    if not found or not 0 < float(found[2]) < 100:
        raise argparse.ArgumentTypeError(f"{text!r}: wants host:share or host:share:period, as in 2:10%:20ms")
    return Slow(int(found[1]), float(found[2]) / 100, latency(found[3]) / 1e6 if found[3] else Slow.period)


def why_impossible() -> str:
    """Why this machine can have no such hosts, and the remedy; empty if it can."""
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        return f"{', '.join(missing)}: not found; install {' '.join(sorted({TOOLS[tool] for tool in missing}))}"
    if "Open" not in subprocess.run(["mpirun", "--version"], capture_output=True, text=True).stdout:
        return "mpirun is not that of Open MPI, which alone was tried: put it first in PATH"
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "/dev/net/tun cannot be opened: load the module tun, or run as root"
    tried = subprocess.run([*new_namespaces(), "true"], capture_output=True, text=True)
    if tried.returncode:
        return f"no namespaces ({tried.stderr.strip()}): run as root, or allow users their own (sysctl kernel.unprivileged_userns_clone=1)"
    return ""


def new_namespaces() -> list[str]:
    user = [] if os.getuid() == 0 else ["--user", "--map-root-user"]
    return ["unshare", *user, "--net", "--uts", "--ipc", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--"]


def compile_tools(state: Path) -> None:
    for words in (["g++", "-std=c++20", "-O2", "-o", "switch", "switch.cpp"],
                  ["g++", "-std=c++20", "-O2", "-shared", "-fPIC", "-o", "yield.so", "sleeping_yield.cpp"]):  # fmt: skip
        *options, out, source = words
        done = subprocess.run([*options, str(state / out), str(HERE / source)], capture_output=True, text=True)
        if done.returncode:
            raise Refused(f"{source} does not compile:\n{done.stderr}")


def write_agent(state: Path) -> None:
    """The agent by which mpirun starts its daemons on other hosts."""
    agent = state / "agent"
    agent.write_text('#!/bin/sh\nhost=${1#host}; shift\n'
                     f'exec nsenter --target="$(sed -n "${{host}}p" {shlex.quote(str(state))}/inside)" --net --uts -- sh -c "$*"\n')  # fmt: skip
    agent.chmod(0o700)


def make_folder() -> Path:
    """The empty folder of a new cluster."""
    state = folder()
    if state.exists() and not is_ours(state):
        raise Refused(f"{state}: is not this user's alone; delete it, or name another folder by KEEL_HOSTS")
    shutil.rmtree(state, ignore_errors=True)
    try:
        state.mkdir(mode=0o700, parents=True)
    except OSError as error:
        raise Refused(f"{state}: {error.strerror}; name another folder by KEEL_HOSTS") from None
    return state


def up(hosts: int, travel: Travel, slow: Slow | None, seconds: float) -> None:
    if running():
        raise Refused(f"a cluster runs already ({folder()}); scripts/hosts down ends it")
    if not 2 <= hosts <= MOST_HOSTS:
        raise Refused(f"{hosts} hosts: 2 to {MOST_HOSTS} are possible")
    check_travel(travel)
    check_slow(slow, hosts)
    if why := why_impossible():
        raise Refused(why)
    state = make_folder()
    try:
        compile_tools(state)
        write_agent(state)
        cluster = start(state, hosts, seconds)
        change(cluster, travel, slow)
        show(cluster)
    except BaseException:
        down()
        raise


def start(state: Path, hosts: int, seconds: float) -> Cluster:
    """Starts the first process, known to `down` from then on, and waits until its hosts are there."""
    words = [sys.executable, "-m", "namespaces.inside", str(state), str(hosts), str(seconds)]
    with open(state / "log", "w") as log:
        root = subprocess.Popen([*new_namespaces(), *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                start_new_session=True, env={**os.environ, "PYTHONPATH": str(HERE.parent)})  # fmt: skip
    cluster = Cluster(root.pid, start_of(root.pid) or 0, [], False, os.getuid() == 0, time.time() + seconds)
    cluster.write(state / "cluster.json")
    until = time.monotonic() + 30
    while not (state / "ready.json").exists():
        if root.poll() is not None or time.monotonic() > until:
            raise Refused(f"the hosts do not start:\n{(state / 'log').read_text()}")
        time.sleep(0.05)
    ready = json.loads((state / "ready.json").read_text())
    cluster.inside, cluster.realtime = ready["inside"], ready["realtime"]
    (state / "inside").write_text("".join(f"{process}\n" for process in cluster.inside))
    return cluster


def check_travel(travel: Travel) -> None:
    if (longest := travel.delay + travel.jitter) > LONGEST_WAY:
        raise Refused(f"--delay and --jitter are {longest * 1e-6:g} s together: at most {LONGEST_WAY * 1e-6:g} s, since Linux does not "
                      "wait longer for a host's address")  # fmt: skip


def check_slow(slow: Slow | None, hosts: int) -> None:
    if slow and not 1 <= slow.host <= hosts:
        raise Refused(f"--slow {slow.host}: there are hosts 1 to {hosts}")


def ask(request: str) -> dict[str, float]:
    """Sends a request into the cluster and waits for its answer; one process at a time."""
    try:
        requests, answers = (os.open(folder() / name, os.O_RDWR) for name in ("requests", "answers"))
    except OSError:
        raise Refused("the hosts have ended; scripts/hosts up starts others") from None
    try:
        fcntl.flock(answers, fcntl.LOCK_EX)
        os.write(requests, (request + "\n").encode())
        if not select.select([answers], [], [], 10)[0]:
            raise Refused("the hosts do not answer; scripts/hosts down ends them")
        return dict(json.loads(os.read(answers, 4096)))
    finally:
        os.close(requests)
        os.close(answers)


def change(cluster: Cluster, travel: Travel, slow: Slow | None) -> None:
    ask(f"set {travel.delay} {travel.jitter} {travel.rate}")
    ask(f"slow {slow.host} {slow.share} {slow.period}" if slow else "slow")
    cluster.travel, cluster.slow = travel, slow
    cluster.write(folder() / "cluster.json")


def enter(cluster: Cluster, words: list[str]) -> list[str]:
    """The command that runs words on the first host, in the current folder."""
    children = Path(f"/proc/{cluster.root}/task/{cluster.root}/children").read_text().split()
    user = [] if cluster.privileged else ["--user", "--preserve-credentials"]
    first = f'cd "$0" && exec nsenter --target={cluster.inside[0]} --net --uts -- "$@"'
    return ["nsenter", f"--target={children[0]}", *user, "--mount", "--ipc", "--pid", "--", "sh", "-c", first, os.getcwd(), *words]


def excess(cluster: Cluster) -> tuple[float, float]:
    """Microseconds one way by the median of 20 round trips, and of the slowest of them."""
    words = enter(cluster, [sys.executable, str(HERE / "ping.py"), address_of(2), "20"])
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise Refused(f"{name_of(2)} does not answer: {done.stderr.strip()}")
    ways = [float(word) / 2 for word in done.stdout.split()]
    return median(ways), max(ways)


def show(cluster: Cluster) -> None:
    one_way, most = excess(cluster)
    priority = "" if cluster.realtime else "; the switch has no real-time priority, so that load delays it"
    slow = f"; {cluster.slow}" if cluster.slow else ""
    print(f"hosts: {cluster.hosts}, {cluster.travel}{slow}{priority}\n"
          f"hosts: a ping takes {one_way:.0f} us one way (slowest {most:.0f}); load {os.getloadavg()[0]:.1f} of "
          f"{len(os.sched_getaffinity(0))} processors", file=sys.stderr, flush=True)  # fmt: skip


def run(cluster: Cluster, ranks: int, on_each: int, scattered: bool, words: list[str]) -> int:
    """Runs a command as ranks of MPI; the exit code of mpirun."""
    state = folder()
    each = on_each or -(-ranks // cluster.hosts)
    if each * cluster.hosts < ranks:
        raise Refused(f"{ranks} ranks: {cluster.hosts} hosts with {each} each have room for {each * cluster.hosts}")
    hostfile = state / f"hostfile.{os.getpid()}"
    hostfile.write_text("".join(f"{name_of(host)} slots={each}\n" for host in range(1, cluster.hosts + 1)))
    show(cluster)
    ask("report")
    environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1",
                   "OMPI_MCA_mpi_yield_when_idle": "1", **os.environ}  # fmt: skip
    shared = ranks > len(os.sched_getaffinity(0))
    mpirun = ["mpirun", "-n", str(ranks), "--hostfile", str(hostfile), "--bind-to", "none", "--map-by",
              "node" if scattered else "slot", "--mca", "plm_rsh_agent", str(state / "agent"), "--mca", "oob_tcp_if_include", "eth0",
              "--mca", "pml", "ob1", "--mca", "btl", "tcp,self,vader", "--mca", "btl_tcp_if_include", "eth0", "-x", "OMP_NUM_THREADS",
              *(["-x", f"LD_PRELOAD={state}/yield.so"] if shared else [])]  # fmt: skip
    child: subprocess.Popen[bytes] | None = None

    def forward(number: int, frame: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, number) if child else sys.exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, forward)
    child = subprocess.Popen(enter(cluster, [*mpirun, *words]), env=environment, start_new_session=True)
    code = child.wait()
    hostfile.unlink(missing_ok=True)
    if not running():  # ended meanwhile
        return code if code > 0 else 1
    late = ask("report")
    print(f"hosts: {late['frames']:.0f} frames, delivered {late['late_mean_us']:.0f} us late on average, "
          f"{late['late_max_us']:.0f} at most, {late['lost']:.0f} lost", file=sys.stderr)  # fmt: skip
    return code if code >= 0 else 128 - code


def down() -> None:
    cluster = running()
    if cluster:
        os.kill(cluster.root, signal.SIGKILL)
        while start_of(cluster.root) == cluster.started:
            time.sleep(0.02)
    if is_ours(folder()):
        shutil.rmtree(folder(), ignore_errors=True)


def parser() -> argparse.ArgumentParser:
    whole = argparse.ArgumentParser(
        prog=named("scripts/hosts"), description="Hosts with real latency between them, on one machine: network namespaces, and a "
        "switch that delivers every frame a given time later. As root, or as a user who may make namespaces.")  # fmt: skip
    commands = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")
    starting = commands.add_parser("up", help="start hosts")
    starting.add_argument("hosts", type=int, metavar="HOSTS")
    starting.add_argument("--end-after", type=duration, default=duration("12h"), metavar="TIME",
                          help="end everything after this time, whatever runs (12h)")  # fmt: skip
    changing = commands.add_parser("set", help="change how frames travel and who is slow; what is not given stays")
    for one in (starting, changing):
        one.add_argument("--delay", type=latency, metavar="TIME", help="one way, such as 500us or 2ms (1ms)")
        one.add_argument("--jitter", type=latency, metavar="TIME", help="up to so much more, uniformly distributed (none)")
        one.add_argument("--rate", type=rate, metavar="MB/S", help="bandwidth of each host's link (0: unlimited)")
        one.add_argument("--slow", type=slow_host, metavar="HOST:SHARE[:PERIOD]",
                         help="a host that stands still for a share of every 10 ms, such as 2:10%% or 2:10%%:20ms")  # fmt: skip
    changing.add_argument("--no-slow", action="store_true", help="no host is slow any more")
    starter = commands.add_parser("run", help="run a command as ranks of MPI")
    starter.add_argument("ranks", type=int, metavar="RANKS")
    starter.add_argument("--ranks-per-host", type=int, default=0, metavar="N", help="(as few as hosts allow)")
    starter.add_argument("--scattered", action="store_true", help="deal ranks out to the hosts in turns")
    starter.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND", help="such as build/release/keel DECK")
    commands.add_parser("status", help="what runs, and how long a ping takes")
    commands.add_parser("down", help="end everything that runs on the hosts, and the hosts")
    return whole


def travel_of(options: argparse.Namespace, before: Travel) -> Travel:
    given = {name: value for name in ("delay", "jitter", "rate") if (value := getattr(options, name)) is not None}
    return replace(before, **given)


def main(words: list[str]) -> int:
    options = parser().parse_args(words)
    try:
        if options.command == "up":
            up(options.hosts, travel_of(options, Travel()), options.slow, options.end_after)
            return 0
        if options.command == "down":
            down()
            return 0
        cluster = running()
        if not cluster or not cluster.inside:
            raise Refused("no hosts are running; scripts/hosts up 4 --delay 1ms starts four")
        if options.command == "set":
            travel = travel_of(options, cluster.travel)
            check_travel(travel)
            check_slow(options.slow, cluster.hosts)
            slow = options.slow or (None if options.no_slow else cluster.slow)
            change(cluster, travel, slow)
        elif options.command == "run":
            if options.ranks < 1 or not options.words:
                raise Refused("run wants a number of ranks and a command, as in scripts/hosts run 8 build/release/keel DECK")
            return run(cluster, options.ranks, options.ranks_per_host, options.scattered, options.words)
        show(cluster)
        return 0
    except Refused as why:
        print(named(f"scripts/hosts: {why}"), file=sys.stderr)
        return 2
