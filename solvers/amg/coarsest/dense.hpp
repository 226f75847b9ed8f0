#pragma once

// The coarsest level with a dense factorisation: gathered on every rank that has rows of it, or on the first
// of these alone.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kernels/timing/ledger.hpp"
#include "solvers/amg/coarsest/coarsest.hpp"
#include "solvers/amg/setup/part_rows.hpp"

namespace keel {

class DenseCoarsest : public Coarsest {
  public:
    // The ranks that factorise, and the level at which the time is booked.
    struct Place {
        bool on_one_rank = false;
        int level = 0;
    };

    // Factors. `vectors` has these rows. `size` is that of entries before they cancelled: what is less by the
    // precision of a double is rounding. `null`, where there is one, has this rank's rows of a vector that
    // the finest matrix took to zero: if A takes it there too, b is made orthogonal to it, and so is x.
    // Vectors and ledger must outlive this object. Collective.
    DenseCoarsest(const Communicator& comm, const PartRows& A, SparseMatrix& vectors, double size,
                  const std::optional<std::vector<double>>& null, const Place& place, Ledger& ledger);
    ~DenseCoarsest() override;

    // Whether a pivot is zero but for rounding. A matrix whose diagonal ranges over 14 orders of magnitude is
    // taken for singular.
    bool singular() const override { return singular_; }
    void solve(Field x, Field b) override;

  private:
    struct Factors;

    // Doubles that this rank receives in a solve, by collective operations of MPI, which are no messages of
    // ours.
    std::int64_t words() const;
    bool is_here() const { return !place_.on_one_rank || owners_.rank() == 0; }
    template <class Value>
    std::vector<Value> gathered(const std::vector<Value>& mine) const;
    void factorise(const std::vector<std::int64_t>& entries, double size, std::span<const double> null);

    SparseMatrix& vectors_;
    Place place_;
    Ledger& ledger_;
    bool singular_ = false;
    std::int64_t rows_;        // the level's
    std::vector<int> counts_;  // rows of each rank that has some
    Communicator owners_;      // of ranks with rows; those without have one of theirs
    std::unique_ptr<const Factors> factors_;
};

}  // namespace keel
