"""The first process of a cluster: makes hosts, starts the switch, serves requests, and ends with all that runs there.

It runs in namespaces of its own for networks, mounts and processes: when it ends, however that is, Linux ends every process of
the cluster and takes its networks away.
"""

import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

from namespaces.state import NETWORK, Slow, address_of, name_of

MTU = 9000


def command(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True, text=True)


def on(process: int, *words: str) -> None:
    command("nsenter", f"--target={process}", "--net", "--uts", "--", *words)


def make_host(host: int) -> subprocess.Popen[str]:
    """A process in a network namespace of its own with a name of its own; it waits for nothing."""
    script = f"hostname {name_of(host)} && ip link set lo up && echo ready && exec sleep infinity"
    process = subprocess.Popen(["unshare", "--net", "--uts", "--", "sh", "-c", script], stdout=subprocess.PIPE, text=True)
    if not process.stdout or process.stdout.readline() != "ready\n":
        sys.exit(f"{name_of(host)}: no namespace for its network")
    return process


def plug_in(process: int, host: int) -> None:
    command("ip", "link", "set", f"tap{host}", "netns", str(process))
    on(process, "ip", "link", "set", f"tap{host}", "name", "eth0", "mtu", str(MTU), "up")
    on(process, "ip", "address", "add", f"{address_of(host)}/24", "dev", "eth0")
    # A long message leaves at the link's rate, as on a cluster, and not by TCP's slow start, a few frames a round trip.
    on(process, "ip", "route", "change", f"{NETWORK}.0/24", "dev", "eth0", "initcwnd", "4000", "initrwnd", "4000")
    for name, value in (("tcp_slow_start_after_idle", "0"), ("tcp_rmem", "4096 8388608 16777216"), ("tcp_wmem", "4096 8388608 16777216")):
        on(process, "sh", "-c", f"echo {value} >/proc/sys/net/ipv4/{name}")


def name_hosts(folder: Path, hosts: int) -> None:
    """Names of hosts are known within the cluster only: its /etc/hosts is a file of the folder."""
    names = folder / "hosts"
    lines = [f"{address_of(host)} {name_of(host)}\n" for host in range(1, hosts + 1)]
    names.write_text("127.0.0.1 localhost\n" + "".join(lines))
    command("mount", "--bind", str(names), "/etc/hosts")


def processes_on(host: int) -> list[int]:
    """All processes whose network is that of a host's first process, but for that one."""
    network = os.readlink(f"/proc/{host}/ns/net")
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and int(entry.name) != host and os.readlink(entry / "ns/net") == network:
                found.append(int(entry.name))
    return found


def stand_still(process: int, slow: Slow) -> None:
    """Stops what runs on a host for a share of every period, until SIGTERM."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    stopped: list[int] = []

    def send(number: int) -> None:
        for one in stopped:
            with contextlib.suppress(OSError):
                os.kill(one, number)

    def end(number: int, frame: object) -> None:
        send(signal.SIGCONT)
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    looked, at = -1.0, time.monotonic()
    while True:
        if at - looked > 0.2:
            stopped[:] = processes_on(process)
            looked = at
        send(signal.SIGSTOP)
        time.sleep(slow.share * slow.period)
        send(signal.SIGCONT)
        at += slow.period
        time.sleep(max(0.0, at - time.monotonic()))


class Holder:
    def __init__(self, folder: Path, hosts: int):
        self.folder = folder
        self.hosts = [make_host(host) for host in range(1, hosts + 1)]
        self.slowing = 0  # the process that slows a host
        self.switch = subprocess.Popen([folder / "switch", "tap", str(hosts)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       text=True, bufsize=1)  # fmt: skip
        self.realtime = bool(self.answer().get("realtime"))
        name_hosts(folder, hosts)
        for host, process in enumerate(self.hosts, 1):
            plug_in(process.pid, host)

    def answer(self) -> dict[str, object]:
        line = self.switch.stdout.readline() if self.switch.stdout else ""
        return dict(json.loads(line)) if line else sys.exit("the switch has ended")

    def obey(self, line: str) -> dict[str, object]:
        """`set DELAY JITTER RATE`, `report`, `slow HOST SHARE PERIOD` or `slow`: an answer to each."""
        words = line.split()
        if words[0] in ("set", "report") and self.switch.stdin:
            self.switch.stdin.write(line + "\n")
            return self.answer() if words[0] == "report" else {}
        if self.slowing:
            os.kill(self.slowing, signal.SIGTERM)
            os.waitpid(self.slowing, 0)
            self.slowing = 0
        if len(words) == 4:
            slow = Slow(int(words[1]), float(words[2]), float(words[3]))
            self.slowing = os.fork()
            if self.slowing == 0:
                stand_still(self.hosts[slow.host - 1].pid, slow)
        return {}


def reap(known: set[int]) -> None:
    """Takes leave of orphans that have ended, which the first process of a namespace has to do."""
    while True:
        try:
            found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        if found is None or found.si_pid in known:
            return
        os.waitpid(found.si_pid, 0)


def main(folder: Path, hosts: int, seconds: float) -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: ends with the process outside that waits for it
    holder = Holder(folder, hosts)
    requests, answers = folder / "requests", folder / "answers"
    for fifo in (requests, answers):
        os.mkfifo(fifo, 0o600)
    source = os.open(requests, os.O_RDWR)
    out = os.open(answers, os.O_RDWR)
    ready = {"inside": [process.pid for process in holder.hosts], "realtime": holder.realtime}
    (folder / "ready.json").write_text(json.dumps(ready))
    known = {holder.switch.pid, *(process.pid for process in holder.hosts)}
    end = time.monotonic() + seconds
    text = ""
    while time.monotonic() < end and holder.switch.poll() is None:
        if select.select([source], [], [], 1.0)[0]:
            text += os.read(source, 4096).decode()
            *lines, text = text.split("\n")
            for line in lines:
                os.write(out, (json.dumps(holder.obey(line)) + "\n").encode())
        reap(known | {holder.slowing})


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
