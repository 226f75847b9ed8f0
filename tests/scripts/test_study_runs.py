"""scripts/study from write to status, and what may go wrong while a study runs; with a keel that takes no time."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest import mock

import fake_keel
from studies.command import main
from studies.execute.batch import SYSTEMS
from studies.execute.folder import RESERVE_SECONDS, read_folder
from studies.execute.run import run
from studies.execute.states import interruption, states_of
from support import ended, needs

needs("jinja2")
ROOT = Path(__file__).resolve().parents[2]


def wait_for(what: Callable[[], bool], seconds: float = 600) -> None:
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            raise AssertionError(f"it did not come about in {seconds} s, with a load of {os.getloadavg()}")
        time.sleep(0.02)


class Interruptions(unittest.TestCase):
    def test_what_ended_a_run_and_how_far_it_came(self) -> None:
        for done, most, said in ((3, 5, "3 of 5 solves done"), (5, 5, "5 of 5 solves done"), (9, 5, "9 solves done")):
            result = {"interrupted_by": "signal", "done": [{"what": "solves", "done": done, "all": most}]}
            self.assertEqual(interruption(mock.Mock(result=result)), f"by a signal; {said}")
        self.assertEqual(interruption(None), "")


class Study(unittest.TestCase):
    def setUp(self) -> None:
        self.top = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.keel = fake_keel.make(self.top)
        self.folder = self.top / "made"
        self.environment = fake_keel.environment(self.top)

    def study(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """scripts/study with these words, in this process: another Python would take longer to start than most of them take."""
        quick = mock.patch("studies.command.run", partial(run, sleep=lambda _: time.sleep(0.02)))
        with mock.patch.dict(os.environ, self.environment, clear=True), quick:
            return subprocess.CompletedProcess(words, *ended(main, *words))

    def write(self, solvers: list[str], site: str | Path = "local", **more: object) -> None:
        """For a site that comes with Keel or, by its path, one of the test's own, which charges nobody."""
        account = ["--account", "mine"] if isinstance(site, str) and site != "local" else []
        study = fake_keel.study(self.top, solvers, **more)  # type: ignore[arg-type]
        made = self.study("write", study, "--site", site, *account, self.folder)
        self.assertEqual((made.returncode, made.stderr), (0, ""))

    def command(self, name: str, text: str) -> None:
        """A command of this name, before all others in PATH."""
        (self.top / name).write_text(f"#!/bin/bash\n{text}\n")
        (self.top / name).chmod(0o755)

    def begin(self, script: str = "job.sh") -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            ["bash", script], cwd=self.folder, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def states(self) -> list[tuple[str, int, str]]:
        return [(state.point, state.round, state.word) for state in states_of(read_folder(self.folder))]

    def words(self) -> list[str]:
        return [word for _, _, word in self.states()]

    def stalled(self) -> list[int]:
        file = self.top / "stalled"
        return [int(line) for line in file.read_text().split()] if file.exists() else []


class Runs(Study):
    def test_every_start_is_made_once_in_turns_and_largest_first(self) -> None:
        self.write(["cg", "bicgstab"], rounds=2)
        done = self.study("run", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("8 done, 0 failed, 0 interrupted, 0 running, 0 missing; of 8 starts\n"))
        turns = ["cg", "bicgstab", "cg", "bicgstab"]
        self.assertEqual(fake_keel.started(self.top), [f"2 {one}" for one in turns] + [f"1 {one}" for one in turns])
        again = self.study("run", self.folder)
        self.assertEqual((again.returncode, len(fake_keel.started(self.top))), (0, 8))
        self.assertIn("8 of 8 starts are done already", again.stderr)

    def test_a_dry_run_that_mpi_does_not_start_is_repeated_once(self) -> None:
        study = fake_keel.study(self.top, ["cg", "shy"], ranks=[1])
        self.assertEqual(self.study("plan", study).returncode, 0)
        (self.top / "shy").unlink()
        (self.top / "shy").symlink_to(self.top / "nowhere/shy")  # a file that cannot be made
        self.assertEqual(self.study("plan", study).returncode, 2)

    def test_smallest_first_if_asked(self) -> None:
        self.write(["cg"], order="smallest_first")
        self.study("run", self.folder)
        self.assertEqual(fake_keel.started(self.top), ["1 cg", "2 cg"])

    def test_a_failed_start_stops_no_other_and_is_tried_again_later(self) -> None:
        self.write(["crash", "cg", "invalid"], ranks=[2])
        done = self.study("run", self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.words(), ["failed", "done", "failed"])
        self.assertIn("exit status 3: error: rank 0 found no device", done.stdout)
        self.assertIn("check failed: residual_recomputed", done.stdout)
        self.study("run", self.folder)
        # A start with a result is not made again, valid or not.
        self.assertEqual(fake_keel.started(self.top), ["2 crash", "2 cg", "2 invalid", "2 crash"])

    def test_two_scripts_at_once_make_no_start_twice(self) -> None:
        self.write(["cg", "bicgstab", "ca_cg", "crash"], ranks=[1, 2, 3], rounds=3)
        # A start that failed before a script began is tried again by it; so both are to begin before anything fails.
        (self.top / "gate").touch()
        both = [self.begin(), self.begin()]
        wait_for(lambda: len(list(self.folder.glob("runs/.begin.*"))) == 2)
        (self.top / "gate").unlink()
        # Whoever saw a start fail says so; all nine that fail may be the same script's, or running there when the other looks.
        self.assertIn(sorted(one.wait() for one in both), ([0, 1], [1, 1]))
        started = fake_keel.started(self.top)
        self.assertEqual(len(started), 36)
        self.assertEqual(sorted(set(map(started.count, started))), [3])

    def test_a_start_whose_script_ends_while_another_looks_at_it_is_not_made_again(self) -> None:
        (self.top / "stall").touch()
        self.write(["stall"], ranks=[2])
        first = self.begin()
        wait_for(lambda: bool(self.stalled()))
        # It answers the second script, where that asks for the first, once the first has ended.
        self.command("hostname", f"set -- runs/.begin.*\nif [ $# = 2 ]; then touch {self.top}/asked\n"
                     f"while kill -0 {first.pid} 2>/dev/null; do sleep 0.02; done\nfi\nuname -n")  # fmt: skip
        second = self.begin()
        wait_for((self.top / "asked").exists)
        os.kill(self.stalled()[0], signal.SIGKILL)
        self.assertEqual((first.wait(), second.wait()), (1, 1))
        self.assertEqual(fake_keel.started(self.top), ["2 stall"])

    def test_points_that_are_planned_only_are_done_without_a_result(self) -> None:
        study = fake_keel.study(self.top, ["cg"])
        study.write_text("dry_run = true\nranks_per_node = 2\n" + study.read_text())
        self.assertEqual(self.study("write", study, self.folder).returncode, 0)
        self.assertEqual(self.study("run", self.folder).returncode, 0)
        self.study("run", self.folder)
        self.assertEqual(len(fake_keel.started(self.top)), 2)
        self.assertIn("problem.ranks=2 comm.ranks_per_node=2", (self.folder / "job.sh").read_text())


class Kills(Study):
    """The rest of a study that was killed runs as if nothing had been."""

    def setUp(self) -> None:
        super().setUp()
        (self.top / "stall").touch()
        self.write(["cg", "stall"], ranks=[2])

    def go_on(self) -> None:
        (self.top / "stall").unlink()
        self.assertEqual(self.study("run", self.folder).returncode, 0)
        self.assertEqual(self.words(), ["done", "done"])
        self.assertEqual(fake_keel.started(self.top), ["2 cg", "2 stall", "2 stall"])
        kept = self.folder / "runs/ranks-2.solver-stall/1.1.json"
        self.assertTrue(kept.read_text().endswith('{"record":"sol'))  # the records of the first attempt are still there

    def test_of_the_script(self) -> None:
        child = self.begin()
        wait_for(lambda: bool(self.stalled()))
        self.assertEqual(self.words(), ["done", "running"])
        child.kill()
        child.wait()
        self.assertEqual(self.words(), ["done", "failed"])
        (orphan,) = self.stalled()
        wait_for(lambda: not Path(f"/proc/{orphan}").exists())  # nobody would wait for it
        self.go_on()

    def test_of_the_launcher(self) -> None:
        child = self.begin()
        wait_for(lambda: bool(self.stalled()))
        os.kill(self.stalled()[0], signal.SIGKILL)
        self.assertEqual(child.wait(), 1)
        (failed,) = (state for state in states_of(read_folder(self.folder)) if state.word == "failed")
        self.assertEqual(failed.reason.partition(":")[0], "exit status 137, SIGKILL")
        self.go_on()

    def test_of_scripts_study_itself(self) -> None:
        command = [sys.executable, ROOT / "scripts/study", "run", self.folder]
        child = subprocess.Popen(command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(lambda: bool(self.stalled()))
        child.kill()
        child.wait()
        wait_for(lambda: self.words() == ["done", "failed"])
        self.go_on()


class Times(Study):
    """A job of which little is left."""

    def left(self, seconds: int) -> None:
        self.environment["KEEL_END"] = str(int(time.time()) + RESERVE_SECONDS + seconds)

    def test_a_run_that_cannot_end_in_time_is_interrupted_and_made_again(self) -> None:
        self.write(["long", "cg"], ranks=[1])
        self.left(600)
        done = self.study("run", self.folder)
        self.assertEqual((done.returncode, self.words()), (1, ["interrupted", "done"]))
        self.assertIn("interrupted  ranks-1.solver-long, round 1: by its time limit; 3 of 5 solves done\n", done.stdout)
        (state, _) = states_of(read_folder(self.folder))
        assert state.run
        self.assertLessEqual(state.run.head["limit"], 600)
        self.assertGreater(state.run.head["limit"], 500)
        del self.environment["KEEL_END"]
        self.assertEqual(self.study("run", self.folder).returncode, 0)
        self.assertEqual(fake_keel.started(self.top), ["1 long", "1 cg", "1 long"])
        self.assertEqual(self.words(), ["done", "done"])

    def test_nothing_begins_when_no_time_is_left(self) -> None:
        self.write(["cg", "bicgstab"], ranks=[1])
        self.left(1)
        self.assertEqual(self.study("run", self.folder).returncode, 1)
        self.assertEqual((fake_keel.started(self.top), self.words()), ([], ["missing", "missing"]))

    def test_the_decks_own_limit_holds_if_it_is_shorter(self) -> None:
        (self.top / "deck.toml").write_text("[run]\ntime_limit = 90.5\n")
        for seconds, limit in ((600, 91), (60, 60)):
            self.folder = self.top / f"made{seconds}"
            self.write(["long"], ranks=[1])
            self.left(seconds)
            self.study("run", self.folder)
            (state,) = states_of(read_folder(self.folder))
            assert state.run
            self.assertTrue(limit - 20 <= state.run.head["limit"] <= limit, state.run.head)

    def test_an_axis_of_limits_is_refused(self) -> None:
        study = fake_keel.study(self.top, ["cg"])
        study.write_text(study.read_text().replace('key = "bottom.solver"', 'key = "run.time_limit"'))
        done = self.study("plan", study)
        self.assertEqual(done.returncode, 2)
        self.assertIn("run.time_limit: the job script gives each run what is left of its job", done.stderr)


class Claims(Study):
    def claim(self, text: str, age: float) -> None:
        self.write(["cg"], ranks=[1])
        folder = self.folder / "runs/ranks-1.solver-cg"
        folder.mkdir(parents=True)
        path = folder / "1.1.claim"
        path.write_text(text)
        then = time.time() - age
        os.utime(path, (then, then))

    def test_each_is_kept_or_taken_over(self) -> None:
        for name, text, age, before, started, after in (
            ("of another node, fresh", "elsewhere 1 1\n", 60, "running", [], "running"),
            ("of another node, stale", "elsewhere 1 1\n", 3600, "failed", ["1 cg"], "done"),
            ("of a process whose number is another one's now", f"{os.uname().nodename} {os.getpid()} 1\n", 0, "failed", ["1 cg"], "done"),
            ("just being made", "", 0, "running", [], "running"),
        ):
            with self.subTest(name):
                self.setUp()
                self.claim(text, age)
                self.assertEqual(self.words(), [before])
                self.begin().wait()
                self.assertEqual((fake_keel.started(self.top), self.words()), (started, [after]))


class Disk(Study):
    def test_records_that_cannot_be_written_fail_their_start_only(self) -> None:
        self.write(["lost", "cg"], ranks=[1])
        done = self.study("run", self.folder)
        self.assertEqual((done.returncode, self.words()), (1, ["failed", "done"]))
        self.assertIn("no result in its records: output.json", done.stdout)
        self.assertIn("could not be written: No space left on device", done.stdout)

    def test_a_disk_without_room_for_a_claim_ends_the_script_and_it_goes_on_later(self) -> None:
        disk = self.top / "disk"
        disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk]
        if not shutil.which("mount") or subprocess.run(mount, capture_output=True, check=False).returncode:
            self.skipTest("no right to mount a small disk")
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=False)
        self.folder = disk / "made"
        self.write(["cg", "bicgstab"], ranks=[1])
        filler = os.open(disk / "filler", os.O_WRONLY | os.O_CREAT)
        with contextlib.suppress(OSError):
            while os.write(filler, bytes(1024)):
                pass
        os.close(filler)
        done = self.study("run", self.folder)
        self.assertEqual((done.returncode, fake_keel.started(self.top)), (1, []))
        (disk / "filler").unlink()
        self.assertEqual(self.study("run", self.folder).returncode, 0)
        self.assertEqual(self.words(), ["done", "done"])


class Submission(Study):
    def test_the_script_is_handed_over_in_its_folder(self) -> None:
        self.command("sbatch", 'echo "Submitted $* in ${PWD##*/}"')
        self.write(["cg"], "slurm")
        done = self.study("submit", self.folder)
        self.assertEqual((done.returncode, done.stdout), (0, "Submitted job.sh in made\n"))
        (self.top / "sbatch").unlink()
        (self.top / "bash").symlink_to(shutil.which("bash") or "bash")
        self.environment["PATH"] = str(self.top)  # here may be a Slurm
        done = self.study("submit", self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"no sbatch here; on the machine: cd {self.folder} && sbatch job.sh", done.stderr)

    def test_a_placeholder_for_an_account_is_not_handed_over(self) -> None:
        for site, line in (("slurm", "#SBATCH --account=PROJECT"), ("pbs_pals", "#PBS -A PROJECT"), ("flux", "#flux: --bank=PROJECT"),
                           ("lsf_jsrun", "#BSUB -P PROJECT"), ("lassen", "#BSUB -G PROJECT")):  # fmt: skip
            with self.subTest(site):
                folder = self.top / f"for-{site}"
                made = self.study("write", fake_keel.study(self.top, ["cg"]), "--site", site, folder)
                self.assertIn("remark: PROJECT stands for your account: give --account NAME; submit refuses it\n", made.stdout)
                for submits in ("sbatch", "qsub", "flux", "bsub"):
                    self.command(submits, "touch handed-over")
                done = self.study("submit", folder)
                self.assertEqual((done.returncode, (folder / "handed-over").exists()), (2, False))
                self.assertIn(f"{folder}/job.sh: {line}: PROJECT stands for your account; change the line, ", done.stderr)
                script = folder / "job.sh"
                script.write_text(script.read_text().replace("PROJECT", "mine"))
                self.assertEqual((self.study("submit", folder).returncode, (folder / "handed-over").exists()), (0, True))

    def test_an_account_where_nothing_is_charged_is_refused(self) -> None:
        done = self.study("plan", fake_keel.study(self.top, ["cg"]), "--account", "mine")
        self.assertEqual((done.returncode, done.stderr), (2, "--account mine: site local has no batch system; leave it out\n"))

    def test_a_study_for_another_machine_is_written_without_its_keel(self) -> None:
        self.environment.pop("KEEL")
        words = ("--site", "flux", "--unchecked", "--keel", "/there/keel", self.folder)
        done = self.study("write", fake_keel.study(self.top, ["cg"]), *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("keel=${KEEL:-/there/keel}", (self.folder / "job.sh").read_text())

    def test_where_there_is_no_batch_system_nothing_is_submitted(self) -> None:
        self.write(["cg"])
        done = self.study("submit", self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("without a batch system; scripts/study run", done.stderr)

    def test_an_allocation_that_is_smaller_leaves_out_what_is_larger(self) -> None:
        site = self.top / "small.toml"
        site.write_text('launcher = "slurm"\nabout = "one core a node"\n[node]\ncores = 1\n')
        self.command("srun", 'while [ "${1:0:1}" = - ]; do [[ $1 != --ntasks=* ]] || export FAKE_RANKS=${1#*=}; shift; done; exec "$@"')
        self.write(["cg"], site)
        self.environment |= {"SLURM_JOB_NUM_NODES": "1", "SLURM_SUBMIT_DIR": str(self.folder)}
        self.assertEqual([self.begin(f"job.{nodes}.sh").wait() for nodes in (1, 2)], [0, 1])
        self.assertEqual(self.words(), ["missing", "done"])
        self.environment["SLURM_JOB_NUM_NODES"] = "2"
        self.assertEqual(self.begin("job.2.sh").wait(), 0)
        self.assertEqual(fake_keel.started(self.top), ["1 cg", "2 cg"])


class Queues(Study):
    """States of jobs by batch systems, from commands that print them as their documents have it."""

    SAID = {
        "slurm": ("sbatch", "Submitted batch job 4711", "4711", "squeue",
                  'test "$*" = "--noheader --format=%T --jobs 4711" && echo PENDING', "PENDING",
                  "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1"),
        "pbs_pals": ("qsub", "4711.pbs01.site", "4711.pbs01.site", "qstat",
                     'test "$*" = "-f 4711.pbs01.site" && printf "Job Id: 4711.pbs01.site\\n    Job_Name = try\\n    job_state = R\\n"',
                     "R", "echo 'qstat: 4711.pbs01.site Job has finished, use -x or -H to obtain information' >&2; exit 35"),
        "lsf_jsrun": ("bsub", "Job <4711> is submitted to queue <batch>.", "4711", "bjobs",
                      'test "$*" = "-noheader -o stat 4711" && echo RUN', "RUN",
                      "echo 'Job <4711> is not found' >&2; exit 255"),
        "flux": ("flux", "\u01922oVdLvGD", "\u01922oVdLvGD", "flux",
                 'test "$*" = "jobs -n -o {status} \u01922oVdLvGD" && echo RUN', "RUN",
                 "echo 'flux-jobs: ERROR: job \u01922oVdLvGD not found' >&2; exit 1"),
    }  # fmt: skip

    def test_the_state_of_a_job_is_asked_for(self) -> None:
        self.assertEqual(set(SYSTEMS), {*self.SAID, "pbs_alps"})
        self.assertEqual(SYSTEMS["pbs_alps"], SYSTEMS["pbs_pals"])
        for site, (submits, says, job, asks, answer, state, gone) in self.SAID.items():
            with self.subTest(site):
                self.folder = self.top / f"for-{site}"
                self.write(["cg"], site)
                self.assertNotIn("job ", self.study("status", self.folder).stdout)
                self.command(submits, f"echo '{says}'")
                done = self.study("submit", self.folder)
                self.assertEqual((done.returncode, done.stdout), (0, f"{says}\n"))
                self.command(asks, answer)
                self.assertTrue(self.study("status", self.folder).stdout.endswith(f"job     {job}: {state}\n"))
                self.command(asks, gone)
                gone_from_queue = f"job     {job}: cancelled or killed: its script came to no end\n"
                self.assertIn(gone_from_queue, self.study("status", self.folder).stdout)
                self.command(asks, "echo 'cannot connect to server' >&2; exit 1")
                self.assertIn(f"job     {job}: not known: cannot connect to server\n", self.study("status", self.folder).stdout)

    def test_the_job_that_collects_waits_for_all_others(self) -> None:
        for site, waits in (("slurm", "--dependency=afterany:4711:4711"), ("pbs_pals", "-W depend=afterany:4711.pbs01.site:4711.pbs01.site"),
                            ("lsf_jsrun", "-w ended(4711) && ended(4711)"),
                            ("flux", "batch --dependency=afterany:\u01922oVdLvGD --dependency=afterany:\u01922oVdLvGD")):  # fmt: skip
            with self.subTest(site):
                self.folder = self.top / f"two-sizes-{site}"
                self.write(["cg"], site, ranks=[1, 500])
                submits, says, *_ = self.SAID[site]
                self.command(submits, f'echo "$*" >>"{self.top}/{site}.log"\necho "{says}"')
                self.assertEqual(self.study("submit", self.folder).returncode, 0)
                told = (self.top / f"{site}.log").read_text().splitlines()
                self.assertEqual((len(told), told[-1].removesuffix(" collect.sh")), (3, waits))
                self.command(submits, "echo no job")
                self.assertIn("collect.sh is left; ", self.study("submit", self.folder).stdout)

    def test_a_job_that_ended_is_told_from_one_that_was_cancelled(self) -> None:
        self.write(["cg", "crash"], "slurm")
        self.command("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
        self.command("srun", 'while [ "${1:0:1}" = - ]; do shift; done; exec "$@"')

        def states() -> list[str]:
            lines = self.study("status", self.folder).stdout.splitlines()
            return [line.partition(": ")[2] for line in lines if line.startswith("job ")]

        for job in ("7", "8"):
            self.command("sbatch", f"echo 'Submitted batch job {job}'")
            self.assertEqual(self.study("submit", self.folder).returncode, 0)
        self.environment |= {"SLURM_JOB_ID": "7", "SLURM_SUBMIT_DIR": str(self.folder)}
        self.assertEqual(self.begin().wait(), 1)
        nothing = "cancelled or killed: its script came to no end"
        self.assertEqual(states(), ["ended: 2 starts failed or are left", nothing])
        self.command("sacct", 'test "$*" = "--noheader --allocations --parsable2 --format=State --jobs ${!#}" || exit 1\n'
                     'case ${!#} in 7) echo FAILED ;; 8) echo "CANCELLED by 1000" ;; esac')  # fmt: skip
        self.assertEqual(states(), ["FAILED; ended: 2 starts failed or are left", "CANCELLED by 1000"])
        self.command("sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1")
        self.assertEqual(states()[1], nothing)

    def test_a_job_that_is_told_to_end_says_so(self) -> None:
        (self.top / "stall").touch()
        site = self.top / "alone.toml"
        site.write_text('launcher = "slurm"\nabout = "x"\n[node]\ncores = 2\n')
        self.write(["stall"], site, ranks=[2])
        self.command("srun", 'while [ "${1:0:1}" = - ]; do shift; done; exec "$@"')
        self.environment |= {"SLURM_JOB_ID": "9", "SLURM_SUBMIT_DIR": str(self.folder)}
        child = self.begin()
        wait_for(lambda: bool(self.stalled()))
        child.terminate()
        self.assertEqual(child.wait(), 1)
        self.assertEqual((self.folder / "ends.txt").read_text(), "9 told to end: 1 starts failed or are left\n")

    def test_where_nobody_can_be_asked_that_is_said(self) -> None:
        self.write(["cg"], "lsf_jsrun")
        self.command("bsub", "echo 'Job <12> is submitted to queue <batch>.'")
        self.study("submit", self.folder)
        self.study("submit", self.folder)
        told = [line for line in self.study("status", self.folder).stdout.splitlines() if line.startswith("job ")]
        self.assertEqual(told, ["job     12: not known: no bjobs here"] * 2)


class Constants(Study):
    """Quantities and keys that a plan calls constant."""

    def said(self, *changes: tuple[str, str], ranks: list[int] | None = None, words: tuple[str, ...] = ()) -> tuple[str, str]:
        study = fake_keel.study(self.top, ["cg", "bicgstab"], ranks)
        text = study.read_text()
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        study.write_text(text)
        done = self.study("plan", study, *words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return " ".join(done.stdout.split("\nsite ")[0].split("\n")[1:]), done.stdout

    def test_the_quantity_of_the_law_and_the_keys_that_no_axis_varies(self) -> None:
        weak, strong, sweep = '"weak"', ('"weak"', '"strong"'), ('"weak"', '"sweep"')
        boxes = ("[[axis]]\nkey = \"ranks\"", "[[axis]]\nkeys = [\"ranks\", \"problem.box\"]")
        self.assertEqual(self.said()[0], "weak: constant is 512 cells a rank, problem.box = 8")
        self.assertEqual(self.said((weak, '"throughput"'), ranks=[2])[0], "throughput: constant is 2 ranks, problem.box = 8")
        self.assertEqual(self.said(strong, boxes, ("[1, 2]", "[[1, 8], [8, 4]]"))[0], "strong: constant is 512 cells")
        self.assertEqual(self.said(sweep)[0], "sweep: constant is problem.box = 8")
        self.assertEqual(self.said(sweep, ranks=[2])[0], "sweep: constant is 2 ranks, 1024 cells, problem.box = 8")
        self.assertEqual(self.said(words=("--unchecked",))[0], "weak: constant is the work of a rank, problem.box = 8")

    def test_a_key_that_changes_changes_it_whatever_prose_says(self) -> None:
        said, text = self.said(('law = "weak"', 'law = "weak"\nconstant = "512 cells"\n[keys]\nproblem.box = 4'),
                               ('rounds = 1\norder = "largest_first"\nminutes = 1\n', ""))  # fmt: skip
        self.assertEqual(said, "weak: constant is 512 cells a rank, problem.box = 4")  # the fake keel reads no deck
        self.assertIn("remark: constant: without effect: ", text)

    def test_times_are_predicted_by_the_machine_of_the_site(self) -> None:
        done = self.study("plan", fake_keel.study(self.top, ["cg"]), "--times")
        self.assertEqual((done.returncode, done.stderr[:60]), (2, "--times: site local has no costs to predict with; give node.mach"[:60]))
        done = self.study("plan", fake_keel.study(self.top, ["cg"]), "--times", "--site", "slurm_cray")
        self.assertIn("| predicted | rounds |", done.stdout)
        self.assertIn("| 2.5 s | 1 | 0.017 | yes |", done.stdout)
        self.assertIn("predicted: time of a solve, or of an exchange of the finest level, on slingshot11,", done.stdout)


class Refusals(Study):
    def test_a_point_that_keel_refuses_keeps_everything_from_being_written(self) -> None:
        done = self.study("write", fake_keel.study(self.top, ["cg", "bad"]), self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn('ranks-2.solver-bad: error: command line: bottom.solver = "bad": unknown solver', done.stderr)
        self.assertFalse(self.folder.exists())

    def test_a_folder_with_something_in_it_is_left_alone(self) -> None:
        self.folder.mkdir()
        (self.folder / "mine").touch()
        done = self.study("write", fake_keel.study(self.top, ["cg"]), self.folder)
        self.assertEqual((done.returncode, os.listdir(self.folder)), (2, ["mine"]))
        self.assertIn("nothing is overwritten", done.stderr)

    def test_mistakes_of_the_study_and_of_the_site_are_told_together(self) -> None:
        study, site = fake_keel.study(self.top, ["cg"]), self.top / "site.toml"
        study.write_text(study.read_text().replace("rounds", "ruonds"))
        site.write_text('launcher = "local"\nabout = "here"\n[node]\ncoers = 4\n')
        done = self.study("plan", study, "--site", site)
        self.assertEqual(done.returncode, 2)
        self.assertIn("try.toml:6: ruonds: unknown key; ", done.stderr)
        self.assertIn("site.toml:4: node.coers: unknown key; [node] has cores, ", done.stderr)
        self.assertIn('(did you mean "cores"?)', done.stderr)

    def test_a_law_that_the_points_do_not_keep_is_an_error(self) -> None:
        study = fake_keel.study(self.top, ["cg"])
        study.write_text(study.read_text().replace('"weak"', '"strong"'))
        done = self.study("plan", study)
        self.assertEqual(done.returncode, 2)
        self.assertIn('error: law = "strong" holds the work of all ranks together constant, which is not: '
                      "512 cells in ranks-1.solver-cg, 1024 cells in ranks-2.solver-cg", done.stdout)  # fmt: skip
