"""The job script of every site against golden text, and under shellcheck. After a change that is meant
run it with KEEL_GOLDEN=write, and look at the difference."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import fake_keel
from studies.define.checked_toml import Refused
from studies.define.sites import SITES, read_site
from studies.define.study_file import read_study
from studies.execute.folder import job_script
from studies.execute.plan import plan
from support import InFolder, needs

needs("jinja2")

GOLDEN = Path(__file__).parent / "golden_jobs"
LOOP = "stop=  #", "#     point, round"  # lines between are the same in all scripts: golden once, for the site local


class JobScripts(InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.file("deck.toml", "[problem]\nbox = 8\n")

    def script(self, site: Path) -> tuple[str, str]:
        return self.scripts(site)[0]

    def scripts(self, site: Path) -> list[tuple[str, str]]:
        """On a site with GPUs they are used."""
        backend = '[run]\nbackend = "cuda"\n' if read_site(site).gpus_per_rank else ""
        self.file("deck.toml", "[problem]\nbox = 8\n" + backend)
        study = read_study(fake_keel.study(self.folder, ["cg", "ca_cg s=8 basis=newton"], ranks=[6, 48], rounds=2))
        made = plan(study, read_site(site), None)
        return [job_script(made, job, "/opt/keel/bin/keel", "mpiexec") for job in (*made.jobs, *filter(None, [made.collecting]))]

    def test_each_is_as_it_was_looked_at(self) -> None:
        for site in sorted(SITES.glob("*.toml")):
            with self.subTest(site.stem):
                text, submit = self.script(site)
                if site.stem != "local":
                    head, _, rest = text.partition(LOOP[0])
                    text = head + "...\n" + LOOP[1] + rest.partition(LOOP[1])[2]
                golden = GOLDEN / f"{site.stem}.sh"
                if os.environ.get("KEEL_GOLDEN") == "write":
                    golden.write_text(text)
                self.assertEqual(text, golden.read_text())
                self.assertIn(f"Submit with: {submit}\n", text)

    def test_each_is_clean_under_shellcheck(self) -> None:
        if not shutil.which("shellcheck"):
            self.skipTest("no shellcheck (apt-get install shellcheck)")
        for site in sorted(SITES.glob("*.toml")):
            with self.subTest(site.stem):
                paths = []
                for number, (text, _) in enumerate(self.scripts(site)):
                    paths.append(self.folder / f"{number}.sh")
                    paths[-1].write_text(text)
                done = subprocess.run(["shellcheck", *paths], capture_output=True, text=True, check=False)
                self.assertEqual(done.stdout, "")

    def test_no_shell_runs_a_letter_of_a_value_or_of_a_claim(self) -> None:
        values = ["$(touch a)", "`touch b`", "';touch c;'", '"; touch d #', "x\ntouch e", "*", "~", "a\\", "-n", "", "é & f > g"]
        path = fake_keel.study(self.folder, ["cg"], ranks=[1])
        text = path.read_text().replace('values = ["cg"]', f"values = {json.dumps(values, ensure_ascii=False)}")
        text = text.replace('"bottom.solver"', '"run.label"').partition("[baseline]")[0]
        path.write_text(text.replace('"what happens"', json.dumps("x\rtouch h\r\ntouch i")))
        for site in sorted(SITES.glob("*.toml")):
            with self.subTest(site.stem):
                made = plan(read_study(path), read_site(site), None)
                script, _ = job_script(made, made.jobs[0], "/opt/keel's", "mpiexec")
                head, _, starts = script.partition(LOOP[1])
                self.assertEqual([line for line in head.split("\n") if "touch i" in line], ["# try: x touch h touch i"])
                shell = """start() { printf '%s\\0' "${@:8}"; }; finish() { :; }; """
                done = subprocess.run(["bash", "-c", f"{shell}\n# {starts}"], cwd=self.folder, capture_output=True, check=True)
                words = done.stdout.decode().split("\0")[:-1]
                self.assertEqual((sorted(words), done.stderr), (sorted(f"run.label={value}" for value in values), b""))
                self.assertEqual({path.name for path in self.folder.iterdir()}, {"deck.toml", "try.toml"})

    def test_a_site_may_have_no_account_and_further_words(self) -> None:
        site = self.folder / "mine.toml"
        site.write_text(
            'launcher = "slurm"\nabout = "x"\n[node]\ncores = 8\ngpus = 4\n[run]\ngpus_per_rank = 1\nranks_per_node = 4\n'
            '[job]\nsetup = ["module load keel"]\nlongest_minutes = 90\n[environment]\nA = "b c"\n'
        )
        text, submit = self.script(site)
        self.assertNotIn("account", text)
        for line in (
            "module load keel",
            "export A='b c'",
            "#SBATCH --nodes=12",
            "#SBATCH --gpus-per-node=4",
            '    --gpus-per-task=1 --gpu-bind=closest "${@:6}"',
        ):
            self.assertIn(line, text)
        self.assertEqual(submit, "sbatch job.12.sh")
        collect, submit = self.scripts(site)[-1]
        self.assertEqual(submit, "sbatch AFTER collect.sh")
        self.assertIn("#SBATCH --nodes=1\n#SBATCH --time=0:10:00\n", collect)
        self.assertTrue(collect.endswith("\nexport A='b c'\nmodule load keel\n\nexec scripts/study collect .\n"), collect)

    def lines(self, launcher: str, run: str) -> str:
        site = self.folder / "gpus.toml"
        site.write_text(f'launcher = "{launcher}"\nabout = "x"\n[node]\ncores = 64\ngpus = 4\n'
                        f"[run]\nthreads = 16\ngpus_per_rank = 1\n{run}")  # fmt: skip
        return self.script(site)[0]

    def test_ranks_that_see_all_gpus_of_a_node_take_the_nearest(self) -> None:
        for launcher, words in (("slurm", '--gpus-per-node=4 --gpu-bind=none "'), ("flux", "-o gpu-affinity=off "),
                                ("pbs_pals", "#PBS -l select=12:ncpus=64:ngpus=4\n#PBS -l place=scatter:excl\n")):  # fmt: skip
            text = self.lines(launcher, 'gpu_bind = "none"\n')
            self.assertIn(words, text)
            self.assertNotIn("--gpus-per-task=1 --gpu-bind", text)

    def test_a_launcher_that_cannot_give_gpus_as_wanted_is_refused(self) -> None:
        for launcher, run, told in (
            ("pbs_pals", "", '8: run.gpus_per_rank: launcher "pbs_pals" gives no GPUs to ranks; gpu_bind = "none" shows all'),
            ("pbs_alps", "", '8: run.gpus_per_rank: launcher "pbs_alps" gives no GPUs to ranks'),
            ("local", "", '8: run.gpus_per_rank: launcher "local" gives no GPUs to ranks; gpu_bind = "none" shows all'),
            ("pbs_alps", 'gpu_bind = "none"\n', '9: run.gpu_bind = "none": launcher "pbs_alps" cannot show all GPUs'),
            ("lsf_jsrun", 'gpu_bind = "none"\n', '9: run.gpu_bind = "none": launcher "lsf_jsrun" cannot show all GPUs'),
        ):
            with self.subTest(launcher=launcher, run=run), self.assertRaises(Refused) as refused:
                self.lines(launcher, run)
            self.assertIn(f"gpus.toml:{told}", str(refused.exception))

    def test_a_deck_for_processors_leaves_gpus_and_their_environment_out(self) -> None:
        study = read_study(fake_keel.study(self.folder, ["cg"]))
        for site in sorted(SITES.glob("*.toml")):
            made = plan(study, read_site(site), None)
            text, _ = job_script(made, made.jobs[0], "/opt/keel/bin/keel", "mpiexec")
            self.assertNotRegex(text, r"--gpu|gpu-affinity|MPICH_GPU_SUPPORT|MPICH_OFI_NIC| -g [1-9]", site)
            remarks = [problem for problem in made.problems if "ranks get no GPUs" in problem]
            self.assertEqual(bool(remarks), read_site(site).gpus_per_rank > 0, site)

    def test_a_name_or_a_line_that_would_break_a_directive_is_refused(self) -> None:
        site = self.folder / "mine.toml"
        head = 'launcher = "slurm"\nabout = "x"\n[node]\ncores = 4\n'
        name = "wants no blank and no control character"
        for text in ("my project", "x\n#SBATCH --exclusive", "tab\t", "\u2028", "a\u00a0b", "bell\a", " "):
            quoted = json.dumps(text)
            for key, table, told in (("account", "job", name), ("queue", "job", name)):
                site.write_text(f"{head}[{table}]\n{key} = {quoted}\n")
                with self.subTest(key=key, text=text), self.assertRaisesRegex(Refused, re.escape(f"mine.toml:6: {table}.{key} = {quoted}: {told}")):
                    read_site(site)
            with self.subTest(text=text), self.assertRaisesRegex(Refused, re.escape(f"--account {quoted}: {name}")):
                read_site(SITES / "slurm_cray.toml").charged_to(text)
        for key, table in (("directives", "job"), ("options", "run")):
            site.write_text(f'{head}[{table}]\n{key} = ["--good thing", "x\\n#SBATCH --exclusive"]\n')
            with self.subTest(key=key), self.assertRaisesRegex(Refused, rf"mine.toml:6: {table}.{key} = .*: wants one line without"):
                read_site(site)

    def test_the_account_stands_wherever_the_site_has_a_placeholder(self) -> None:
        study = read_study(fake_keel.study(self.folder, ["cg"]))
        for name, line in (("lassen", "#BSUB -G mine"), ("slurm_cray", "#SBATCH --account=mine"), ("flux", "#flux: --bank=mine")):
            site = read_site(SITES / f"{name}.toml").charged_to("mine")
            made = plan(study, site, None)
            text, _ = job_script(made, made.jobs[0], "/opt/keel/bin/keel", "mpiexec")
            self.assertIn(line + "\n", text)
            self.assertNotIn("PROJECT", text)
