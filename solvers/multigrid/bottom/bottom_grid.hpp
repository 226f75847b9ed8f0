#pragma once

// The bottom level on other ranks than its boxes: on fewer, so that its all-reduces and messages have fewer
// ends, on one, or on every rank as a whole, where its solver needs no messages at all and works as often as
// there are ranks.

#include <memory>
#include <optional>
#include <span>

#include "comm/carry/redistribution.hpp"
#include "solvers/multigrid/level.hpp"

namespace keel {

// Who has which boxes of a level before its solver works on it and while it does: pure.
class BottomMove {
  public:
    // `spread`: the level where its boxes are, of which every rank has some. Agglomerate: the ranks fall into
    // so many groups (0: an eighth of the ranks, rounded up) of consecutive ones, and the first of each gets
    // the boxes of all.
    BottomMove(const Layout& spread, BottomPlace place, int groups);

    // The ranks that solve together with this one, ascending; without boxes it is not among them.
    const std::vector<int>& ranks() const { return ranks_; }
    // The level as these ranks, numbered anew from 0, see it; nothing for a rank that has none of it.
    std::optional<Layout> layout() const;

    // How `values` of each box travel there and back. Of a replicated grid nothing comes back: each rank
    // takes its own boxes.
    BoxPattern there(int values) const;
    BoxPattern back(int values) const;

  private:
    Layout spread_;
    Holders owners_;
    Holders solvers_;
    std::vector<int> ranks_;
};

class BottomGrid {
  public:
    // Moves the operator of `spread`, the bottom level where its boxes are; that and the site's parts must
    // outlive this object. Collective.
    BottomGrid(const LevelSite& site, Level& spread, const HierarchyOptions& options);

    Level* level() { return level_.get(); }  // null on ranks that have none of it
    const Level* level() const { return level_.get(); }

    // Fields of the spread level become fields of level(), and back; on ranks without it, these are not
    // looked at. Collective.
    void collect(std::span<const Field> spread, std::span<const Field> solved) { to_->run(spread, solved); }
    void spread(std::span<const Field> solved, std::span<const Field> spread) { from_->run(solved, spread); }

    // The operator of the spread level as it is now. Collective.
    void update();

    long runs() const { return to_->count() + from_->count(); }
    const Redistribution& to() const { return *to_; }
    const Redistribution& from() const { return *from_; }

  private:
    std::optional<Communicator> comm_;
    Topology topology_;
    std::unique_ptr<Level> level_;
    std::unique_ptr<Redistribution> to_;
    std::unique_ptr<Redistribution> from_;
    std::unique_ptr<Redistribution> coefficients_to_;
    Level& spread_;
};

}  // namespace keel
