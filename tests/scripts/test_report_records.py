"""scripts/report records against golden text."""

from studies.records import UnreadableRecords
from studies.views import records
from support import InFolder

RECORDS = """\
{"record":"run","schema":1,"id":"a1","label":"one, two","clock":"real","ranks":2,"threads":1,"nodes":1,"backend":"openmp"}
{"record":"solve","schema":1,"solver":"cg","repeat":0,"converged":true,"floor":null,"residuals":[1.0,0.1]}
{"record":"survey","schema":1,"solver":"cg","cycles":1,"seconds_median":0.5,"parts":{"v_cycle":0.25,"bottom":0.25}}
{"record":"timer","schema":1,"op":"smooth","level":0,"calls":2.0,"t_mean":1e-07}
{"record":"timer","schema":1,"op":"reduction","level":1,"calls":3.0,"t_mean":0.5,"solver":"cg"}
"""
OF_RUN = 'a1,"one, two",real,2,1,1,openmp'
HEAD = "file,run.id,run.label,run.clock,run.ranks,run.threads,run.nodes,run.backend"


class Csv(InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.run_json = self.file("run.json", RECORDS)

    def test_a_record_is_a_row_whose_parts_have_names_and_lists_stay_out(self) -> None:
        own = f"{self.run_json},{OF_RUN}"
        for kind, fields, *rows in (
            ("timer", "op,level,calls,t_mean,solver", "smooth,0,2.0,1e-07,", "reduction,1,3.0,0.5,cg"),
            ("survey", "solver,cycles,seconds_median,parts.v_cycle,parts.bottom", "cg,1,0.5,0.25,0.25"),
            ("solve", "solver,repeat,converged,floor", "cg,0,true,"),
        ):
            wanted = [f"{HEAD},{fields}", *(f"{own},{row}" for row in rows)]
            self.assertEqual(records.table([self.run_json], kind), "".join(f"{line}\n" for line in wanted))

    def test_a_kind_that_is_not_there_is_refused_with_those_that_are(self) -> None:
        with self.assertRaises(UnreadableRecords) as error:
            records.table([self.run_json], "rank_timer")
        self.assertEqual(
            str(error.exception), f"{self.run_json}: no rank_timer record; there are run, solve, survey, timer"
        )
