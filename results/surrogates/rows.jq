# Rows of the tables in README.md: V-cycles and bottom iterations; milliseconds of a V-cycle without the bottom, the ghosts' exchanges of
# these apart, and of a visit to the bottom; of the solve as it ran, and with as many cycles as are predicted.
def two: . * 100 | round / 100;
def ms: . * 1e3 | two;
def bottom: .parts | .bottom + .bottom_exchange + .all_reduce;
def row($what; $solve; $cycles): [
    "\($ranks)", "`\($solver)`", $what, $solve.cycles, ($solve.bottom_iterations | round),
    ($solve.parts.v_cycle / $solve.cycles | ms), ($solve.parts.v_cycle_exchange / $solve.cycles | ms),
    ($solve | bottom / .cycles | ms), ($solve.seconds | ms), ($solve.seconds * $cycles / $solve.cycles | ms)
  ] | "| " + (map(tostring) | join(" | ")) + " |";
row("surrogate"; .surrogate.solve; .predicted.solve.cycles),
(if .wide then row("64^3 simulated"; .wide.solve; .predicted.solve.cycles) else empty end),
row("predicted"; .predicted.solve; .predicted.solve.cycles)
