#pragma once

// Being asked to end: by SIGINT (Ctrl-C) or SIGTERM (a job's time is up), which mpiexec hands on to the ranks.

#include <csignal>

namespace keel {

// While it lives, the first signal is noted only, so that what has been found can be told; the next ends the process at
// once. A signal that was ignored before still is. One at a time in a process.
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
