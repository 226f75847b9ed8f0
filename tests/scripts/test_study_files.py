"""Study files, points and sites: what they mean, and what is said of those that are wrong."""

import os
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

from studies.define.checked_toml import Refused
from studies.define.platforms import find
from studies.define.points import points_of, words_of
from studies.define.sites import SITES, Site, launchers, place, read_site
from studies.define.study_file import Study, read_study
from studies.execute.keel import deck_text, understand
from support import InFolder

ROOT = Path(__file__).resolve().parents[2]
GOOD = """\
name = "family"
claim = "which is best"
deck = "deck.toml"
law = "strong"
# each point twice
rounds = 2
repeats = 3
[keys]
problem.box = 4
"problem.boxes" = [2, 2, 2]
[[axis]]
keys = ["ranks", "threads"]
values = [[1, 4], [4, 1]]
[[axis]]
key = "bottom.solver"
values = ["cg", "ca_cg s=8 basis=newton"]
[baseline]
bottom.solver = "cg"
"""

WRONG = '''\
name = "x y"
claim = """a
lawn = 3
"""
deck = "nope.toml"
lawn = "weak"
law = "weka"
constant = 'one'
rounds = 0
[keys]
rank = 3
[[axis]]
key = "rank"
values = [1, # [
  2]
[[axis]]
key = "bottom.solver"
values = ["cg", "cg"]
[[axis]]
keys = ["problem.box", "ranks"]
values = [[1, 2], 3, [1, 0]]
[baseline]
'''

REFUSAL = """\
study.toml:1: name = "x y": wants letters, digits, - and _ only: folders and jobs are named so
study.toml:5: deck = "nope.toml": there is no file nope.toml; the path is relative to the study file
study.toml:6: lawn: unknown key; a study has name, claim, deck, law, constant, rounds, repeats, minutes, order, dry_run, keys, \
axis, baseline, ranks, threads, ranks_per_node (did you mean "law"?)
study.toml:7: law = "weka": unknown law; choose weak, strong, throughput, sweep (did you mean "weak"?)
study.toml:9: rounds = 0: wants at least 1: number of times that every point is started, in turns: A B A B
study.toml:11: keys.rank: wants SECTION.KEY of a deck (did you mean "ranks"?)
study.toml:13: rank: unknown axis; ranks, threads, ranks_per_node, or SECTION.KEY of a deck (did you mean "ranks"?)
study.toml:18: values: one of them is there twice; rounds = 2 starts every point twice
study.toml:21: values: 3 wants to be an array of 2: problem.box, ranks
study.toml:21: values: ranks = 0 wants to be a whole number from 1 on"""


class Files(InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.file("deck.toml", "# mine\n[problem]\nbox = 8\na = 0.0\n")

    def study(self, text: str) -> Study:
        return read_study(self.file("study.toml", text))

    def site(self, text: str) -> Site:
        return read_site(self.file("site.toml", text))

    def refusal(self, text: str) -> str:
        with self.assertRaises(Refused) as refused:
            self.study(text)
        return str(refused.exception).replace(f"{self.folder}/", "")


class Studies(Files):
    def test_points_are_all_axes_combined_and_zipped_keys_go_together(self) -> None:
        points = points_of(self.study(GOOD))
        self.assertEqual([(point.ranks, point.threads, point.words) for point in points], [
            (1, 4, ("bottom.solver=cg",)), (1, 4, ("bottom.solver=ca_cg", "bottom.s=8", "bottom.basis=newton")),
            (4, 1, ("bottom.solver=cg",)), (4, 1, ("bottom.solver=ca_cg", "bottom.s=8", "bottom.basis=newton"))])  # fmt: skip
        self.assertEqual(points[1].name, "ranks-1.threads-4.solver-ca_cg-s-8-basis-newton")

    def test_the_deck_gets_the_keys_that_are_the_same_everywhere(self) -> None:
        self.assertEqual(
            deck_text(self.study(GOOD)),
            "# deck.toml with the keys of the study family.\n\n[problem]\nbox = 4\n"
            "a = 0.0\nboxes = [2, 2, 2]\n\n[run]\nrepeats = 3\n",
        )

    def test_the_limit_of_dry_runs_is_in_the_deck_of_dry_runs_alone(self) -> None:
        study = self.study(GOOD.replace("[keys]", "[keys]\nrun.dry_run_limit = 2"))
        self.assertEqual(deck_text(study), deck_text(self.study(GOOD)))
        self.assertIn("dry_run_limit = 2\n", deck_text(study, planning=True))

    def test_values_are_told_as_the_command_line_takes_them(self) -> None:
        self.assertEqual(words_of("problem.boxes", [2, 2, 2]), ["problem.boxes=[2,2,2]"])
        self.assertEqual(words_of("run.deterministic", True), ["run.deterministic=true"])
        self.assertEqual(words_of("comm.scheme", "split message_cap=200"),
                         ["comm.scheme=split", "comm.message_cap=200"])  # fmt: skip

    def test_all_mistakes_are_told_at_once_with_their_lines(self) -> None:
        self.assertEqual(self.refusal(WRONG), REFUSAL)

    def test_a_baseline_that_no_axis_has_is_refused(self) -> None:
        found = self.refusal(GOOD.replace('bottom.solver = "cg"', 'bottom.solver = "cgg"'))
        self.assertEqual(found, "study.toml:18: baseline.bottom.solver = 'cgg': no value of its axis; "
                         'choose cg, ca_cg s=8 basis=newton (did you mean "cg"?)')  # fmt: skip

    def test_what_json_or_a_command_line_cannot_hold_is_refused_with_its_line(self) -> None:
        wanted = "wants a text, a finite number, true or false, or an array of these"
        for value, told in (("1979-05-27", "1979-05-27"), ("[1, 07:32:00]", "[1, datetime.time(7, 32)]"), ("inf", "inf"),
                            ("[nan]", "[nan]"), ('"a\\u0000b"', '"a\\u0000b"'), ("[{a = 1}]", "[{'a': 1}]")):  # fmt: skip
            text = GOOD.replace("box = 4", f"box = {value}")
            self.assertEqual(self.refusal(text), f"study.toml:9: keys.problem.box = {told}: {wanted}")
            text = GOOD.replace('["cg", "ca_cg s=8 basis=newton"]', f"[{value}]").partition("[baseline]")[0]
            self.assertEqual(self.refusal(text), f"study.toml:16: values: bottom.solver = {told}: {wanted}")
            self.file("deck.toml", f"[problem]\na = {value}\n")
            with self.assertRaisesRegex(Refused, r"deck.toml:2: problem.a = .*: wants a text") as refused:
                deck_text(self.study(GOOD))
            self.assertIn(told, str(refused.exception))
        self.assertEqual(self.refusal("minutes = nan\n" + GOOD), f"study.toml:1: minutes = nan: {wanted}")

    def test_a_key_that_is_none_of_a_deck_never_gets_into_a_job_script(self) -> None:
        for key in ("a.b;touch x", "a.$(touch x)", "a./../../x", "a.b=1 c.d", "a.b.c", "a.\\nb", "--a.b", "é.b"):
            told = key.replace("é", "\\u00e9")
            text = GOOD.replace('key = "bottom.solver"', f'key = "{key}"').partition("[baseline]")[0]
            self.assertIn(f"study.toml:15: {told}: unknown axis; ", self.refusal(text))
            text = GOOD.replace('"problem.boxes"', f'"{key}"')
            self.assertIn(f": keys.{told}: wants SECTION.KEY of a deck", self.refusal(text))

    def test_what_is_no_toml_is_told_with_its_line(self) -> None:
        self.assertEqual(self.refusal('name = "a"\nclaim =\n'), "study.toml:2: Invalid value")

    def test_a_file_that_is_not_there(self) -> None:
        with self.assertRaisesRegex(Refused, "none.toml: No such file or directory"):
            read_study(self.folder / "none.toml")

    def test_the_studies_that_come_with_keel_are_good(self) -> None:
        for path in sorted((ROOT / "inputs/studies").rglob("*.toml")):
            self.assertTrue(points_of(read_study(path)), path)


class Sites(Files):
    def test_those_that_come_with_keel_are_good_and_use_every_launcher(self) -> None:
        sites = [read_site(path) for path in SITES.glob("*.toml")]
        self.assertEqual(sorted({site.launcher for site in sites}), launchers())

    def test_all_mistakes_are_told_at_once_with_their_lines(self) -> None:
        text = 'launcher = "slrum"\n[node]\ncoers = 4\ncores = "many"\n[run]\noptions = [1]\n[environment]\nOMP_PLACES = 1\n'
        with self.assertRaises(Refused) as refused:
            self.site(text)
        found = str(refused.exception).replace(f"{self.folder}/", "").splitlines()
        self.assertEqual(
            [line.partition(" ")[0] for line in found],
            ["site.toml:1:", "site.toml:1:", "site.toml:3:", "site.toml:4:", "site.toml:6:", "site.toml:8:"],
        )
        self.assertIn("a site has no about", found[0])
        self.assertIn('did you mean "slurm"?', found[1])
        self.assertIn("node.coers: unknown key; [node] has cores, ", found[2])
        self.assertIn('node.cores = "many": wants a whole number: cores of a node', found[3])

    def test_a_site_of_no_name_is_refused_with_those_that_are(self) -> None:
        with self.assertRaisesRegex(Refused, 'no such site; choose el_capitan, flux, frontier, .*did you mean "slurm"'):
            find("slrum", "sites")
        own = Path(self.folder) / "sites/mine.toml"
        own.parent.mkdir()
        own.touch()
        with mock.patch.dict(os.environ, {"KEEL_DATA": str(self.folder)}):
            self.assertEqual((find("mine", "sites"), find("slurm", "sites").resolve()), (own, SITES / "slurm.toml"))

    def test_ranks_fill_the_cores_that_the_system_leaves(self) -> None:
        site = self.site('launcher = "slurm"\nabout = "x"\n[node]\ncores = 16\nreserved_cores = 2\n'
                                   "[run]\nthreads = 6\nprogress_cores = 1\n")  # fmt: skip
        study = self.study(GOOD.replace('"threads"', '"problem.seed"').replace("4]", "9]"))
        placement, problems = place(site, points_of(study)[2])
        self.assertEqual((placement.nodes, placement.ranks_per_node, placement.threads, placement.cores_per_rank), (2, 2, 6, 7))
        self.assertEqual(problems, [])
        _, problems = place(replace(site, reserved_cores=1), points_of(study)[2])
        self.assertEqual([problem.partition(";")[0] for problem in problems], ["warning: 14 of 15 cores of a node are used"])

    def test_more_threads_than_cores_are_an_error_on_a_cluster_and_a_warning_here(self) -> None:
        for launcher, word in (("slurm", "error"), ("local", "warning")):
            site = self.site(f'launcher = "{launcher}"\nabout = "x"\n[node]\ncores = 2\n')
            _, problems = place(site, points_of(self.study(GOOD))[0])
            self.assertIn(f"{word}: 1 ranks a node x 4 threads want 4 cores; 2 can be used", problems[0])

    def test_simulated_ranks_are_where_the_machine_puts_them_and_all_in_the_memory_of_this_one(self) -> None:
        text = 'launcher = "simulated"\nabout = "x"\n[node]\ncores = 24\n[simulation]\nmachine = "hopper"\n'
        site = self.site(text)
        ten = GOOD.replace('"threads"', '"problem.seed"').replace("[4, 1]", "[10, 1]")
        *_, point = points_of(self.study(ten))
        placement, problems = place(site, point)
        self.assertEqual((placement.nodes, placement.ranks_per_node, placement.ranks_in_memory), (3, 4, 10))
        self.assertEqual(problems, [])
        self.assertGreater(site.memory_gb, 0)

        _, problems = place(site, points_of(self.study(GOOD))[0])
        self.assertIn("error: 4 threads: a simulated rank has one", problems[0])
        *_, many = points_of(self.study(ten.replace("[10, 1]", "[100000, 1]")))
        self.assertIn("error: --ranks 100000: 25000 nodes of 4 ranks; platform hopper has ", place(site, many)[1][0])

    def test_a_simulated_site_has_a_machine_and_others_have_none(self) -> None:
        for launcher, table, told in (
            ("simulated", "", "1: launcher = \"simulated\": wants simulation.machine"),
            ("slurm", 'simulation.machine = "hopper"\n', "3: [simulation]: only launcher = \"simulated\" has one"),
        ):
            with self.assertRaises(Refused) as refused:
                self.site(f'launcher = "{launcher}"\nabout = "x"\n{table}[node]\ncores = 8\n')
            self.assertIn(f"site.toml:{told}", str(refused.exception))

    def test_cray_mpich_wants_two_variables_for_a_progress_thread(self) -> None:
        both = 'MPICH_ASYNC_PROGRESS = "1"\n', 'MPICH_MAX_THREAD_SAFETY = "multiple"\n'
        for given, told in ((both[:1], "MPICH_ASYNC_PROGRESS=1 without MPICH_MAX_THREAD_SAFETY=multiple"), (both, ""),
                            (both[1:], "MPICH_MAX_THREAD_SAFETY=multiple without MPICH_ASYNC_PROGRESS=1"), ((), "")):  # fmt: skip
            text = 'launcher = "slurm"\nabout = "x"\n[node]\ncores = 5\n[run]\nprogress_cores = 1\n[environment]\n'
            _, problems = place(self.site(text + "".join(given)), points_of(self.study(GOOD))[0])
            self.assertEqual([problem.partition(": ")[2].partition(": ")[0] for problem in problems], [told] if told else [])

    def test_asynchronous_progress_wants_a_core(self) -> None:
        text = 'launcher = "slurm"\nabout = "x"\n[node]\ncores = 8\n[environment]\nMPIR_CVAR_ASYNC_PROGRESS = "1"\n'
        _, problems = place(self.site(text), points_of(self.study(GOOD))[0])
        self.assertIn("run.progress_cores = 1 would leave it a core", problems[0])

PLAN = {
    "record": "plan",
    "unknowns": 32768,
    "predicted_bytes": 704800.0,
    "busiest": {"messages": 3.0, "bytes": 12288.0, "off_node_messages": 1.0, "off_node_bytes": 4096.0},
    "remarks": ["without effect: bottom.depth"],
    "warnings": ["every rank is a node of its own"],
}


class DryRuns(unittest.TestCase):
    def test_sizes_messages_and_remarks(self) -> None:
        found = understand(PLAN)
        self.assertEqual((found.size, found.bytes_per_rank, found.messages, found.off_node), (32768, 704800.0, 3, 1))
        self.assertEqual(found.remarks, ("without effect: bottom.depth", "every rank is a node of its own"))

    def test_what_is_not_known_is_not_predicted(self) -> None:
        for plan in (PLAN | {"predicted_bytes": None, "busiest": None, "unknowns": None}, {}):
            found = understand(plan)
            self.assertEqual((found.size, found.bytes_per_rank, found.messages, found.off_node), (None, None, None, None))
