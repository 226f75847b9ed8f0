# Rows of the table in README.md: milliseconds of a solve and of a set-up as predicted by both machines and as simulated, and what is
# predicted with overlap over what is simulated.
def ms: . * 1e5 | round / 100;
def of($how): map(select(.how == $how)) | first;
def three($key): [of("predicted, hopper"), of("predicted, hopper_overhead"), of("simulated")] | map(.[$key])
    | "\(.[0] | ms) | \(.[1] | ms) | " + if .[2] then "\(.[2] | ms) | \(.[1] / .[2] | . * 100 | round / 100)" else "- | -" end;
[inputs] | group_by([.name, .ranks_per_node, .keys])[] | . as $points
| ("standard", "two_step", "three_step", "split", "three_step+two_step", "auto", "auto+three_step") as $scheme | $points | map(select(.scheme == $scheme))
| "| \(first | "\(.name)\(if .keys == "" then "" else ", 32^3" end), \(.ranks_per_node) a node | \(.scheme)") | \(three("seconds")) | \(three("setup_seconds")) |"
