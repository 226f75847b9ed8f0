#pragma once

// Requests to end: SIGINT (Ctrl-C) or SIGTERM (the time of a job is up), which mpiexec passes to the ranks.

namespace keel {

// From here on the first signal is only noted, so that results so far can be reported; the next ends the
// process at once. A signal that was ignored before still is.
void note_interrupts();

// Whether this process was asked to end since.
bool interrupt_noted();

}  // namespace keel
