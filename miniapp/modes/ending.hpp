#pragma once

#include <limits>

#include "comm/ranks/communicator.hpp"
#include "comm/ranks/interrupts.hpp"
#include "miniapp/report/findings.hpp"

namespace keel {

// Whether a run is to end before all is done: a signal asks for it, or its time is up. One at a time in a process.
class Ending {
  public:
    // `deadline`: on the clock of rank 0, as now() tells it; those of other ranks play no part.
    explicit Ending(double deadline = std::numeric_limits<double>::infinity()) : deadline_(deadline) {}

    // To be asked between pieces of work. The next piece is taken to last as long as the longest so far, and what remains to be
    // done behind it, checks and tables, as long again: nothing predicts them better. The same on all ranks. Collective.
    Interruption asked(const Communicator& comm);

  private:
    Interrupts interrupts_;
    double deadline_;
    double last_asked_ = 0;
    double longest_ = 0;
};

}  // namespace keel
