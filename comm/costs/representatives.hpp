#pragma once

// A few nodes that stand for all. Where nodes tile a grid with equal tiles, nodes with neighbours on the same
// sides send and receive alike: the busiest rank of a small grid of such nodes is as busy as that of a large
// one, and, since each further layer of nodes adds as much as the one before, all ranks' traffic follows.
// Where nothing repeats, a sample of the nodes gives an estimate.

#include <optional>
#include <span>
#include <vector>

#include "comm/costs/comparison.hpp"

namespace keel {

// Up to `most_ranks` ranks all nodes represent themselves. Beyond, on nodes that do not tile the layout,
// `sampled` nodes are drawn; 0: all represent themselves there, too.
struct FewNodes {
    int most_ranks = 4096;
    int sampled = 64;
};

class Representatives {
  public:
    // Nodes tile a layout if each has the boxes of one tile, and equal places in tiles belong to ranks with
    // the same number on their nodes. Three in each periodic direction stand for all then, and three and four
    // in the others. Looks at every box.
    static Representatives of(const Layout& layout, const Topology& topology, const FewNodes& few = {});
    // All nodes stand for themselves.
    static Representatives themselves(const Layout& layout, const Topology& topology);

    // Grids of nodes by themselves, numbered in their order, the largest last; or all nodes, of which some
    // ranks are planned.
    struct Part {
        Layout layout;
        Topology topology;
        double weight;  // in sums over all ranks, together with the divisor
        RanksPlanned whose = {};
    };
    const std::vector<Part>& parts() const { return parts_; }
    const Part& largest() const { return parts_.back(); }
    bool all() const { return !sample_ && parts_.size() == 1 && divisor_ == 1 && parts_.front().weight == 1; }
    bool sampled() const { return sample_.has_value(); }
    int planned_nodes() const;  // in the largest part
    // About which share of a part's requests of ghosts other ranks own and has to be worked out: with a
    // sample, the needs of nodes within two faces of its nodes. Looks at every box.
    double share_of_requests(const Part& part) const;

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
    // Nodes that were picked because they are special, and those that were drawn and stand for all others.
    struct Sample {
        std::vector<int> picked;
        std::vector<int> drawn;
    };
    static Sample sample_of(const Layout& layout, const Topology& topology, int drawn);
    // The row of a part's plan; with a sample its sums are estimates for all nodes.
    SchemeRow row_of(const Part& part, const SchemeOptions& scheme, const Plan& plan, std::size_t columns,
                     const Model* model, std::size_t value_bytes) const;
    // The largest part's row, with the weighted sums of all parts.
    SchemeRow of_all(std::span<const SchemeRow> rows) const;

    std::vector<Part> parts_;
    double divisor_ = 1;
    std::optional<Sample> sample_;
};

}  // namespace keel
