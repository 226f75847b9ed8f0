#include "miniapp/report/records/kernel_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "kernels/timing/ledger.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/report/table.hpp"

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

namespace {

ReportTable kernel_table(const std::vector<KernelTime>& kernels, const std::string& solver,
                         double iterations) {
    ReportTable table(
        fmt::format(
            "Kernels per iteration, of {:.1f} a solve: mean over ranks, the slowest rank, the longest call "
            "of any rank, and bytes that all ranks must move",
            iterations),
        "kernel");
    const auto of_iteration = [&](double value) { return iterations > 0 ? value / iterations : 0; };
    for (const KernelTime& k : kernels) {
        const bool is_other = k.kernel == "other";
        table.add({{"solver", solver},
                   {"kernel", k.kernel, "kernel"},
                   {"step", k.step},
                   {"iterations", iterations},
                   {"calls", k.calls, "calls", fmt::format("{:.2f}", of_iteration(k.calls))},
                   {"t_mean", k.t_mean, "mean", seconds_text(of_iteration(k.t_mean))},
                   {"t_max", k.t_max, "max", seconds_text(of_iteration(k.t_max))},
                   {"longest", k.longest, "longest", is_other ? "" : seconds_text(k.longest)},
                   {"bytes_moved", k.bytes_moved, "moved",
                    k.bytes_moved > 0 ? bytes_text(of_iteration(k.bytes_moved)) : ""}});
    }
    return table;
}

}  // namespace

std::string kernels_text(const std::vector<KernelTime>& kernels, double iterations) {
    if (iterations == 0) return "";
    double moved = 0;
    for (const KernelTime& k : kernels) moved += k.bytes_moved;
    return kernel_table(kernels, "", iterations).print() +
           fmt::format("all of them  {}\n", bytes_text(moved / iterations));
}

std::string kernel_records(const std::vector<KernelTime>& kernels, const std::string& solver,
                           double iterations) {
    return kernel_table(kernels, solver, iterations).to_json();
}

}  // namespace keel
