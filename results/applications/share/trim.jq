# One line of a run: what tells it, and where a solve's time went, by the mean over its steps and ranks.
(map(select(.record == "run"))[0]) as $run | (map(select(.record == "result"))[0]) as $result
| {
    method: $method,
    run: ($run | {version, revision, compiler, build_type, flags, mpi, clock, ranks, threads, shared_cores, cells, boxes, warnings}),
    result: ($result | {seconds, parts, coefficients_seconds, setup_seconds, valid}),
    steps: [.[] | select(.record == "step") | {cycles, bottom_iterations, reductions, reduction_words, seconds, outcome}],
    timers: [.[] | select(.record == "timer") | {op, level, t_mean, t_max}]
  }
