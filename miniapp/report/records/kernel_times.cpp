#include "miniapp/report/records/kernel_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "kernels/timing/ledger.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/report/records/records.hpp"

namespace keel {
namespace {

enum class Kernel {
    product,
    ghosts,
    preconditioner,
    sums_of_vectors,
    inner_products,
    all_reduce,
    begin,
    progress,
    wait,
    other
};

const std::vector<KernelTime> all_kernels{
    {"product", "K1"},        {"ghosts", "K1"},   {"preconditioner", "K1"},  {"axpy", "K4, K6"},
    {"dots", "K5"},           {"reduction", ""},  {"reduction.begin", "K5"}, {"reduction.progress", ""},
    {"reduction.wait", "K2"}, {"other", "K2, K3"}};

// Nothing: the operation is not the method's.
std::optional<Kernel> kernel_of(const TimerRow& row, int level, PreconditionedBy by) {
    const std::optional<Op> op = named<Op>(row.op);
    if (!op) return row.op == "other" ? std::optional(Kernel::other) : std::nullopt;
    if (row.level == level) {
        if (is_exchange(*op)) return Kernel::ghosts;
        switch (*op) {
            case Op::bottom_operator:
                return Kernel::product;
            case Op::bottom_preconditioner:
                return Kernel::preconditioner;
            case Op::bottom_vector:
                return Kernel::sums_of_vectors;
            case Op::bottom_dots:
                return Kernel::inner_products;
            case Op::reduction:
                return Kernel::all_reduce;
            case Op::reduction_begin:
                return Kernel::begin;
            case Op::reduction_progress:
                return Kernel::progress;
            case Op::reduction_wait:
                return Kernel::wait;
            default:
                break;
        }
    }
    return by == PreconditionedBy::cycle ? std::optional(Kernel::preconditioner) : std::nullopt;
}

}  // namespace

std::vector<KernelTime> kernel_times(const std::vector<TimerRow>& rows, int level, PreconditionedBy by) {
    std::vector<KernelTime> kernels = all_kernels;
    for (const TimerRow& row : rows) {
        const std::optional<Kernel> found = kernel_of(row, level, by);
        if (!found) continue;
        KernelTime& kernel = kernels[static_cast<std::size_t>(*found)];
        kernel.calls += row.calls;
        kernel.t_mean += row.t_mean;
        kernel.t_max += row.t_max;
        kernel.longest = std::max(kernel.longest, row.longest);
        kernel.bytes_moved += row.bytes_moved;
    }
    std::erase_if(kernels, [](const KernelTime& k) { return k.calls == 0 && k.t_max == 0; });
    return kernels;
}

std::string kernels_text(const std::vector<KernelTime>& kernels, double iterations) {
    if (iterations == 0) return "";
    std::string text = fmt::format(
        "Kernels per iteration, of {:.1f} a solve: mean over ranks and the slowest rank; the longest call of "
        "any rank; bytes that all ranks move at the least\n"
        "{:<20} {:<7} {:>9} {:>11} {:>11} {:>11} {:>11}\n",
        iterations, "kernel", "step", "calls", "mean", "max", "longest", "moved");
    double moved = 0;
    for (const KernelTime& k : kernels) {
        moved += k.bytes_moved;
        text += fmt::format("{:<20} {:<7} {:>9.2f} {:>11} {:>11} {:>11} {:>11}\n", k.kernel, k.step,
                            k.calls / iterations, seconds_text(k.t_mean / iterations),
                            seconds_text(k.t_max / iterations),
                            k.kernel == "other" ? "" : seconds_text(k.longest),
                            k.bytes_moved > 0 ? bytes_text(k.bytes_moved / iterations) : "");
    }
    text += fmt::format("{:<20} {:>65}\n", "all of them", bytes_text(moved / iterations));
    return text;
}

std::string kernel_records(const std::vector<KernelTime>& kernels, const std::string& solver,
                           double iterations) {
    std::string lines;
    for (const KernelTime& k : kernels)
        lines += line_of({{"record", "kernel"},
                          {"solver", solver},
                          {"kernel", k.kernel},
                          {"step", k.step},
                          {"iterations", iterations},
                          {"calls", k.calls},
                          {"t_mean", k.t_mean},
                          {"t_max", k.t_max},
                          {"longest", k.longest},
                          {"bytes_moved", k.bytes_moved}});
    return lines;
}

}  // namespace keel
