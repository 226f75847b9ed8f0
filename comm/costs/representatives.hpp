#pragma once

// A few nodes that stand for all. Where nodes tile a grid with equal tiles, nodes with neighbours on the same sides send
// and receive alike: the plan of a small grid of such nodes tells what the busiest rank of a large one does, and, since
// each layer of nodes more adds as much as the one before, what all of them do together. Where nothing repeats a sample of the
// nodes tells about how much that is.

#include <optional>
#include <span>
#include <vector>

#include "comm/costs/comparison.hpp"

namespace keel {

// Of at most so many ranks all nodes stand for themselves. Of more, where nodes do not tile the layout, so many are drawn; with 0
// all stand for themselves there, too.
struct FewNodes {
    int most_ranks = 4096;
    int sampled = 64;
};

class Representatives {
  public:
    // Nodes tile a layout if each has the boxes of one tile, and equal places in tiles belong to ranks with the same number on
    // their nodes. Three in each periodic direction stand for all then, and three and four in the others. Looks at every box.
    static Representatives of(const Layout& layout, const Topology& topology, const FewNodes& few);
    // All nodes stand for themselves.
    static Representatives themselves(const Layout& layout, const Topology& topology);

    // Grids of nodes by themselves, numbered in their order, the largest last; or all there are, of which some ranks are planned.
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
    int planned_nodes() const;  // of the largest part
    // Those of a part's requests of ghosts, about, that other ranks own and that have to be worked out: of a
    // sample what nodes within two faces of its nodes need. Looks at every box.
    double share_of_requests(const Part& part) const;

    // Of the plans of the parts, what summary() tells of the plan of all ranks. Exact where no rank is chosen by the number of
    // its node: three_step and split share messages of one size out in the order of nodes, and which rank then has
    // most to do may differ.
    SchemeRow summary(const SchemeOptions& scheme, std::span<const Plan> plans, std::size_t columns,
                      const Model* model, std::size_t value_bytes = sizeof(double)) const;
    // What compare() tells of all nodes.
    std::vector<SchemeRow> compare(int depth, Neighbours neighbours, std::span<const SchemeOptions> schemes,
                                   const Model* model, std::size_t value_bytes = sizeof(double)) const;

  private:
    // Nodes that were picked for what they are, and those that were drawn and stand for all others.
    struct Sample {
        std::vector<int> picked;
        std::vector<int> drawn;
    };
    static Sample sample_of(const Layout& layout, const Topology& topology, int drawn);
    // The sums of the largest part's rows become those of all nodes.
    SchemeRow of_all(std::span<const SchemeRow> rows) const;
    // The same from the shares of the sample's ranks.
    SchemeRow of_sample(const SchemeOptions& scheme, const Plan& plan, std::size_t columns,
                        const Model* model, std::size_t value_bytes) const;

    std::vector<Part> parts_;
    double divisor_ = 1;
    std::optional<Sample> sample_;
};

}  // namespace keel
