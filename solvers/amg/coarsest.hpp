#pragma once

// The coarsest level, gathered on every rank that has rows of it and solved there with a dense factorisation.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "solvers/amg/setup/part_rows.hpp"

namespace keel {

class Coarsest {
  public:
    // Factors. `size` is that of entries before they cancelled: what is less by the precision of a double is rounding. `null`,
    // where there is one, has this rank's rows of a vector that the finest matrix took to zero: if A takes it there too, b is
    // made orthogonal to it, and so is x. Collective, as is solve().
    Coarsest(const Communicator& comm, const PartRows& A, double size,
             const std::optional<std::vector<double>>& null = {});
    ~Coarsest();

    // Whether a pivot is zero but for rounding: there is no solution then. A matrix whose diagonal ranges over 14 orders of
    // magnitude is taken for singular. The same on all ranks.
    bool singular() const { return singular_; }
    // This rank's rows of A^-1 b.
    std::vector<double> solve(std::span<const double> b) const;

  private:
    struct Factors;

    bool singular_ = false;
    std::vector<int> counts_;  // rows of each rank that has some
    std::size_t first_ = 0;
    Communicator owners_;  // of ranks with rows; those without have one of theirs
    std::unique_ptr<const Factors> factors_;
};

}  // namespace keel
