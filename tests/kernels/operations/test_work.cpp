// The work that operations declare and a ledger books, a rank without boxes, and backends by name.

#include <array>

#include "kernels/timing/timed_operations.hpp"
#include "tests/kernels/boxes.hpp"

using namespace keel;
using namespace keel::test;

TEST_CASE("every operation is booked once, in its caller's row, with the work of its formula and grids") {
    Boxes x(Boxes::any(4, 2));
    Boxes small = x.coarsened(2);
    const auto caller = GENERATE(Caller::multigrid, Caller::bottom);
    Ledger ledger(3);
    TimedOperations fine(*x.operations, ledger, 2, caller);
    const Field u = fine.make_field(), f = fine.make_field(), r = fine.make_field(), coarse = small.make(4);
    // Setting up is not part of what is timed.
    const Stencil L = x.stencil();
    fine.assign(u, x.cells(2), [](const Index& c) { return noise(1, c); });
    fine.complete_diagonal(L);
    fine.factor_blocks(r, L);
    fine.restrict_faces(coarse, L.x, 0, 0.25);
    const auto packed = BlockCopy::pack(0, {{}, {3, 2, 1}}, 0), unpacked = packed.reversed();
    const auto copied = BlockCopy::local(0, {{}, {3, 2, 1}}, 1, {}), forwarded = BlockCopy::forward(0, 0, 6);
    const auto items = [&](const BlockCopy& one) { return fine.make_items(std::span(&one, 1)); };
    const auto packs = items(packed), unpacks = items(unpacked), copies = items(copied),
               forwards = items(forwarded);
    const BoundaryItem side{0, {{-1, 0, 0}, {1, 4, 1}}, {-1, 0, 0}};
    const auto sides = fine.make_items(std::span(&side, 1));
    const std::array<Field, 2> two{u, f};
    const Packed message{fine.make_buffer(12, Wire::staged), 2}, next{fine.make_buffer(12, Wire::staged), 2};
    fine.read(u, x.cells());
    for (std::size_t op = 0; op < op_count; ++op) CHECK(ledger.at(static_cast<Op>(op), 2).calls == 0);

    using PerCell = std::pair<double, double>;  // flops and doubles
    const double cells = static_cast<double>(x.layout.local_cells());
    // Nothing is expected of the work where backends differ; other tests hold it.
    const auto books = [&](Op op, std::optional<PerCell> expected, const auto& action) {
        ledger.clear();
        const Work work = action();
        INFO(name(op) << " of " << work.flops << " flops and " << work.bytes << " bytes");
        CHECK(work.bytes > 0);
        if (expected) CHECK(PerCell(work.flops / cells, work.bytes / (8.0 * cells)) == *expected);
        for (std::size_t other = 0; other < op_count; ++other)
            for (int level = 0; level < 3; ++level) {
                const bool here = level == 2 && static_cast<Op>(other) == op;
                const Entry& entry = ledger.at(static_cast<Op>(other), level);
                INFO("or " << name(static_cast<Op>(other)) << " on level " << level);
                CHECK(entry.calls == (here ? 1 : 0));
                CHECK(entry.work.bytes == (here ? work.bytes : 0.0));
                CHECK(entry.work.flops == (here ? work.flops : 0.0));
                if (!here) CHECK(entry.seconds == 0.0);
            }
    };
    const bool cycle = caller == Caller::multigrid;
    const Op vector = cycle ? Op::vector : Op::bottom_vector;
    const Op sum = cycle ? Op::vector : Op::bottom_dots;
    const Op residual = cycle ? Op::residual : Op::bottom_operator;
    const Op smooth = cycle ? Op::smooth : Op::bottom_operator;
    const auto D = static_cast<double>(x.dimensions);
    const double product = 4 * D + 1;  // the coefficients and neighbours of 2 D faces, and the diagonal
    const double parent = x.dimensions == 2 ? 1.0 / 4 : 1.0 / 8;
    double norm = 0;
    std::array<double, 6> sums{};
    const auto of_boxes = [&](std::size_t count) { return std::span(sums).first(2 * count); };

    books(residual, {{product, D + 3}}, [&] { return fine.apply(r, L, u); });  // u, x, y, z, 1/D, out
    books(residual, {{product + 1, D + 4}}, [&] { return fine.residual(r, L, u, f); });          // and f
    books(residual, {{product + 1, D + 3}}, [&] { return fine.residual_norm(L, u, f, norm); });  // not stored
    const BasisVectors basis{two};
    const ThreeTerms terms{1, 0, 0};
    books(residual, {}, [&] { return fine.powers({&basis, 1}, {L, {}}, {&terms, 1}, nullptr); });
    books(residual, {{23, 3}}, [&] { return fine.add_reaction(r, f, 1.0, {}, u); });
    // u of either colour, x, y, z, and of one colour 1/D and f.
    for (const Colour colour : {Colour::red, Colour::black})
        books(smooth, {{product / 2, D + 2}}, [&] { return fine.relax(u, L, f, colour, 1.0); });
    const Colour one[] = {Colour::black};  // in a pass of its own
    const HalfSweeps sweep{one}, over_relaxed{one, 1.3};
    books(smooth, {{product / 2 + 1.5, D + 2.5}}, [&] { return fine.relax(u, L, f, over_relaxed); });
    books(cycle ? Op::smooth_restrict : Op::bottom_operator, {},
          [&] { return fine.smooth(u, L, f, sweep, {.restricted = coarse}); });
    books(cycle ? Op::smooth_residual : Op::bottom_operator, {},
          [&] { return fine.smooth(u, L, f, sweep, {.norm = &norm}); });
    books(smooth, {{product + 5, D + 5}}, [&] { return fine.polynomial_step(r, 0.5, 0.5, L, u, f); });
    books(smooth, {{(product + 45) / 2, D + 2.5}},
          [&] { return fine.relax_newton(u, L, {}, f, Colour::red); });
    // Every cell meets its neighbours on the way there and on the way back.
    books(cycle ? Op::smooth : Op::bottom_preconditioner, {{2 * (2 * D + 1), 2 * D + 6}},
          [&] { return fine.solve_blocks(u, r, L, f); });
    books(Op::restrict_, {{1, 1 + parent}}, [&] { return fine.restrict_to(coarse, u); });
    books(Op::restrict_, {{product + 2, D + 3 + parent}},
          [&] { return fine.restrict_residual(coarse, L, u, f); });
    // With one colour, f and 1/D of the other colour are not read.
    books(residual, {{(product + 1) / 2, D + 2}},
          [&] { return fine.residual_norm(L.of(Colour::red), u, f, norm); });
    books(Op::restrict_, {{(product + 1) / 2 + 1, D + 2 + parent}},
          [&] { return fine.restrict_residual(coarse, L.of(Colour::black), u, f); });
    books(Op::interpolate, {{1, 2 + parent}},
          [&] { return fine.interpolate_add(u, coarse, Interpolation::constant, {}); });
    books(Op::interpolate, {{x.dimensions == 2 ? 10.0 : 22.0, 2 + parent}},
          [&] { return fine.interpolate_add(u, coarse, Interpolation::linear, {}); });
    books(vector, {{0, 1}}, [&] { return fine.fill(u, 1.0); });
    books(vector, {{1, 2}}, [&] { return fine.copy(u, f); });
    books(vector, {{3, 3}}, [&] { return fine.axpby(u, 1.0, f, 2.0, r); });
    books(vector, {{1, 3}}, [&] { return fine.multiply(u, f, r); });
    books(vector, {{1, 3}}, [&] { return fine.divide(u, f, r); });
    books(vector, {{1, 2}}, [&] { return fine.square_root(u, f); });
    books(vector, {{0, 3}}, [&] { return fine.map(f, Select{1.0}, u, r); });
    books(vector, {{1, 2}}, [&] { return fine.shift(u, 1.0); });
    books(sum, {{1, 1}}, [&] { return fine.max_norm(u, norm); });
    books(sum, {{1, 1}}, [&] { return fine.totals(u, of_boxes(1)); });
    // Fields that take part in several products are read once.
    const std::array<Product, 3> products{Product{u, u}, Product{u, f}, Product{f, r}};
    books(sum, {{6, 3}}, [&] { return fine.dots(products, of_boxes(3)); });
    books(sum, {}, [&] { return fine.gram({&u, 1}, {}, GramAccuracy::plain, of_boxes(1)); });
    books(sum, {}, [&] { return fine.gram({&u, 1}, {}, GramAccuracy::doubled, of_boxes(2)); });
    books(Op::boundary, {}, [&] { return fine.fill_boundary(u, sides, {1.0, 1.0, 1.0}); });
    const PerCell moved{0, 2 * 12 / cells};
    books(Op::pack, moved, [&] { return fine.copy_blocks(message, packs, two, {}); });
    books(Op::copy, moved, [&] { return fine.copy_blocks(next, forwards, message, {}); });
    books(Op::unpack, moved, [&] { return fine.copy_blocks(two, unpacks, next, {}); });
    books(Op::copy, moved, [&] { return fine.copy_blocks(two, copies, two, {}); });
}

TEST_CASE("a rank without boxes takes part in every operation") {
    const Layout layout({2, 1, 1}, 4, periodic, {0, 0}, 1);
    const auto backend = chosen_backend();
    const auto operations = backend->make_operations(layout, 1);
    const auto below = backend->make_operations(layout.coarsened(), 1);
    const Field u = operations->make_field();
    const Field coarse = below->make_field();
    const Stencil L{u, u, u, u};
    operations->assign(u, cube(4), [](const Index&) { return 1.0; });
    CHECK(operations->read(u, cube(4)).empty());
    operations->fill(u, 1.0);
    operations->axpby(u, 1.0, u, 2.0, u);
    operations->relax(u, L, u, Colour::red, 1.0);
    operations->restrict_residual(coarse, L, u, u);
    operations->interpolate_add(u, coarse, Interpolation::linear, {});
    double norm = 7;
    operations->max_norm(u, norm);
    CHECK(norm == 0.0);
    const Product square{u, u};
    CHECK(operations->dots(std::span(&square, 1), {}).bytes == 0.0);
    CHECK(operations->gram(std::span(&u, 1), std::span(&u, 1), GramAccuracy::plain, {}).bytes == 0.0);
    CHECK(operations->apply(u, L, u).bytes == 0.0);
}

TEST_CASE("a backend that is unknown, or not in this executable, is refused by name") {
    CHECK_THROWS_AS(make_backend("abacus"), std::invalid_argument);
    for (const BackendInfo& info : all_backends()) {
        CAPTURE(info.name);
        if (!info.compiled_in)
            CHECK(why_unusable(info.name).find("-D" + info.option + "=ON") != std::string::npos);
        if (why_unusable(info.name).empty()) continue;
        CHECK_THROWS_WITH(make_backend(info.name), Catch::Contains(info.name));
    }
    CHECK(why_unusable("openmp").empty());
    CHECK(usable_backends().front() == "openmp");
}
