#include "miniapp/modes/ending.hpp"

#include <algorithm>

#include "kernels/timing/ledger.hpp"

namespace keel {

Interruption Ending::asked(const Communicator& comm) {
    const double time = now();
    if (last_asked_ > 0) longest_ = std::max(longest_, time - last_asked_);
    last_asked_ = time;
    const bool late = comm.rank() == 0 && time + 2 * longest_ > deadline_;
    const Interruption here = interrupts_.asked() ? Interruption::signal
                              : late              ? Interruption::time_limit
                                                  : Interruption::none;
    // A signal tells more than the time: the greater.
    return static_cast<Interruption>(static_cast<int>(comm.max(static_cast<int>(here))));
}

}  // namespace keel
