#pragma once

// A few nodes that stand for all. Where nodes tile a grid with equal tiles, nodes with neighbours on the same sides send
// and receive alike: the plan of a small grid of such nodes tells what the busiest rank of a large one does, and, since
// each layer of nodes more adds as much as the one before, what all of them do together.

#include <span>
#include <vector>

#include "comm/costs/closed/comparison.hpp"

namespace keel {

class Representatives {
  public:
    // All nodes stand for themselves where there are at most `most_ranks`, and where they do not tile the layout: unless
    // each has the boxes of one tile, and equal places in tiles belong to ranks with the same number on their
    // nodes. Else three in each periodic direction do, and three and four in the others. Looks at every box.
    static Representatives of(const Layout& layout, const Topology& topology, int most_ranks = 4096);

    // Grids of nodes by themselves, numbered in their order, the largest last.
    struct Part {
        Layout layout;
        Topology topology;
        double weight;  // in sums over all ranks, together with the divisor
    };
    const std::vector<Part>& parts() const { return parts_; }
    const Part& largest() const { return parts_.back(); }
    bool all() const { return parts_.size() == 1 && divisor_ == 1 && parts_.front().weight == 1; }

    // Of the plans of the parts, what summary() tells of the plan of all ranks. Exact where no rank is chosen by the number of
    // its node: three_step and split share messages of one size out in the order of nodes, and which rank then has
    // most to do may differ.
    SchemeRow summary(const SchemeOptions& scheme, std::span<const Plan> plans, std::size_t columns,
                      const Model* model, std::size_t value_bytes = sizeof(double)) const;
    // What compare() tells of all nodes.
    std::vector<SchemeRow> compare(int depth, Neighbours neighbours, std::span<const SchemeOptions> schemes,
                                   const Model* model, std::size_t value_bytes = sizeof(double)) const;

  private:
    // The sums of the largest part's rows become those of all nodes.
    SchemeRow of_all(std::span<const SchemeRow> rows) const;

    std::vector<Part> parts_;
    double divisor_ = 1;
};

}  // namespace keel
