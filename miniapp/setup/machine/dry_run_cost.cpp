#include "miniapp/setup/machine/dry_run_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "comm/plans/schemes.hpp"
#include "miniapp/deck/text/text.hpp"

namespace keel {
namespace {

// Two numbers, with the decimals that make the text of one that exceeds the other differ.
std::pair<std::string, std::string> distinct(double needed, double allowed, int decimals,
                                             std::string (*text)(double, int)) {
    while (needed > allowed && decimals < 9 && text(needed, decimals) == text(allowed, decimals)) ++decimals;
    return {text(needed, decimals), text(allowed, decimals)};
}

}  // namespace

DryRunCost& DryRunCost::operator+=(const DryRunCost& next) {
    seconds += next.seconds;
    bytes = std::max(bytes, next.bytes);
    return *this;
}

// 2^24 boxes in 5 uses on nodes that tile them: 19 s and 450 MB; 2^20 in 3 uses on nodes that do not, which
// count thrice: 3 s.
DryRunCost cost_of_boxes(double boxes, double uses) {
    return {0.35e-6 * boxes * uses, 32 * boxes};
}

// 64^3 positions take 0.2 s.
DryRunCost cost_of_tags(double positions) {
    return {1.1e-6 * positions, 32 * positions};
}

// 16384 ranks with 54 items each of 6 others, by 7 schemes on 3 levels: 4.3 s, and scattered 7.7 s; 64 ranks
// with 8192 boxes each, between others that are missing, on 2 levels: 16 s.
DryRunCost cost_of_requests(double requests, double boxes) {
    return {0.4e-6 * requests + 1.5e-6 * boxes, bytes_to_plan_a_request * requests};
}

DryRunCost cost_of_entries(double rows, double entries, double ranks) {
    return {0.15e-6 * entries + 0.1e-6 * rows + 1e-6 * ranks, 16 * entries + 8 * rows};
}

// 16^3 boxes of 8^3 over boxes of 4^3, 142 iterations of bicgstab in 7 cycles: 9 s; 128^2 boxes of 8^2, 780
// iterations: 11 s.
DryRunCost cost_of_solve(const SolveSize& size) {
    const double of_application = size.dimensions > 2 ? 45e-9 : 15e-9;  // and of vectors beside it
    return {1e-6 * size.cells + 0.2e-6 * size.cycles * size.cells +
                of_application * (1 + size.applications) * size.iterations * size.krylov_cells,
            size.bytes};
}

// bicgstab on a bottom of 512^2 cells takes 156 iterations for 3 digits, and on one of 64^3 cells 20.
double iterations_at_most(double cells_across, double tolerance, double applications, double limit) {
    const double digits = std::clamp(-std::log10(tolerance), 1.0, 16.0);
    return std::min(limit, 1 + 0.2 * digits * cells_across / std::max(applications, 1.0));
}

// 6.9 million entries by extended+i interpolation on 4096 ranks: 25 s and 960 MB; by aggregation on 1024: 10
// s and 680 MB.
DryRunCost cost_of_amg(double entries) {
    return {3e-6 * entries, 100 * entries};
}

DryRunCost cost_of_sparse_solve(double rows, double entries, double iterations, double bytes) {
    return {(3e-9 * entries + 10e-9 * rows) * iterations, bytes};
}

std::string DryRunLimit::exceeded_by(const DryRunCost& cost, const std::string& remedy) const {
    if (allows(cost)) return "";
    const DryRunLimit usual;
    const double needed = std::ceil(std::max(cost.seconds / usual.seconds(), cost.bytes / usual.bytes()));
    const bool may_be_raised = bytes() < bytes_here;
    const auto fixed = [](double value, int decimals) { return fmt::format("{:.{}f}", value, decimals); };
    const auto [needed_seconds, allowed_seconds] = distinct(cost.seconds, seconds(), 0, fixed);
    const auto [needed_bytes, allowed_bytes] = distinct(cost.bytes, bytes(), 1, bytes_text);
    return fmt::format(
        "a dry run takes about {} s of a processor and {}, and may take {} s and {}{}: choose {}{}",
        needed_seconds, needed_bytes, allowed_seconds, allowed_bytes,
        may_be_raised ? "" : ", half of the memory here", remedy,
        may_be_raised ? fmt::format(", or run.dry_run_limit = {:.0f}", needed) : "");
}

}  // namespace keel
