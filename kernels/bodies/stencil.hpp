#pragma once

// The operator L u = a alpha u - b div(beta grad u), cell-centred finite volumes on 2 D + 1 points in D
// dimensions, as the bodies of one cell. With the face coefficients
//     c_f = w_f b beta_f / h^2,   w_f = 1 inside the domain and on periodic faces,
//                                 w_f = 2 on a Dirichlet face (u = 0 half a cell away), 0 on a Neumann face,
// and D_i = a alpha_i + SUM_f c_f it reads
//     (L u)_i = D_i u_i - SUM_f c_f u_neighbour(f).
// The boundary condition is in c and D alone: ghost cells outside the domain hold 0 and are never written.
// The field holds 1 / D, which Gauss-Seidel multiplies by; to divide for D costs less than to read another
// field.

#include <optional>
#include <span>

#include "kernels/cost.hpp"
#include "kernels/layout/field.hpp"
#include "kernels/layout/half.hpp"

namespace keel {

// The cells of a box that an operation works on: all, those that neither read ghosts nor are sent to others,
// or the rest. The interior can be worked on while an exchange is in flight, and the shell after it.
enum class Part { all, interior, shell };

// Red cells have an even sum of global indices.
enum class Colour { red = 0, black = 1 };

constexpr Colour other(Colour colour) {
    return colour == Colour::red ? Colour::black : Colour::red;
}

// The guess in u before it is smoothed: its values; zeros, ghosts included, whatever u holds; or its values
// and, where half sweeps keep ghosts, current ones.
enum class Guess { any, zero, with_ghosts };

// Whether half sweeps find current ghosts, or keep them current: before the first one, unless the guess has
// them, and behind each one values are copied between the boxes of the rank, which has all of them.
enum class Ghosts { current, kept };

// Half sweeps of Gauss-Seidel, one for each colour in turn.
struct HalfSweeps {
    std::span<const Colour> colours;
    double relaxation = 1.0;  // 1: not over-relaxed
    Guess guess = Guess::any;
    Ghosts ghosts = Ghosts::current;

    int count() const { return static_cast<int>(colours.size()); }
    // The cells whose old values count: those that the first half sweep reads or, over-relaxed, all.
    std::optional<Colour> read() const {
        if (colours.empty() || relaxation != 1.0) return std::nullopt;
        return other(colours.front());
    }
    // The cells whose residual stays above rounding: those not of the last colour or, over-relaxed, all.
    std::optional<Colour> unsolved() const {
        if (colours.empty() || relaxation != 1.0) return std::nullopt;
        return other(colours.back());
    }
};

// The operator of one level. x(q,i,j,k) is c of the face between cells i-1 and i, i = 0..width; y, z alike.
// There is no z in two dimensions.
struct Stencil {
    Field x, y, z;
    Field inverse_diagonal;  // 1 / D; anything but 0 outside the domain
    Part part = Part::all;   // where it is evaluated
    // The cells whose residual restrict_residual and residual_norm form: that of the other colour counts as
    // zero.
    std::optional<Colour> colour = std::nullopt;

    Stencil on(Part some) const { return {x, y, z, inverse_diagonal, some, colour}; }
    Stencil of(std::optional<Colour> one) const { return {x, y, z, inverse_diagonal, part, one}; }
    const Field& faces(std::size_t direction) const { return direction == 0 ? x : direction == 1 ? y : z; }
    Field& faces(std::size_t direction) { return direction == 0 ? x : direction == 1 ? y : z; }
};

// The operator as a body reads it: values are Reals, faces may have fewer bytes. All fields of a level have
// one shape, so a cell has one place in all of them, which is computed once: with a view for each field a row
// needs more registers than there are.
template <int D, class Real = double, class Face = Real>
class StencilView {
  public:
    // Values that a cell's D faces take to read.
    static constexpr double faces_read = static_cast<double>(D * sizeof(Face)) / sizeof(Real);

    // Cells are counted from the corner of `layers` ghost layers.
    explicit StencilView(const Stencil& A, int layers = 0)
        : shape_(A.x.view<Face>().from_ghost(layers)),
          x_(shape_.origin),
          y_(origin<Face>(A.y, layers)),
          z_(D == 2 ? nullptr : origin<Face>(A.z, layers)),
          inverse_diagonal_(origin<Real>(A.inverse_diagonal, layers)) {}

    constexpr Face& x(int q, int i, int j, int k) const { return faces_at(x_)(q, i, j, k); }
    constexpr Face& y(int q, int i, int j, int k) const { return faces_at(y_)(q, i, j, k); }
    constexpr Face& z(int q, int i, int j, int k) const { return faces_at(z_)(q, i, j, k); }
    constexpr Real& inverse_diagonal(int q, int i, int j, int k) const {
        return of_shape(inverse_diagonal_)(q, i, j, k);
    }
    constexpr Real diagonal(int q, int i, int j, int k) const { return 1 / inverse_diagonal(q, i, j, k); }
    // A view of another field of the level.
    constexpr ViewOf<Real> of_shape(Real* origin) const {
        return {origin, ratio * shape_.odd, ratio * shape_.row, ratio * shape_.plane, ratio * shape_.block};
    }

    // SUM_f c_f u_neighbour(f); u is a view of the level, or what gives the value at a place as a view does.
    // Always inlined: rows that call it are not vectorised.
    template <class Values>
    [[gnu::always_inline]] constexpr Real neighbours(const Values& u, int q, int i, int j, int k) const {
        const ViewOf<Face> x = faces_at(x_), y = faces_at(y_), z = faces_at(z_);
        const std::ptrdiff_t at = shape_.place(q, i, j, k);
        const std::ptrdiff_t west = at + shape_.to_west(i), east = at + shape_.to_east(i);
        const std::ptrdiff_t south = at - shape_.row, north = at + shape_.row;
        const Real in_plane = x[at] * u[ratio * west] + x[east] * u[ratio * east] + y[at] * u[ratio * south] +
                              y[north] * u[ratio * north];
        if constexpr (D == 2) return in_plane;
        const std::ptrdiff_t below = at - shape_.plane, above = at + shape_.plane;
        return in_plane + z[at] * u[ratio * below] + z[above] * u[ratio * above];
    }

    // (L u)_i
    template <class Values>
    constexpr Real operator()(const Values& u, int q, int i, int j, int k) const {
        return u(q, i, j, k) / inverse_diagonal(q, i, j, k) - neighbours(u, q, i, j, k);
    }

    // SUM_f c_f
    constexpr Real faces(int q, int i, int j, int k) const {
        const Real in_plane = x(q, i, j, k) + x(q, i + 1, j, k) + y(q, i, j, k) + y(q, i, j + 1, k);
        if constexpr (D == 2) return in_plane;
        return in_plane + z(q, i, j, k) + z(q, i, j, k + 1);
    }

  private:
    // From the place of a face, in bytes, to that of a value.
    static constexpr std::ptrdiff_t ratio = sizeof(Real) / sizeof(Face);

    template <class Value>
    static Value* origin(const Field& c, int layers) {
        return c.view<Value>().from_ghost(layers).origin;
    }
    constexpr ViewOf<Face> faces_at(Face* origin) const {
        return {origin, shape_.odd, shape_.row, shape_.plane, shape_.block};
    }

    ViewOf<Face> shape_;
    Face *x_, *y_, *z_;
    Real* inverse_diagonal_;
};

// out = L u
template <int D>
struct Apply {
    View out;
    StencilView<D> L;
    View u;

    static constexpr Cost cost{4 * D + 1, D + 2, 1};
    constexpr void operator()(int q, int i, int j, int k) const {
        L.of_shape(out.origin)(q, i, j, k) = L(L.of_shape(u.origin), q, i, j, k);
    }
};

// f - L u, as a value
template <int D, class Real = double, class Face = Real>
struct Residual {
    StencilView<D, Real, Face> L;
    ViewOf<Real> u, f;

    static constexpr Cost cost{4 * D + 2, StencilView<D, Real, Face>::faces_read + 3, 0};
    constexpr Real operator()(int q, int i, int j, int k) const {
        return L.of_shape(f.origin)(q, i, j, k) - L(L.of_shape(u.origin), q, i, j, k);
    }
};

// The same on the cells of one colour, zero on the others, of which f and 1 / D are not read.
template <int D, class Real = double, class Face = Real>
struct ResidualOfColour {
    Residual<D, Real, Face> residual;
    int colour;
    const int* parity;  // parity of each block's first cell

    static constexpr Cost cost{(4 * D + 2) / 2.0, StencilView<D, Real, Face>::faces_read + 2, 0};
    constexpr Real operator()(int q, int i, int j, int k) const {
        return ((i + j + k + parity[q]) & 1) == colour ? residual(q, i, j, k) : Real(0);
    }
};

// r = f - L u
template <int D>
struct StoreResidual {
    View r;
    Residual<D> residual;

    static constexpr Cost cost{4 * D + 2, D + 3, 1};
    constexpr void operator()(int q, int i, int j, int k) const { r(q, i, j, k) = residual(q, i, j, k); }
};

// Gauss-Seidel: u_i = (f_i + SUM_f c_f u_neighbour) / D_i. It needs neither the old value nor alpha. It runs
// on one colour at a time (`one_colour`), whose cells lie by themselves in their rows: an updated cell costs
// its own f, 1 / D and u, u of one neighbour, which other cells read as well, and all its faces, which no
// other cell of its colour has.
template <int D, class Real = double, class Face = Real>
struct Relax {
    ViewOf<Real> u;
    StencilView<D, Real, Face> L;
    ViewOf<Real> f;

    static constexpr bool one_colour = true;
    static constexpr bool repeatable = true;  // twice is as good as once
    static constexpr Cost cost{4 * D + 1, 2 * StencilView<D, Real, Face>::faces_read + 3, 1};
    constexpr Real value(int q, int i, int j, int k) const {
        return (L.of_shape(f.origin)(q, i, j, k) + L.neighbours(L.of_shape(u.origin), q, i, j, k)) *
               L.inverse_diagonal(q, i, j, k);
    }
    // The same where all of u is zero.
    constexpr Real from_zero(int q, int i, int j, int k) const {
        return L.of_shape(f.origin)(q, i, j, k) * L.inverse_diagonal(q, i, j, k);
    }
    constexpr Real& cell(int q, int i, int j, int k) const { return L.of_shape(u.origin)(q, i, j, k); }
    constexpr void operator()(int q, int i, int j, int k) const { cell(q, i, j, k) = value(q, i, j, k); }
};

// SOR: u += relaxation (u_GS - u).
template <int D, class Real = double, class Face = Real>
struct OverRelax {
    Relax<D, Real, Face> relax;
    Real relaxation;

    static constexpr bool one_colour = true;
    static constexpr Cost cost{4 * D + 4, Relax<D, Real, Face>::cost.reads + 1, 1};
    constexpr Real from_zero(int q, int i, int j, int k) const {
        return relaxation * relax.from_zero(q, i, j, k);
    }
    constexpr Real& cell(int q, int i, int j, int k) const { return relax.cell(q, i, j, k); }
    constexpr void operator()(int q, int i, int j, int k) const {
        const Real old = relax.cell(q, i, j, k);
        relax.cell(q, i, j, k) = old + relaxation * (relax.value(q, i, j, k) - old);
    }
};

// The first half sweep from zeros, which are not read: u = f / D, over-relaxed.
template <class HalfSweep>
struct FromZero {
    HalfSweep half_sweep;

    static constexpr bool repeatable = true;
    constexpr auto& cell(int q, int i, int j, int k) const { return half_sweep.cell(q, i, j, k); }
    constexpr void operator()(int q, int i, int j, int k) const {
        cell(q, i, j, k) = half_sweep.from_zero(q, i, j, k);
    }
};

// p = a p + b (f - L u) / D: one step of a polynomial smoother (a = 0: weighted Jacobi).
template <int D, class Real = double, class Face = Real>
struct PolynomialStep {
    ViewOf<Real> p;
    Real a, b;
    Residual<D, Real, Face> residual;

    static constexpr Cost cost{4 * D + 6, Residual<D, Real, Face>::cost.reads + 1, 1};
    constexpr void operator()(int q, int i, int j, int k) const {
        p(q, i, j, k) =
            a * p(q, i, j, k) + b * residual(q, i, j, k) * residual.L.inverse_diagonal(q, i, j, k);
    }
};

// 1 / D. If the whole row is zero (a domain of one cell without boundary values, a = 0), a number so large
// that L u is as good as zero there, and u is zero if f is, as in a solvable problem.
constexpr double inverse_of_diagonal(double diagonal, double faces) {
    return diagonal == 0.0 && faces == 0.0 ? 0x1p1023 : 1.0 / diagonal;
}

// Replaces a alpha by 1 / D.
template <int D>
struct CompleteDiagonal {
    StencilView<D> L;

    static constexpr Cost cost{2 * D + 2, D + 1, 1};
    constexpr void operator()(int q, int i, int j, int k) const {
        double& kept = L.inverse_diagonal(q, i, j, k);
        const double faces = L.faces(q, i, j, k);
        kept = inverse_of_diagonal(kept + faces, faces);
    }
};

// Replaces 1 / D by that of an operator whose faces are rounded: a row keeps its sum, a alpha, without which
// constants are no null space any more.
template <int D, class Real, class Face>
struct RoundDiagonal {
    StencilView<D, Real, Face> rounded;
    StencilView<D, Real> L;

    static constexpr Cost cost{4 * D + 4, D + 1 + StencilView<D, Real, Face>::faces_read, 1};
    constexpr void operator()(int q, int i, int j, int k) const {
        const Real more = rounded.faces(q, i, j, k) - L.faces(q, i, j, k);
        rounded.inverse_diagonal(q, i, j, k) = 1 / (L.diagonal(q, i, j, k) + more);
    }
};

// Gershgorin's bound of the row of D^-1 L: 1 + SUM_f c_f / D_i, at most 2.
template <int D>
struct JacobiBound {
    StencilView<D> L;

    static constexpr Cost cost{2 * D + 2, D + 1, 0};
    constexpr double operator()(int q, int i, int j, int k) const {
        return 1.0 + L.faces(q, i, j, k) * L.inverse_diagonal(q, i, j, k);
    }
};

}  // namespace keel
