// The operator of a level and its residual against their formulas, on odd boxes, in parts and on ghost
// layers. tests/solvers/multigrid/test_dense.cpp compares it with a matrix, under every boundary.

#include <array>

#include "kernels/bodies/stencil.hpp"
#include "kernels/bodies/vector.hpp"
#include "tests/kernels/boxes.hpp"

using namespace keel;
using namespace keel::test;

TEST_CASE("apply, residual and residual_norm are the operator's formula") {
    Boxes x(Boxes::any());
    const Stencil L = x.stencil();
    const Field u = x.make(1), f = x.make(2), out = x.make(), zero = x.make();
    const Values us = x.on_host(u), fs = x.on_host(f);
    x.operations->apply(out, L, u);
    CHECK(x.difference(out, [&](const Cell& c) { return x.L(c, us); }) < rounding);

    const auto residual = [&](const Cell& c) { return fs(c) - x.L(c, us); };
    x.operations->residual(out, L, u, f);
    CHECK(x.difference(out, residual) < rounding);
    double norm = 0;
    x.operations->residual_norm(L, u, f, norm);
    CHECK(norm == Approx(x.difference(zero, residual)).epsilon(1e-13));
    for (const Colour colour : {Colour::red, Colour::black}) {
        x.operations->residual_norm(L.of(colour), u, f, norm);
        const double expected =
            x.difference(zero, [&](const Cell& c) { return c.has(colour) ? residual(c) : 0.0; });
        CHECK(norm == Approx(expected).epsilon(1e-13));
    }
    x.poke(f, x.cell(1, {4, 0, 0}), std::numeric_limits<double>::quiet_NaN());
    x.operations->residual_norm(L, u, f, norm);
    CHECK(std::isinf(norm));
}

TEST_CASE("interior and shell together are all cells, and neither touches the other's") {
    const int width = GENERATE(1, 2, 5, 8, 18, 66);
    const int ghosts = GENERATE(1, 2);
    if (width == 66 && ghosts == 2) return;
    Boxes x(Boxes::alone(width, ghosts));
    const Stencil L = x.stencil();
    const Field u = x.make(1), f = x.make(2), whole = x.make(3), parts = x.make(3);
    const Work all = x.operations->residual(whole, L, u, f);
    Work work = x.operations->residual(parts, L.on(Part::interior), u, f);
    const Values expected = x.on_host(whole);
    const Index deep = x.layout.layers(ghosts);
    const Region interior{deep, x.layout.extent() + -2 * deep};
    CHECK(x.difference(
              parts, [&](const Cell& c) { return inside(interior, c.at) ? expected(c) : noise(3, c); }) == 0);
    work += x.operations->residual(parts, L.on(Part::shell), u, f);
    CHECK(x.difference(parts, expected) == 0);
    CHECK(work.bytes == all.bytes);

    for (const Colour colour : {Colour::red, Colour::black}) {
        // Over-relaxed: without that a cell may be relaxed twice and nobody sees it.
        const Field at_once = x.make(1), in_parts = x.make(1);
        x.operations->relax(at_once, L, f, colour, 1.3);
        x.operations->relax(in_parts, L.on(Part::interior), f, colour, 1.3);
        x.operations->relax(in_parts, L.on(Part::shell), f, colour, 1.3);
        CHECK(x.difference(in_parts, at_once) == 0);
    }
}

TEST_CASE("a result is written on as many ghost layers as it asks for, and on no more") {
    const int width = GENERATE(1, 3, 8);
    const int layers = GENERATE(0, 1, 3);
    constexpr int ghosts = 4;
    Boxes x(Boxes::alone(width, ghosts));
    Operations& make = *x.operations;
    const Stencil L = x.stencil();
    const Field u = x.make(1), v = x.make(2);
    const Values us = x.on_host(u), vs = x.on_host(v);
    const Region asked = x.cells(layers);
    const std::size_t cells = 2 * asked.cells();
    // The largest difference over all layers: `expected` on those asked for, the old values on the others.
    const auto difference = [&](Field field, int before, const auto& expected) {
        return x.difference(
            field, [&](const Cell& c) { return inside(asked, c.at) ? expected(c) : noise(before, c); },
            ghosts);
    };

    const Field Lu = x.make(3), parts = x.make(3);
    const Work applied = make.apply(Lu.with_ghosts(layers), L, u);
    CHECK(applied.bytes == ((x.dimensions == 2 ? Apply<2>::cost : Apply<3>::cost) * cells).bytes);
    CHECK(difference(Lu, 3, [&](const Cell& c) { return x.L(c, us); }) < rounding);
    Work work = make.apply(parts.with_ghosts(layers), L.on(Part::interior), u);
    work += make.apply(parts.with_ghosts(layers), L.on(Part::shell), u);
    CHECK(work.bytes == applied.bytes);
    CHECK(x.difference(parts, Lu, ghosts) == 0);

    const Field uv = x.make(4), quotient = x.make(4);
    CHECK(make.multiply(uv.with_ghosts(layers), u, v).bytes == (Multiply::cost * cells).bytes);
    CHECK(difference(uv, 4, [&](const Cell& c) { return us(c) * vs(c); }) == 0);
    CHECK(make.divide(quotient.with_ghosts(layers), u, x.make(14)).bytes == (Divide::cost * cells).bytes);
    CHECK(difference(quotient, 4, [&](const Cell& c) { return us(c) / noise(14, c); }) < rounding);

    const Field square = x.make(5), root = x.make(5);
    make.multiply(square.with_ghosts(ghosts), u, u);
    make.square_root(root.with_ghosts(layers), square);
    CHECK(difference(root, 5, [&](const Cell& c) { return std::abs(us(c)); }) < rounding);

    // More terms than one pass takes, the result among them.
    const Field sum = x.make(6);
    std::vector<Field> terms(max_terms, u);
    terms.insert(terms.end(), {sum, v});
    std::vector<double> factors(max_terms, 0.5);
    factors.insert(factors.end(), {2.0, -1.0});
    make.combine(sum.with_ghosts(layers), factors, terms);
    CHECK(difference(sum, 6, [&](const Cell& c) {
              return 0.5 * max_terms * us(c) + 2 * noise(6, c) - vs(c);
          }) < 10 * rounding);

    CHECK_THROWS_AS(u.with_ghosts(ghosts + 1), std::logic_error);
    CHECK_THROWS_AS(u.with_ghosts(-1), std::logic_error);
    CHECK_THROWS_AS(make.apply(Lu.with_ghosts(ghosts), L, u), std::logic_error);
}

TEST_CASE("setting up completes the diagonal and bounds the spectrum") {
    Boxes x(Boxes::any());
    const Stencil L = x.stencil();
    x.operations->assign(L.inverse_diagonal, x.cells(), [](const Index&) { return 1.5; });
    // Positive coefficients, as those of a problem are.
    const std::array fields{L.x, L.y, L.z};
    std::vector<Values> faces;
    for (std::size_t d = 0; d < x.dimensions; ++d) {
        const int number = 20 + static_cast<int>(d);
        x.operations->assign(fields[d], x.cells(1), [&](const Index& c) { return 4 + noise(number, c); });
        faces.push_back(x.on_host(fields[d]));
    }
    const double jacobi_bound = x.operations->complete_diagonal(L);
    double bound = 0;
    CHECK(x.difference(L.inverse_diagonal, [&](const Cell& c) {
        double diagonal = 1.5;
        for (std::size_t d = 0; d < x.dimensions; ++d) diagonal += faces[d](c) + faces[d](c + step(d));
        bound = std::max(bound, 2 - 1.5 / diagonal);
        return 1 / diagonal;
    }) < rounding);
    CHECK(jacobi_bound == Approx(bound).epsilon(1e-13));
}

TEST_CASE(
    "a polynomial step adds the scaled residual to what was there, and without memory is damped Jacobi") {
    Boxes x(Boxes::any());
    const Stencil L = x.stencil();
    const Field u = x.make(1), f = x.make(2), p = x.make(3);
    const double memory = GENERATE(0.0, 0.3);
    x.operations->polynomial_step(p, memory, 0.7, L, u, f);
    const Values us = x.on_host(u), fs = x.on_host(f);
    CHECK(x.difference(p, [&](const Cell& c) {
        return memory * noise(3, c) + 0.7 * (fs(c) - x.L(c, us)) * noise(14, c);
    }) < rounding);
}

TEST_CASE("the sources of heat are those of their formulas, and a reaction is added with a factor") {
    Boxes x(Boxes::any());
    const Field u = x.make(1), y = x.make(2), out = x.make(3);
    const auto kind = GENERATE(ReactionKind::exponential, ReactionKind::heat_1, ReactionKind::heat_2);
    const auto phi = [kind](double v) {
        const double e = std::exp(v);
        return kind == ReactionKind::exponential ? e
               : kind == ReactionKind::heat_1    ? v + v * e + v * std::exp(-v) + std::pow(v - e, 2)
                                                 : 100 * (v - v * v);
    };
    x.operations->add_reaction(out, y, -0.5, {kind, 3.0}, u);
    CHECK(x.difference(out, [&](const Cell& c) { return noise(2, c) - 1.5 * phi(noise(1, c)); }) < 1e-12);
}
