#!/bin/bash
#PBS -N try
#PBS -j oe
#PBS -l select=6:ncpus=128
#PBS -l place=scatter:excl
#PBS -l walltime=0:05:00
#PBS -A PROJECT
#PBS -q workq

# try: what happens
# 4 starts of 2 points. Submit with: qsub job.6.sh

# This script wants nothing but bash and keel. It may be killed, submitted again, and run several times at once: a start whose
# records have their result is not made again, and who has made the file of a claim first has the start. Nothing is overwritten.
set -u
cd "${PBS_O_WORKDIR:-$(dirname "$0")}" || exit 2

keel=${KEEL:-/opt/keel/bin/keel}
job=${PBS_JOBID:-}
nodes_here=6

# When the allocation ends, in seconds since 1970; empty where nothing ends it. Runs are told to end before.
end=${KEEL_END:-$(($(date +%s) + 300))}

export OMP_PLACES=cores
export OMP_PROC_BIND=close

# Starts a command; by exec, so that a signal to it reaches the launcher.
launch() { # nodes, ranks, ranks a node, threads a rank, cores a rank, then the command
    export OMP_NUM_THREADS=$4
    exec mpiexec -n "$2" --ppn "$3" --depth "$5" --cpu-bind depth --env OMP_NUM_THREADS="$4" "${@:6}"
}

...
#     point, round, nodes, ranks, ranks a node, threads a rank, cores a rank, what keel is told
start ranks-48.solver-cg 1 6 48 8 16 16 bottom.solver=cg
start ranks-48.solver-ca_cg-s-8-basis-newton 1 6 48 8 16 16 bottom.solver=ca_cg bottom.s=8 bottom.basis=newton
start ranks-48.solver-cg 2 6 48 8 16 16 bottom.solver=cg
start ranks-48.solver-ca_cg-s-8-basis-newton 2 6 48 8 16 16 bottom.solver=ca_cg bottom.s=8 bottom.basis=newton

finish
