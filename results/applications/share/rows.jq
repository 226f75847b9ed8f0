# Rows of the table in README.md: counts of the first step, milliseconds of a solve, and shares of the bottom (with its exchanges and all
# all-reduces) and of the all-reduces in it.
def ms: . * 1e3 | . * 10 | round / 10;
def share(part): "\(100 * part / .seconds | round) %";
"| \($deck) | `\(.method)` | \(.steps[0].cycles) | \(.steps[0].bottom_iterations) | \(.result.seconds | ms) | \(.result | share(.parts.bottom + .parts.bottom_exchange + .parts.all_reduce)) | \(.result | share(.parts.all_reduce)) |"
