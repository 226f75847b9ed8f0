#pragma once

// A level of a multigrid hierarchy: its operator, its fields and its communication.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/carry/exchange.hpp"
#include "comm/plans/schemes.hpp"
#include "comm/ranks/communicator.hpp"
#include "comm/ranks/topology.hpp"
#include "comm/reductions/reduction.hpp"
#include "kernels/backends/registry.hpp"
#include "kernels/layout/layout.hpp"
#include "kernels/layout/neighbours.hpp"
#include "kernels/timing/ledger.hpp"
#include "kernels/timing/timed_operations.hpp"
#include "solvers/amg/setup/ghost_values.hpp"
#include "solvers/multigrid/options.hpp"
#include "solvers/multigrid/redistribution/agglomeration.hpp"

namespace keel {

// How the ghosts of one level travel, in Level's exchanges of the same names, and its boxes there and back in
// a LevelRedistribution.
struct LevelSchemes {
    SchemeOptions ghosts;
    SchemeOptions all_ghosts;
    SchemeOptions deep_ghosts;
    SchemeOptions there;
    SchemeOptions back;
};

// By which schemes algebraic multigrid's messages travel among these ranks, where the ghosts of its finest
// level travel by `finest`. Its arguments outlive the result. Collective over these ranks.
using AlgebraicSchemes =
    std::function<SchemeFor(const Communicator& comm, const Topology& topology, const SchemeOptions& finest)>;

struct HierarchyOptions {
    int bottom_box = 4;
    std::int64_t agglomerate = 0;           // LevelRule
    int bottom_grid = BottomRanks::owners;  // LevelRule
    int agglomerate_as = 0;                 // LevelRule::ranks
    LevelRule level_rule() const { return {bottom_box, agglomerate, bottom_grid, agglomerate_as}; }
    int ghost_depth = 1;
    // Agglomerated and consolidated levels keep their boxes apart.
    Storage storage = Storage::boxes;
    Neighbours neighbours = Neighbours::faces;
    bool all_ghosts =
        false;  // levels below the finest can fill all 26 neighbours' ghosts (linear interpolation)
    int bottom_ghosts = 0;  // layers from all 26 neighbours that the bottom level has besides (matrix powers)
    // Half sweeps at most that are one pass on the levels above the bottom; 0: each is one.
    int fused = 0;
    int fused_width = 0;            // narrowest boxes where that is so
    int fused_on(int width) const;  // half sweeps that are one pass where boxes are so wide
    // Ghost layers that a pass reads: one for each half sweep, and one for the residual at the end of a leg
    // in the same pass, if boxes are wide enough.
    int fused_layers_on(int width) const;
    bool keeps_ghosts = false;  // half sweeps keep ghosts where the operations can
    // Besides the levels, others in single precision that cycles work on; those in double precision then
    // neither fuse half sweeps nor interpolate.
    bool mixed = false;
    Precision faces = Precision::fp32;  // the faces of operators in single precision
    // The precision in which cycles in double send ghosts, but for those of the coarsest level's operator.
    Precision ghosts = Precision::fp64;
    SchemeOptions scheme = {};                 // the same on all levels
    std::vector<LevelSchemes> schemes = {};    // by level, in place of it; may be empty
    LevelSchemes schemes_of(int level) const;  // throws std::out_of_range
    ExchangeOptions exchange{};
    bool one_colour = false;  // ExchangeOptions, on levels above the coarsest whose colours alternate
    bool one_colour_on(const Layout& layout) const;
    bool deterministic = false;
    AllReduceOptions all_reduce = {};
    AlgebraicSchemes algebraic_schemes = {};  // empty: all as ghosts of its finest level
};

// The exchange of some ghosts of a level.
struct PlannedGhosts {
    int layers = 1;
    Neighbours neighbours = Neighbours::all;
    SchemeOptions scheme;
    bool one_colour = false;  // ExchangeOptions
};

// A level in one precision as a rank makes it. Hierarchy is built of such plans, and its memory and the
// schemes of its exchanges are predicted from them.
struct LevelPlan {
    int number = 0;
    Layout layout;
    Precision precision = Precision::fp64;
    Storage storage = Storage::boxes;
    bool passes_on = false;  // has u and f alone, without ghosts of the operator: it is solved on elsewhere
    int fused = 0;           // half sweeps at most that are one pass; 0: each is one
    std::optional<PlannedGhosts> ghosts = {};       // for the operator
    std::optional<PlannedGhosts> all_ghosts = {};   // for interpolation that is not constant
    std::optional<PlannedGhosts> deep_ghosts = {};  // for matrix powers or fused half sweeps

    // Ghost layers of its fields: those of the deepest exchange.
    int ghost_layers(const HierarchyOptions& options) const;
};

struct LevelPlans {
    LevelPlan level;  // for the ranks that its layout has
    // If its boxes merge or move: its u and f in the boxes before, for the ranks of these.
    std::optional<LevelPlan> before;
};

// The plans of level `number` of `all` in this precision.
LevelPlans plans_of_level(std::span<const LevelDistribution> all, int number, Precision precision,
                          const HierarchyOptions& options);

struct LevelHome;

struct Level {
    Level(const Layout& boxes, std::unique_ptr<Operations> made, Ledger& ledger, int number)
        : layout(boxes),
          plain(std::move(made)),
          operations(*plain, ledger, number, Caller::multigrid),
          bottom_operations(*plain, ledger, number, Caller::bottom) {}

    Layout layout;
    std::unique_ptr<Operations> plain;
    TimedOperations operations;         // as the cycle calls them
    TimedOperations bottom_operations;  // as the bottom solver calls them
    Stencil L;
    Field u, f, r;
    bool rounds_faces = false;  // the faces of L have fewer bytes than its values
    // The operator before its faces are rounded: exchanges are for values alone, so u, f and r lend theirs.
    Stencil unrounded() const { return rounds_faces ? Stencil{u, f, r, L.inverse_diagonal} : L; }
    std::unique_ptr<Exchange> ghosts;       // for the operator; absent if it has none
    std::unique_ptr<Exchange> all_ghosts;   // for interpolation that is not constant; may be absent
    std::unique_ptr<Exchange> deep_ghosts;  // for matrix powers or fused half sweeps; may be absent
    int deep_layers = 0;                    // that deep_ghosts fill
    int fused = 0;                          // half sweeps at most that are one pass; 0: each is one
    bool keeps_ghosts = false;              // whether half sweeps keep ghosts themselves (Ghosts::kept)
    // Whether that pass may end with the residual.
    bool ends_in_pass() const { return fused > 0 && deep_layers > fused; }
    Items<BoundaryItem> outside;  // ghosts beyond boundaries
    // By direction the faces on boundaries and beyond, in its ghosts; made by deepen().
    std::optional<std::array<Items<BoundaryItem>, 3>> faces_outside;
    std::unique_ptr<Reduction> reduction;   // absent in single precision, and if only u and f are passed on
    std::shared_ptr<const LevelHome> home;  // of the level that the bottom solver works on
    double gershgorin_bound = 0;            // no eigenvalue of L is larger
    double jacobi_bound = 2.0;              // and none of D^-1 L than this
};

// The site of a level: its ranks, their memories, its number in the ledger, its tags.
struct LevelSite {
    const Communicator& comm;
    const Topology& topology;  // these ranks'
    const Backend& backend;
    Ledger& ledger;
    int number = 0;
    int first_tag = 0;  // the first of tags_per_level

    static constexpr int tags_per_level = 8;
    // Options of an exchange with the n-th of the tags.
    TransportOptions transport(int n, const Meanwhile& meanwhile = {}) const {
        return {comm, topology, first_tag + n, meanwhile, &ledger, number};
    }
};

// A level without an operator yet. Collective over the site's ranks.
std::unique_ptr<Level> make_level(const LevelSite& site, const LevelPlan& plan,
                                  const HierarchyOptions& options);

// Gives the operator its coefficients in the level's deep ghosts. Outside the domain faces are zero, and so
// are those on its boundary, now that the diagonal has their part: the operator makes zeros of zeros there,
// and reads none of them, so that boundary conditions hold in every layer without further care. Collective.
void deepen(Level& level);
// Rounds the faces of a level that wants so, and zeros u, f and r, which held them.
void round_faces(Level& level);

// r = f - L u, while the ghosts of u are exchanged. Collective.
void form_residual(Level& level, Field r);

// max|u|, +infinity where a value is not finite. Collective, one all-reduce.
double max_norm(Level& level, Field u);

// u of a level += u of the next coarser one, of all cells or those of one colour. Unless interpolation is
// constant it fills all ghosts of the coarser u, outside the domain as well. Collective.
void interpolate_add(Level& fine, Level& coarse, Interpolation interpolation,
                     std::optional<Colour> colour = std::nullopt);
// Gives f the ghosts that fused half sweeps read; nothing where a level has none. Collective.
void share_right_hand_side(Level& level);

}  // namespace keel
