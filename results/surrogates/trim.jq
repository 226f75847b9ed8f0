# One line of a method: what tells the runs, and what was simulated and predicted. Who ran them, histories and visits play no part.
def head: map(select(.record == "run"))[0] | {version, revision, compiler, flags, mpi, simulation, ranks, nodes, cells, boxes};
def solve: (map(select(.record == "solve"))[0] | del(.record, .schema, .residuals, .bottom, .measured_after, .noisy, .speed_ups, .latency))
    + ((map(select(.record == "result"))[0] // {}) | {parts, valid} | with_entries(select(.value != null)));
def timers: map(select(.record == "timer" and .t_mean > 0) | {op, level, calls, t_mean, t_max});
{
  surrogate: ($surrogate | {run: head, solve: solve, timers: timers}),
  wide: (if $wide == [] then null else $wide | {run: head, solve: solve, timers: timers} end),
  predicted: ($predicted | {solve: solve, timers: timers})
}
