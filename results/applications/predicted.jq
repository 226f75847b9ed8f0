# Rows of the table of predictions in README.md; times in milliseconds, in brackets those of the first row over the row's.
def ms: . * 1e3 | if . < 100 then . * 10 | round / 10 else round end;
def times(over): over / . | . * 100 | round / 100;
.[0] as $first | .[]
| "| \($deck) | `\(.solver)` | \(.cycles) | \(.bottom_iterations | round) | \(.reductions | round) / \(.reduction_words | round) | \(.bottom_seconds | ms) (\(.bottom_seconds | times($first.bottom_seconds))) | \(.seconds | ms) (\(.seconds | times($first.seconds))) | \(100 * .bottom_seconds / .seconds | round) % |"
