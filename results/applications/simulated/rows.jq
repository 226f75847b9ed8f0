# Rows of the table of simulated times in README.md: counts of the simulated run, in brackets those of the prediction where they are
# others; milliseconds; predicted over simulated of all-reduces, the bottom and the solve; and the first row's bottom and solve over
# the row's, simulated and predicted.
def ms: . * 1e3 | if . < 100 then . * 100 | round / 100 else . * 10 | round / 10 end;
def over(other): if . == null or other == null or other == 0 then "-" else . / other | . * 100 | round / 100 end;
def bottom: if .parts then .parts | .bottom + .bottom_exchange + .all_reduce else null end;
def both(found; predicted): if found == (predicted | round) then "\(found)" else "\(found) (\(predicted | round))" end;
.[0] as $first | .[]
| .simulated as $found | .predicted as $predicted
| ($found.cycles != null) as $grid
| [
    $deck,
    "`\(.method)`" + if $found.converged then "" else ", \($found.outcome)" end,
    if $grid then both($found.cycles; $predicted.cycles) else "-" end,
    both($found | .bottom_iterations // .iterations; $predicted.bottom_iterations),
    both($found.reductions; $predicted.reductions),
    if $grid then $found | bottom | ms else "-" end,
    ($found.seconds | ms),
    ($predicted.all_reduce_seconds | over($found.parts.all_reduce)),
    if $grid then $predicted.bottom_seconds | over($found | bottom) else "-" end,
    ($predicted.seconds | over($found.seconds)),
    if $grid then "\($first.simulated | bottom | over($found | bottom)), \($first.predicted.bottom_seconds | over($predicted.bottom_seconds))" else "-" end,
    "\($first.simulated.seconds | over($found.seconds)), \($first.predicted.seconds | over($predicted.seconds))"
  ]
| "| " + (map(tostring) | join(" | ")) + " |"
