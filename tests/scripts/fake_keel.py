"""A keel and an mpiexec that take no time, for tests of what goes on around them.

keel writes records as the real one does, adds a line to `log` for each start, and does by its words what a test wants
to go wrong: bottom.solver=bad is refused even by a dry run, =crash ends with status 3, =stall writes half a record and
waits as long as there is a file `stall`, =shy ends with status 1 the first time, =long is interrupted if it is given
less than 1000 seconds, =invalid fails a check, =lost cannot write its records, as on a full disk (the real one ends
with status 0 then, too). While there is a file `gate` nothing begins.
"""

import os
from pathlib import Path

MPIEXEC = """#!/bin/bash
while [ "$1" != -n ]; do shift; done
export FAKE_RANKS=$2
exec "${@:3}"
"""

KEEL = r"""#!/bin/bash
here=$(dirname "$0")
json='' solver=cg limit='' dry='' machine='' ranks=${FAKE_RANKS:-1} box=8
for word; do
    case $word in
        --version) echo "keel 0.0.0 (fake)"; exit ;;
        --dry-run) dry=1 ;;
        output.json=*) json=${word#*=} ;;
        bottom.solver=*) solver=${word#*=} ;;
        problem.box=*) box=${word#*=} ;;
        problem.ranks=*) ranks=${word#*=} ;;
        comm.machine=*) machine=${word#*=} ;;
        run.time_limit=*) limit=${word#*=} ;;
    esac
done
if [ "$solver" = bad ]; then
    echo 'command line: bottom.solver = "bad": unknown solver; choose cg (did you mean "cg"?)' >&2
    exit 2
fi
if [ "$solver" = shy ] && [ ! -e "$here/shy" ]; then
    touch "$here/shy"
    exit 1
fi
if [ -n "$dry" ]; then
    echo '{"record":"plan","schema":1,"ranks":'$ranks',"unknowns":'$((box * box * box * ranks))',"predicted_bytes":2e6,' \
        '"busiest":{"messages":3.0,"bytes":12288.0,"off_node_messages":1.0,"off_node_bytes":4096.0},' \
        '"remarks":[],"warnings":[]}' >>"$json"
    [ -z "$machine" ] || echo '{"record":"solve","schema":1,"predicted":true,"seconds":'$ranks'.5,"solver":"'$solver'"}' >>"$json"
    case $json in */plan.json) exit ;; esac # before anything is started
fi
while [ -e "$here/gate" ]; do sleep 0.02; done
echo "$ranks $solver" >>"$here/log"
if [ -n "$dry" ]; then
    for scheme in standard two_step; do
        echo '{"record":"scheme","level":0,"box":8,"purpose":"stencil","columns":1,"scheme":"'$scheme'","predicted_seconds":2e-5,' \
            '"all":{"messages":9,"bytes":8e6,"off_node_messages":3,"off_node_bytes":2e6}}' >>"$json"
    done
    exit
fi
if [ "$solver" = crash ]; then
    echo "error: rank 0 found no device" >&2
    exit 3
fi
if [ "$solver" = long ] && [ "${limit:-1000}" -lt 1000 ]; then
    echo '{"record":"run","ranks":'$ranks',"threads":1,"limit":'$limit'}' >>"$json"
    echo '{"record":"result","done":[{"what":"solves","done":3,"all":5}],"interrupted":true,"interrupted_by":"time_limit",' \
        '"valid":false,"exit":4}' >>"$json"
    exit 4
fi
valid=true
[ "$solver" != invalid ] || valid=false
run() {
    local cells="[$((box * ranks)),$box,$box]"
    echo '{"record":"run","ranks":'$ranks',"threads":1,"nodes":1,"cells":'$cells',"levels":[{},{}],"shared_cores":false,' \
        '"triad_bytes_per_second":1e9,"deck":{"bottom":{"solver":"'$solver'"},"run":{"mode":"solve"}}}'
    echo '{"record":"solve","solver":"'$solver'","repeat":0,"seconds":'$ranks'.5,"converged":true,"cycles":5,' \
        '"bottom_iterations":7,"missed_bottoms":0,"reductions":9,"exchanges":8,"residuals":[1.0,0.1]}'
    if [ "$solver" = stall ] && [ -e "$here/stall" ]; then
        printf '{"record":"sol'
        echo $$ >>"$here/stalled"
        exec sleep 60 >/dev/null
    fi
    for timer in smooth:0:8e6 exchange.wait:0:0 reduction:1:0 bottom.operator:1:1e6 other:0:0; do
        IFS=: read -r op level flops <<<"$timer"
        echo '{"record":"timer","op":"'"$op"'","level":'$level',"calls":2,"t_min":0.1,"t_mean":0.1,"t_max":0.1,' \
            '"bytes_moved":'$flops',"flops":'$flops',"all_messages":6,"all_bytes":1e6,"all_off_node_messages":2,' \
            '"all_off_node_bytes":3e5,"solver":"'$solver'"}'
    done
    echo '{"record":"check","name":"residual_recomputed","passed":'$valid'}'
    echo '{"record":"result","fom":1e6,"interrupted":false,"valid":'$valid',"exit":0}'
}
if [ "$solver" = lost ] || ! run >>"$json"; then
    echo "output.json = \"$json\": could not be written: No space left on device" >&2
fi
[ "$valid" = true ]
"""

STUDY = """
name = "try"
claim = "what happens"
deck = "deck.toml"
law = "weak"
rounds = {rounds}
order = "{order}"
minutes = 1
[[axis]]
key = "ranks"
values = {ranks}
[[axis]]
key = "bottom.solver"
values = {solvers}
[baseline]
bottom.solver = {baseline}
"""


def make(folder: Path) -> Path:
    """keel, mpiexec and a deck in a folder; returns keel."""
    for name, text in (("keel", KEEL), ("mpiexec", MPIEXEC)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    (folder / "deck.toml").write_text("[problem]\nbox = 8\n")
    return folder / "keel"


def study(
    folder: Path, solvers: list[str], ranks: list[int] | None = None, rounds: int = 1, order: str = "largest_first"
) -> Path:
    path = folder / "try.toml"
    text = STUDY.format(rounds=rounds, order=order, ranks=ranks or [1, 2], solvers=str(solvers).replace("'", '"'),
                        baseline=f'"{solvers[0]}"')  # fmt: skip
    path.write_text(text)
    return path


def environment(folder: Path) -> dict[str, str]:
    return os.environ | {"PATH": f"{folder}:{os.environ['PATH']}", "KEEL": str(folder / "keel")}


def started(folder: Path) -> list[str]:
    log = folder / "log"
    return log.read_text().splitlines() if log.exists() else []
