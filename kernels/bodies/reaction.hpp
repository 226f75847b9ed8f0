#pragma once

// Nonlinear terms phi(u) that act in each cell alone, of equations L u + phi(u) = f and of fixed points; and
// the bodies that evaluate them and relax with them.

#include <array>
#include <cmath>
#include <limits>

#include "kernels/bodies/stencil.hpp"
#include "kernels/cost.hpp"
#include "kernels/layout/view.hpp"
#include "kernels/names.hpp"

namespace keel {

// kappa e^u (Bratu, kappa < 0), and the two heat sources of Lockhart 2023 (6.14) and (6.15), times kappa:
// u + u e^u + u e^-u + (u - e^u)^2 and 100 (u - u^2).
enum class ReactionKind { exponential, heat_1, heat_2 };
constexpr auto names_of(ReactionKind) {
    return std::array{"exponential", "heat_1", "heat_2"};
}

struct Reaction {
    ReactionKind kind = ReactionKind::exponential;
    double kappa = 0;

    constexpr double operator()(double u) const { return kappa * shape(u); }
    constexpr double slope(double u) const { return kappa * shape_slope(u); }

  private:
    constexpr double shape(double u) const {
        switch (kind) {
            case ReactionKind::exponential:
                return std::exp(u);
            case ReactionKind::heat_1: {
                const double e = std::exp(u);
                return u + u * e + u / e + (u - e) * (u - e);
            }
            case ReactionKind::heat_2:
                return 100 * (u - u * u);
        }
        return 0;
    }
    constexpr double shape_slope(double u) const {
        switch (kind) {
            case ReactionKind::exponential:
                return std::exp(u);
            case ReactionKind::heat_1: {
                const double e = std::exp(u);
                return 1 + (1 + u) * e + (1 - u) / e + 2 * (u - e) * (1 - e);
            }
            case ReactionKind::heat_2:
                return 100 * (1 - 2 * u);
        }
        return 0;
    }
};

// x + scale phi(u). An exponential is taken for 20 flops.
struct AddReaction {
    double scale;
    Reaction phi;

    static constexpr Cost cost{23, 2, 1};
    constexpr double operator()(double x, double u) const { return x + scale * phi(u); }
};

// Nonlinear Gauss-Seidel for L u + phi(u) = f: one step of Newton's method for the equation of the cell. It
// runs on one colour at a time (Relax). If the derivative D + phi'(u) is not positive, the step could go
// anywhere: the cell becomes NaN, which the next norm reports.
template <int D>
struct RelaxNewton {
    View u;
    StencilView<D> L;
    View f;
    Reaction phi;

    static constexpr bool one_colour = true;
    static constexpr Cost cost{4 * D + 46, 2 * D + 4, 1};
    constexpr void operator()(int q, int i, int j, int k) const {
        const double old = u(q, i, j, k);
        const double diagonal = L.diagonal(q, i, j, k);
        const double slope = diagonal + phi.slope(old);
        const double residual = f(q, i, j, k) + L.neighbours(u, q, i, j, k) - diagonal * old - phi(old);
        u(q, i, j, k) = slope > 0 ? old + residual / slope : std::numeric_limits<double>::quiet_NaN();
    }
};

}  // namespace keel
