#pragma once

// The levels of a multigrid hierarchy: each with its operator, its fields and its communication.

#include <functional>
#include <memory>
#include <vector>

#include "solvers/multigrid/bottom/bottom_grid.hpp"
#include "solvers/multigrid/bottom/handover.hpp"
#include "solvers/multigrid/level.hpp"

namespace keel {

// The finest operator by formulas of global indices: a alpha at cells, and for each direction the face
// coefficient c (kernels/bodies/stencil.hpp) of the face between cells index-1 and index: the same at both ends of a
// periodic direction, which are one face.
struct OperatorFormulas {
    Formula a_alpha;
    std::array<Formula, 3> face;
    bool singular = false;  // constants are in the null space: a = 0 and no Dirichlet face
};

class Hierarchy {
  public:
    // Builds all levels from the finest layout and operator. Collective. The ledger has one column per level
    // and, like the backend, must outlive the hierarchy.
    Hierarchy(const Communicator& comm, const Topology& topology, const Backend& backend,
              const Layout& finest, const OperatorFormulas& formulas, const HierarchyOptions& options,
              Ledger& ledger);

    // Other coefficients in the same fields: overwrites f and r of all levels. What was made of the old ones, solvers of the
    // bottom level among it, has to be updated too. Collective.
    void update(const OperatorFormulas& formulas, const Communicator& comm);

    int levels() const { return static_cast<int>(levels_.size()); }
    // Whether this rank has boxes on a level; where none are merged, each has. The first rank has boxes on all.
    bool has(int l) const { return levels_[static_cast<std::size_t>(l)] != nullptr; }
    Level& level(int l) { return *levels_[static_cast<std::size_t>(l)]; }
    const Level& level(int l) const { return *levels_[static_cast<std::size_t>(l)]; }
    Level& bottom() { return *levels_.back(); }
    // Where the bottom level is solved on, if not where its boxes are.
    BottomGrid* bottom_grid() { return bottom_grid_.get(); }
    const BottomGrid* bottom_grid() const { return bottom_grid_.get(); }
    bool singular() const { return singular_; }

    // The levels that cycles work on: these, or others in single precision with u and f of their own and, but for the
    // coarsest, which hands u and f on to be solved with in double precision, single_scale() L.
    bool mixed() const { return !single_.empty(); }
    Level& cycled(int l) { return mixed() ? *single_[static_cast<std::size_t>(l)] : level(l); }
    const Level* single(int l) const {
        return mixed() ? single_[static_cast<std::size_t>(l)].get() : nullptr;
    }
    double single_scale() const { return single_scale_; }

    // What carries f to a level in merged boxes and u back, as cycles work on it; null where the level's boxes are those of
    // the level above, and on ranks that have none of that one.
    Handover* handover(int l) {
        return (mixed() ? single_handovers_ : handovers_)[static_cast<std::size_t>(l)].get();
    }
    const Handover* handover(int l) const {
        return (mixed() ? single_handovers_ : handovers_)[static_cast<std::size_t>(l)].get();
    }
    // u and f of the level below l, as cycles work on it, where level l is.
    Level& below(int l) { return handover(l + 1) ? handover(l + 1)->landing() : cycled(l + 1); }

  private:
    // The ranks of a merged level.
    struct Crew {
        Communicator comm;
        Topology topology;
    };

    // Null: all ranks.
    const Crew* crew_of(int l) const;
    void make_levels(const std::function<LevelSite(int)>& site, const Layout& finest,
                     const HierarchyOptions& options);
    void deepen_levels();
    void convert_operators();
    void restrict_operator(int l);
    void build_operators(const OperatorFormulas& formulas, const Communicator& comm);

    bool singular_;
    std::vector<std::unique_ptr<Crew>> crews_;  // by level; null: the ranks of the level above
    std::vector<std::unique_ptr<Level>> levels_;
    std::vector<std::unique_ptr<Level>> single_;
    std::vector<std::unique_ptr<Handover>> handovers_, single_handovers_;
    double single_scale_ = 1;
    std::unique_ptr<BottomGrid> bottom_grid_;
};

// u -= mean(u), which it returns. Collective, one all-reduce.
double remove_mean(Operations& operations, Reduction& reduction, Field u);

// f of a level where constants are in the null space, given a solution: less its mean, and zero where that
// leaves rounding alone. Once for an f: its mean is then rounding, and to remove that again would make another
// problem of it. Returns that mean over max|f|. Collective, three all-reduces.
double make_solvable(Level& level);

}  // namespace keel
