#pragma once

// The seam between algorithms and backends: the vocabulary of multigrid and Krylov methods, one virtual call
// per operation on all boxes of this rank on one level, never per cell. No operation communicates: sums and
// maxima are of this rank, and ghost cells are those that the last exchange left. The host cannot count on
// reading the memory of a field. The fields of an operation have one precision, the one that the operations
// make. Operations write the cells of the boxes; `combine`, `map` and `apply` also write the ghost layers
// that their result asks for (Field::with_ghosts), redundantly, as other boxes do.

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/bodies/boundary.hpp"
#include "kernels/bodies/pack.hpp"
#include "kernels/bodies/powers.hpp"
#include "kernels/bodies/reaction.hpp"
#include "kernels/bodies/sparse.hpp"
#include "kernels/bodies/stencil.hpp"
#include "kernels/bodies/transfer.hpp"
#include "kernels/bodies/vector.hpp"
#include "kernels/check.hpp"
#include "kernels/cost.hpp"
#include "kernels/layout/field.hpp"
#include "kernels/layout/layout.hpp"
#include "kernels/single_launch.hpp"

namespace keel {

// A pair of fields whose inner product is wanted.
struct Product {
    Field x;
    Field y;
};

// The vectors of a basis: the first is known, the others are made. `before` precedes the first one; the first
// recurrence reads it if that has three terms.
struct BasisVectors {
    std::span<const Field> v;
    Field before = {};
};

// y = SUM_n c_n x_n, any number of terms; y may be among the x
struct Combination {
    Field y;
    std::span<const double> c;
    std::span<const Field> x;
};

// Functions of two numbers that `map` takes cell by cell.
using CellFunction = std::variant<Multiply, Divide, SquareRoot, Shift, Select, AddReaction>;

// The accuracy of sums: of doubles, or of twice the precision of a double for many times the flops.
enum class GramAccuracy { plain, doubled };

// The Gram matrix (Operations::gram, plain sums) of the vectors of some bases, one basis after the other,
// with `y`.
struct GramEnd {
    std::span<const Field> y;
    std::span<double> sums;
    bool made = false;
};

// The end of a pass of half sweeps: nothing, the residual restricted to a coarser level, or the norm of the
// residual.
struct PassEnd {
    std::optional<Field> restricted = std::nullopt;
    double* norm = nullptr;
};

// A list in the memory of the backend, kept by the operations that made it.
template <class T>
struct Items {
    const T* data = nullptr;
    std::size_t count = 0;
    std::size_t cells = 0;   // all items together
    std::size_t values = 0;  // up to the last that items reach in a one-field buffer
};

// Whether messages leave from the memory of the backend itself or by way of host memory. There is no
// difference if the backend works in host memory.
enum class Wire { direct, staged };

// A message buffer, kept by the operations that made it; no part of any field. Kernels use `data`, in the
// memory of the backend; messages are sent from and received into `wire`, which is `data` itself or pinned
// host memory.
struct Buffer {
    void* data = nullptr;
    void* wire = nullptr;
    std::size_t values = 0;
    Precision precision = Precision::fp64;
};

// A buffer that holds values of `fields` fields, in their precision or, rounded, in single precision.
struct Packed {
    Buffer buffer;
    std::size_t fields;
};

// One end of copies: fields that travel together, or a buffer.
using CopyEnd = std::variant<std::span<const Field>, Packed>;

// A converted field replaces what the target holds, or is added to it.
enum class Update { replace, add };

// A grid function given by a formula: the value at a cell (or face) by its global index.
using Formula = std::function<double(const Index&)>;

class Operations {
  public:
    explicit Operations(Layout layout) : layout_(std::move(layout)) {}
    virtual ~Operations() = default;
    const Layout& layout() const { return layout_; }

    // --- Memory. Everything made here lives as long as this object.
    virtual Field make_field() = 0;  // zero everywhere, ghosts included
    virtual Buffer make_buffer(std::size_t values, Wire wire) = 0;
    // Boxes of one block share ghosts: an item is left out if its target in a box lies in that of another.
    virtual Items<BlockCopy> make_items(std::span<const BlockCopy>) = 0;
    virtual Items<BoundaryItem> make_items(std::span<const BoundaryItem>) = 0;
    // u = formula on these cells (ghosts or not) of every local box. Set-up only: the formula runs on the
    // host.
    virtual void assign(Field u, const Region& cells, const Formula& formula) = 0;
    // These cells of all local boxes: box by box, x fastest.
    virtual std::vector<double> read(Field u, const Region& cells) const = 0;
    // Returns when all operations begun before are done: a device may run behind the host.
    virtual void wait() const = 0;

    // --- Vectors
    virtual Work fill(Field y, double value) = 0;  // ghosts included
    // Combinations one after the other; a y may be among the x of those after it. Several write the cells of
    // the boxes alone, so that a backend may read each x once.
    virtual Work combine_all(std::span<const Combination> combinations) = 0;
    // z = function(x, y), cell by cell; z may be x or y
    virtual Work map(Field z, const CellFunction& function, Field x, Field y) = 0;
    // sums[n * local boxes + q] = the n-th inner product over local box q, one pass for all of them. The
    // order of summation is fixed, whatever the number of threads.
    virtual Work dots(std::span<const Product> products, std::span<double> sums) = 0;
    // The inner products of every x with itself, the x after it and every y, row by row: the upper triangle
    // of X^T X with X^T Y beside it. Sums as in `dots`, for the n (n + 1) / 2 + n m pairs of n fields x and m
    // fields y; doubled sums are the high parts of each pair, then the low ones.
    virtual Work gram(std::span<const Field> x, std::span<const Field> y, GramAccuracy accuracy,
                      std::span<double> sums) = 0;
    virtual Work totals(Field x, std::span<double> sums) = 0;  // SUM of x over each local box
    // max |x|; +infinity if any value is not finite
    virtual Work max_norm(Field x, double& norm) = 0;

    // --- The operator (ghosts of u current), on the cells that L.part selects; some look at L.colour as well
    // out = L u; u has a ghost layer more than `out` asks for
    virtual Work apply(Field out, const Stencil& L, Field u) = 0;
    // The next vectors of some Krylov bases, one for each of N recurrences; a basis may end before. The n-th
    // (from 0) is also made on N - 1 - n ghost layers, redundantly. Needs all 26 neighbours' ghosts: N layers
    // of the first vectors and of A.s, N - 1 of the vectors before those and of the coefficients. On all
    // cells, whatever L.part. The same values as N times `apply`, `multiply` for each scaling, and `combine`.
    // If `end` is given, a backend whose pass can end with it forms that Gram matrix, and says so.
    virtual Work powers(std::span<const BasisVectors> bases, const ScaledStencil& A,
                        std::span<const ThreeTerms> recurrences, GramEnd* end) = 0;
    virtual Work residual(Field r, const Stencil& L, Field u, Field f) = 0;  // r = f - L u
    // max |f - L u|, of L.colour
    virtual Work residual_norm(const Stencil& L, Field u, Field f, double& norm) = 0;
    // N half sweeps of Gauss-Seidel, u += relaxation (u_GS - u), and the end of the pass. The n-th half sweep
    // (from 0) also relaxes N - 1 - n ghost layers, redundantly, as the boxes there do. Needs all 26
    // neighbours' ghosts: N layers of u, N - 1 of f and the coefficients; one layer more if the pass ends
    // with a residual. L.part = interior relaxes, one layer less each time, what needs no ghosts; the shell
    // comes after it. A pass from zeros neither reads u nor needs its ghosts. The residual is that of the
    // cells in sweeps.unsolved(), and each part makes its share of it. The same values as N half sweeps with
    // an exchange before each, and before the end.
    virtual Work smooth(Field u, const Stencil& L, Field f, const HalfSweeps& sweeps, const PassEnd& end) = 0;
    // Whether half sweeps can keep these ghosts (Ghosts::kept), all that an exchange fills; set-up only.
    virtual bool keep_ghosts(Items<BlockCopy>) { return false; }
    // p = a p + b D^-1 (f - L u)
    virtual Work polynomial_step(Field p, double a, double b, const Stencil& L, Field u, Field f) = 0;
    // A half sweep of nonlinear Gauss-Seidel for L u + phi(u) = f (RelaxNewton), ghosts of u current, on
    // L.part.
    virtual Work relax_newton(Field u, const Stencil& L, const Reaction& phi, Field f, Colour colour) = 0;

    // --- Block Jacobi: each box is a block of the operator, without the coupling between boxes.
    // The inverse pivots of the blocks' IC(0); set-up. Returns the largest ratio of a diagonal entry to its
    // pivot, +infinity if a pivot is not positive: no factor exists then.
    virtual double factor_blocks(Field inverse, const Stencil& L) = 0;
    // z = M^-1 r by these pivots; z is not r
    virtual Work solve_blocks(Field z, Field inverse, const Stencil& L, Field r) = 0;

    // --- To and from the next coarser level, whose fields are named coarse
    virtual Work restrict_to(Field coarse, Field fine) = 0;
    virtual Work restrict_residual(Field coarse, const Stencil& L, Field u, Field f) = 0;  // L.colour only
    // fine += interpolated coarse, on all cells or those of one colour. Linear interpolation reads all 26
    // ghosts of coarse.
    virtual Work interpolate_add(Field fine, Field coarse, Interpolation interpolation,
                                 std::optional<Colour> colour) = 0;
    // to = scale from, or to += scale from, of another precision, also on the ghost layers that `to` asks
    // for.
    virtual Work convert(Field to, Field from, double scale, Update update) = 0;

    // --- Sparse matrices, on a layout of blocks of rows (kernels/bodies/sparse.hpp)
    virtual SparseRows make_rows(const CsrMatrix& A) = 0;
    // y_n = A x_n; no y is among the x, whose ghosts are current
    virtual Work apply(std::span<const Field> y, const SparseRows& A, std::span<const Field> x) = 0;
    // A sweep of Gauss-Seidel for A x = b over this rank's rows (SweepRows), ghosts of x current.
    virtual Work sweep(Field x, const SparseRows& A, Field b, bool backward) = 0;

    // --- Setting up an operator
    virtual void restrict_faces(Field coarse, Field fine, int direction, double scale) = 0;
    // Replaces a alpha by 1 / D. Returns Gershgorin's bound of the eigenvalues of D^-1 L over this rank's
    // rows.
    virtual double complete_diagonal(const Stencil& L) = 0;
    // Rounds the faces of L, on these ghost layers, and 1 / D with them, on one less. Faces that are not yet
    // there are made.
    virtual void round_faces(Stencil& /*rounded*/, const Stencil& /*L*/, int /*layers*/) {
        check(false, "these operations have faces with fewer bytes than values");
    }

    // --- Ghost cells and messages. A span of fields travels together.
    virtual Work fill_boundary(Field u, Items<BoundaryItem> ghosts, const MirrorFactors& factor) = 0;
    // Packs a message, unpacks one, forwards one from buffer to buffer, or copies between boxes. If `colour`
    // is given, only cells that have it in the box that they go to, or come from if they go to a buffer; the
    // copies that unpack a message are given the same. Returns when a buffer that was written may be sent;
    // one that was read may be received into again as soon as these operations have packed another message.
    virtual Work copy_blocks(const CopyEnd& to, Items<BlockCopy> copies, const CopyEnd& from,
                             std::optional<Colour> colour) = 0;

    // --- One launch of another room's kernel, where a device has it and this rank the whole level
    // Makes room for such launches, with these copies as the exchange. False: there are none.
    virtual bool prepare_single_launch(const LaunchNeeds&, Items<BlockCopy> /*ghosts*/) { return false; }
    // Operations may follow at once, on its fields, too; finish_single_launch() delivers the values of its
    // result, before the next such launch begins. It waits for the device unless something has since.
    virtual Work begin_single_launch(const MakeBlockKernel&) {
        check(false, "a single launch was prepared");
        return {};
    }
    virtual Work finish_single_launch(std::vector<double>& /*values*/) { return {}; }

    // --- Shorthands
    Work combine(Field y, std::span<const double> c, std::span<const Field> x) {
        const Combination one{y, c, x};
        return combine_all(std::span(&one, 1));
    }
    Work axpby(Field z, double a, Field x, double b, Field y) {  // z = a x + b y
        const std::array c{a, b};
        const std::array terms{x, y};
        return combine(z, c, terms);
    }
    Work copy(Field y, Field x) { return scale(y, 1.0, x); }
    Work scale(Field y, double a, Field x) {  // y = a x
        return combine(y, std::span(&a, 1), std::span(&x, 1));
    }
    Work multiply(Field z, Field x, Field y) { return map(z, Multiply{}, x, y); }  // z = x y
    Work divide(Field z, Field x, Field y) { return map(z, Divide{}, x, y); }      // z = x / y
    Work square_root(Field y, Field x) { return map(y, SquareRoot{}, x, x); }      // y = sqrt(x)
    Work shift(Field y, double amount) { return map(y, Shift{amount}, y, y); }     // y += amount
    // y = x + scale phi(u)
    Work add_reaction(Field y, Field x, double scale, const Reaction& phi, Field u) {
        return map(y, AddReaction{scale, phi}, x, u);
    }
    Work relax(Field u, const Stencil& L, Field f, Colour colour, double relaxation) {  // one half sweep
        return smooth(u, L, f, {std::span(&colour, 1), relaxation}, {});
    }
    Work relax(Field u, const Stencil& L, Field f, const HalfSweeps& sweeps) {
        return smooth(u, L, f, sweeps, {});
    }

  private:
    Layout layout_;
};

}  // namespace keel
