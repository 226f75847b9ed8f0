#!/bin/bash

# try: what happens
# 8 starts of 4 points. Submit with: bash job.sh

# This script wants nothing but bash and keel. It may be killed, submitted again, and run several times at once: a start whose
# records have their result is not made again, and who has made the file of a claim first has the start. Nothing is overwritten.
set -u
cd "$(dirname "$0")" || exit 2

keel=/opt/keel/bin/keel
job=
nodes_here=12

# When the allocation ends, in seconds since 1970; empty where nothing ends it. Runs are told to end before.
end=${KEEL_END:-}


# Starts a command; by exec, so that a signal to it reaches the launcher.
launch() { # nodes, ranks, ranks a node, threads a rank, cores a rank, then the command
    export OMP_NUM_THREADS=$4
    exec scripts/simulate --machine hopper \
        --ranks "$2" --ranks-per-node "$3" --keel "$6" "${@:7}"
}

...
#     point, round, nodes, ranks, ranks a node, threads a rank, cores a rank, what keel is told
start ranks-48.solver-cg 1 12 48 4 1 1 bottom.solver=cg
start ranks-48.solver-ca_cg-s-8-basis-newton 1 12 48 4 1 1 bottom.solver=ca_cg bottom.s=8 bottom.basis=newton
start ranks-48.solver-cg 2 12 48 4 1 1 bottom.solver=cg
start ranks-48.solver-ca_cg-s-8-basis-newton 2 12 48 4 1 1 bottom.solver=ca_cg bottom.s=8 bottom.basis=newton
start ranks-6.solver-cg 1 2 6 4 1 1 bottom.solver=cg
start ranks-6.solver-ca_cg-s-8-basis-newton 1 2 6 4 1 1 bottom.solver=ca_cg bottom.s=8 bottom.basis=newton
start ranks-6.solver-cg 2 2 6 4 1 1 bottom.solver=cg
start ranks-6.solver-ca_cg-s-8-basis-newton 2 2 6 4 1 1 bottom.solver=ca_cg bottom.s=8 bottom.basis=newton

finish
