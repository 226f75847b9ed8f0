#pragma once

// Anderson acceleration by KINSOL (SUNDIALS), its fixed-point solver. SUNDIALS itself is named only in the
// .cpp.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/names.hpp"

namespace keel {

// How KINSOL makes a new difference orthogonal to those kept; Keel's names of the same methods.
enum class KinsolMethod { mgs, icwy, cgs2, dcgs2 };
constexpr auto names_of(KinsolMethod) {
    return std::array{"mgs", "icwy", "cgs2", "dcgs2"};
}

struct KinsolOptions {
    int depth = 5;
    KinsolMethod method = KinsolMethod::mgs;
    double damping = 1;
    double tolerance = 1e-10;  // on max|u_{i+1} - u_i|
    int max_iterations = 100;
};

// Collective in all it does. Throws std::runtime_error where KINSOL cannot be set up.
class KinsolSolver {
  public:
    // G of `values` values of this rank: read at the second, written to the first.
    using Map = std::function<void(double* g, const double* u, std::size_t values)>;

    KinsolSolver(std::size_t values, std::size_t values_of_all, const KinsolOptions& options, Map map);
    ~KinsolSolver();
    KinsolSolver(const KinsolSolver&) = delete;
    KinsolSolver& operator=(const KinsolSolver&) = delete;

    struct Report {
        bool converged = false;  // as it says itself
        std::string outcome;     // "KIN_SUCCESS"
        long iterations = 0;
        long evaluations = 0;
    };
    Report solve(std::vector<double>& u);  // from u, which it improves

    static std::string version();  // "KINSOL 6.4.1"

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace keel
