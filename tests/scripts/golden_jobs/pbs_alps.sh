#!/bin/bash
#PBS -N try
#PBS -j oe
#PBS -l walltime=0:05:00
#PBS -l mppwidth=48
#PBS -A PROJECT
#PBS -q regular

# try: what happens
# 4 starts of 2 points. Submit with: qsub job.2.sh

# This script wants nothing but bash and keel. It may be killed, submitted again, and run several times at once: a start whose
# records have their result is not made again, and who has made the file of a claim first has the start. Nothing is overwritten.
set -u
cd "${PBS_O_WORKDIR:-$(dirname "$0")}" || exit 2

keel=${KEEL:-/opt/keel/bin/keel}
job=${PBS_JOBID:-}
nodes_here=2

# When the allocation ends, in seconds since 1970; empty where nothing ends it. Runs are told to end before.
end=${KEEL_END:-$(($(date +%s) + 300))}

export MPICH_RANK_REORDER_METHOD=1

# Starts a command; by exec, so that a signal to it reaches the launcher.
launch() { # nodes, ranks, ranks a node, threads a rank, cores a rank, then the command
    export OMP_NUM_THREADS=$4
    # Without aprun keel would run on the node of the batch system itself.
    exec aprun -n "$2" -N "$3" -d "$5" -cc depth "${@:6}"
}

...
#     point, round, nodes, ranks, ranks a node, threads a rank, cores a rank, what keel is told
start ranks-48.solver-cg 1 2 48 24 1 1 bottom.solver=cg
start ranks-48.solver-ca_cg-s-8-basis-newton 1 2 48 24 1 1 bottom.solver=ca_cg bottom.s=8 bottom.basis=newton
start ranks-48.solver-cg 2 2 48 24 1 1 bottom.solver=cg
start ranks-48.solver-ca_cg-s-8-basis-newton 2 2 48 24 1 1 bottom.solver=ca_cg bottom.s=8 bottom.basis=newton

finish
