#pragma once

// Conjugate gradients around BoomerAMG of hypre, for a matrix whose rows ranks own in turn.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/names.hpp"
#include "solvers/amg/options.hpp"
#include "solvers/systems/sparse/sparse_matrix.hpp"

namespace keel {

// `like_keel`: as much like the deck's own hierarchy as BoomerAMG can, with the deck's splitting,
// interpolation, threshold, truncation, coarsest level and smoother, Chebyshev's with bounds of its own.
// `defaults`: as hypre has it by default, with the deck's threshold: HMIS, extended+i of at most four entries
// a row, l1-scaled Gauss-Seidel.
enum class BoomerMethod { like_keel, defaults };
constexpr auto names_of(BoomerMethod) {
    return std::array{"like_keel", "defaults"};
}

class MatrixSolver {
  public:
    // This rank's rows, whose first is `first`. Sets up. Collective, as all else.
    MatrixSolver(std::int64_t first, const GlobalRows& rows, std::span<const double> f, BoomerMethod method,
                 const AmgOptions& options);
    ~MatrixSolver();
    MatrixSolver(const MatrixSolver&) = delete;

    // From u = 0 until |r| / |f| is below the tolerance, by the method's own r. Returns the iterations.
    int solve(double tolerance, int most);
    std::vector<double> solution() const;  // this rank's rows

    // The levels of the hierarchy.
    int levels() const;
    double operator_complexity() const;

    static std::string version();

  private:
    struct Handles;
    std::unique_ptr<Handles> handles_;
};

}  // namespace keel
