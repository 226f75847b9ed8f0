"""An installation works from another folder, with no more than PATH, and after its prefix was moved; pip installs the same.

Skipped without $KEEL_EXECUTABLE, which the build sets and beside which its rules of installation are.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from documents.checks import wrong_links
from studies.execute.folder import RESERVE_SECONDS

ROOT = Path(__file__).resolve().parents[2]
KEEL = os.environ.get("KEEL_EXECUTABLE", "")
COMMANDS = ("keel-study", "keel-report", "keel-simulate", "keel-hosts", "keel-check-result")
STUDY = """
name = "small"
claim = "an installed Keel runs a study"
deck = "{deck}"
law = "weak"
repeats = 1
[keys]
problem.box = 8
run.warmup = 0
run.triad_mb = 1
[[axis]]
key = "ranks"
values = [1, 2]
"""


def run(*words: object, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*map(str, words)], capture_output=True, text=True, **more)  # type: ignore[call-overload, no-any-return]


def files_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts}


@unittest.skipUnless(KEEL, "KEEL_EXECUTABLE names no keel")
class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        done = run("cmake", "--install", Path(KEEL).parent, "--prefix", cls.folder / "first")
        if done.returncode or done.stderr:
            raise AssertionError(done.stdout + done.stderr)
        cls.prefix = (cls.folder / "first").rename(cls.folder / "moved")
        cls.here = cls.folder / "here"
        cls.here.mkdir()
        # This Python, which has the packages that studies need, comes first in PATH. A link would lose those of a venv.
        (cls.folder / "python").mkdir()
        (cls.folder / "python/python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        (cls.folder / "python/python3").chmod(0o755)
        cls.environment = {**os.environ, "PATH": f"{cls.prefix}/bin:{cls.folder}/python:{os.environ['PATH']}"}
        for name in ("KEEL", "PYTHONPATH"):  # the sources
            cls.environment.pop(name, None)

    def command(self, *words: object, status: int = 0) -> str:
        done = run(*words, cwd=self.here, env=self.environment)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_a_study_and_its_records_become_pages(self) -> None:
        (self.here / "mine.toml").write_text(STUDY.format(deck=self.prefix / "share/keel/inputs/papers/seed_weak.toml"))
        self.assertIn("next: keel-study run small", self.command("keel-study", "write", "mine.toml", "small"))
        self.assertIn(f"{self.prefix}/bin/keel", (self.here / "small/job.sh").read_text())
        self.assertIn("2 done, 0 failed", self.command("keel-study", "run", "small"))
        self.assertIn("wrote small/report.html", self.command("keel-study", "report", "small"))
        self.assertIn("Nothing: every start is done", (self.here / "small/report.html").read_text())
        records = sorted(self.here.glob("small/runs/**/*.json*"))
        self.assertEqual(len(records), 2)
        self.assertIn("| 2x1 | 16x8x8 |", self.command("keel-report", "compare", *records))
        self.assertIn("wrote page.html", self.command("keel-report", "run", records[0], "--output", "page.html"))
        self.assertIn("<svg", (self.here / "page.html").read_text())

    def test_a_run_that_its_job_has_no_time_for_ends_by_itself(self) -> None:
        study = STUDY.format(deck=self.prefix / "share/keel/inputs/papers/seed_weak.toml").replace("repeats = 1", "repeats = 100000")
        (self.here / "long.toml").write_text(study)
        self.command("keel-study", "write", "long.toml", "long")
        end = int(time.time()) + RESERVE_SECONDS + 7
        self.assertRegex(self.command("env", f"KEEL_END={end}", "keel-study", "run", "long", status=1),
                         r"interrupted  ranks-2, round 1: by its time limit; \d+ of 100000 solves done")  # fmt: skip

    def test_inputs_are_found_by_name(self) -> None:
        self.assertIn("36 starts in 1 job", self.command("keel-study", "plan", "weak", "--site", "slurm_cray", "--unchecked"))
        self.assertIn("weeek: no such study; choose agglomerate, ", self.command("keel-study", "plan", "weeek", status=2))
        told = self.command("keel-simulate", "quickstart.toml", "--machine", "hopper", "--ranks", 4, "--print")
        self.assertIn("name=hopper", told)
        self.assertIn("    0   64^3      32^3", self.command("keel", "--dry-run", "quickstart.toml"))

    def test_commands_go_by_their_installed_names(self) -> None:
        for name in COMMANDS:
            self.assertNotIn("scripts/", self.command(name, "--help"))
        self.assertIn("keel-study write has made", self.command("keel-study", "status", "nothing", status=2))

    def test_the_page_of_the_benchmark_names_the_check_that_is_installed(self) -> None:
        page = (self.prefix / "share/doc/keel/benchmark.md").read_text()
        (name,) = re.findall(r"(?m)^(\S+) RESULT\.json$", page)
        self.assertIn("none.json: no result of the benchmark", self.command(name, "none.json", status=2))
        (self.here / "plan.json").write_text('{"grids": [], "problems": []}')
        self.assertIn("class: ", self.command(name, "plan.json", status=1).replace("category: ", "class: "))

    def test_inputs_are_those_for_users(self) -> None:
        wanted = {name for name in files_below(ROOT / "inputs") if name.endswith(".toml") and not name.startswith("smoke/")}
        found = files_below(self.prefix / "share/keel/inputs")
        self.assertEqual({name for name in found if not name.startswith("results/")}, wanted)

    def test_pages_name_what_is_installed(self) -> None:
        """Commands by their installed names, with decks that keel finds by theirs."""
        docs = self.prefix / "share/doc/keel"
        found = files_below(self.prefix / "share/keel/inputs")
        named = set()
        for page in sorted(docs.rglob("*.md")):
            text = page.read_text()
            self.assertNotRegex(text, r"build/release/keel|scripts/(study|report|simulate)\b|(?<![\w/.])inputs/(papers/)?\w+\.toml", page)
            named |= {(page.name, deck) for deck in re.findall(r"\bkeel(?:-simulate)? (?:-\S+ )*([\w/]+\.toml)", text)}
            self.assertLessEqual(set(re.findall(r"keel-study (?:plan|write) +(\w+)", text)) - {"STUDY"},
                                 {Path(name).stem for name in found if name.startswith("studies/")}, page)  # fmt: skip
        own = {"mine.toml", "my.toml", "try.toml"}
        self.assertEqual([one for one in sorted(named) if one[1] not in found | own], [])
        self.assertGreaterEqual({deck for _, deck in named}, {"weak.toml", "results/scale/small_boxes.toml"})

    def test_links_of_pages_hold(self) -> None:
        docs = self.prefix / "share/doc/keel"
        pages = {name for name in files_below(docs) if name.endswith(".md")}
        self.assertGreaterEqual(pages, {"index.md", "overview.md", "how-to/cluster.md", "results/speed.md", "reference/keys.md"})
        self.assertEqual([f"{page}: {wrong}" for page in sorted(pages) for wrong in wrong_links(docs, page)], [])

    def page(self, name: str) -> str:
        source = self.prefix / f"share/man/man1/{name}.1"
        if shutil.which("groff"):
            self.assertEqual(run("groff", "-man", "-Tascii", "-z", "-ww", source).stderr, "")
        return source.read_text().replace("\\-", "-")

    def test_man_pages_have_every_key_option_and_verb(self) -> None:
        keel = self.page("keel")
        for key in re.findall(r"(?m)^(\w+\.\w+) = ", self.command("keel", "--keys", "all")):
            self.assertIn(f"\n\\fB{key}\\fR = ", keel)
        for option in re.findall(r"(?m)^(--[\w-]*) ", self.command("keel", "--help")):
            self.assertRegex(keel, rf"\n\\fB{option}\b")
        for name in COMMANDS:
            self.assertRegex(self.page(name), rf"(?s)\.SH NAME\n{name} \\?- .*\\fBkeel\\fR\(1\)")
        for verb in re.findall(r"(?m)^    keel-study (\w+)", self.command("keel-study", "--help")):
            self.assertIn(f'.SH "{verb.upper()}"', self.page("keel-study"))

    def completions(self, *lines: str) -> list[list[str]]:
        """The words that bash offers behind each of these lines."""
        script = f"source {self.prefix}/share/bash-completion/completions/keel-study\n" + r"""
            while IFS= read -r COMP_LINE; do
                COMP_POINT=${#COMP_LINE}
                read -ra COMP_WORDS <<<"${COMP_LINE//=/ = }"
                [[ $COMP_LINE != *[' =']  ]] || COMP_WORDS+=('')
                COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
                [[ $(complete -p "${COMP_WORDS[0]}") =~ -F\ ([a-z_]+) ]]
                COMPREPLY=()
                "${BASH_REMATCH[1]}"
                echo "${COMPREPLY[@]}"
            done"""
        told = run("bash", "-c", script, input="".join(f"{line}\n" for line in lines), cwd=self.here)
        self.assertEqual((told.returncode, told.stderr), (0, ""))
        return [line.split() for line in told.stdout.splitlines()]

    def test_bash_completes(self) -> None:
        (self.here / "own.toml").touch()
        lines = {
            "keel --be": ["--benchmark"],
            "keel --print-": ["--print-deck", "--print-deck=changed"],
            "keel quickstart.toml problem.bou": ["problem.boundary="],
            "keel problem.boundary=": ["periodic", "dirichlet", "neumann", "default"],
            "keel multigrid.reference_path=t": ["true"],
            "keel problem.box=": ["default"],
            "keel comm.machine=ho": ["hopper", "hopper_optimistic"],
            "keel output.json=": [],
            "keel qu": ["quickstart.toml"],
            "keel own": ["own.toml"],
            "keel --keys bottom.so": ["bottom.solver"],
            "keel --tables ba": ["backends"],
            "keel-study pl": ["plan"],
            "keel-study plan we": ["weak"],
            "keel-study plan weak --site slurm_c": ["slurm_cray"],
            "keel-study plan --unch": ["--unchecked"],
            "keel-report hist": ["history"],
            "keel-report pa": ["pairs"],
            "keel-report run o": ["own.toml"],
            "keel-check-result o": ["own.toml"],
            "keel-simulate --mach": ["--machine"],
            "keel-simulate qu": ["quickstart.toml"],
            "mpiexec -n 2 keel qu": ["quickstart.toml"],
            "mpirun -n 2 bin/keel weak.toml problem.boundary=p": ["periodic"],
            "srun keel --be": ["--benchmark"],
            "srun -n 2 other qu": [],
        }
        for (line, wanted), found in zip(lines.items(), self.completions(*lines), strict=True):
            self.assertEqual(found, wanted, line)

    def test_completion_has_every_word_that_keel_names_in_a_refusal(self) -> None:
        keys = re.findall(r"(?m)^(\w+\.\w+) = ", self.command("keel", "--keys", "all"))
        refusals = ""
        for some in (keys[:60], keys[60:]):  # it prints a hundred complaints at most
            refusals += self.command("keel", "--print-deck", *(f"{key}=nonsense" for key in some), status=2)
        choices = re.findall(r"(\w+\.\w+) = \"nonsense\".*?choose ([\w/]+(?:, [\w/]+)+)", re.sub(r"\n +", " ", refusals))
        self.assertGreater(len(choices), 30)
        offered = self.completions(*(f"keel {key}=" for key, _ in choices))
        for (key, words), found in zip(choices, offered, strict=True):
            self.assertLessEqual(set(words.split(", ")) - {"or"}, set(found), key)

    def test_completion_is_sound(self) -> None:
        if shutil.which("shellcheck"):
            done = run("shellcheck", "-s", "bash", self.prefix / "share/bash-completion/completions/keel")
            self.assertEqual(done.returncode, 0, done.stdout)
        zsh = self.prefix / "share/zsh/site-functions/_keel"
        self.assertTrue(zsh.read_text().startswith("#compdef keel keel-study"))
        if not shutil.which("zsh"):
            return
        self.assertEqual(run("zsh", "-n", zsh).stderr, "")
        # Stand-ins for the shell's own functions print their words.
        script = """
            compadd() { print -r -- ${@[$@[(i)--]+1,-1]} }; _files() { :; }; _default() { print default; }; compset() { PREFIX=${PREFIX#*=} }
            complete_line() { local service=$1; local -a words=("$@"); local CURRENT=$# PREFIX=${@[-1]}; source $_keel_file; }
            _keel_file=$0
            complete_line keel --be
            complete_line mpiexec -n 2 keel --be
            complete_line srun -n 2 /bin/keel weak.toml problem.boundary=p
            complete_line srun -n 2 other --be"""
        done = run("zsh", "-f", "-o", "extendedglob", "-c", script, zsh)
        self.assertEqual(done.stderr, "")
        first, behind, value, other = done.stdout.strip().split("\n")
        self.assertIn("--benchmark ", first)
        self.assertEqual((first, value, other), (behind, "periodic dirichlet neumann default", "default"))

    def test_pip_installs_the_same(self) -> None:
        if not all(map(importlib.util.find_spec, ("pip", "setuptools", "wheel"))):
            self.skipTest("no pip, setuptools and wheel")
        source, target = self.folder / "source", self.folder / "target"
        for name in ("inputs", "scripts", "packaging"):
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        decks = [f"results/{name}" for name in files_below(self.prefix / "share/keel/inputs/results")]
        for name in ("pyproject.toml", "setup.py", "CMakeLists.txt", "README.md", "docs/reference/keys.md", "docs/benchmark.md", *decks):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name)
        options = ("--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check", "--quiet")
        done = run(sys.executable, "-m", "pip", "install", *options, "--root-user-action=ignore", "--target", target, source)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for folder in ("inputs", "scripts", "docs"):
            self.assertEqual(files_below(target / "keel_tools" / folder), files_below(self.prefix / "share/keel" / folder))
        environment = {**os.environ, "PYTHONPATH": str(target), "KEEL": KEEL}
        done = run(target / "bin/keel-study", "plan", "weak", cwd=self.here, env=environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("36 starts in 1 job", done.stdout)
        self.assertEqual({path.name for path in (target / "bin").iterdir()}, set(COMMANDS))
