// The blocks that the boxes are, factored and solved with, in two dimensions and in three, against products
// with the block written here: nothing beyond a box takes part.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <vector>

#include "tests/chosen_backend.hpp"

using namespace keel;
using keel::test::chosen_backend;
using keel::test::HostField;

namespace {

// Some number that depends on a cell and on which field it is for.
double block_noise(int field, const Index& c) {
    return std::sin(1.3 * c[0] + 2.1 * c[1] * c[1] + 0.7 * c[2] * (c[0] + 1) + 5.0 * field) + 0.1 * field;
}

// Two boxes side by side, alone or in a block, every value known, beyond the boxes as well.
struct Blocks {
    Blocks(std::size_t space, int box_width, Storage storage)
        : dimensions(space),
          width(box_width),
          layout(Domain({2, 1, 1}, {}, space == 2 ? 2 : 3), box_width, {0, 0}, 0),
          backend(chosen_backend()),
          operations(backend->make_operations(layout, 1, storage)) {}

    Field make(int number) {
        const Field field = operations->make_field();
        const Index layers = layout.layers(1);
        operations->assign(field, {-layers, layout.extent() + 2 * layers},
                           [number](const Index& c) { return block_noise(number, c); });
        return field;
    }
    // With a diagonal around `centre`.
    Stencil stencil(double centre) {
        Stencil L{make(11), make(12), {}, make(14)};
        if (dimensions == 3) L.z = make(13);
        operations->assign(L.inverse_diagonal, layout.box_cells(),
                           [centre](const Index& c) { return 1 / diagonal(centre, c); });
        return L;
    }
    HostField on_host(Field u) const { return {*operations, u}; }
    // The value in a cell of local box q, by global index.
    double at(const HostField& u, int q, const Index& c) const { return u(q, c[0] - q * width, c[1], c[2]); }

    static double diagonal(double centre, const Index& c) { return centre + block_noise(14, c); }
    static Index step(Index c, std::size_t d, int by) {
        c[d] += by;
        return c;
    }
    // The coefficient between a cell and the one before it, or behind it, in direction d; 0 where the box
    // ends.
    double before(const Index& c, std::size_t d) const {
        return c[d] % width == 0 ? 0.0 : block_noise(11 + static_cast<int>(d), c);
    }
    double behind(const Index& c, std::size_t d) const {
        const Index next = step(c, d, 1);
        return next[d] % width == 0 ? 0.0 : block_noise(11 + static_cast<int>(d), next);
    }

    void for_each_cell(const std::function<void(int, const Index&)>& visit) const {
        const Index box = layout.extent();
        for (int q = 0; q < 2; ++q)
            for (int k = 0; k < box[2]; ++k)
                for (int j = 0; j < box[1]; ++j)
                    for (int i = 0; i < box[0]; ++i) visit(q, {q * width + i, j, k});
    }

    // The largest ratio of a diagonal entry of local box q to its pivot, by elimination in the whole matrix.
    double most_shrunk(int q, double centre) const {
        std::vector<Index> cells;
        for_each_cell([&](int box, const Index& c) {
            if (box == q) cells.push_back(c);
        });
        const std::size_t n = cells.size();
        std::vector<double> A(n * n);
        for (std::size_t row = 0; row < n; ++row) {
            A[row * n + row] = diagonal(centre, cells[row]);
            for (std::size_t column = 0; column < row; ++column)
                for (std::size_t d = 0; d < dimensions; ++d)
                    if (cells[column] == step(cells[row], d, -1))
                        A[row * n + column] = A[column * n + row] = -before(cells[row], d);
        }
        double most = 0;
        for (std::size_t pivot = 0; pivot < n; ++pivot) {
            most = std::max(most, diagonal(centre, cells[pivot]) / A[pivot * n + pivot]);
            for (std::size_t row = pivot + 1; row < n; ++row)
                for (std::size_t column = pivot + 1; column < n; ++column)
                    A[row * n + column] -= A[row * n + pivot] * A[pivot * n + column] / A[pivot * n + pivot];
        }
        return most;
    }

    std::size_t dimensions;
    int width;
    Layout layout;
    std::shared_ptr<Backend> backend;
    std::unique_ptr<Operations> operations;
};

// Diagonally dominant: the coefficients are below 2.4.
constexpr double dominant = 16;

Blocks any_blocks() {
    return {GENERATE(2U, 3U), GENERATE(1, 2, 3, 5, 8), GENERATE(Storage::boxes, Storage::blocks)};
}

}  // namespace

TEST_CASE(
    "IC(0) has the pivots of its recurrence, and its product with the solution is the right-hand side") {
    Blocks x = any_blocks();
    CAPTURE(x.dimensions, x.width);
    const Stencil L = x.stencil(dominant);
    const Field r = x.make(1), z = x.make(2), inverse = x.make(3);
    const double shrunk = x.operations->factor_blocks(inverse, L);
    x.operations->solve_blocks(z, inverse, L, r);
    const HostField E = x.on_host(inverse), y = x.on_host(z);

    double worst = 0, most = 0;
    x.for_each_cell([&](int q, const Index& c) {
        const double D = Blocks::diagonal(dominant, c);
        double pivot = D;
        for (std::size_t d = 0; d < x.dimensions; ++d)
            if (const double f = x.before(c, d); f != 0) pivot -= f * f * x.at(E, q, Blocks::step(c, d, -1));
        worst = std::max(worst, std::abs(pivot * x.at(E, q, c) - 1));
        most = std::max(most, D / pivot);
    });
    CHECK(worst < 1e-14);
    CHECK(std::abs(shrunk / most - 1) < 1e-14);

    // (E + F) E^-1 (E + F^T) z, row by row.
    const auto upper = [&](int q, const Index& c) {
        double value = x.at(y, q, c);
        for (std::size_t d = 0; d < x.dimensions; ++d)
            if (const double f = x.behind(c, d); f != 0)
                value -= x.at(E, q, c) * f * x.at(y, q, Blocks::step(c, d, 1));
        return value;
    };
    worst = 0;
    x.for_each_cell([&](int q, const Index& c) {
        double product = upper(q, c) / x.at(E, q, c);
        for (std::size_t d = 0; d < x.dimensions; ++d)
            if (const double f = x.before(c, d); f != 0) product -= f * upper(q, Blocks::step(c, d, -1));
        worst = std::max(worst, std::abs(product - block_noise(1, c)));
    });
    CHECK(worst < 1e-13);
}

TEST_CASE("a block that is not positive has no factor, whichever of the boxes it is") {
    const int spoilt = GENERATE(0, 1);
    Blocks x = any_blocks();
    CAPTURE(x.dimensions, x.width, spoilt);
    const Stencil L = x.stencil(dominant);
    // The last cell's diagonal alone is not positive.
    const Index last = x.layout.extent() + Index{-1, -1, -1};
    x.operations->assign(L.inverse_diagonal, {last, {1, 1, 1}}, [&](const Index& c) {
        return 1 / (c[0] / x.width == spoilt ? -1.0 : Blocks::diagonal(dominant, c));
    });
    const Field inverse = x.make(3);
    CHECK(std::isinf(x.operations->factor_blocks(inverse, L)));
}
