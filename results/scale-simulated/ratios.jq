# Rows of the second table in README.md: predicted over simulated seconds of all-reduces, exchanges, the bottom and the solve.
def two: . * 100 | round / 100;
def exchanges: .bottom_exchange + .v_cycle_exchange;
def bottom: .bottom + .bottom_exchange + .all_reduce;
($predicted | map(select(.record == "solve") | {key: .solver, value: .}) | from_entries) as $predictions
| $simulated[] | select(.record == "survey") | $predictions[.solver] as $one
| "| `\(.solver)` | \(if [.bottom_iterations, .reductions, .reduction_words, .exchanges] == [$one.bottom_iterations, $one.reductions, $one.reduction_words, $one.exchanges] then "the same" else "\($one.bottom_iterations) / \($one.reductions) / \($one.reduction_words) / \($one.exchanges)" end) | \($one.parts.all_reduce / .parts.all_reduce | two) | \(($one.parts | exchanges) / (.parts | exchanges) | two) | \($one.bottom_seconds / (.parts | bottom) | two) | \($one.seconds / .seconds_median | two) |"
