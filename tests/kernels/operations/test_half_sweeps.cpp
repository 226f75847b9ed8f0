// Half sweeps one by one and several in a pass, with the residual, mean or norm that a pass may end with.
// They are compared with loops written here, and with the plain operations that they replace.

#include <array>
#include <optional>

#include "tests/kernels/boxes.hpp"

using namespace keel;
using namespace keel::test;

namespace {

constexpr Colour red = Colour::red;
constexpr Colour black = Colour::black;
using Colours = std::vector<Colour>;

}  // namespace

TEST_CASE("where the derivative of a cell's equation is not positive, the cell becomes no number") {
    Boxes x(Boxes::any());
    const Field u = x.make(1);
    x.operations->relax_newton(u, x.stencil(), {ReactionKind::exponential, -1e6}, x.make(2), red);
    double norm = 0;
    x.operations->max_norm(u, norm);
    CHECK(std::isinf(norm));
}

TEST_CASE("relax updates the cells of one colour, by their global indices, and no others") {
    const double relaxation = GENERATE(1.0, 1.3);
    Boxes x(Boxes::any(GENERATE(4, 5)));
    const Stencil L = x.stencil();
    const Field f = x.make(2);
    const Values fs = x.on_host(f);
    for (const Colour colour : {red, black}) {
        const Field u = x.make(1);
        const Values before = x.on_host(u);
        x.operations->relax(u, L, f, colour, relaxation);
        CHECK(x.difference(u, [&](const Cell& c) {
            if (!c.has(colour)) return before(c);
            return relaxation * x.gauss_seidel(c, before, fs) + (1 - relaxation) * before(c);
        }) < rounding);
    }
}

TEST_CASE("nonlinear half sweeps are steps of Newton's method in the cells of one colour") {
    const auto kind = GENERATE(ReactionKind::exponential, ReactionKind::heat_1, ReactionKind::heat_2);
    const Reaction phi{kind, kind == ReactionKind::heat_2 ? -0.01 : 0.5};
    Boxes x(Boxes::any());
    const Stencil L = x.stencil();
    const Field f = x.make(2);
    for (const Colour colour : {red, black}) {
        const Field u = x.make(1);
        const Values before = x.on_host(u);
        x.operations->relax_newton(u, L, phi, f, colour);
        CHECK(x.difference(u, [&](const Cell& c) {
            const double old = before(c);
            if (!c.has(colour)) return old;
            const double h = 1e-6;  // the derivative by differences
            const double slope = (phi(old + h) - phi(old - h)) / (2 * h);
            return old + (noise(2, c) - x.L(c, before) - phi(old)) / (1 / noise(14, c) + slope);
        }) < 1e-7);
    }
}

TEST_CASE("a half sweep writes no ghost cell and no cell of the right-hand side") {
    Boxes x(Boxes::alone(GENERATE(3, 8, 18, 66)));  // wide ones are marched through in chunks
    const Stencil L = x.stencil();
    const Field u = x.make(1), f = x.make(2);
    x.operations->relax(u, L, f, red, 1.0);
    x.operations->relax(u, L, f, black, 1.0);
    const Values us = x.on_host(u);
    CHECK(x.difference(
              u, [&](const Cell& c) { return inside(x.cells(), c.at) ? us(c) : noise(1, c); }, 1) == 0);
    CHECK(x.difference(
              f, [](const Cell& c) { return noise(2, c); }, 1) == 0);
}

TEST_CASE("half sweeps in one are half sweeps one by one, each on a ghost layer less") {
    constexpr int ghosts = 5;
    const int width = GENERATE(1, 2, 3, 8, 13, 80);  // the last enough for several threads and tiles
    const double relaxation = GENERATE(1.0, 0.7);
    const Colours colours = GENERATE(Colours{black}, Colours{red, black, red},
                                     Colours{red, black, red, black}, Colours{black, red, black, red, black});
    const Boxes::Choice choice = Boxes::any(width, ghosts);
    if (width == 80 && (choice.dimensions == 3 || relaxation != 1.0)) return;
    Boxes x(choice);
    const Stencil L = x.stencil();
    const Field u = x.make(1), f = x.make(2);
    Values expected = x.on_host(u);
    const Values fs = x.on_host(f);
    int layers = static_cast<int>(colours.size());
    for (const Colour colour : colours)
        x.for_each_cell(
            [&](const Cell& c) {
                if (!c.has(colour)) return;
                expected(c) += relaxation * (x.gauss_seidel(c, expected, fs) - expected(c));
            },
            --layers);

    const Work work = x.operations->relax(u, L, f, HalfSweeps{colours, relaxation});
    CHECK(work.bytes > 0);
    const Values after = x.on_host(u);
    double worst = 0;
    // In a block ghosts between the boxes are cells, which all half sweeps relax.
    x.for_each_cell(
        [&](const Cell& c) {
            worst = std::max(worst, gap(after(c), expected(c)) / std::max(1.0, std::abs(expected(c))));
        },
        choice.storage == Storage::boxes ? ghosts : 0);
    CHECK(worst < 1e-12);
}

TEST_CASE("a leg that ends with the residual in its pass ends with that of what it has relaxed") {
    const int coarse_width = GENERATE(1, 2, 4, 7);
    const double relaxation = GENERATE(1.0, 0.7);
    const Colours colours =
        GENERATE(Colours{black}, Colours{red, black, red}, Colours{red, black, red, black});
    Boxes fine(Boxes::any(2 * coarse_width, 5));
    Boxes coarse = fine.coarsened();
    Operations& x = *fine.operations;
    const Stencil L = fine.stencil();
    const Field f = fine.make(2);

    // The last half sweep relaxes a ghost layer, too, so that the plain operations find there what an
    // exchange would leave.
    const Field relaxed = fine.make(1), restricted_too = fine.make(1), measured_too = fine.make(1);
    const Field restricted = coarse.make(), expected = coarse.make();
    const HalfSweeps leg{colours, relaxation};
    x.relax(relaxed, L, f, leg);
    const Work work = x.smooth(restricted_too, L, f, leg, {.restricted = restricted});
    double norm = 0, expected_norm = 0;
    x.smooth(measured_too, L, f, leg, {.norm = &norm});
    const Stencil where = L.of(leg.unsolved());
    CHECK(where.colour ==
          (relaxation == 1.0 ? std::optional(colours.back() == red ? black : red) : std::nullopt));
    x.restrict_residual(expected, where, restricted_too, f);
    x.residual_norm(where, restricted_too, f, expected_norm);
    CHECK(fine.difference(restricted_too, relaxed) == 0);
    CHECK(fine.difference(measured_too, relaxed) == 0);
    CHECK(coarse.difference(restricted, expected) == 0);
    CHECK(norm == expected_norm);
    CHECK(work.bytes > 0);
    CHECK(work.flops > 0);

    fine.poke(f, fine.cell(1, coarse.layout.layers(coarse_width)), std::numeric_limits<double>::quiet_NaN());
    x.smooth(measured_too, L, f, leg, {.norm = &norm});
    CHECK(std::isinf(norm));
}

TEST_CASE("a pass that is to end with the restricted residual and with its norm is refused") {
    Boxes fine(Boxes::any(4, 2));
    const Colour colour = red;
    double norm = 0;
    const PassEnd both{.restricted = fine.coarsened().make(), .norm = &norm};
    CHECK_THROWS_AS(fine.operations->smooth(fine.make(1), fine.stencil(), fine.make(2),
                                            {std::span(&colour, 1), 1.0}, both),
                    std::logic_error);
}

TEST_CASE("half sweeps of zeros are those of a u that holds zeros, and read nothing of it") {
    const int width = GENERATE(2, 3, 8, 13);
    const double relaxation = GENERATE(1.0, 0.7);
    const Colours colours = GENERATE(Colours{}, Colours{black}, Colours{red, black, red, black});
    Boxes fine(Boxes::any(width, 5));
    Operations& x = *fine.operations;
    const Stencil L = fine.stencil();
    const Field f = fine.make(2), zeros = fine.make(), anything = fine.make();
    x.relax(zeros, L, f, HalfSweeps{colours, relaxation});
    x.fill(anything, std::numeric_limits<double>::quiet_NaN());
    x.relax(anything, L, f, HalfSweeps{colours, relaxation, Guess::zero});
    CHECK(fine.difference(anything, zeros) == 0);

    if (width % 2 != 0 || colours.empty()) return;
    Boxes coarse = fine.coarsened();
    const Field restricted = coarse.make(), same = coarse.make();
    x.fill(zeros, 0.0);
    x.smooth(zeros, L, f, HalfSweeps{colours, relaxation}, {.restricted = restricted});
    x.fill(anything, std::numeric_limits<double>::quiet_NaN());
    x.smooth(anything, L, f, HalfSweeps{colours, relaxation, Guess::zero}, {.restricted = same});
    CHECK(coarse.difference(same, restricted) == 0);
}

TEST_CASE("half sweeps of the interior and then of the shell, with their ends, are those of all cells") {
    const int width = GENERATE(4, 14, 34);
    const double relaxation = GENERATE(1.0, 0.7);
    if (width == 34 && relaxation != 1.0) return;
    const Colours colours =
        GENERATE(Colours{black}, Colours{red, black, red}, Colours{red, black, red, black});
    Boxes fine(Boxes::alone(width, 5));
    Boxes coarse = fine.coarsened();
    Operations& x = *fine.operations;
    const Stencil L = fine.stencil();
    const Field f = fine.make(2);
    const HalfSweeps leg{colours, relaxation};
    // The interior reads no ghost, and ends with values that the shell leaves as they are.
    const auto in_parts = [&](const auto& run) {
        const Field u = fine.make(1), ghosts_unknown = fine.make();
        x.fill(ghosts_unknown, std::numeric_limits<double>::quiet_NaN());
        x.assign(ghosts_unknown, fine.cells(), [&](const Index& c) { return noise(1, c); });
        Work work = run(ghosts_unknown, L.on(Part::interior));
        x.scale(u, 1.0, ghosts_unknown);  // the cells of the boxes: ghosts are there now
        work += run(u, L.on(Part::shell));
        return std::pair(u, work);
    };

    const Field all = fine.make(1), restricted_all = fine.make(1), measured_all = fine.make(1);
    const Work work = x.relax(all, L, f, leg);
    const auto [parts, work_in_parts] =
        in_parts([&](Field u, const Stencil& part) { return x.relax(u, part, f, leg); });
    CHECK(fine.difference(parts, all) == 0);
    CHECK(work_in_parts.flops == Approx(work.flops).epsilon(0.01));

    const Field expected = coarse.make(), restricted = coarse.make();
    x.smooth(restricted_all, L, f, leg, {.restricted = expected});
    const auto after = in_parts(
        [&](Field u, const Stencil& part) { return x.smooth(u, part, f, leg, {.restricted = restricted}); });
    CHECK(fine.difference(after.first, restricted_all) == 0);
    CHECK(coarse.difference(restricted, expected) == 0);

    double expected_norm = 0, norm = 0;
    x.smooth(measured_all, L, f, leg, {.norm = &expected_norm});
    in_parts([&](Field u, const Stencil& part) {
        double of_part = 0;
        const Work of_it = x.smooth(u, part, f, leg, {.norm = &of_part});
        norm = std::max(norm, of_part);
        return of_it;
    });
    CHECK(norm == expected_norm);
}

TEST_CASE("half sweeps read nothing before them but what they say") {
    const int width = GENERATE(2, 5, 8);
    const double relaxation = GENERATE(1.0, 0.7);
    const Colours colours = GENERATE(Colours{black}, Colours{red, black, red, black});
    Boxes x(Boxes::any(width, 5));
    const Stencil L = x.stencil();
    const HalfSweeps sweeps{colours, relaxation};
    const std::optional<Colour> read = sweeps.read();
    CHECK(read == (relaxation == 1.0 ? std::optional(colours.front() == red ? black : red) : std::nullopt));
    const Field f = x.make(2), all = x.make(1), some = x.make(1);
    if (read)
        x.operations->assign(some, x.cells(5), [&](const Index& c) {
            return Cell{0, c, c}.has(*read) ? noise(1, c) : std::numeric_limits<double>::quiet_NaN();
        });
    x.operations->relax(all, L, f, sweeps);
    x.operations->relax(some, L, f, sweeps);
    CHECK(x.difference(some, all) == 0);
}
