# Rows of the table in README.md: milliseconds of the bottom, of all-reduces and of the solve, and the baseline's over the row's.
def ms: . * 1e3 | . * 100 | round / 100;
def bottom: .parts.bottom + .parts.bottom_exchange + .parts.all_reduce;
[.[] | select(.record == "survey")] | .[0] as $first | .[]
| "| `\(.solver)` | \(.bottom_iterations) / \(.reductions) / \(.reduction_words) / \(.exchanges) | \(.parts.all_reduce | ms) | \(bottom | ms) | \(.seconds_median | ms) | \(($first | bottom) / bottom | . * 100 | round / 100) | \($first.seconds_median / .seconds_median | . * 100 | round / 100) |"
