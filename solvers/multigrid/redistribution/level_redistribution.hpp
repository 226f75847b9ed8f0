#pragma once

// The redistribution of a coarse level that agglomerates or consolidates: its right-hand side is gathered,
// its correction scattered.

#include <functional>
#include <memory>

#include "comm/carry/redistribution.hpp"
#include "solvers/multigrid/level.hpp"

namespace keel {

// The ranks of a level.
struct LevelComm {
    Communicator comm;
    Topology topology;
};

class LevelRedistribution {
  public:
    // `before`: the level, or its u and f alone, in its boxes on the site's ranks; `after`: in those after
    // the agglomeration, null on ranks without. Both must outlive this object. Collective over the site's
    // ranks.
    LevelRedistribution(const LevelSite& site, const Agglomeration& agglomeration, Level& before,
                        Level* after, const HierarchyOptions& options);

    Level& before() { return before_; }
    const Level& before() const { return before_; }

    // All collective over the site's ranks.
    void gather_rhs();          // f before becomes f after
    void scatter_correction();  // u after becomes u before
    // A coefficient `from`, with the upper faces of its boxes, becomes `to`, which is not read on ranks
    // without.
    void gather_coefficient(Field from, Field to);

    // `action` is called before each of these in a cycle.
    void before_moves(std::function<void(Way)> action) { told_ = std::move(action); }

    long runs() const { return gather_->count() + scatter_->count(); }
    const Redistribution& gather() const { return *gather_; }
    const Redistribution& scatter() const { return *scatter_; }

  private:
    Level& before_;
    Level* after_;
    std::unique_ptr<Redistribution> gather_, scatter_, gather_coefficients_;
    std::function<void(Way)> told_ = [](Way) {};
};

}  // namespace keel
