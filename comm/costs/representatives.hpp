#pragma once

// A few nodes that stand for all. Where nodes tile a grid with equal tiles, nodes with neighbours on the same
// sides send and receive alike: the busiest rank of a small grid of such nodes is as busy as that of a large
// one, and, since each further layer of nodes adds as much as the one before, all ranks' traffic follows.

#include <span>
#include <vector>

#include "comm/costs/comparison.hpp"

namespace keel {

class Representatives {
  public:
    // Nodes tile a layout if each has the boxes of one tile, and equal places in tiles belong to ranks with
    // the same number on their nodes. Three in each periodic direction stand for all then, and three and four
    // in the others. Up to `most_ranks` ranks, and on nodes that do not tile it, all stand for themselves.
    // Looks at every box.
    static Representatives of(const Layout& layout, const Topology& topology, int most_ranks = 4096);
    // All nodes stand for themselves.
    static Representatives themselves(const Layout& layout, const Topology& topology);

    // Grids of nodes by themselves, numbered in their order, the largest last; or all nodes.
    struct Part {
        Layout layout;
        Topology topology;
        double weight;  // in sums over all ranks, together with the divisor
    };
    const std::vector<Part>& parts() const { return parts_; }
    const Part& largest() const { return parts_.back(); }
    bool all() const { return parts_.size() == 1 && divisor_ == 1 && parts_.front().weight == 1; }
    // About which share of the largest part's requests of ghosts other ranks own. Looks at every box.
    double share_of_requests() const;

    // The summary() of the plan of all ranks, from the plans of the parts. Exact unless a rank is chosen by
    // the number of its node: three_step and split share messages of one size out in the order of nodes, and
    // which rank then has most to do may differ.
    SchemeRow summary(const SchemeOptions& scheme, std::span<const Plan> plans, std::size_t columns,
                      const Model* model, std::size_t value_bytes = sizeof(double)) const;
    // The rows of schemes for the ghost cells of the layout, planned here and now: 4096 boxes take about a
    // second a scheme.
    std::vector<SchemeRow> compare(int depth, Neighbours neighbours, std::span<const SchemeOptions> schemes,
                                   const Model* model, std::size_t value_bytes = sizeof(double)) const;

  private:
    std::vector<Part> parts_;
    double divisor_ = 1;
};

}  // namespace keel
