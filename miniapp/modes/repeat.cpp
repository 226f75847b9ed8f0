#include "miniapp/modes/repeat.hpp"

namespace keel {

int repeat(const RunContext& context, const Repeats& repeats, Findings& findings,
           const std::function<void(int n)>& action) {
    Tally tally{repeats.what, 0, repeats.counted};
    for (int n = -repeats.warmup; n < repeats.counted; ++n) {
        findings.interruption = context.ending.asked(context.comm);
        if (findings.interrupted()) break;
        action(n);
        if (n >= 0) ++tally.done;
    }
    findings.tallies.push_back(tally);
    return tally.done;
}

}  // namespace keel
