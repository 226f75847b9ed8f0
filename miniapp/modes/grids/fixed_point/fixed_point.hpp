#pragma once

// run.mode = fixed_point: its equations and their maps on a hierarchy, its solves and their prediction, and
// the kernels of their acceleration alone.

#include <array>
#include <memory>
#include <optional>

#include "kernels/bodies/reaction.hpp"
#include "kernels/names.hpp"
#include "miniapp/modes/grids/grid_mode.hpp"
#include "solvers/anderson/anderson.hpp"
#include "solvers/anderson/mixture.hpp"
#include "solvers/multigrid/nonlinear/fas.hpp"
#include "solvers/multigrid/nonlinear/fixed_points.hpp"
#include "solvers/systems/grid_system.hpp"

namespace keel {

// L u + phi(u) = f, with a phi and an f of its own; L u = f by problem.rhs; or the means of a mixture.
enum class Equation { bratu, heat_1, heat_2, linear, mixture, mixture_random };
constexpr auto names_of(Equation) {
    return std::array{"bratu", "heat_1", "heat_2", "linear", "mixture", "mixture_random"};
}

// G: L^-1 of the rest, by V-cycles to a tolerance, or one cycle.
enum class MapKind { solve, cycle };
constexpr auto names_of(MapKind) {
    return std::array{"solve", "cycle"};
}

struct FixedPointOptions {
    Equation equation = Equation::bratu;
    double kappa = 1;
    MapKind map = MapKind::solve;

    bool is_heat() const { return equation == Equation::heat_1 || equation == Equation::heat_2; }
    bool is_linear() const { return equation == Equation::linear; }
    bool is_mixture() const { return equation == Equation::mixture || equation == Equation::mixture_random; }
    // Full approximation: the cycle of a nonlinear equation.
    bool by_fas() const { return map == MapKind::cycle && !is_linear() && !is_mixture(); }
    Reaction phi() const {
        switch (equation) {
            case Equation::bratu:
                return {ReactionKind::exponential, -kappa};
            case Equation::heat_1:
                return {ReactionKind::heat_1, -1};
            case Equation::heat_2:
                return {ReactionKind::heat_2, -1};
            case Equation::linear:
            case Equation::mixture:
            case Equation::mixture_random:
                break;
        }
        return {};
    }
};

// An equation on a hierarchy: its right-hand side, its map, and where the iteration begins.
class PosedFixedPoint {
  public:
    // Takes problem.rhs from f of the finest level, which the map may overwrite. The hierarchy must outlive
    // this object.
    PosedFixedPoint(Hierarchy& hierarchy, const GridSetup& grids, const FixedPointOptions& equation);

    GridSystem& vectors() { return vectors_; }
    Field u() const { return u_; }
    Field f() const { return f_; }
    FixedPoint& map() const { return *map_; }
    const char* norm_of(const AndersonOptions& options) const;  // the one compared with the tolerance

    // u is where every solve begins. Local.
    void begin();
    // From there, by full multigrid first where multigrid.cycle says so. Collective.
    AndersonReport solve(Anderson& anderson);

  private:
    Level& top_;
    bool from_full_multigrid_;
    GridSystem vectors_;
    Field u_, f_;
    std::unique_ptr<FixedPoint> map_;
};

// The use that the mode of a deck makes of its grids, for a program that poses its equations to another
// library.
GridUse use_of_fixed_point(const Deck& deck);

// As HierarchyMode has them.
void measure_fixed_point(const Setting& setting, Findings& findings);
Prediction predict_fixed_point(const PreparedGrids& prepared, const std::vector<SchemeTable>& tables,
                               const Communicator& comm, const SharedMemory& memory);

// anderson.orthogonalisation = all: no fixed point, but windows of columns by all methods are timed. Columns
// are no more than rows. The first function makes all vectors. Adds predicted seconds to a dry run. The last
// two are collective.
constexpr const char* all_orthogonalisers = "all";
void make_orthogonalisers(const PreparedGrids& prepared, Hierarchy& hierarchy);
void check_orthogonalisers(Rules& rules, int ranks);
void add_orthogonalisers(const PreparedGrids& prepared, const Communicator& comm, DryRun& dry);
void measure_orthogonalisers(const Setting& setting, Findings& findings);

}  // namespace keel
