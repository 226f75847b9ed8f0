#pragma once

// Between a level and the next coarser one where that is in merged boxes, on fewer ranks: what is restricted lands in boxes of
// half the width where the finer level is, travels, and what has been found there travels back.

#include <functional>
#include <memory>
#include <utility>

#include "comm/carry/redistribution.hpp"
#include "solvers/multigrid/bottom/merged_boxes.hpp"
#include "solvers/multigrid/level.hpp"

namespace keel {

class Handover {
  public:
    // `site`: the coarser level's number on the ranks of the finer one; `merged`: the coarser level, null on ranks that have
    // none of it. `landing`: what its cells need where they land. What is given must outlive this object. Collective over the
    // site's ranks.
    Handover(const LevelSite& site, const Merge& merge, Level* merged, const LevelNeeds& landing,
             const HierarchyOptions& options);

    // u and f of the coarser level where the finer one is.
    Level& landing() { return *landing_; }
    const Level& landing() const { return *landing_; }

    // All collective over the site's ranks.
    void collect();        // the landing's f becomes the merged level's
    void collect_guess();  // and u
    void spread();         // the merged level's u becomes the landing's
    // The landing's u, with the upper faces of its boxes, becomes a coefficient of the merged level; nothing is read of `to` on
    // ranks that have none of it.
    void bring(Field to);

    // Called before boxes travel in a cycle.
    void before_moves(std::function<void(Way)> told) { told_ = std::move(told); }

    long runs() const { return there_->count() + back_->count(); }
    const Redistribution& there() const { return *there_; }
    const Redistribution& back() const { return *back_; }

  private:
    std::unique_ptr<Level> landing_;
    Level* merged_;
    std::unique_ptr<Redistribution> there_, back_, coefficients_there_;
    std::function<void(Way)> told_ = [](Way) {};
};

}  // namespace keel
