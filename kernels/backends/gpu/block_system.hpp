#pragma once

// The vocabulary of Krylov methods (solvers/systems/linear_system.hpp) for one block of threads that has a
// whole level. Vectors are fields in the device's memory. Each thread keeps to its own cells, so that only
// ghosts, neighbours and sums want barriers; scalars are computed by all threads alike.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "kernels/backends/gpu/runtime.hpp"
#include "kernels/bodies/diagonal_scaling.hpp"
#include "kernels/bodies/norms.hpp"
#include "kernels/bodies/stencil.hpp"
#include "kernels/bodies/vector.hpp"
#include "kernels/single_launch.hpp"

namespace keel {
namespace {

constexpr int most_block_threads = 2 * threads_per_block;
constexpr int summed_at_once = 5;  // by any body
constexpr int sum_groups = 16;
constexpr int values_shared = summed_at_once * (most_block_threads + sum_groups);

// For the bodies, which are constexpr, these functions are compiled for the host as well, where nothing calls
// them.
#define KEEL_BODY __host__ __device__
// The same for functions that the bodies call so often that each would be most of the kernel.
#define KEEL_CALLED KEEL_NOINLINE __host__ __device__

KEEL_BODY inline void block_barrier() {
    KEEL_ON_DEVICE(__syncthreads();)
}

// Krylov methods are for doubles alone.
template <int D, class Real = double, class Face = Real>
class BlockSystem {
  public:
    using Vector = Real*;  // cell (0,0,0) of block 0
    struct Product {
        Vector x, y;
    };
    struct Sums {
        double value[summed_at_once];

        KEEL_BODY void finish(std::span<double> results) const {
            for (std::size_t n = 0; n < results.size(); ++n) results[n] = value[n];
        }
    };

    // scaled: a vector for the operator's scaled operand. shared: values_shared values.
    KEEL_BODY BlockSystem(const LevelOfBlock& level, const StencilView<D, Real, Face>& L,
                          DiagonalScaling scaling, Vector scale, double unit_of_diagonal, Vector scaled,
                          double* shared, int thread, int threads)
        : level_(level),
          L_(L),
          scaling_(scaling),
          scale_(scale),
          unit_(unit_of_diagonal),
          scaled_(scaled),
          shared_(shared),
          thread_(thread),
          threads_(threads) {}

    KEEL_BODY const Counts& counts() const { return counts_; }
    KEEL_BODY const Cost& cost() const { return cost_; }

    // y = A x
    KEEL_CALLED void apply(Vector y, Vector x) {
        const bool symmetric = scaling_ == DiagonalScaling::symmetric;
        const Vector operand = scaling_ == DiagonalScaling::none ? x : scaled_;
        if (operand != x) multiply(operand, scale_, x);
        fill_ghosts(operand);
        const View u = L_.of_shape(operand);
        for_each_cell([&](int q, int i, int j, int k) {
            const double Lu = L_(u, q, i, j, k);
            L_.of_shape(y)(q, i, j, k) = symmetric ? L_.of_shape(scale_)(q, i, j, k) * Lu : Lu;
        });
        ++counts_.applications;
        spend<Apply<D>>();
        if (symmetric) spend<Multiply>();
        block_barrier();  // the operand may be written now
    }
    KEEL_BODY void residual(Vector r, Vector b, Vector x) {
        apply(r, x);
        axpby(r, 1, b, -1, r);
    }
    // An exchange: the copies between the boxes of the rank. Before and after it all threads are at one.
    KEEL_BODY void fill_ghosts(Vector x) {
        block_barrier();
        const ViewOf<Real> u = L_.of_shape(x);
        for (std::int64_t n = thread_; n < level_.ghosts; n += threads_) {
            const auto& [to, from] = level_.ghost[n];
            u(to.block, to.i, to.j, to.k) = u(from.block, from.i, from.j, from.k);
        }
        block_barrier();
        ++counts_.exchanges;
    }
    // A half sweep of Gauss-Seidel (SOR).
    KEEL_BODY void relax(Vector u, Vector f, int colour, const int* parity, double relaxation) {
        fill_ghosts(u);
        const Relax<D, Real, Face> body{L_.of_shape(u), L_, L_.of_shape(f)};
        const OverRelax<D, Real, Face> over{body, static_cast<Real>(relaxation)};
        for_each_cell([&](int q, int i, int j, int k) {
            if (((i + j + k + parity[q]) & 1) != colour) return;
            if (relaxation == 1.0)
                body(q, i, j, k);
            else
                over(q, i, j, k);
        });
        block_barrier();
        if (relaxation == 1.0)
            spend<Relax<D, Real, Face>>(0.5);
        else
            spend<OverRelax<D, Real, Face>>(0.5);
    }

    template <std::size_t N>
    KEEL_BODY void combine(Vector y, const double (&c)[N], const Vector (&x)[N]) {
        Combine<N> body{L_.of_shape(y), {}, {}};
        for (std::size_t n = 0; n < N; ++n) {
            body.c[n] = c[n];
            body.x[n] = L_.of_shape(x[n]);
        }
        for_each_cell(body);
        spend<Combine<N>>();
    }
    KEEL_BODY void axpby(Vector z, double a, Vector x, double b, Vector y) { combine(z, {a, b}, {x, y}); }
    KEEL_BODY void copy(Vector y, Vector x) { combine(y, {1.0}, {x}); }
    KEEL_BODY void multiply(Vector z, Vector x, Vector y) { map(z, Multiply{}, x, y); }
    KEEL_BODY void fill(Vector y, Real value) {
        for_each_cell([&](int q, int i, int j, int k) { L_.of_shape(y)(q, i, j, k) = value; });
    }

    template <std::size_t N>
    KEEL_BODY std::array<double, N> dots(const Product (&products)[N]) {
        std::array<double, N> results{};
        begin_dots(std::span<const Product>(products, N)).finish(std::span<double>(results.data(), N));
        return results;
    }
    KEEL_BODY double dot(Vector x, Vector y) { return dots<1>({{x, y}})[0]; }
    KEEL_CALLED Sums begin_dots(std::span<const Product> products) {
        const int count = static_cast<int>(products.size());
        const auto sum = [&](int n) {
            double mine = 0.0;
            const Product& product = products[static_cast<std::size_t>(n)];
            const InnerProduct body{L_.of_shape(product.x), L_.of_shape(product.y)};
            for_each_cell([&](int q, int i, int j, int k) { mine += body(q, i, j, k); });
            return mine;
        };
        cost_.flops += 2.0 * count;
        cost_.reads += 2.0 * count;
        return reduced(count, sum, [](double a, double b) { return a + b; });
    }
    // max|x|; +infinity where a value is not finite
    KEEL_CALLED double max_norm(Vector x) {
        const auto larger = [](double a, double b) { return a < b ? b : a; };
        const auto largest = [&](int) {
            double mine = 0.0;
            for_each_cell([&](int q, int i, int j, int k) {
                const double v = L_.of_shape(x)(q, i, j, k);
                mine = larger(mine, std::isfinite(v) ? std::abs(v) : HUGE_VAL);
            });
            return mine;
        };
        spend<Value>();
        return reduced(1, largest, larger).value[0];
    }
    KEEL_BODY double unit(Vector x) { return bodies::unit(*this, x); }
    KEEL_BODY double norm(Vector x) { return bodies::norm(*this, x, 1.0); }
    // (D^-1/2 r, D D^-1/2 r) = (r,r)
    KEEL_CALLED Squares squares(Vector r) {
        if (scaling_ != DiagonalScaling::symmetric) return {dot(r, r), {}};
        const Vector Dr = scaled_;
        map(Dr, Divide{}, r, &L_.inverse_diagonal(0, 0, 0, 0));
        if (unit_ != 1.0) combine(Dr, {unit_}, {Dr});
        const auto [own, unscaled] = dots({{r, r}, {r, Dr}});
        return {own, unscaled};
    }

  private:
    template <class Action>
    KEEL_BODY void for_each_cell(const Action& action) const {
        for (std::int64_t n = thread_; n < level_.cells; n += threads_) {
            const CellPlace& cell = level_.cell[n];
            action(cell.block, cell.i, cell.j, cell.k);
        }
    }
    template <class Function>
    KEEL_BODY void map(Vector z, const Function& function, Vector x, Vector y) {
        for_each_cell(MapCells<Function>{L_.of_shape(z), L_.of_shape(x), L_.of_shape(y), function});
        spend<Function>();
    }
    // An all-reduce of some words: term(n), this thread's part of each, is joined over the threads in a fixed
    // order. The threads join in two steps; all of them take the second one.
    template <class Term, class Join>
    KEEL_BODY Sums reduced(int count, const Term& term, const Join& join) {
        double* const partial = shared_ + summed_at_once * most_block_threads;
        for (int n = 0; n < count; ++n) shared_[n * threads_ + thread_] = term(n);
        block_barrier();
        for (int m = thread_; m < count * sum_groups; m += threads_) {
            const double* const own = shared_ + m / sum_groups * threads_ + m % sum_groups;
            double joined = own[0];
            for (int t = sum_groups; t < threads_; t += sum_groups) joined = join(joined, own[t]);
            partial[m] = joined;
        }
        block_barrier();
        Sums sums{};
        for (int n = 0; n < count; ++n) {
            double joined = partial[n * sum_groups];
            for (int g = 1; g < sum_groups; ++g) joined = join(joined, partial[n * sum_groups + g]);
            sums.value[n] = joined;
        }
        ++counts_.reductions;
        counts_.words += count;
        return sums;
    }
    // The work of a body on so large a part of the cells.
    template <class Body>
    KEEL_BODY void spend(double part = 1.0) {
        cost_.flops += part * Body::cost.flops;
        cost_.reads += part * Body::cost.reads;
        cost_.writes += part * Body::cost.writes;
    }

    LevelOfBlock level_;
    StencilView<D, Real, Face> L_;
    DiagonalScaling scaling_;
    Vector scale_;
    double unit_;
    Vector scaled_;
    double* shared_;
    int thread_, threads_;
    Counts counts_;
    Cost cost_;
};

}  // namespace
}  // namespace keel
