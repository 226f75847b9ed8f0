// Restriction, faces of coarse levels and interpolation, against loops written here.

#include <array>

#include "tests/kernels/boxes.hpp"

using namespace keel;
using namespace keel::test;

namespace {

// The mean over the children of a coarse cell of what a function says of each.
template <class Function>
double mean_of_children(const Boxes& fine, const Cell& parent, const Function& value) {
    const Index size = fine.dimensions == 2 ? Index{2, 2, 1} : Index{2, 2, 2};
    double sum = 0;
    for_each_offset(size,
                    [&](const Index& child) { sum += value(fine.cell(parent.box, 2 * parent.at + child)); });
    return sum / static_cast<double>(product(size));
}

}  // namespace

TEST_CASE("restriction is the mean of the children, with or without storing the residual, and in two parts") {
    const int coarse_width = GENERATE(1, 3, 4);
    Boxes fine(Boxes::any(2 * coarse_width, GENERATE(1, 2)));
    Boxes coarse = fine.coarsened();
    Operations& x = *fine.operations;
    const Stencil L = fine.stencil();
    const Field u = fine.make(1), f = fine.make(2), stored = fine.make();
    const Field mean = coarse.make(), fused = coarse.make(), parts = coarse.make();
    const Values us = fine.on_host(u), fs = fine.on_host(f);
    const auto residual = [&](const Cell& c) { return fs(c) - fine.L(c, us); };
    x.residual(stored, L, u, f);
    x.restrict_to(mean, stored);
    CHECK(coarse.difference(mean, [&](const Cell& c) { return mean_of_children(fine, c, residual); }) <
          rounding);

    // With one colour, residuals of the other colour count as zero.
    for (const std::optional<Colour> colour :
         {std::optional<Colour>(), std::optional(Colour::red), std::optional(Colour::black)}) {
        const Stencil of_colour = L.of(colour);
        const Work all = x.restrict_residual(fused, of_colour, u, f);
        CHECK(coarse.difference(fused, [&](const Cell& c) {
            return mean_of_children(fine, c, [&](const Cell& child) {
                return !colour || child.has(*colour) ? residual(child) : 0.0;
            });
        }) < rounding);
        coarse.operations->fill(parts, 7.0);
        Work work = x.restrict_residual(parts, of_colour.on(Part::interior), u, f);
        work += x.restrict_residual(parts, of_colour.on(Part::shell), u, f);
        CHECK(coarse.difference(parts, fused) < rounding);
        CHECK(work.bytes == all.bytes);
    }
}

TEST_CASE("a coarse face is the scaled mean of the fine faces that tile it") {
    Boxes fine(Boxes::any(6));
    Boxes coarse = fine.coarsened();
    const Field from = fine.make(1), to = coarse.make();
    for (std::size_t d = 0; d < fine.dimensions; ++d) {
        fine.operations->restrict_faces(to, from, static_cast<int>(d), 0.25);
        const Values means = coarse.on_host(to);
        // The faces of a box are one more than its cells along d; those that tile a face lie across it.
        Index tiles = fine.dimensions == 2 ? Index{2, 2, 1} : Index{2, 2, 2};
        tiles[d] = 1;
        for (int q = 0; q < 2; ++q)
            for_each_offset(coarse.layout.extent() + step(d), [&](const Index& at) {
                double sum = 0;
                for_each_offset(tiles,
                                [&](const Index& tile) { sum += noise(1, fine.cell(q, 2 * at + tile)); });
                const double mean = sum / static_cast<double>(product(tiles));
                CHECK(means(coarse.cell(q, at)) == Approx(0.25 * mean).margin(rounding));
            });
    }
}

TEST_CASE("constant interpolation adds the parent") {
    Boxes fine(Boxes::any(6));
    Boxes coarse = fine.coarsened();
    const Field u = fine.make(1);
    fine.operations->interpolate_add(u, coarse.make(2), Interpolation::constant, {});
    CHECK(fine.difference(u, [&](const Cell& c) {
        return noise(1, c) + noise(2, coarse.cell(c.box, {c.at[0] / 2, c.at[1] / 2, c.at[2] / 2}));
    }) < rounding);
}

TEST_CASE("linear interpolation is exact for functions that are linear in each direction") {
    Boxes fine(Boxes::any(6));
    Boxes coarse = fine.coarsened();
    const bool plane = fine.dimensions == 2;
    const auto f = [plane](double x, double y, double z) {
        return 1 + 2 * x - y + x * y + (plane ? 0.0 : 3 * z - 0.5 * x * y * z);
    };
    const Field u = fine.make(), from = coarse.make();
    coarse.operations->assign(from, coarse.cells(1), [&](const Index& c) {
        return f(2 * c[0] + 0.5, 2 * c[1] + 0.5, 2 * c[2] + 0.5);
    });
    fine.operations->interpolate_add(u, from, Interpolation::linear, {});
    CHECK(fine.difference(u, [&](const Cell& c) { return f(c.global[0], c.global[1], c.global[2]); }) <
          1e-11);
}

TEST_CASE("both colours of what is interpolated together are all of it, each cell once") {
    Boxes fine(Boxes::any(2 * GENERATE(1, 3, 8, 33), 2));
    Boxes coarse = fine.coarsened();
    const Interpolation interpolation = GENERATE(Interpolation::constant, Interpolation::linear);
    Operations& x = *fine.operations;
    const Field from = coarse.make(3), whole = fine.make(1), halves = fine.make(1);
    const Work work = x.interpolate_add(whole, from, interpolation, {});
    const Values expected = fine.on_host(whole);
    Work of_halves = x.interpolate_add(halves, from, interpolation, Colour::red);
    CHECK(fine.difference(
              halves, [&](const Cell& c) { return c.has(Colour::red) ? expected(c) : noise(1, c); }) == 0);
    of_halves += x.interpolate_add(halves, from, interpolation, Colour::black);
    CHECK(fine.difference(halves, expected) == 0);
    CHECK(of_halves.flops == work.flops);
}
