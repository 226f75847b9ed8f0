#pragma once

// Requests to end: SIGINT (Ctrl-C) or SIGTERM (the time of a job is up), which mpiexec passes to the ranks.

#include <csignal>

namespace keel {

// While this object lives, the first signal is only noted, so that results so far can be reported; the next
// ends the process at once. A signal that was ignored before still is. At most one object in a process.
class Interrupts {
  public:
    Interrupts();
    ~Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;

    // Whether this process was asked to end.
    bool asked() const;

  private:
    struct sigaction interrupt_before_ {};
    struct sigaction terminate_before_ {};
};

}  // namespace keel
