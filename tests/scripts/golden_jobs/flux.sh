#!/bin/bash
#flux: --job-name=try
#flux: --output=try-{{id}}.out
#flux: --nodes=12
#flux: --exclusive
#flux: --time-limit=5m
#flux: --bank=PROJECT
#flux: --queue=pbatch

# try: what happens
# 4 starts of 2 points. Submit with: flux batch job.12.sh

# This script wants nothing but bash and keel. It may be killed, submitted again, and run several times at once: a start whose
# records have their result is not made again, and who has made the file of a claim first has the start. Nothing is overwritten.
set -u
# Flux starts this in the folder that it was submitted from.

keel=${KEEL:-/opt/keel/bin/keel}
job=${FLUX_ENCLOSING_ID:-}
nodes_here=12

# When the allocation ends, in seconds since 1970; empty where nothing ends it. Runs are told to end before.
end=${KEEL_END:-$(($(date +%s) + 300))}

export OMP_PLACES=cores
export OMP_PROC_BIND=close

# Starts a command; by exec, so that a signal to it reaches the launcher.
launch() { # nodes, ranks, ranks a node, threads a rank, cores a rank, then the command
    export OMP_NUM_THREADS=$4
    exec flux run --nodes="$1" --ntasks="$2" --cores-per-task="$5" -o cpu-affinity=per-task \
    "${@:6}"
}

...
#     point, round, nodes, ranks, ranks a node, threads a rank, cores a rank, what keel is told
start ranks-48.solver-cg 1 12 48 4 24 24 bottom.solver=cg
start ranks-48.solver-ca_cg-s-8-basis-newton 1 12 48 4 24 24 bottom.solver=ca_cg bottom.s=8 bottom.basis=newton
start ranks-48.solver-cg 2 12 48 4 24 24 bottom.solver=cg
start ranks-48.solver-ca_cg-s-8-basis-newton 2 12 48 4 24 24 bottom.solver=ca_cg bottom.s=8 bottom.basis=newton

finish
