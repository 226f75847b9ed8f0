# A row a method of the records of run.mode = orthogonalise, predicted or simulated: microseconds of mgs, and how many times as
# long as the others it takes, start-up / recycled / iteration.
map(select(.record == "orthogonalise")) | (map({(.method): .}) | add) as $m |
def t($row; $phase): $row[$phase].seconds[0];
["start_up", "recycled", "iteration"][] as $phase |
[$phase, .[0].depth, (t($m.mgs; $phase) * 1e6 | round),
 (["icwy", "icwy_rotated", "cgs2", "dcgs2", "icwy_fused", "dcgs2_fused"][] |
  (t($m.mgs; $phase) / t($m[.]; $phase) * 10 | round / 10))] | map(tostring) | "| " + join(" | ") + " |"
