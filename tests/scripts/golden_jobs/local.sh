#!/bin/bash

# try: what happens
# 8 starts of 4 points. Submit with: bash job.sh

# This script wants nothing but bash and keel. It may be killed, submitted again, and run several times at once: a start whose
# records have their result is not made again, and who has made the file of a claim first has the start. Nothing is overwritten.
set -u
cd "$(dirname "$0")" || exit 2

keel=${KEEL:-/opt/keel/bin/keel}
job=
nodes_here=1

# When the allocation ends, in seconds since 1970; empty where nothing ends it. Runs are told to end before.
end=${KEEL_END:-}


mpi_environment() {
    # Sourced, with the number of ranks (default: many): what Open MPI needs on a workstation or in a container; other MPIs
    # ignore it.
    # Sets `cores`, the processor cores that this process may use (Open MPI counts cores, not hardware threads).
    cores=$(lscpu -p=Core,Socket 2>/dev/null | grep -v '^#' | sort -u | wc -l || true)
    [[ $cores -ge 1 && $cores -le $(nproc) ]] || cores=$(nproc)

    if [[ $(id -u) -eq 0 ]]; then
        export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    fi
    export OMPI_MCA_hwloc_base_binding_policy=none  # a rank's threads may use all cores
    if [[ ! ${1:-} =~ ^[0-9]+$ || $1 -gt $cores ]]; then
        # Ranks that share a core give way to each other. That costs time where they need not: so only here.
        export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
        export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe  # Open MPI 5
    fi
}

# Starts a command; by exec, so that a signal to it reaches the launcher.
launch() { # nodes, ranks, ranks a node, threads a rank, cores a rank, then the command
    export OMP_NUM_THREADS=$4
    mpi_environment "$2"
    exec mpiexec --bind-to none -n "$2" "${@:6}"
}

stop=  # why nothing more is started
child=
trap 'stop="told to end"; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null' TERM INT HUP
mkdir -p runs || exit 2
begin=runs/.begin.$(hostname).$$
: >"$begin" || exit 2
trap 'rm -f "$begin"' EXIT
left=0

# The time at which a process of this node began, by which it differs from a later one with its number; nothing if it is dead.
began() {
    local state
    read -ra state < <(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null)
    [ "${state[0]:-Z}" = Z ] || echo "${state[19]}"
}

# Whether the script that made a claim still works on it.
alive() {
    local node process time
    read -r node process time <"$1"
    if [ -z "$time" ]; then
        [ -n "$(find "$1" -mmin -1)" ] # it is just being made, or its script was killed at that
    elif [ "$node" = "$(hostname)" ]; then
        [ "$(began "$process")" = "$time" ]
    else
        [ -n "$(find "$1" -mmin -10)" ] # of another node: it is touched as long as the run goes on
    fi
}

# Keeps a claim fresh; ends the run should this script be killed, since nobody would wait for it.
watch() {
    while [ "$(began $$)" = "$3" ]; do
        touch -c "$1"
        sleep 2
    done
    kill -TERM "$2"
}

finished() {
    grep -qs '^{"record":"result".*"interrupted":false.*}$' "$1.json"
}

start() {
    local name=$1 round=$2 nodes=$3 attempt=0 status watcher me at working ended
    local seconds
    [ -z "$stop" ] || { left=$((left + 1)); return; }
    while :; do
        attempt=$((attempt + 1))
        at=runs/$name/$round.$attempt
        [ -e "$at.claim" ] || break
        # In this order: what a script wrote is whole once it has ended, and may become so while it is looked at.
        working='' ended=''
        alive "$at.claim" && working=1
        [ -e "$at.exit" ] && ended=1
        finished "$at" && return
        if [ -n "$ended" ]; then
            # It failed. It is tried again unless that was since this script began.
            [ "$at.exit" -nt "$begin" ] && { left=$((left + 1)); return; }
        elif [ -n "$working" ]; then
            return # another script is at it
        fi
    done
    if [ "$nodes" -gt "$nodes_here" ]; then
        echo "$name: wants $nodes nodes; here are $nodes_here"
        left=$((left + 1))
        return
    fi
    if [ -n "$end" ]; then
        seconds=$((end - $(date +%s) - 60)) # 60: for the launcher, before and after
        if [ "$seconds" -lt 5 ]; then
            echo "no time is left to begin $name, round $round"
            stop='no time was left' left=$((left + 1))
            return
        fi
        set -- "$@" run.time_limit="$seconds"
    fi
    me=$(began $$)
    mkdir -p "runs/$name"
    if ! (set -C && : >"$at.claim") 2>/dev/null && [ -e "$at.claim" ]; then
        return # another script was faster
    fi
    if ! echo "$(hostname) $$ $me" >>"$at.claim"; then
        rm -f "$at.claim"
        echo "$at.claim: could not be written; is the disk full?"
        stop='a claim could not be written' left=$((left + 1))
        return
    fi
    echo "$(date +%H:%M:%S) $name, round $round"
    launch "${@:3:5}" "$keel" deck.toml "${@:8}" output.json="$at.json" >"$at.txt" 2>&1 </dev/null &
    child=$!
    watch "$at.claim" "$child" "$me" >/dev/null 2>&1 </dev/null &
    watcher=$!
    # A signal ends `wait`, not the run.
    while wait "$child"; status=$?; kill -0 "$child" 2>/dev/null; do :; done
    child=
    kill "$watcher" 2>/dev/null
    wait "$watcher" 2>/dev/null
    echo "$status" >"$at.exit"
    finished "$at" && [ "$status" -eq 0 ] && return
    left=$((left + 1))
    echo "    $name, round $round: exit status $status; see $at.txt"
}

# The last line that a job writes, by which scripts/study status tells an end from a cancelled job.
finish() {
    local said="every start is done"
    [ "$left" -eq 0 ] || said="${stop:+$stop: }$left starts failed or are left"
    [ -z "$job" ] || echo "$job $said" >>ends.txt
    [ "$left" -eq 0 ] && exit 0
    echo "$said; this script, started again, goes on with them"
    exit 1
}

#     point, round, nodes, ranks, ranks a node, threads a rank, cores a rank, what keel is told
start ranks-48.solver-cg 1 1 48 48 1 1 bottom.solver=cg
start ranks-48.solver-ca_cg-s-8-basis-newton 1 1 48 48 1 1 bottom.solver=ca_cg bottom.s=8 bottom.basis=newton
start ranks-48.solver-cg 2 1 48 48 1 1 bottom.solver=cg
start ranks-48.solver-ca_cg-s-8-basis-newton 2 1 48 48 1 1 bottom.solver=ca_cg bottom.s=8 bottom.basis=newton
start ranks-6.solver-cg 1 1 6 6 1 1 bottom.solver=cg
start ranks-6.solver-ca_cg-s-8-basis-newton 1 1 6 6 1 1 bottom.solver=ca_cg bottom.s=8 bottom.basis=newton
start ranks-6.solver-cg 2 1 6 6 1 1 bottom.solver=cg
start ranks-6.solver-ca_cg-s-8-basis-newton 2 1 6 6 1 1 bottom.solver=ca_cg bottom.s=8 bottom.basis=newton

finish
