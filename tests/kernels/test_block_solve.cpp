// The blocks that the boxes are, factored and solved with, in two dimensions and in three, against products
// with the block written here: nothing beyond a box takes part.

#include <vector>

#include "tests/kernels/boxes.hpp"

using namespace keel;
using namespace keel::test;

namespace {

struct Blocks : Boxes {
    using Boxes::Boxes;

    // With a diagonal around `centre`.
    Stencil stencil_around(double centre) {
        const Stencil L = stencil();
        operations->assign(L.inverse_diagonal, cells(),
                           [centre](const Index& c) { return 1 / diagonal(centre, c); });
        return L;
    }
    static double diagonal(double centre, const Index& c) { return centre + noise(15, c); }
    // The coefficient between a cell and the one before it, or behind it, in direction d; 0 where the box
    // ends.
    double before(const Cell& c, std::size_t d) const {
        return c.at[d] == 0 ? 0.0 : noise(11 + static_cast<int>(d), c);
    }
    double behind(const Cell& c, std::size_t d) const {
        return c.at[d] == width - 1 ? 0.0 : noise(11 + static_cast<int>(d), c + step(d));
    }
};

// Diagonally dominant: the coefficients are below 2.4.
constexpr double dominant = 16;

Blocks::Choice any_blocks() {
    return Blocks::any(GENERATE(1, 2, 3, 5, 8));
}

}  // namespace

TEST_CASE(
    "IC(0) has the pivots of its recurrence, and its product with the solution is the right-hand side") {
    Blocks x(any_blocks());
    CAPTURE(x.dimensions, x.width);
    const Stencil L = x.stencil_around(dominant);
    const Field r = x.make(1), z = x.make(2), inverse = x.make(3);
    const double shrunk = x.operations->factor_blocks(inverse, L);
    x.operations->solve_blocks(z, inverse, L, r);
    const Values E = x.on_host(inverse), y = x.on_host(z);

    double worst = 0, most = 0;
    x.for_each_cell([&](const Cell& c) {
        const double D = Blocks::diagonal(dominant, c);
        double pivot = D;
        for (std::size_t d = 0; d < x.dimensions; ++d)
            if (const double f = x.before(c, d); f != 0) pivot -= f * f * E(c + -step(d));
        worst = std::max(worst, std::abs(pivot * E(c) - 1));
        most = std::max(most, D / pivot);
    });
    CHECK(worst < 1e-14);
    CHECK(std::abs(shrunk / most - 1) < 1e-14);

    // (E + F) E^-1 (E + F^T) z, row by row.
    const auto upper = [&](const Cell& c) {
        double value = y(c);
        for (std::size_t d = 0; d < x.dimensions; ++d)
            if (const double f = x.behind(c, d); f != 0) value -= E(c) * f * y(c + step(d));
        return value;
    };
    worst = 0;
    x.for_each_cell([&](const Cell& c) {
        double product = upper(c) / E(c);
        for (std::size_t d = 0; d < x.dimensions; ++d)
            if (const double f = x.before(c, d); f != 0) product -= f * upper(c + -step(d));
        worst = std::max(worst, std::abs(product - noise(1, c)));
    });
    CHECK(worst < 1e-13);
}

TEST_CASE("a block that is not positive has no factor, whichever of the boxes it is") {
    const int spoilt = GENERATE(0, 1);
    Blocks x(any_blocks());
    CAPTURE(x.dimensions, x.width, spoilt);
    const Stencil L = x.stencil_around(dominant);
    // The last cell's diagonal alone is not positive.
    const Index last = x.layout.extent() + Index{-1, -1, -1};
    x.operations->assign(L.inverse_diagonal, {last, {1, 1, 1}}, [&](const Index& c) {
        return 1 / (c[0] / x.width == spoilt ? -1.0 : Blocks::diagonal(dominant, c));
    });
    const Field inverse = x.make(3);
    CHECK(std::isinf(x.operations->factor_blocks(inverse, L)));
}
