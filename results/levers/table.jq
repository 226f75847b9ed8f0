# A row for each predicted solve of standard input (-s), its bottom and solve beside those of the same machine without levers
# (--slurpfile base): jq -rs --arg lever WORDS --slurpfile base BASE.json -f table.jq FILE.json
def rounded($n): (. * pow(10; $n) | round) / pow(10; $n);
def over($solver; $part): [.noisy, (($base[] | select(.solver == $solver)).noisy)] | transpose | map(.[1][$part] / .[0][$part] | rounded(if $part == "seconds" then 2 else 1 end)) | map(tostring) | join(" / ");
.[] | "| \($lever) | `\(.solver)` | \(.bottom_iterations | round) | \([.noisy[].bottom_seconds * 1e3 | rounded(1)] | map(tostring) | join(" / ")) | \(over("bicgstab"; "bottom_seconds")) | \(over("bicgstab_fused"; "bottom_seconds")) | \(over("cg"; "bottom_seconds")) | \(over("bicgstab"; "seconds")) |"
