#include "miniapp/report/records/kernel_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "kernels/timing/ledger.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/report/tables/table.hpp"

namespace keel {
namespace {

// A kernel, its step of p(l)-CG, and the operation of the method's level that it is.
struct Kernel {
    const char* name;
    const char* step;
    std::optional<Op> op = {};
};
constexpr const char* ghosts_kernel = "ghosts";
constexpr const char* preconditioner_kernel = "preconditioner";
constexpr const char* other_kernel = "other";
constexpr std::array all_kernels{Kernel{"product", "K1", Op::bottom_operator},
                                 Kernel{ghosts_kernel, "K1"},  // several operations
                                 Kernel{preconditioner_kernel, "K1", Op::bottom_preconditioner},
                                 Kernel{"axpy", "K4, K6", Op::bottom_vector},
                                 Kernel{"dots", "K5", Op::bottom_dots},
                                 Kernel{"reduction", "", Op::reduction},
                                 Kernel{"reduction.begin", "K5", Op::reduction_begin},
                                 Kernel{"reduction.progress", "", Op::reduction_progress},
                                 Kernel{"reduction.wait", "K2", Op::reduction_wait},
                                 Kernel{other_kernel, "K2, K3"}};

// The kernel of an operation; empty if it is not the method's.
std::string_view kernel_of(const TimerRow& row, int level, PreconditionedBy by) {
    const std::optional<Op> op = named<Op>(row.op);
    if (!op) return row.op == other_kernel ? other_kernel : "";
    if (row.level == level) {
        if (is_exchange(*op)) return ghosts_kernel;
        const auto kernel = std::ranges::find(all_kernels, op, &Kernel::op);
        if (kernel != all_kernels.end()) return kernel->name;
    }
    return by == PreconditionedBy::cycle ? preconditioner_kernel : "";
}

}  // namespace

std::vector<KernelTime> kernel_times(const std::vector<TimerRow>& rows, int level, PreconditionedBy by) {
    std::vector<KernelTime> kernels;
    for (const Kernel& kernel : all_kernels) {
        KernelTime& sum = kernels.emplace_back(KernelTime{kernel.name, kernel.step});
        for (const TimerRow& row : rows) {
            if (kernel_of(row, level, by) != kernel.name) continue;
            sum.calls += row.calls;
            sum.t_mean += row.t_mean;
            sum.t_max += row.t_max;
            sum.longest = std::max(sum.longest, row.longest);
            sum.bytes_moved += row.bytes_moved;
        }
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
        table.add({{"solver", solver},
                   {"kernel", k.kernel, "kernel"},
                   {"step", k.step},
                   {"iterations", iterations},
                   {"calls", k.calls, "calls", fmt::format("{:.2f}", of_iteration(k.calls))},
                   {"t_mean", k.t_mean, "mean", seconds_text(of_iteration(k.t_mean))},
                   {"t_max", k.t_max, "max", seconds_text(of_iteration(k.t_max))},
                   {"longest", k.longest, "longest", k.kernel == other_kernel ? "" : seconds_text(k.longest)},
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
