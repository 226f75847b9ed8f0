# One row of the table for each purpose, one for an iteration of CG with a V(1,1) cycle and one for rows in set-up: sums over levels
# of one exchange by each scheme and by that which the model chooses on each level, in microseconds.
. as $all
| def seconds: if .predicted_on_one_socket then (.predicted_seconds + .predicted_on_one_socket) / 2 else .predicted_seconds end;
def by($scheme): map(select(.scheme == $scheme) | seconds) | add // 0;
# What goes home goes by the plan of P e, for which the scheme is chosen.
def planned_as: if .purpose == "amg_returns" or .purpose == "amg_partial_rows" then "amg_transfers" else .purpose end;
# Where levels are condensed rows of P^T (A P) go to other ranks than P^T r: with comm.scheme=auto the records have what is chosen.
def chosen: .[0].level as $level | (.[0] | planned_as) as $purpose
    | (map(select(.chosen_by == "auto")) + ($all | map(select(.level == $level and .purpose == $purpose)) | [min_by(seconds)]))[0].scheme;
def best: group_by([.purpose, .level]) | map(chosen as $scheme | map(select(.scheme == $scheme) | seconds) | first) | add // 0;
def us: . * 1e7 | round / 10;
def ratio: . * 100 | round / 100;
def row($what; $weighted):
    ($weighted | by("standard")) as $standard | ($weighted | best) as $best
    | "| \($head) | \($what) | \($standard | us) | \($weighted | by("two_step/max_need") | us) | \($weighted | by("three_step") | us) | \($weighted | by("split") | us) | \($best | us) | \(if $best > 0 then $standard / $best | ratio else 1 end) |";
def times($n): .predicted_seconds *= $n | if .predicted_on_one_socket then .predicted_on_one_socket *= $n else . end;
def of($purpose): $all | map(select(.purpose == $purpose));
# Two products a level, one more on the finest.
def products: of("amg_values") | map(if .level == 0 then times(3) else times(2) end);
row("A x"; of("amg_values")),
row("P e"; of("amg_transfers")),
row("P^T r"; of("amg_returns")),
row("rows of P for A P"; of("amg_rows")),
row("rows of P^T (A P)"; of("amg_partial_rows")),
row("an iteration"; products + of("amg_transfers") + of("amg_returns")),
row("rows in set-up"; of("amg_rows") + of("amg_partial_rows"))
