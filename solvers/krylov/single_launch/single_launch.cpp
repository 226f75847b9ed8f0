#include "solvers/krylov/single_launch/single_launch.hpp"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/check.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {

// The kernels of the device backends (launch.hpp); CMake lists those that are compiled in.
using Launch = BlockKernel(const LaunchedSolve& solve, const BlockMemory& memory);
Launch cuda_single_launch, hip_single_launch, emulated_single_launch;

namespace {

constexpr std::size_t values_of_verdict = sizeof(LaunchedVerdict) / sizeof(double);

BlockKernel kernel_of(const LaunchedSolve& solve, const BlockMemory& memory) {
    if (memory.runtime == "counted") {
        // The address of the result stands for the arguments.
        const auto place = reinterpret_cast<std::uintptr_t>(memory.result);
        return {[](void*) {}, std::to_string(place), solve.by_host};
    }
    for (Launch* const launch : std::initializer_list<Launch*>{KEEL_SINGLE_LAUNCHES})
        if (BlockKernel kernel = launch(solve, memory); kernel.start) return kernel;
    check(false, "each device backend has its single launch");
    return {};
}

}  // namespace

bool prepare_single_launch(LinearSystem& A, const BottomOptions& options) {
    const std::optional<LinearSystem::Alone> alone = A.alone();
    const bool has_loop = method_named(options.solver).launched != LaunchedMethod::none;
    // A residual for each iteration, and those before the first and after the last.
    const auto residuals = static_cast<std::size_t>(options.max_iterations) + 2;
    return alone && has_loop && options.norm != Norm::max &&
           alone->operations.prepare_single_launch({launched_vectors, values_of_verdict + residuals},
                                                   alone->copies);
}

void begin_single_launch(LinearSystem& A, LaunchedSolve solve) {
    const std::optional<LinearSystem::Alone> alone = A.alone();
    check(alone.has_value(), "a solve in one launch was prepared");
    solve.A = alone->A;
    solve.unit = alone->unit;
    solve.dimensions = alone->operations.layout().dimensions();
    alone->operations.begin_single_launch(
        [&](const BlockMemory& memory) { return kernel_of(solve, memory); });
}

std::optional<Report> finish_single_launch(LinearSystem& A) {
    std::vector<double> values;
    A.alone()->operations.finish_single_launch(values);
    if (values.empty()) return std::nullopt;
    const auto& [verdict, vanished] = *reinterpret_cast<const LaunchedVerdict*>(values.data());
    const auto residuals = std::span(values).subspan(values_of_verdict);
    A.count(verdict.counts);
    return Report{verdict, name(vanished), {residuals.begin(), residuals.end()}};
}

}  // namespace keel
