# One row of the table for each purpose, and one for an iteration of CG with a V(1,1) cycle: sums over levels of one exchange by each
# scheme and by the quickest of each level, in microseconds.
def seconds: if .predicted_on_one_socket then (.predicted_seconds + .predicted_on_one_socket) / 2 else .predicted_seconds end;
def by($scheme): map(select(.scheme == $scheme) | seconds) | add // 0;
def best: group_by([.purpose, .level]) | map(map(seconds) | min) | add // 0;
def us: . * 1e7 | round / 10;
def ratio: . * 100 | round / 100;
def row($what; $weighted):
    ($weighted | by("standard")) as $standard | ($weighted | best) as $best
    | "| \($head) | \($what) | \($standard | us) | \($weighted | by("two_step/max_need") | us) | \($weighted | by("three_step") | us) | \($weighted | by("split") | us) | \($best | us) | \(if $best > 0 then $standard / $best | ratio else 1 end) |";
def times($n): .predicted_seconds *= $n | if .predicted_on_one_socket then .predicted_on_one_socket *= $n else . end;
# Two products a level, one more on the finest; P e and P^T r.
def iteration: map(select(.purpose != "amg_rows") | if .purpose == "amg_transfers" then times(2) elif .level == 0 then times(3) else times(2) end);
row("A x"; map(select(.purpose == "amg_values"))),
row("P e"; map(select(.purpose == "amg_transfers"))),
row("rows of P for A P"; map(select(.purpose == "amg_rows"))),
row("an iteration"; iteration)
