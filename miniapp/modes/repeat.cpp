#include "miniapp/modes/repeat.hpp"

#include "kernels/timing/ledger.hpp"

namespace keel {

int repeat(const Site& site, const Repeats& repeats, Findings& findings,
           const std::function<void(int n)>& action) {
    Tally tally{repeats.what, 0, repeats.counted, repeats.min_seconds > 0};
    double begun = 0;
    // By the clock of rank 0.
    const auto enough = [&](int n) {
        if (n < repeats.counted || n % repeats.together != 0) return false;
        const bool early = site.comm.rank() == 0 && now() - begun < repeats.min_seconds;
        return repeats.min_seconds <= 0 || site.comm.max(early ? 1 : 0) == 0;
    };
    for (int n = -repeats.warmup; !findings.interrupted() && !enough(n); ++n) {
        findings.interruption = site.ending.asked(site.comm);
        if (findings.interrupted()) break;
        if (n == 0) begun = now();
        action(n);
        if (n >= 0) ++tally.done;
    }
    findings.tallies.push_back(tally);
    return tally.done;
}

}  // namespace keel
