#pragma once

// hypre's structured multigrid on the boxes of a layout. hypre itself is named only in the .cpp.

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/layout/layout.hpp"
#include "kernels/names.hpp"

namespace keel {

// Conjugate gradients around one cycle of PFMG, or cycles of PFMG alone; both relax by red-black
// Gauss-Seidel.
enum class PeerMethod { pcg_pfmg, pfmg };
constexpr auto names_of(PeerMethod) {
    return std::array{"pcg_pfmg", "pfmg"};
}

// The matrix by its rows: values of every cell of the local boxes, box after box, x fastest.
struct SevenPoints {
    std::vector<double> diagonal;
    // The coupling of a cell to the one before it in x, y, z; zero where the domain ends. The matrix is
    // symmetric.
    std::array<std::vector<double>, 3> lower;
};

// Collective in all it does. Throws std::runtime_error where hypre reports an error.
class StructuredSolver {
  public:
    static constexpr int most_iterations = 200;

    // Sets up the solver: what repeats of a solve have in common.
    StructuredSolver(const Layout& layout, const SevenPoints& matrix, std::span<const double> f,
                     PeerMethod method);
    ~StructuredSolver();
    StructuredSolver(const StructuredSolver&) = delete;
    StructuredSolver& operator=(const StructuredSolver&) = delete;

    // Iterates from u = 0, at most `iterations` times, up to most_iterations; fewer where a tolerance on |r|
    // / |f| is given and met. Without one all of them run, and form the norm that a test would need. Returns
    // how many ran.
    int solve(int iterations, std::optional<double> tolerance = {});
    std::vector<double> solution() const;  // as f

    static std::string version();                    // "hypre 2.26.0"
    static std::string describe(PeerMethod method);  // with its sweeps

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace keel
