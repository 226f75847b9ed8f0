#!/bin/bash
#SBATCH --job-name=try
#SBATCH --output=%x-%j.out
#SBATCH --nodes=6
#SBATCH --time=0:05:00
#SBATCH --exclusive
#SBATCH --gpus-per-node=8
#SBATCH --signal=B:TERM@30
#SBATCH --account=PROJECT
#SBATCH --partition=batch

# try: what happens
# 4 starts of 2 points. Submit with: sbatch job.6.sh

# This script wants nothing but bash and keel. It may be killed, submitted again, and run several times at once: a start whose
# records have their result is not made again, and who has made the file of a claim first has the start. Nothing is overwritten.
set -u
cd "${SLURM_SUBMIT_DIR:-$(dirname "$0")}" || exit 2 # Slurm runs a copy of this file, elsewhere

keel=${KEEL:-/opt/keel/bin/keel}
job=${SLURM_JOB_ID:-}
nodes_here=${SLURM_JOB_NUM_NODES:-6}

# When the allocation ends, in seconds since 1970; empty where nothing ends it. Runs are told to end before.
end=${KEEL_END:-${SLURM_JOB_END_TIME:-$(($(date +%s) + 300))}}

export OMP_PLACES=cores
export OMP_PROC_BIND=close
export MPICH_RANK_REORDER_METHOD=1
export MPICH_GPU_SUPPORT_ENABLED=1
export MPICH_OFI_NIC_POLICY=GPU

# Starts a command; by exec, so that a signal to it reaches the launcher.
launch() { # nodes, ranks, ranks a node, threads a rank, cores a rank, then the command
    export OMP_NUM_THREADS=$4
    # srun takes no --cpus-per-task from sbatch, so it is given here.
    exec srun --nodes="$1" --ntasks="$2" --ntasks-per-node="$3" --cpus-per-task="$5" --cpu-bind=cores \
    --gpus-per-task=1 --gpu-bind=closest "${@:6}"
}

...
#     point, round, nodes, ranks, ranks a node, threads a rank, cores a rank, what keel is told
start ranks-48.solver-cg 1 6 48 8 7 7 bottom.solver=cg
start ranks-48.solver-ca_cg-s-8-basis-newton 1 6 48 8 7 7 bottom.solver=ca_cg bottom.s=8 bottom.basis=newton
start ranks-48.solver-cg 2 6 48 8 7 7 bottom.solver=cg
start ranks-48.solver-ca_cg-s-8-basis-newton 2 6 48 8 7 7 bottom.solver=ca_cg bottom.s=8 bottom.basis=newton

finish
