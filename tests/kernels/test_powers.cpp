// Powers of the operator in one call, against application, scaling and recurrence one after the other; and
// several combinations in one call. Where memory is the host's the values are the same to the last bit.

#include <array>
#include <vector>

#include "kernels/bodies/vector.hpp"
#include "tests/kernels/boxes.hpp"

using namespace keel;
using namespace keel::test;

namespace {

// Whether all values are the same: to the last bit, unless a device rounds them.
bool same(const Boxes& x, Field u, Field v, int ghosts = 0) {
    const bool host = x.backend->name() != "cuda" && x.backend->name() != "hip";
    const std::vector<double> us = x.operations->read(u, x.cells(ghosts));
    const std::vector<double> vs = x.operations->read(v, x.cells(ghosts));
    for (std::size_t n = 0; n < us.size(); ++n)
        if (!(host ? us[n] == vs[n] : std::abs(us[n] - vs[n]) <= 1e-12 * (1 + std::abs(vs[n])))) return false;
    return !us.empty();
}

// v[n + 1], with so many ghost layers, by operations that do a thing each.
void next_vector(Operations& make, const std::vector<Field>& v, std::size_t n, Field before, int layers,
                 const ScaledStencil& A, const ThreeTerms& c, Field scratch) {
    const Field next = v[n + 1].with_ghosts(layers);
    Field operand = v[n];
    if (A.scaling != DiagonalScaling::none) {
        make.multiply(scratch.with_ghosts(layers + 1), A.s, v[n]);
        operand = scratch;
    }
    make.apply(next, A.L, operand);
    if (A.scaling == DiagonalScaling::symmetric) make.multiply(next, A.s, next);
    if (c[2] != 0.0)
        make.combine(next, c, std::array{next, v[n], n > 0 ? v[n - 1] : before});
    else if (c[0] != 1.0 || c[1] != 0.0)
        make.axpby(next, c[0], next, c[1], v[n]);
}

}  // namespace

TEST_CASE("powers in one call are powers one by one, each on a ghost layer less") {
    const int dimensions = GENERATE(2, 3);
    const auto [boxes, width, storage] = GENERATE(table<int, int, Storage>({{1, 1, Storage::boxes},
                                                                            {3, 1, Storage::blocks},
                                                                            {3, 2, Storage::boxes},
                                                                            {1, 3, Storage::blocks},
                                                                            {3, 3, Storage::boxes},
                                                                            {3, 8, Storage::blocks},
                                                                            {1, 13, Storage::boxes}}));
    constexpr int ghosts = 5;
    Boxes x({width, ghosts, dimensions, storage, boxes});
    Operations& make = *x.operations;
    const Stencil L = x.stencil();
    const Field s = x.make(16);
    const Field scratch = x.make(17);
    // monomial; Newton's; Chebyshev's, from its beginning and going on.
    const std::vector<std::vector<ThreeTerms>> recurrences{
        {{1, -0.0, -0.0}, {1, 0, 0}, {1, 0, 0}},
        {{0.5, -0.3, 0}, {0.5, 0.2, 0}, {0.5, -0.7, 0}, {0.5, 0.1, 0}, {0.5, 0.4, 0}},
        {{0.5, -0.5, 0}, {1, -1, -1}, {1, -1, -1}, {1, -1, -1}},
        {{1, -1, -1}, {1, -1, -1}}};
    using Scaling = DiagonalScaling;
    for (const auto& [scaling, second] :
         {std::tuple{Scaling::none, 0}, {Scaling::right, 1}, {Scaling::symmetric, 0}, {Scaling::right, -1}})
        for (const auto& terms : recurrences) {
            CAPTURE(dimensions, boxes, width, static_cast<int>(scaling), second, terms.size());
            const ScaledStencil A{L, s, scaling};
            const auto count = static_cast<int>(terms.size());
            // The second basis may be missing, or have a vector less.
            std::vector<std::vector<Field>> expected, found;
            std::vector<BasisVectors> bases;
            const Field before = x.make(3);
            for (int basis = 0; basis < (second < 0 ? 1 : 2); ++basis)
                for (auto* const vectors : {&expected, &found}) {
                    vectors->emplace_back();
                    for (int n = 0; n <= count - (basis == 1 ? second : 0); ++n)
                        vectors->back().push_back(x.make(n == 0 ? 1 + basis : 20));
                }
            for (const auto& v : found) bases.push_back({v, before});
            for (const auto& v : expected)
                for (std::size_t n = 0; n + 1 < v.size(); ++n)
                    next_vector(make, v, n, before, count - 1 - static_cast<int>(n), A, terms[n], scratch);

            const Work work = make.powers(bases, A, terms, nullptr);
            double flops = 0, bytes = 0;
            const double values = static_cast<double>(dimensions) + (scaling == Scaling::none ? 1 : 2);
            for (std::size_t basis = 0; basis < bases.size(); ++basis)
                for (std::size_t n = 0; n < expected[basis].size(); ++n) {
                    const int layers = count - static_cast<int>(n);
                    CHECK(same(x, found[basis][n], expected[basis][n], layers));
                    if (n == 0) continue;
                    const auto cells = static_cast<double>(x.cells(layers).cells()) * boxes;
                    flops += cells * next_vector_flops(x.dimensions, scaling, terms[n - 1]);
                    bytes += 8 * cells * (n > 1 ? 1 : terms[0][2] != 0 ? 3 : 2);
                    if (n == 1 && basis == 0) bytes += 8 * cells * values;
                }
            if (storage == Storage::blocks && boxes > 1) continue;  // there are fewer ghosts
            CHECK(work.flops == Approx(flops));
            // Coefficients and first vectors are read once where all is one pass.
            if (x.backend->name() == "openmp") CHECK(work.bytes == Approx(bytes));
        }
}

TEST_CASE("powers refuse more recurrences than ghost layers, and more vectors than recurrences") {
    Boxes x({.width = 4, .ghosts = 2});
    const Field u = x.make(1);
    const Stencil L{u, u, u, u};
    const std::vector<Field> v{u, x.make(2), x.make(3), x.make(4)};
    const BasisVectors basis{v};
    const std::vector<ThreeTerms> terms(3, ThreeTerms{1, 0, 0});
    const auto powers = [&](const ScaledStencil& A, std::size_t count) {
        return x.operations->powers(std::span(&basis, 1), A, std::span(terms).first(count), nullptr);
    };
    CHECK_THROWS_AS(powers({L, {}}, 3), std::logic_error);
    CHECK_THROWS_AS(powers({L, {}}, 2), std::logic_error);
    CHECK_THROWS_AS(powers({L, {}, DiagonalScaling::right}, 2), std::logic_error);
}

TEST_CASE("combinations in one call are combinations one by one") {
    // Also rows that are cut into pieces.
    const auto [width, dimensions] = GENERATE(table<int, int>({{1, 3}, {5, 3}, {17, 3}, {5, 2}, {90, 2}}));
    Boxes x({width, 1, dimensions, GENERATE(Storage::boxes, Storage::blocks), 3});
    for (const std::size_t terms : std::initializer_list<std::size_t>{1, 2, 8, 9, 16}) {
        CAPTURE(width, dimensions, terms);
        std::vector<std::vector<Field>> v(2);
        for (auto& fields : v)
            for (std::size_t n = 0; n < terms + 2; ++n) fields.push_back(x.make(static_cast<int>(n)));
        std::vector<double> c;
        for (std::size_t n = 0; n < terms + 1; ++n) c.push_back(std::cos(static_cast<double>(n)));
        // Into one of the terms, into a field that was none, and at last into a term of all of them.
        const auto all = [&](const std::vector<Field>& f) {
            const std::span<const Field> some = std::span(f).first(terms);
            return std::array{Combination{f[terms], c, std::span(f).first(terms + 1)},
                              Combination{f[terms + 1], std::span(c).last(terms), some},
                              Combination{f[terms / 2], std::span(c).first(terms), some}};
        };
        const auto together = all(v[0]);
        const auto alone = all(v[1]);
        const Work work = x.operations->combine_all(together);
        double flops = 0;
        for (const auto& [y, coefficients, fields] : alone)
            flops += x.operations->combine(y, coefficients, fields).flops;
        for (std::size_t n = 0; n < terms + 2; ++n) CHECK(same(x, v[0][n], v[1][n], 1));
        CHECK(work.flops == Approx(flops));
        if (x.backend->name() == "openmp")  // every term read once, three results written
            CHECK(work.bytes == 8.0 * static_cast<double>((terms + 4) * x.layout.local_cells()));
    }
    CHECK_THROWS_AS(x.operations->combine_all(std::array{Combination{x.make(1), {}, {}}}), std::logic_error);
}
