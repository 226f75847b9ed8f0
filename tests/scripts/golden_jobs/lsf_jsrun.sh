#!/bin/bash
#BSUB -J try
#BSUB -o try.%J
#BSUB -W 0:05
#BSUB -nnodes 8
#BSUB -P PROJECT
#BSUB -q batch
#BSUB -alloc_flags "smt1"

# try: what happens
# 4 starts of 2 points. Submit with: bsub < job.8.sh

# This script wants nothing but bash and keel. It may be killed, submitted again, and run several times at once: a start whose
# records have their result is not made again, and who has made the file of a claim first has the start. Nothing is overwritten.
set -u
cd "${LS_SUBCWD:-$(dirname "$0")}" || exit 2

keel=${KEEL:-/opt/keel/bin/keel}
job=${LSB_JOBID:-}
nodes_here=8

# When the allocation ends, in seconds since 1970; empty where nothing ends it. Runs are told to end before.
end=${KEEL_END:-$(($(date +%s) + 300))}

export OMP_PLACES=cores
export OMP_PROC_BIND=close

# Starts a command; by exec, so that a signal to it reaches the launcher.
launch() { # nodes, ranks, ranks a node, threads a rank, cores a rank, then the command
    export OMP_NUM_THREADS=$4
    exec jsrun -n "$2" -r "$3" -a 1 -c "$5" -g 1 -b packed:"$4" -d packed -E OMP_NUM_THREADS="$4" --smpiargs="-gpu" "${@:6}"
}

...
#     point, round, nodes, ranks, ranks a node, threads a rank, cores a rank, what keel is told
start ranks-48.solver-cg 1 8 48 6 7 7 bottom.solver=cg
start ranks-48.solver-ca_cg-s-8-basis-newton 1 8 48 6 7 7 bottom.solver=ca_cg bottom.s=8 bottom.basis=newton
start ranks-48.solver-cg 2 8 48 6 7 7 bottom.solver=cg
start ranks-48.solver-ca_cg-s-8-basis-newton 2 8 48 6 7 7 bottom.solver=ca_cg bottom.s=8 bottom.basis=newton

finish
