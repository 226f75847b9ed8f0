"""scripts/compare_peers: its table against golden text, and what it makes of programs that fail."""

import unittest

from studies.execute.peers import Code, main, table
from support import InFolder, ended

GOLDEN = """\
| code | iterations | max\\|r\\| / max\\|f\\| | set-up, s | solve, s | MDOF/s | Keel's seconds over these |
| --- | --- | --- | --- | --- | --- | --- |
| Keel | 9 | 5.0e-11 | 0.100 | 0.400 [0.350, 0.500] | 5.24 | 1 |
| hypre 2.26.0 pcg_pfmg | 12 | 9.1e-11 | 0.0500 | 0.775 [0.650, 1.00] | 2.71 | 0.500 [0.467, 0.571] |

Medians of 6 rounds in turns; in brackets what holds the true median with 95 %.
"""

ALGEBRAIC = """\
| code | levels | complexity | iterations | \\|r\\| / \\|f\\| | set-up, s | Keel's over these | solve, s | MDOF/s | Keel's seconds over these |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
| Keel | 4 | 1.194 | 9 | 3.0e-09 | 0.200 | 1 | 0.400 [0.400, 0.400] | 0.0346 | 1 |
| hypre 2.26.0 BoomerAMG defaults | 5 | 1.377 | 6 | 2.0e-09 | 0.100 | 2.00 [2.00, 2.00] | 0.200 [0.200, 0.200] | 0.0691 | 2.00 [2.00, 2.00] |

Medians of 6 rounds in turns; in brackets what holds the true median with 95 %.
"""

# A program that writes records as the real ones do; the file `log` beside it tells who was started, with which words.
PROGRAM = """#!/bin/bash
here=$(dirname "$0")
for word; do case $word in output.json=*) json=${word#*=} ;; --method=*) method=${word#*=} ;; esac; done
echo "$(basename "$0") ${*%output.json*}" >>"$here/log"
"""
KEEL = PROGRAM + """
seconds=0.$(wc -l <"$here/log")
echo '{"record":"run","domain":{"cells":4096}}' >>"$json"
echo '{"record":"solve","seconds":'$seconds',"cycles":9,"u_l2":0.5}' >>"$json"
echo '{"record":"check","name":"residual_recomputed","value":4e-11}' >>"$json"
echo '{"record":"result","setup_seconds":0.01}' >>"$json"
"""
PEER = PROGRAM + """
if [ "$method" = pfmg ]; then
    echo "hypre: solve: error 1" >&2
    exit 1
fi
echo '{"record":"peer","peer":"hypre 0","method":"'$method'","seconds":[0.1,0.2,0.9],"setup_seconds":0.02,"iterations":12,' \\
    '"residual":9e-11,"u_l2":U_L2,"unknowns":4096}' >>"$json"
"""
ACCELERATED = PROGRAM + """
echo '{"record":"solve","seconds":0.2,"evaluations":25,"true_residual":1e-13,"u_l2":0.5}' >>"$json"
"""
KINSOL = PROGRAM + """
record() { echo '{"record":"peer","peer":"KINSOL 0","seconds":[0.1],"evaluations":'$1',"residual":'$2',"u_l2":'$3',"unknowns":64,"valid":'$4'}' >>"$json"; }
case $* in
    *orthogonalisation=dcgs2*) record 58 null 1e99 false; exit 1 ;;
    *) record 25 1e-12 U_L2 true ;;
esac
"""
MPIEXEC = """#!/bin/bash
echo "mpiexec $*" | sed 's/ -n .*//' >>"$(dirname "$0")/starts"
while [ "$1" != -n ]; do shift; done
exec "${@:3}"
"""


class Table(unittest.TestCase):
    def test_rounds_are_compared_one_by_one(self) -> None:
        keel = Code("Keel", [0.35, 0.4, 0.4, 0.5, 0.4, 0.35], [0.1] * 6, 9, 5e-11, 0.5, 128**3)
        # The machine was slow in the fourth round for both: the ratio does not know.
        peer = Code("hypre 2.26.0 pcg_pfmg", [0.65, 0.8, 0.7, 1.0, 0.8, 0.75], [0.05] * 6, 12, 9.1e-11, 0.5, 128**3)
        self.assertEqual(table([keel, peer]), GOLDEN)

    def test_algebraic_multigrid_has_levels_and_a_ratio_of_setting_up(self) -> None:
        keel = Code("Keel", [0.4] * 6, [0.2] * 6, 9, 3e-9, None, 24**3, 4, 1.194)
        peer = Code("hypre 2.26.0 BoomerAMG defaults", [0.2] * 6, [0.1] * 6, 6, 2e-9, 0.5, 24**3, 5, 1.377)
        self.assertEqual(table([keel, peer]), ALGEBRAIC)


class Comparison(InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.file("CMakeCache.txt", f"A:STRING=1\nMPIEXEC_EXECUTABLE:FILEPATH={self.folder}/mpiexec\n")
        for name, text in (("keel", KEEL), ("keel_hypre", PEER.replace("U_L2", "0.50000001")), ("mpiexec", MPIEXEC)):
            self.program(name, text)

    def run_main(self, *words: str) -> tuple[int, str, str]:
        return ended(main, "--build", self.folder, *words)

    def test_codes_take_turns_with_the_same_words(self) -> None:
        status, out, err = self.run_main("-n", "3", "--rounds", "2", "--method", "pcg_pfmg", "problem.box=8", "deck.toml")
        self.assertEqual((status, err), (0, ""))
        started = (self.folder / "log").read_text().splitlines()
        words = "problem.box=8 deck.toml"
        a, b = f"keel {words}", f"keel_hypre --method=pcg_pfmg {words}"
        self.assertEqual([line.strip() for line in started], [a, b, a, b])
        self.assertTrue(out.startswith(f"{words}: 4096 unknowns on 3 ranks\n"))
        # Keel took 0.1 and 0.3 s, hypre 0.2, the median of its solves, both times.
        self.assertIn("| Keel | 9 | 4.0e-11 | 0.0100 | 0.200 [-] |", out)
        self.assertIn("| hypre 0 pcg_pfmg | 12 | 9.0e-11 | 0.0200 | 0.200 [-] | 0.0205 | 1.00 [-] |", out)
        self.assertIn("with 95 %: none, 6 rounds are needed.", out)

    def test_without_a_deck_it_is_the_one_of_comparisons(self) -> None:
        self.run_main("--rounds", "1", "--method", "pcg_pfmg", "problem.box=8")
        self.assertIn("/inputs/compare_hpgmg.toml problem.box=8", (self.folder / "log").read_text())

    def test_a_run_that_fails_ends_it_with_what_it_said(self) -> None:
        status, out, err = self.run_main("--rounds", "2")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("status 1 of: ", err)
        self.assertIn("hypre: solve: error 1", err)

    def test_solutions_that_differ_are_not_compared(self) -> None:
        self.program("keel_hypre", PEER.replace("U_L2", "0.51"))
        status, out, err = self.run_main("--rounds", "1", "--method", "pcg_pfmg")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("not the same problem", err)

    def accelerate(self, u_l2: str, *words: str) -> tuple[int, str, str]:
        self.program("keel", ACCELERATED)
        self.program("keel_kinsol", KINSOL.replace("U_L2", u_l2))
        return self.run_main("--code", "kinsol", *words)

    def test_evaluations_of_kinsol_stand_beside_keel_s_by_every_method(self) -> None:
        status, out, err = self.accelerate("0.500000001", "my.toml", "problem.box=8")
        self.assertEqual((status, err), (0, ""))
        self.assertIn("my.toml problem.box=8: 64 unknowns on 2 ranks\n", out)
        self.assertIn("| mgs | 25 | 25 | 1.0e-13 | 1.0e-12 | 0.200 | 0.100 |", out)
        self.assertIn("| dcgs2 | 25 | 58, no fixed point | 1.0e-13 | no number | 0.200 | 0.100 |", out)
        started = (self.folder / "log").read_text().splitlines()
        self.assertEqual(len(started), 8)
        self.assertEqual(started[1].strip(), "keel_kinsol my.toml problem.box=8 anderson.orthogonalisation=mgs")

    def test_without_a_deck_there_are_two_problems_and_fixed_points_that_differ_are_not_compared(self) -> None:
        status, out, _ = self.accelerate("0.5", "--method", "mgs")
        self.assertEqual((status, out.count("unknowns on 2 ranks")), (0, 2))
        for deck in ("kinsol_heat.toml", "kinsol_mixture.toml"):
            self.assertIn(f"/inputs/{deck}: ", out)
        status, _, err = self.accelerate("0.51", "--method", "mgs")
        self.assertEqual(status, 1)
        self.assertIn("mgs: |u| = 0.51, and Keel's 0.5: not the same problem", err)

    def test_what_makes_no_sense_is_refused_at_once(self) -> None:
        status, _, err = self.run_main("-n", "0", "--rounds", "0", "output.json=x")
        self.assertEqual(status, 2)
        for what in ("-n 0: wants", "--rounds 0: wants", "output.json=x: the records are the script's own"):
            self.assertIn(what, err)
        status, _, err = self.run_main("--code", "kinsol", "--method", "pfmg")
        self.assertEqual((status, err), (2, "--method pfmg: kinsol has mgs, icwy, cgs2, dcgs2\n"))
        (self.folder / "keel_hypre").unlink()
        status, _, err = self.run_main()
        self.assertEqual(status, 2)
        self.assertIn("no keel_hypre; build them with -DKEEL_PEERS=ON", err)
