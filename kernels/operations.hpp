#pragma once

// The seam between algorithms and backends: the vocabulary of multigrid and Krylov methods, one virtual call
// per operation on all of this rank's boxes of one level, never per cell. Nothing here communicates: sums and
// maxima are this rank's, and ghost cells are what the last exchange left. Nothing here promises that a
// field's memory can be read by the host. Operations work on fields of one precision, the one that they make, and on the
// cells of the boxes; `combine`, `multiply`, `divide`, `square_root` and `apply` also on the ghost layers that their result asks for (Field::with_ghosts): redundantly, as other boxes do.

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/bodies/boundary.hpp"
#include "kernels/bodies/bricks.hpp"
#include "kernels/bodies/pack.hpp"
#include "kernels/bodies/powers.hpp"
#include "kernels/bodies/reaction.hpp"
#include "kernels/bodies/sparse.hpp"
#include "kernels/bodies/stencil.hpp"
#include "kernels/bodies/transfer.hpp"
#include "kernels/cost.hpp"
#include "kernels/layout/field.hpp"
#include "kernels/layout/layout.hpp"

namespace keel {

// A pair of fields whose inner product is wanted.
struct Product {
    Field x;
    Field y;
};

// Vectors of a basis from one that is known on, of which the others are made; `before` is the one before it, where the first
// recurrence has three terms.
struct BasisVectors {
    std::span<const Field> v;
    Field before = {};
};
inline constexpr std::size_t most_bases = 2;  // at once

// y = SUM_n c_n x_n
struct Combination {
    Field y;
    std::span<const double> c;
    std::span<const Field> x;
};

// How many inner products `gram` forms of n fields x and m fields y.
constexpr std::size_t gram_pairs(std::size_t n, std::size_t m) {
    return n * (n + 1) / 2 + n * m;
}

// A list in the backend's memory, kept by the operations that made it.
template <class T>
struct Items {
    const T* data = nullptr;
    std::size_t count = 0;
    std::size_t cells = 0;   // of all items together
    std::size_t values = 0;  // of a one-field buffer, up to the last that they reach
};

// Whether messages leave from the backend's memory itself or by way of host memory. Where the backend's memory is the
// host's there is no difference.
enum class Wire { direct, staged };

// A message buffer, kept by the operations that made it; no part of any field. Kernels use `data`, in the backend's
// memory; messages are sent from and received into `wire`, which is `data` itself or pinned host memory.
struct Buffer {
    void* data = nullptr;
    void* wire = nullptr;
    std::size_t values = 0;
    Precision precision = Precision::fp64;
};

// A grid function given by a formula: the value at a cell (or face) by its global index.
using Formula = std::function<double(const Index&)>;

class Operations {
  public:
    virtual ~Operations() = default;
    virtual const Layout& layout() const = 0;

    // --- Memory. Everything made here lives as long as this object.
    virtual Field make_field() = 0;  // zero everywhere, ghosts included
    virtual Buffer make_buffer(std::size_t values, Wire wire) = 0;
    virtual Items<BlockCopy> make_items(std::span<const BlockCopy>) = 0;
    // Copies into ghosts, without those whose target lies in that of another, where boxes have ghosts in common.
    virtual Items<BlockCopy> make_targets(std::span<const BlockCopy>) = 0;
    virtual Items<BoundaryItem> make_items(std::span<const BoundaryItem>) = 0;
    // u = formula on these cells (ghosts or not) of every local box. Set-up only: the formula runs on the host.
    virtual void assign(Field u, const Region& cells, const Formula& formula) = 0;
    // These cells of all local boxes: box by box, x fastest.
    virtual std::vector<double> read(Field u, const Region& cells) const = 0;
    // Returns when all operations begun so far are done: a device may run behind the host.
    virtual void wait() const = 0;

    // --- Vectors
    virtual Work fill(Field y, double value) = 0;  // ghosts included
    // y = SUM_n c_n x_n, any number of terms; y may be among the x
    virtual Work combine(Field y, std::span<const double> c, std::span<const Field> x) = 0;
    // The same one after the other, on the cells of the boxes; a y may be among the x of those after it. The same values,
    // and where a backend takes them row by row each x is read once.
    virtual Work combine_all(std::span<const Combination> combinations) = 0;
    virtual Work multiply(Field z, Field x, Field y) = 0;  // z = x y, cell by cell
    virtual Work divide(Field z, Field x, Field y) = 0;    // z = x / y, cell by cell
    virtual Work square_root(Field y, Field x) = 0;        // y = sqrt(x), cell by cell
    virtual Work shift(Field y, double amount) = 0;        // y += amount
    // y = x on the cells of one column of the bricks, 0 on the others
    virtual Work take_column(Field y, Field x, const Bricks& bricks, int column) = 0;
    // sums[n * local boxes + q] = the n-th inner product over local box q, one pass for all of them. The order of
    // summation is fixed, whatever the number of threads.
    virtual Work dots(std::span<const Product> products, std::span<double> sums) = 0;
    // The inner products of every x with itself, the x after it and every y, row by row: the upper triangle of
    // X^T X with X^T Y beside it. Sums as in `dots`, for the n (n + 1) / 2 + n m pairs of n fields x and m fields y.
    virtual Work gram(std::span<const Field> x, std::span<const Field> y, std::span<double> sums) = 0;
    // The same to twice a double's precision, for many times the flops: of each pair the high parts, then the low ones.
    virtual Work accurate_gram(std::span<const Field> x, std::span<const Field> y,
                               std::span<double> sums) = 0;
    virtual Work totals(Field x, std::span<double> sums) = 0;  // SUM of x over each local box
    // max |x|; +infinity where any value is not finite
    virtual Work max_norm(Field x, double& norm) = 0;

    // --- The operator (ghosts of u current), on the cells that L.part selects; some look at L.colour as well
    virtual Work apply(Field out, const Stencil& L,
                       Field u) = 0;  // u has a ghost layer more than `out` asks for
    // The next vectors of some Krylov bases, one for each of N recurrences; a basis may end before. The n-th (from 0) is also
    // made on N - 1 - n ghost layers, redundantly: that wants N of the first vectors and of A.s, N - 1 of the vectors before
    // those and of the coefficients, all 26 neighbours'. On all cells, whatever L.part. The same values as N times `apply`,
    // `multiply` for each scaling, and `combine`.
    virtual Work powers(std::span<const BasisVectors> bases, const ScaledStencil& A,
                        std::span<const ThreeTerms> recurrences) = 0;
    virtual Work residual(Field r, const Stencil& L, Field u, Field f) = 0;  // r = f - L u
    virtual Work residual_norm(const Stencil& L, Field u, Field f,
                               double& norm) = 0;  // max |f - L u|, of L.colour
    // A half sweep of Gauss-Seidel: u += relaxation (u of Gauss-Seidel - u); 1: not over-relaxed.
    virtual Work relax(Field u, const Stencil& L, Field f, Colour colour, double relaxation) = 0;
    // N half sweeps. The n-th (from 0) also relaxes N - 1 - n ghost layers, redundantly, as
    // the boxes there do: it wants ghosts of u N layers deep, of f and the coefficients N - 1, all 26 neighbours'. The
    // interior is what they make of what is there without ghosts, a layer less each; it comes first if L.part is not all. The same
    // values as N half sweeps with an exchange before each. Zeros it neither reads nor wants there.
    virtual Work relax(Field u, const Stencil& L, Field f, const HalfSweeps& sweeps) = 0;
    // The same and, in the same pass where a backend can, what a leg of a cycle ends with, of u as it is then: the restricted
    // residual, or the norm of the residual, of the cells that are unsolved() then, which each part has its share of. Ghosts of u
    // and f and the coefficients are wanted one layer deeper. The same values as after an exchange.
    virtual Work relax_and_restrict(Field coarse, Field u, const Stencil& L, Field f,
                                    const HalfSweeps& sweeps) = 0;
    virtual Work relax_and_measure(double& norm, Field u, const Stencil& L, Field f,
                                   const HalfSweeps& sweeps) = 0;
    // p = a p + b D^-1 (f - L u)
    virtual Work polynomial_step(Field p, double a, double b, const Stencil& L, Field u, Field f) = 0;

    // --- The nonlinear operator L u + phi(u)
    // y = x + scale phi(u), cell by cell; y may be x or u
    virtual Work add_reaction(Field y, Field x, double scale, const Reaction& phi, Field u) = 0;
    // A half sweep of nonlinear Gauss-Seidel for L u + phi(u) = f (RelaxNewton), ghosts of u current, on L.part.
    virtual Work relax_newton(Field u, const Stencil& L, const Reaction& phi, Field f, Colour colour) = 0;

    // --- The blocks of the operator that the boxes are (kernels/bodies/block_solve.hpp), without the coupling
    // between boxes. Factors them, IC(0) or exactly, into a field or a buffer of exact_block_values().
    // Set-up; the result is the most that a pivot is smaller than its diagonal entry, +infinity where one
    // is not positive: there is no factor then.
    virtual double factor_incompletely(Field inverse, const Stencil& L) = 0;
    virtual double factor_exactly(Buffer factors, const Stencil& L) = 0;
    virtual std::size_t exact_block_values()
        const = 0;  // w^5 + w^3 a box of width w, w^3 + w^2 in two dimensions
    // z = M^-1 r by such factors; z and r differ.
    virtual Work solve_incompletely(Field z, const Stencil& L, Field inverse, Field r) = 0;
    virtual Work solve_exactly(Field z, Buffer factors, Field r) = 0;

    // --- To and from the next coarser level, whose fields are named coarse
    virtual Work restrict_to(Field coarse, Field fine) = 0;
    virtual Work restrict_residual(Field coarse, const Stencil& L, Field u, Field f) = 0;  // of L.colour
    // fine += what is interpolated, of all cells or those of one colour; linear interpolation reads all 26 ghosts of coarse.
    virtual Work interpolate_add(Field fine, Field coarse, Interpolation interpolation,
                                 std::optional<Colour> colour) = 0;
    virtual Work interpolate_quartic_add(Field fine,
                                         Field coarse) = 0;  // of all cells, two layers of ghosts current

    // --- To and from fields of the other precision than these operations work in, with the ghost layers that a result asks for
    virtual Work convert(Field to, Field from, double scale) = 0;    // to = scale from
    virtual Work add_converted(Field u, double scale, Field e) = 0;  // u += scale e

    // --- Sparse matrices, on a layout of blocks of rows (kernels/bodies/sparse.hpp)
    virtual SparseRows make_rows(const CsrMatrix& A) = 0;
    // y_n = A x_n; no y is among the x, whose ghosts are current
    virtual Work apply(std::span<const Field> y, const SparseRows& A, std::span<const Field> x) = 0;
    // A sweep of Gauss-Seidel for A x = b over this rank's rows (SweepRows), ghosts of x current.
    virtual Work sweep(Field x, const SparseRows& A, Field b, bool backward) = 0;

    // --- Setting up an operator
    virtual void restrict_faces(Field coarse, Field fine, int direction, double scale) = 0;
    virtual void complete_diagonal(const Stencil& L) = 0;  // a alpha becomes 1 / D
    virtual double jacobi_bound(const Stencil& L) = 0;     // of that of D^-1 L

    // --- Ghost cells and messages. A span of fields travels together.
    virtual Work fill_boundary(Field u, Items<BoundaryItem> ghosts, const MirrorFactors& factor) = 0;
    // Returns when buffer.wire may be sent. If `colour` is given, only cells of that colour are packed; the copies
    // that unpack them are given the same.
    virtual Work pack(Buffer buffer, Items<BlockCopy> copies, std::span<const Field> u,
                      std::optional<Colour> colour) = 0;
    // buffer.wire may be received into again as soon as these operations have packed something else.
    virtual Work unpack(std::span<const Field> u, Items<BlockCopy> copies, Buffer buffer,
                        std::optional<Colour> colour) = 0;
    // If `colour` is given, only cells that have it in the box that they are copied to.
    virtual Work copy_cells(std::span<const Field> u, Items<BlockCopy> copies,
                            std::optional<Colour> colour) = 0;
    // Messages received are forwarded: from.data to to.data. Returns when to.data may be sent.
    virtual Work forward(Buffer to, Items<BlockCopy> copies, Buffer from, std::size_t fields) = 0;

    // --- Shorthands
    Work axpby(Field z, double a, Field x, double b, Field y) {  // z = a x + b y
        const std::array c{a, b};
        const std::array terms{x, y};
        return combine(z, c, terms);
    }
    Work copy(Field y, Field x) { return scale(y, 1.0, x); }
    Work scale(Field y, double a, Field x) {  // y = a x
        return combine(y, std::span(&a, 1), std::span(&x, 1));
    }
};

}  // namespace keel
