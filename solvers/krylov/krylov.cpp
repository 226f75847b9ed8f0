#include "solvers/krylov/krylov.hpp"

#include <algorithm>

#include "solvers/krylov/verify_and_restart.hpp"

namespace keel {

Report verify_and_restart(LinearSystem& A, KrylovMethod& method, const RestartVectors& own,
                          LinearSystem::Vector x, LinearSystem::Vector b, const Stop& stop) {
    const Counts before = A.counts();
    Report report;
    report.residuals.reserve(static_cast<std::size_t>(std::min(stop.limit, 4096)) + 1);
    krylov::verify_and_restart(A, method, own.r, own.best, x, b, stop, report);
    report.counts = A.counts() - before;
    return report;
}

}  // namespace keel
