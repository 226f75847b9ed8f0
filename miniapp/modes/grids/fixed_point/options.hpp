#pragma once

// The keys of run.mode = fixed_point and orthogonalise beside those of all modes of grids.

#include <array>

#include "kernels/bodies/reaction.hpp"
#include "kernels/names.hpp"
#include "solvers/anderson/anderson.hpp"

namespace keel {

// L u + phi(u) = f, with a phi and an f of its own or f by problem.rhs; or the means of a mixture.
enum class Equation { bratu, heat_1, heat_2, linear, exponential, cubic, sinh, mixture };
constexpr auto names_of(Equation) {
    using Name = Named<Equation>;
    return std::array{Name{Equation::bratu, "bratu"},
                      Name{Equation::heat_1, "heat_1"},
                      Name{Equation::heat_2, "heat_2"},
                      Name{Equation::linear, "linear"},
                      Name{Equation::exponential, "exponential"},
                      Name{Equation::cubic, "cubic"},
                      Name{Equation::sinh, "sinh"},
                      Name{Equation::mixture, "mixture"}};
}

// G: L^-1 of the rest, by V-cycles to a tolerance, or one cycle.
enum class MapKind { solve, cycle };
constexpr auto names_of(MapKind) {
    using Name = Named<MapKind>;
    return std::array{Name{MapKind::solve, "solve"}, Name{MapKind::cycle, "cycle"}};
}

struct FixedPointOptions {
    Equation equation = Equation::bratu;
    double kappa = 1;
    MapKind map = MapKind::solve;

    bool is_heat() const { return equation == Equation::heat_1 || equation == Equation::heat_2; }
    bool is_linear() const { return equation == Equation::linear; }
    bool is_mixture() const { return equation == Equation::mixture; }
    // Full approximation: the cycle of a nonlinear equation.
    bool by_fas() const { return map == MapKind::cycle && !is_linear() && !is_mixture(); }
    bool has_rhs() const { return !is_heat() && !is_mixture() && equation != Equation::bratu; }
    Reaction phi() const {
        switch (equation) {
            case Equation::bratu:
                return {ReactionKind::exponential, -kappa};
            case Equation::heat_1:
                return {ReactionKind::heat_1, -1};
            case Equation::heat_2:
                return {ReactionKind::heat_2, -1};
            case Equation::exponential:
                return {ReactionKind::exponential, kappa};
            case Equation::cubic:
                return {ReactionKind::cubic, kappa};
            case Equation::sinh:
                return {ReactionKind::sinh, kappa};
            case Equation::linear:
            case Equation::mixture:
                break;
        }
        return {};
    }
};

}  // namespace keel
