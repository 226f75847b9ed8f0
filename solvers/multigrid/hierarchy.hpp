#pragma once

// The levels of a multigrid hierarchy: each with its operator, its fields and its communication.

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "solvers/multigrid/level.hpp"
#include "solvers/multigrid/redistribution/level_redistribution.hpp"

namespace keel {

// The finest operator by formulas of global indices: a alpha at cells, and for each direction the face
// coefficient c (kernels/bodies/stencil.hpp) of the face between cells index-1 and index: the same at both
// ends of a periodic direction, which are one face.
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

    // Other coefficients in the same fields: overwrites f and r of all levels. What was made of the old ones,
    // solvers of the bottom level among it, has to be updated too. Collective.
    void update(const OperatorFormulas& formulas, const Communicator& comm);

    int levels() const { return static_cast<int>(double_.levels.size()); }
    // Whether this rank has boxes on a level. Where boxes neither merge nor move each rank has, and the first
    // rank has always.
    bool has(int l) const { return double_.levels[static_cast<std::size_t>(l)] != nullptr; }
    Level& level(int l) { return *double_.levels[static_cast<std::size_t>(l)]; }
    const Level& level(int l) const { return *double_.levels[static_cast<std::size_t>(l)]; }
    Level& bottom() { return *double_.levels.back(); }
    bool singular() const { return singular_; }

    // `action` is called before each visit to the bottom.
    void before_visits(std::function<void()> action) { told_of_visit_ = std::move(action); }
    void begin_visit() const { told_of_visit_(); }

    // The levels that cycles work on: these, or others in single precision with u and f of their own and, but
    // for the coarsest, whose u and f are passed on to a solve in double precision, single_scale() L.
    bool mixed() const { return !single_.levels.empty(); }
    Level& cycled(int l) { return *cycled().levels[static_cast<std::size_t>(l)]; }
    const Level* single(int l) const {
        return mixed() ? single_.levels[static_cast<std::size_t>(l)].get() : nullptr;
    }
    double single_scale() const { return single_scale_; }
    // The precision in which cycles send ghosts, if they compute in double precision.
    Precision cycles_send() const { return cycles_send_; }
    // The precision in which messages carry ghosts from now on: interpolation's, and of the operator and of
    // smoothing those of all levels but the coarsest.
    void send_in(Precision precision);

    // The redistribution of a level that agglomerates or consolidates, as cycles work on it; null if its
    // boxes stay on the ranks of the level above, and on ranks that have none of that one.
    LevelRedistribution* redistribution(int l) {
        return cycled().redistributions[static_cast<std::size_t>(l)].get();
    }
    const LevelRedistribution* redistribution(int l) const {
        return cycled().redistributions[static_cast<std::size_t>(l)].get();
    }
    // u and f of the level below l, as cycles work on it, where level l is.
    Level& below(int l) { return redistribution(l + 1) ? redistribution(l + 1)->before() : cycled(l + 1); }

  private:
    using SiteOf = std::function<LevelSite(int level)>;

    // The levels in one precision.
    struct Grids {
        std::vector<std::unique_ptr<Level>> levels;  // null on ranks without
        std::vector<std::unique_ptr<Level>> before;  // those that move, before; null for others
        std::vector<std::unique_ptr<LevelRedistribution>> redistributions;
    };

    Grids& cycled() { return mixed() ? single_ : double_; }
    const Grids& cycled() const { return mixed() ? single_ : double_; }
    const LevelComm* comm_of(int l) const;  // null: all ranks
    void make_levels(const SiteOf& site, const Layout& finest, const HierarchyOptions& options);
    void make_level_in(Grids& grids, const SiteOf& site, const LevelDistribution& at, const LevelPlans& plans,
                       int first_tag, const HierarchyOptions& options);
    void deepen_levels();
    void convert_operators();
    void restrict_operator(int l);
    void build_operators(const OperatorFormulas& formulas, const Communicator& comm);

    bool singular_;
    std::function<void()> told_of_visit_ = [] {};
    std::vector<std::unique_ptr<LevelComm>> comms_;  // by level; null: the ranks of the level above
    Grids double_, single_;
    double single_scale_ = 1;
    Precision cycles_send_;
};

// u -= mean(u), which it returns. Collective, one all-reduce.
double remove_mean(Operations& operations, Reduction& reduction, Field u);

// f of a level where constants are in the null space, given a solution: less its mean, and zero where that
// leaves rounding alone. Once for an f: its mean is then rounding, and to remove that again would make
// another problem of it. Returns that mean over max|f|. Collective, three all-reduces.
double make_solvable(Level& level);

}  // namespace keel
