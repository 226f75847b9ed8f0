# One line of a method: what tells the run, what was simulated, and what was predicted of the same. Who ran it, histories and visits
# play no part.
(map(select(.record == "run"))[0]) as $run | (map(select(.record == "solve"))[0]) as $solve
| (map(select(.record == "result"))[0]) as $result
| {
    method: $method,
    run: ($run | {version, revision, compiler, flags, mpi, simulation, ranks, nodes, cells, boxes, warnings}),
    simulated: (($solve | del(.record, .schema, .residuals, .bottom, .measured_after)) + ($result | {parts, valid})),
    predicted: ($predicted | map(select(.record == "solve"))[0] | del(.record, .schema, .noisy, .speed_ups, .latency))
  }
