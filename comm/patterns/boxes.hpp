#pragma once

// The pattern of whole boxes that go from the ranks that own them to others that work on them, and back: what
// gathering, agglomerating and replicating a coarse grid send.

#include <cstddef>
#include <span>
#include <vector>

#include "comm/patterns/pattern.hpp"
#include "kernels/layout/layout.hpp"

namespace keel {

// To the ranks that work on boxes, or back to those that own them.
enum class Way { there, back };

// The ranks that have each box of a level: one rank, or all of them.
class BoxDistribution {
  public:
    explicit BoxDistribution(std::vector<int> owners);  // by box, lexicographic
    static BoxDistribution owners_of(const Layout& layout);
    static BoxDistribution everywhere(int boxes, int ranks);

    int boxes() const { return boxes_; }
    bool everyone() const { return owners_.empty(); }
    bool holds(int rank, int box) const;
    // In ascending order.
    std::vector<int> boxes_of(int rank) const;
    std::vector<int> ranks_of(int box) const;
    int ranks_of_a_box() const { return everyone() ? ranks_ : 1; }

  private:
    BoxDistribution() = default;
    int boxes_ = 0;
    int ranks_ = 0;             // if all have them
    std::vector<int> owners_;   // empty if all have them
    std::vector<int> by_rank_;  // boxes, rank after rank
    std::vector<std::size_t> first_;
};

// Every box, as one item named by its number, goes from the one rank that has it to all that hold it
// afterwards.
class BoxPattern : public Pattern {
  public:
    // `from` has one rank a box; `values` are those of a box.
    BoxPattern(BoxDistribution from, BoxDistribution to, int values);

    const BoxDistribution& from() const { return from_; }
    const BoxDistribution& to() const { return to_; }
    std::vector<Request> needed_by(std::span<const int> ranks) const override;
    std::vector<Request> owned_by(std::span<const int> ranks) const override;
    double most_requests() const override { return 1.0 * from_.boxes() * to_.ranks_of_a_box(); }

  private:
    BoxDistribution from_, to_;
    int values_;
};

}  // namespace keel
