#pragma once

// The time of a Krylov method by kernels, as in the tables of Cools, Cornelis and Vanroose 2019: product,
// preconditioner, sums of vectors, inner products, and all-reduces: begun, progressed and waited for.

#include <string>
#include <vector>

#include "miniapp/report/timers.hpp"

namespace keel {

// One kernel, a solve, over all ranks.
struct KernelTime {
    std::string kernel;
    std::string step;  // K1 ... K6 in p(l)-CG, Alg. 1 there
    double calls = 0;
    double t_mean = 0;
    double t_max = 0;    // the slowest rank; several operations: the sum over them, whose ranks may differ
    double longest = 0;  // a call, of all ranks and solves
    double bytes_moved = 0;  // all ranks, by declared costs
};

// The preconditioner: none or blocks, whose time has a row of its own; or a multigrid cycle, whose
// operations are all those that are not the method's. Exchanges of the method's level count as its products'
// in either case.
enum class PreconditionedBy { blocks, cycle };

// The kernels of a method that works on this level, without those that never ran.
std::vector<KernelTime> kernel_times(const std::vector<TimerRow>& rows, int level, PreconditionedBy by);

// A table per iteration; `iterations` are those of a solve.
std::string kernels_text(const std::vector<KernelTime>& kernels, double iterations);
std::string kernel_records(const std::vector<KernelTime>& kernels, const std::string& solver,
                           double iterations);

}  // namespace keel
