#pragma once

// Where a Krylov method's time goes, by kernels as in the tables of Cools, Cornelis and Vanroose 2019: product, preconditioner,
// sums of vectors, inner products, and all-reduces begun, moved on and waited for.

#include <string>
#include <vector>

#include "miniapp/report/timers.hpp"

namespace keel {

// One kernel, a solve, over all ranks.
struct KernelTime {
    std::string kernel;
    std::string step;  // of p(l)-CG, Alg. 1 there: K1 ... K6
    double calls = 0;
    double t_mean = 0;
    double t_max =
        0;  // the slowest rank; of several operations the sum of theirs, which may be several ranks
    double longest = 0;      // a call, of all ranks and solves
    double bytes_moved = 0;  // all ranks, by declared costs
};

// Who preconditions: nobody or blocks, whose time has a row of its own; or a multigrid cycle, whose operations are all those that
// are not the method's. Exchanges of the method's level belong to its products in either case.
enum class PreconditionedBy { blocks, cycle };

// Of a method that works on this level. Without the kernels that never ran.
std::vector<KernelTime> kernel_times(const std::vector<TimerRow>& rows, int level, PreconditionedBy by);

// Per iteration, of so many a solve.
std::string kernels_text(const std::vector<KernelTime>& kernels, double iterations);
std::string kernel_records(const std::vector<KernelTime>& kernels, const std::string& solver,
                           double iterations);

}  // namespace keel
