#include <chrono>
#include <cstdint>
#include <limits>

#include "kernels/timing/clock.hpp"
#include "kernels/timing/counter.hpp"

namespace keel {
namespace {

double system_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The system's seconds, read from the processor's counter where there is a trusted one.
class HostClock {
  public:
    // Sees for two milliseconds how fast the counter is: to some 10 parts in a million.
    HostClock() : count_(trusted_counter()) {
        if (!count_) return;
        const Moment first = moment();
        do start_ = moment();
        while (start_.seconds - first.seconds < 2e-3);
        seconds_of_count_ =
            (start_.seconds - first.seconds) / static_cast<double>(start_.count - first.count);
    }

    double now() const {
        if (!count_) return system_seconds();
        const auto passed = static_cast<std::int64_t>(count_() - start_.count);
        return start_.seconds + static_cast<double>(passed) * seconds_of_count_;
    }

  private:
    struct Moment {
        std::uint64_t count = 0;
        double seconds = 0;
    };
    // The reading of both clocks that took the least time: it was not interrupted.
    Moment moment() const {
        Moment best;
        std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
        for (int n = 0; n < 10; ++n) {
            const std::uint64_t before = count_();
            const double seconds = system_seconds();
            const std::uint64_t took = count_() - before;
            if (took >= least) continue;
            least = took;
            best = {before + took / 2, seconds};
        }
        return best;
    }

    Counter count_;
    Moment start_;
    double seconds_of_count_ = 0;
};

}  // namespace

double now() {
    static const HostClock clock;
    return clock.now();
}

bool simulated() {
    return false;
}

std::string simulated_platform() {
    return "";
}

void let_pass(double) {}

}  // namespace keel
