"""Decks that keel takes and decks that it refuses: the decks in inputs/, the command line, the options."""

import os
import re
import subprocess
from pathlib import Path
from unittest.mock import patch

from keel_runner import INPUTS, NIGHTLY, ONCE, ROOT, KeelTest, at_once, by_turns, strict_json
from record_schema import RECORDS, against_schema

SMOKE = sorted((INPUTS / "smoke").glob("*.toml"))
BAD = [deck for deck in SMOKE if deck.name.startswith("bad_")]
GOOD = [deck for deck in SMOKE if deck not in BAD]


def marked(deck: Path, mark: str) -> list[str]:
    """The texts after `# mark: ` in a deck."""
    return re.findall(rf"^# {mark}: (.*)$", deck.read_text(), re.MULTILINE)


class Decks(KeelTest):
    def test_every_good_deck_ends_valid_on_1_2_or_3_ranks(self) -> None:
        self.assertGreaterEqual(len(GOOD), 10)
        least = {deck: int((marked(deck, "ranks") or ["1"])[0]) for deck in GOOD}
        # At night on all of them, else by turns.
        cases = [(ranks, deck) for n, deck in enumerate(GOOD) for ranks in (None, 2, 3)
                 if (ranks or 1) >= least[deck]
                 and (NIGHTLY or (ranks or 1) == max(least[deck], (1, 2, 1, 3)[n % 4]))]  # fmt: skip
        kinds = set[str]()
        for (_, deck), run in zip(cases, at_once(2, lambda case: self.valid(*case), cases), strict=True):
            self.assertTrue(run.records("result"))
            self.assertNotIn("16 digits", run.flat)
            self.assertEqual(against_schema(run.all_records), [], deck.name)
            kinds |= {record["record"] for record in run.all_records}
        self.assertEqual(kinds | {"plan", "peer", "benchmark"}, set(RECORDS.schema["properties"]["record"]["enum"]))

    def test_some_good_decks_end_valid_on_8_ranks(self) -> None:
        for deck in ("periodic", "deep_ghosts", "three_boxes_a_rank"):
            run = self.valid(8, INPUTS / "smoke" / f"{deck}.toml")
            self.assertEqual(run.record("run")["ranks"], 8)

    def test_the_quickstart_ends_valid_and_shows_its_order(self) -> None:
        run = self.valid(2, INPUTS / "quickstart.toml", *ONCE)
        self.assertRegex(run.stdout, r"(?m)^CHECK  discretisation_order +PASS  (1\.[89]|2)")

    def test_the_decks_of_applications_end_valid_where_they_are_small(self) -> None:
        decks = sorted(INPUTS.glob("applications/*.toml"))
        at_once(2, lambda deck: self.valid(2, deck, "problem.box=8", "multigrid.bottom_box=2", *ONCE), decks)
        self.assertEqual(len(decks), 3)

    def test_keel_starts_without_mpiexec(self) -> None:
        self.assertEqual(self.valid(None, INPUTS / "smoke/periodic.toml", *ONCE).record("run")["ranks"], 1)

    def test_bad_decks_are_refused_with_the_expected_messages_by_one_rank(self) -> None:
        """A deck for each source of refusals; tests/miniapp/test_deck.cpp has the refusals themselves."""
        self.assertGreaterEqual(len(BAD), 12)

        def refuse(deck: Path) -> None:
            ranks = int((marked(deck, "ranks") or ["2"])[0])
            self.refused(ranks, deck, expected=marked(deck, "expect"))

        # mpiexec takes a second or two of sleep over a failure.
        at_once(8, refuse, BAD)

    def test_partitioned_messages_are_refused_by_an_mpi_without_them(self) -> None:
        run = self.run_keel(None, INPUTS / "smoke/periodic.toml", *ONCE, "comm.transport=partitioned")
        reason = "has no partitioned messages (MPI 4); choose persistent"
        self.assertTrue(run.status == 0 or (run.status == 2 and reason in " ".join(run.stderr.split())), run)

    def test_without_a_deck_the_defaults_run(self) -> None:
        run = self.valid(1, *ONCE)
        self.assertEqual(run.record("run")["cells"], [64, 64, 64])


class CommandLine(KeelTest):
    def test_every_mistake_on_the_command_line_is_told_at_once(self) -> None:
        self.refused(
            2, "inputs/papers/seed_weak.toml", "b.toml", "--frobnicate", "--dry-rum", "problem.bx=8", "bottom.solver=cgg",
            expected=[
                "inputs/papers/seed_weak.toml: cannot be read: No such file or directory",
                '"papers/seed_weak.toml"?)',
                'command line: "b.toml" is a second deck after "inputs/papers/seed_weak.toml"',
                "command line: --frobnicate: unknown option; choose --backends, --dry-run, --help",
                "(did you mean --dry-run?)",
                "command line: problem.bx: unknown key",
                '(did you mean "problem.box"?)\ncommand line: bottom.solver = "cgg": unknown solver; choose bicgstab',
            ])  # fmt: skip

    def test_mistakes_of_the_deck_and_of_the_command_line_are_told_together(self) -> None:
        deck = INPUTS / "smoke/bad_key.toml"
        expected = ["bad_key.toml:8: bottom.max_iteration", "command line: problem.b = 0"]
        self.refused(None, deck, "problem.b=0", expected=expected)

    def test_an_override_wins_over_the_deck(self) -> None:
        deck = INPUTS / "smoke/periodic.toml"
        printed = self.text(None, "--print-deck", deck, "problem.box=32", "bottom.solver=cg", "problem.a = 0.25")
        for line in ("box = 32", 'solver = "cg"', "a = 0.25", "repeats = 2"):
            self.assertRegex(printed, rf"(?m)^{re.escape(line)}$")
        keys = re.findall(r"(?m)^\w+\.(\w+) = ", self.text(None, "--keys", "all"))
        self.assertEqual(re.findall(r"(?m)^#?(\w+) = ", printed), keys)


class Ranks(KeelTest):
    """Ranks that are not started alike are no run: refused by all, within seconds."""

    seconds = 60
    small = ("problem.box=8", *ONCE)

    def test_ranks_with_other_words_are_refused(self) -> None:
        unlike = "rank 1 was started with other words than rank 0: "
        for first, second, difference in (
            (self.small, (*self.small, "problem.rhs=random"), 'nothing in place of "problem.rhs=random"'),
            ((*self.small, "problem.rhs=random"), self.small, '"problem.rhs=random" in place of nothing'),
            (("problem.box=8",), ("problem.box=16",), '"problem.box=8" in place of "problem.box=16"'),
            (("problem.box=8", "a.toml"), ("problem.box=88", "a.toml"), '"problem.box=8" in place of "problem.box=88"'),
            (self.small, ("--help",), '"problem.box=8" in place of "--help"'),
            (("--version",), self.small, '"--version" in place of "problem.box=8"'),
            (("--keys",), (), '"--keys" in place of nothing'),
        ):
            words = [*second, ":", "-n", 1, self.keel, *first]
            self.refused(1, *words, records=False, expected=[f"{unlike}{difference}; give all ranks the same"])

    def test_ranks_with_other_numbers_of_threads_are_refused(self) -> None:
        words = [*self.small, ":", "-n", 1, "env", "OMP_NUM_THREADS=2", self.keel, *self.small]
        expected = ["rank 1 has 2 threads, rank 0 has 1; give all ranks the same (OMP_NUM_THREADS)"]
        self.refused(1, *words, records=False, expected=expected)

    def test_a_deck_comes_through_a_pipe(self) -> None:
        run = self.run_keel(2, "/dev/stdin", *self.small, typed='[bottom]\nsolver = "cg"\n')
        self.assertEqual(run.status, 0, run)
        self.assertEqual(run.record("run")["deck"]["bottom"]["solver"], "cg")


class OddFiles(KeelTest):
    """A file that is no deck, machine or matrix is refused, quickly, whatever it is; each was a crash, or took minutes."""

    seconds = 60

    def refuse(self, expected: str, *words: object) -> None:
        self.refused(None, *words, expected=[expected])

    def test_devices_and_folders(self) -> None:
        for device, complaint in (("/dev/zero", "longer than"), ("/proc/self/mem", "cannot be read")):
            self.refuse(f"{device}: {complaint}", device)
            self.refuse(complaint, f"comm.node_map={device}")
            for ending in ("toml", "mtx"):
                (self.folder / f"{device[1:4]}.{ending}").symlink_to(device)
            self.refuse(complaint, f"comm.machine={self.folder}/{device[1:4]}.toml")
        for name in ("here.toml", "here.mtx"):
            (self.folder / name).mkdir()
        self.refuse("is a folder", f"comm.machine={self.folder}/here.toml")
        no_file = "is a folder or a device"
        for name, complaint in (("dev", no_file), ("pro", "cannot be read"), ("here", no_file)):
            self.refuse(complaint, "run.mode=spmv", f"problem.matrix={self.folder}/{name}.mtx")

    def test_a_path_with_a_zero(self) -> None:
        for section, key in (("comm", "machine"), ("comm", "node_map"), ("problem", "matrix"), ("network", "write")):
            deck = self.file("zero.toml", f'[{section}]\n{key} = "a\\u0000b.toml"\n')
            self.refuse(f'zero.toml:2: {section}.{key} = "a\\u0000b.toml": must not contain', deck)

    def test_a_section_without_a_name(self) -> None:
        for name, header in (("comment.toml", "[# run]"), ("nothing.toml", "[["), ("letter.toml", "[\u00e4]")):
            deck = self.file(name, f"\n{header}\nx = 1\n")
            self.refuse(f"{name}:2: not valid TOML: a section without a name", deck)
            self.refuse(f"{name}:2: not valid TOML: a section without a name", f"comm.machine={deck}")

    def test_deep_keys_and_many_unknown_ones(self) -> None:
        deep = self.file("deep.toml", "# " + 200 * "." + "\n" + 20000 * "a." + "a = 1\n")
        self.refuse("deep.toml:2: more than 50 points in a line", deep)
        self.refuse("deep.toml:2: more than 50 points in a line", f"comm.machine={deep}")
        self.refuse("not a TOML value", "problem.a={" + 20000 * "a." + "a = 1}")
        many = self.file("many.toml", "[problem]\n" + "".join(f"k{k} = 1\n" for k in range(60000)))
        self.refuse("and 59980 more unknown keys and sections", many)
        self.refuse("problem.k19: unknown key", many)
        sections = self.file("sections.toml", "".join(f"[k{k}]\n" for k in range(60000)))
        self.refuse("and 59980 more unknown keys and sections", sections)

    def test_a_matrix_that_announces_more_rows_than_there_is_memory(self) -> None:
        rows = 10**12
        matrix = self.file("big.mtx", f"%%MatrixMarket matrix coordinate real general\n{rows} {rows} 1\n1 1 1\n")
        words = ["run.mode=spmv", "run.solve=true", f"problem.matrix={matrix}"]
        self.refuse("row 2 has no diagonal entry", *words)
        self.refuse(f"of {rows} rows", *words, "bottom.scaling=none")


class Output(KeelTest):
    """Files that are written spoil nothing that is there."""

    small = ("problem.box=8", *ONCE, "run.triad_mb=1")

    def test_files_that_are_read_are_not_written(self) -> None:
        texts = {
            "deck.toml": "[problem]\nbox = 8\n",
            "nodes.txt": "a\n",
            "here.mtx": "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n",
            "machine.toml": (INPUTS / "machines/lassen.toml").read_text(),
        }
        files = {name: self.file(name, text) for name, text in texts.items()}
        (self.folder / "link.toml").symlink_to(files["deck.toml"])
        complaint = "is read by this run; choose another"
        for words in (
            [files["deck.toml"], f"output.json={files['deck.toml']}"],
            [files["deck.toml"], f"output.json={self.folder}/./link.toml"],
            [f"comm.node_map={files['nodes.txt']}", f"output.json={files['nodes.txt']}"],
            [f"comm.machine={files['machine.toml']}", f"output.json={files['machine.toml']}"],
            ["run.mode=spmv", f"problem.matrix={files['here.mtx']}", f"output.json={files['here.mtx']}"],
        ):
            self.refused(None, *words, records=False, expected=[complaint])
        machine = f"network.write={files['machine.toml']}"
        self.refused(2, "run.mode=network", machine, expected=["is there already; choose another, or remove it"])
        both = ["run.mode=network", "network.write=new.toml", "output.json=./new.toml"]
        self.refused(2, *both, records=False, expected=["is output.json too"])
        for name, path in files.items():
            self.assertEqual(path.read_text(), texts[name])


    def test_a_half_line_is_ended_before_the_next_record(self) -> None:
        for text, whole in (('{"record": "ru', '{"record": "ru\n'), ("{}\n", "{}\n"), ("", "")):
            output = self.file("run.json", text)
            run = self.run_keel(None, *self.small, f"output.json={output}", records=False, quick=False)
            self.assertEqual(run.status, 0, run)
            self.assertTrue(output.read_text().startswith(whole + '{"record":"run"'), output.read_text()[:50])

    def test_a_full_disk_leaves_whole_lines_and_no_valid_result(self) -> None:
        output = self.folder / "run.json"
        many = ("problem.box=8", "run.triad_mb=1", "run.warmup=0", "run.repeats=40", f"output.json={output}")
        for caller in ("trap '' XFSZ", ":"):  # a caller may ignore the signal; else it would end the process
            # The limit also ends what is printed, where that is a file.
            for blocks, printed in ((4, "/dev/stdout"), (31, "/dev/stdout"), (1, self.folder / "out.txt")):
                output.write_text("{}\n")
                limited = f'{caller}; ulimit -f {blocks}; exec "$@" >{printed}'
                run = self.run_keel(None, *many, records=False, quick=False, under=["bash", "-c", limited, "_"])
                self.assertEqual(run.status, 3, run)
                self.assertIn(f'output.json = "{output}": could not be written: File too large', run.stderr)
                self.assertNotIn("RESULT VALID", run.stdout)
                if printed == "/dev/stdout":
                    self.assertEqual(run.stdout.splitlines()[-1], "RESULT INVALID  not all could be written")
                text = output.read_text()
                self.assertTrue(text.startswith("{}\n") and text.endswith("\n"), text[-80:])
                self.assertNotIn("result", [strict_json(line).get("record") for line in text.splitlines()])

    def test_a_pipe_whose_reader_leaves_ends_no_run(self) -> None:
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        reader = subprocess.Popen(["head", "-n1", pipe], stdout=subprocess.PIPE, text=True)
        words = ("problem.box=8", "run.repeats=40", f"output.json={pipe}")
        run = self.run_keel(None, *words, records=False)
        self.assertEqual(strict_json(reader.communicate()[0])["record"], "run")
        self.assertEqual(run.status, 3, run)
        self.assertIn(f'output.json = "{pipe}": could not be written: Broken pipe', run.stderr)

    def test_what_cannot_be_written_is_told(self) -> None:
        run = self.run_keel(None, *self.small, "output.json=/dev/full", records=False, quick=False)
        self.assertEqual(run.status, 3, run)
        self.assertIn('output.json = "/dev/full": could not be written', run.stderr)
        for words in (self.small, ("--help",)):
            with open("/dev/full", "w") as full:
                done = subprocess.run([self.keel, *words], stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 3, words)
            self.assertIn("No space left on device", done.stderr)


class Options(KeelTest):
    def test_help_names_usage_studies_and_status(self) -> None:
        help_text = self.text(2, "--help")
        self.assertTrue(help_text.startswith("usage: keel [DECK.toml] [section.key=value ...]\n"))
        self.assertEqual(help_text.count("usage:"), 1)  # one rank speaks
        self.assertIn("Exit status: 0 valid, 1 a check failed or no convergence, 2 bad input", help_text)
        self.assertIn("solve", self.modes())
        for mode in self.modes():
            self.assertRegex(help_text, rf"(?m)^  {mode} +\w")

    def test_questions_are_answered_where_mpi_does_not_start(self) -> None:
        with patch.dict(os.environ, OMPI_MCA_pml="none"):  # with this Open MPI ends the process as it starts
            for words in (["--help"], ["--keys", "all"], ["--tables", "keys"], ["--solvers"], ["--backends"], ["--version"]):
                self.assertTrue(self.text(None, *words))

    def test_each_solver_has_its_source_beside_its_name(self) -> None:
        text = self.text(None, "--solvers")
        for name, *_ in self.bottom_solvers():
            self.assertRegex(text, rf"(?m)^{name}  +\S")

    def test_help_and_keys_fit_100_columns(self) -> None:
        for words in (["--help"], ["--keys"], ["--keys", "all"], ["--solvers"], ["--backends"], ["--print-deck"]):
            widest = max(self.text(None, *words).splitlines(), key=len)
            if "=" not in widest:  # a value of a deck stays on its line
                self.assertLessEqual(len(widest), 100, widest)

    def test_help_names_ten_keys_to_begin_with(self) -> None:
        block = self.text(None, "--help").partition("\nKeys to begin with; --keys has more:\n")[2].partition("\n\n")[0]
        keys = re.findall(r"(?m)^  (\w+\.\w+) +(\S.*(?:\n {10,}\S.*)*)$", block)
        self.assertEqual(len(keys), 10, block)
        for name, meaning in keys:
            about = " ".join(self.text(None, "--keys", name).split())
            self.assertIn(" ".join(meaning.split()), about)
            self.assertIn(f"{name} = ", self.text(None, "--keys"))  # no expert's
        self.assertEqual(self.text(None, "--help", "bottom.s"), self.text(None, "--keys", "bottom.s"))
        self.refused(None, "--keys", "botom.s", records=False, expected=['(did you mean "bottom.s"?)'])

    def test_the_changed_part_of_a_deck_prints_the_deck(self) -> None:
        self.assertEqual(self.text(2, "--print-deck=changed"), "")
        self.assertEqual(self.text(2, "--print-deck=changed", "problem.box=8", "multigrid.tolerance=1e-6", "bottom.solver=cg"),
                         "problem.box = 8\nmultigrid.tolerance = 1e-06\n")  # fmt: skip
        defaults = dict(re.findall(r"(?m)^(\w+\.\w+) = (\S+)", self.text(None, "--keys", "all")))

        def compare(deck: Path) -> None:
            changed = self.text(None, "--print-deck=changed", deck)
            for line in changed.splitlines():
                name, _, value = line.partition(" = ")
                self.assertNotEqual(defaults[name], value, deck.name)
            self.assertEqual(self.text(None, "--print-deck", self.file(deck.name, changed)), self.text(None, "--print-deck", deck), deck.name)

        at_once(4, compare, by_turns(GOOD, 5))

    def test_solvers_are_marked_as_first_choice_of_a_kind_of_problem(self) -> None:
        marked = re.findall(r"(?m)^(\w+) .*\n    \* first choice for (\S.*)$", self.text(None, "--solvers"))
        self.assertEqual(self.text(None, "--solvers").count("first choice"), len(marked))
        advice = (ROOT / "docs/reference/solvers.md").read_text().partition("## Which one?")[2].partition("## ")[0]
        for solver, problem in marked:
            self.assertIn(f"`{solver}`", advice, problem)
        self.assertEqual([solver for solver, _ in marked], ["bicgstab_fused", "cg", "ca_cg", "pipelined_cg", "smooth", "amg"])

    def test_version_is_one_line(self) -> None:
        self.assertRegex(self.text(2, "--version"), r"\AKeel \d+\.\d+\.\d+(\+\w+)? \(.+\), sources sha256:[0-9a-f]{16}\n\Z")

    def test_the_documentation_has_the_tables_of_this_program(self) -> None:
        for page in ("keys", "solvers", "backends"):
            text = (ROOT / f"docs/reference/{page}.md").read_text().partition("<!-- begin")[2].partition("<!-- end")[0]
            rows = self.text(None, "--tables", page).splitlines()
            self.assertGreater(len(rows), 5)
            for row in rows:
                self.assertIn(row, text, page)
            documented = [line for line in text.splitlines() if line.startswith("| `")]
            self.assertEqual(documented, [row for row in rows if row.startswith("| `")], page)
        self.refused(None, "--tables", "kees", records=False, expected=["choose keys, solvers, backends"])


class KeysWithoutEffect(KeelTest):
    """Refused on the command line, remarked on in a deck."""

    deck = INPUTS / "smoke/idle_keys.toml"

    def test_a_deck_gets_a_remark_for_each_reason_and_the_run_of_a_deck_without_them(self) -> None:
        run = self.valid(2, self.deck, "run.deterministic=true")
        remarks = run.record("run")["remarks"]
        self.assertEqual(len(remarks), 7)
        reason = "needs problem.coefficients = smooth or ball or front"
        (remark,) = [remark for remark in remarks if " problem.contrast (" in remark]
        self.assertRegex(remark, rf"^without effect: .*problem\.contrast \([^()]*idle_keys\.toml:\d+\).*: {reason}$")
        self.assertIn(f"\nremark    {remark}", run.stdout)
        plain = self.valid(
            2, "problem.box=8", "problem.boxes=[2,2,2]", "multigrid.smoother=jacobi", "bottom.solver=cg", "run.repeats=1",
            "run.deterministic=true"
        )
        self.assertEqual(run.record("run")["deck"], plain.record("run")["deck"])
        self.assertEqual(run.record("solve")["residuals"], plain.record("solve")["residuals"])

    def test_every_deck_can_be_run_in_every_mode_or_is_refused_for_a_reason_of_its_own(self) -> None:
        decks = [*(deck for folder in (".", "applications", "papers") for deck in sorted(INPUTS.glob(f"{folder}/*.toml"))),
                 INPUTS / "smoke/periodic.toml", INPUTS / "smoke/spmv.toml"]  # fmt: skip
        modes = [mode for mode in self.modes() if "benchmark" not in mode]

        def dry(case: tuple[Path, str]) -> str:
            deck, mode = case
            run = self.run_keel(None, "--dry-run", deck, f"run.mode={mode}", "problem.box=default", quick=False)
            self.assertEqual(against_schema(run.all_records), [], run)
            self.assertEqual([record["record"] for record in run.all_records if record["record"] != "scheme"],
                             [] if run.status else ["plan"])  # fmt: skip
            self.assertNotIn("leave it out", run.stderr)
            self.assertNotRegex(run.stderr, r": needs [a-z]+\.")  # another key
            return f"{deck.name} {mode}: {run.stderr}" if run.status else ""

        cases = by_turns([(deck, mode) for deck in decks for mode in modes], 4)
        failed = [text for text in at_once(2, dry, cases) if text]
        # The others are wrong sizes and solvers, which a mode cannot mend.
        self.assertLessEqual(len(failed), len(cases) // 12, failed)

    def test_a_weak_scaling_deck_starts_on_one_rank(self) -> None:
        grid = ("problem.box=4", "multigrid.bottom_box=2", *ONCE)
        remark = ("ca_bicgstab: bottom.s = 4: 17 basis vectors over the 8 cells of the bottom grid would be dependent; "
                  "1 is taken")  # fmt: skip
        words = (*grid, "bottom.solver=ca_bicgstab", "bottom.s=4")
        run = self.valid(1, *words)
        self.assertEqual(run.record("run")["remarks"], [remark])
        self.assertIn("1 is taken", run.stdout)
        self.assertEqual(self.valid(8, *words).record("run")["remarks"], [])
        survey = self.valid(1, *grid, "run.mode=survey", 'run.survey=["bicgstab","ca_bicgstab s=4"]')
        self.assertEqual(survey.record("run")["remarks"], [remark.replace(":", " s=4:", 1)])

    def test_a_deck_may_have_an_equals_sign_in_its_path(self) -> None:
        decks = [self.folder / name for name in ("n=4,box=8/deck.toml", "n=4.toml", "n=4/deck", "box.d=2.toml", "-n=4.toml")]
        for deck in decks:
            deck.parent.mkdir(exist_ok=True)
            deck.write_text(f"[run]\nlabel = '{deck.name}'\n")
        for word in [[deck] for deck in decks] + [["--", deck.relative_to(self.folder)] for deck in decks] + [["n=4.toml"]]:
            command = [self.keel, "--print-deck", "problem.box=8", *word]
            done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
            self.assertIn(f'label = "{Path(word[-1]).name}"', done.stdout, done)
        self.refused(None, "--", "a.toml", "problem.box=8", expected=['"problem.box=8" is a second deck'], records=False)
        self.refused(None, "box=8", "a.b=n.toml", expected=["box: unknown key", "a.b: unknown key"])


class DryRun(KeelTest):
    def test_more_than_any_memory_holds_is_refused_dry_or_not_with_what_fits(self) -> None:
        words = ("problem.box=1024", "problem.boxes=[4,4,4]")
        complaint = "problem.boxes = [4,4,4] on 2 ranks: at least 4.4 TB on a node of"
        for action in ([], ["--dry-run"]):
            run = self.run_keel(2, *action, *words, quick=False)
            self.assertEqual((run.status, run.stdout, run.files), (2, "", {}), run)
            self.assertIn(complaint, run.stderr)
        (fits,) = re.findall(r"choose problem\.box = (\d+) or less, fewer boxes, or more nodes", run.stderr)
        self.text(2, "--dry-run", f"problem.box={fits}", *words[1:])
        self.refused(2, "--dry-run", f"problem.box={2 * int(fits)}", *words[1:], expected=["choose problem.box ="])

    def test_virtual_ranks_may_need_more_than_this_node_has(self) -> None:
        plan = self.planned(1, "problem.box=1024", "problem.boxes=[4,4,4]", "problem.ranks=2", "comm.ranks_per_node=2")
        self.assertEqual((plan["ranks"], plan["unknowns"]), (2, 4096**3))
        self.assertGreater(plan["predicted_bytes"], 2e12)
        (remark,) = [text for text in plan["remarks"] if "at the bottom" not in text]
        self.assertIn("with nodes like this one: problem.box = 1024, problem.boxes = [4,4,4] on 2 ranks: at least", remark)

    def test_the_memory_of_a_job_of_slurm_is_all_there_is(self) -> None:
        # 8 arrays of 128^3 cells and more.
        words = ("problem.box=128", "problem.boxes=[1,1,1]")
        for given, least in (({"SLURM_MEM_PER_NODE": "64"}, 67.1), ({"SLURM_MEM_PER_CPU": "20", "SLURM_CPUS_ON_NODE": "2"}, 41.9)):
            under = ["env", *(f"{name}={value}" for name, value in given.items())]
            for action in ([], ["--dry-run"]):
                run = self.run_keel(1, *action, *words, quick=False, under=under)
                self.assertEqual(run.status, 2, run)
                self.assertIn(f"MB on a node of {least} MB; choose problem.box = 64 or less", run.stderr)
        run = self.run_keel(1, "--dry-run", *words, quick=False, under=["env", "SLURM_MEM_PER_NODE=0"])
        self.assertEqual(run.status, 0, run)

    def test_plans_that_a_dry_run_has_no_memory_for_are_left_out_or_refused(self) -> None:
        words = ["--dry-run", "problem.box=512", "problem.ranks=64", "comm.ranks_per_node=8", "multigrid.bottom_box=256"]
        for scheme in ([], ["comm.scheme=split"]):
            run = self.run_keel(1, *words, *scheme, quick=False, under=["env", "SLURM_MEM_PER_NODE=64"])
            if scheme:
                self.assertEqual((run.status, run.stdout), (2, ""), run)
                self.assertIn('comm.scheme = "split", 64 boxes of 512^3 on 64 ranks: a dry run takes about', run.stderr)
                self.assertIn("33.6 MB, half of the memory here: choose a larger comm.message_cap, a smaller", run.stderr)
            else:
                self.assertEqual(run.status, 0, run)
                self.assertIn("remark: level 0: not enough memory here to plan split, split/always; left out", run.stdout)
                self.assertIn("three_step", run.stdout)
        # Nodes that do not tile the boxes, so that none stands for others.
        words = ["--dry-run", "problem.box=1024", "problem.ranks=65536", "comm.ranks_per_node=64", "comm.scheme=split",
                 "problem.placement=scattered"]  # fmt: skip
        self.refused(None, *words, expected=["65536 boxes of 1024^3 on 65536 ranks: a dry run takes about"], records=False)


class Failure(KeelTest):
    def test_a_solve_that_does_not_converge_ends_with_status_1(self) -> None:
        run = self.run_keel(2, INPUTS / "smoke/periodic.toml", "multigrid.max_cycles=1", *ONCE)
        self.assertEqual(run.status, 1, run)
        self.assertEqual(run.stdout.splitlines()[-1], "RESULT INVALID")
        self.assertRegex(run.stdout, r"(?m)^CHECK  solves_converged +FAIL  0 ")
        self.assertRegex(run.stdout, r"(?m)^CHECK  residual_recomputed +FAIL ")
        self.assertFalse(run.record("solve")["converged"])
        self.assertEqual(run.record("solve")["cycles"], 1)
        self.assertEqual((run.record("result")["valid"], run.record("result")["exit"]), (False, 1))
        # Nobody quotes the speed of a wrong answer.
        self.assertNotIn("\nFOM ", run.stdout)
        self.assertIsNone(run.record("result")["fom"])


class Remarks(KeelTest):
    """The header of a run that is valid and odd."""

    box = ("problem.box=8", *ONCE)

    def test_threads_that_share_processors_are_counted_and_told_the_cure(self) -> None:
        processors = os.cpu_count() or 1
        run = self.valid(1, *self.box, threads=2 * processors)
        (warning,) = run.record("run")["warnings"]
        self.assertTrue(warning.startswith(f"1 rank x {2 * processors} threads on {processors} processor"), warning)
        self.assertTrue(warning.endswith(f"set OMP_NUM_THREADS={processors}"), warning)
        self.assertIn(f"\nwarning   {warning}\n", run.stdout)
        self.assertEqual(self.valid(1, *self.box).record("run")["warnings"], [])

    def test_a_domain_like_a_rod_and_uneven_loads_are_told(self) -> None:
        rod = self.valid(7, *self.box).record("run")["warnings"]
        self.assertIn("7 boxes make a domain of 7x1x1", " ".join(rod))
        chosen = self.valid(7, *self.box, "problem.boxes=[7,1,1]").record("run")["warnings"]
        self.assertNotIn("make a domain", " ".join(chosen))
        uneven = self.valid(3, *self.box, "problem.boxes=[2,2,2]").record("run")["warnings"]
        self.assertIn("8 boxes on 3 ranks: 2 ranks have 3, the others 2", " ".join(uneven))

    def test_progress_tells_how_many_solves_there_are_and_the_time_left(self) -> None:
        run = self.run_keel(2, *self.box[:1], "run.warmup=1", "run.repeats=3", "--verbose")
        lines = re.findall(r"(?m)^keel: (?:warm-up|solve) .*$", run.stderr)
        self.assertEqual(len(lines), 4)
        self.assertRegex(lines[0], r"^keel: warm-up 1: \d+ cycles, [\d.]+ [mnu]?s \(1 of 4\)$")
        self.assertRegex(lines[2], r"^keel: solve 2: .* \(3 of 4, [\d.]+ [mnu]?s left\)$")
        self.assertRegex(lines[3], r"\(4 of 4\)$")
        self.assertEqual(self.run_keel(2, *self.box[:1], "run.repeats=1").stderr, "")
