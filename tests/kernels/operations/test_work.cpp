// The work that operations declare, a rank without boxes, and backends by name.

#include <array>

#include "kernels/bodies/vector.hpp"
#include "tests/kernels/boxes.hpp"

using namespace keel;
using namespace keel::test;

TEST_CASE("every operation declares the flops of its formula and the bytes that its grids hold") {
    Boxes x(Boxes::any(4));
    Boxes small = x.coarsened(2);
    Operations& fine = *x.operations;
    const Stencil L = x.stencil();
    const Field u = x.make(1), f = x.make(2), r = x.make(3), coarse = small.make(4);
    double norm = 0;
    using PerCell = std::pair<double, double>;  // flops and doubles
    const double cells = static_cast<double>(x.layout.local_cells());
    const auto per_cell = [&](const Work& work) {
        return PerCell{work.flops / cells, work.bytes / (8.0 * cells)};
    };
    const auto D = static_cast<double>(x.dimensions);
    const double product = 4 * D + 1;  // the coefficients and neighbours of 2 D faces, and the diagonal
    const double parent = x.dimensions == 2 ? 1.0 / 4 : 1.0 / 8;
    CHECK(per_cell(fine.apply(r, L, u)) == PerCell{product, D + 3});            // u, x, y, z, 1/D, out
    CHECK(per_cell(fine.residual(r, L, u, f)) == PerCell{product + 1, D + 4});  // and f
    CHECK(per_cell(fine.residual_norm(L, u, f, norm)) == PerCell{product + 1, D + 3});  // not stored
    // u of either colour, x, y, z, and of one colour 1/D and f.
    CHECK(per_cell(fine.relax(u, L, f, Colour::red, 1.0)) == PerCell{product / 2, D + 2});
    CHECK(per_cell(fine.relax(u, L, f, Colour::black, 1.0)) == PerCell{product / 2, D + 2});
    const Colour one[] = {Colour::black};  // in a pass of its own
    CHECK(per_cell(fine.relax(u, L, f, HalfSweeps{one})) == PerCell{product / 2, D + 2});
    CHECK(per_cell(fine.relax(u, L, f, HalfSweeps{one, 1.3})) == PerCell{product / 2 + 1.5, D + 2.5});
    CHECK(per_cell(fine.polynomial_step(r, 0.5, 0.5, L, u, f)) == PerCell{product + 5, D + 5});
    CHECK(per_cell(fine.add_reaction(r, f, 1.0, {}, u)) == PerCell{23, 3});
    CHECK(per_cell(fine.relax_newton(u, L, {}, f, Colour::red)) == PerCell{(product + 45) / 2, D + 2.5});
    CHECK(per_cell(fine.restrict_to(coarse, u)) == PerCell{1, 1 + parent});
    CHECK(per_cell(fine.restrict_residual(coarse, L, u, f)) == PerCell{product + 2, D + 3 + parent});
    // With one colour, f and 1/D of the other colour are not read.
    CHECK(per_cell(fine.residual_norm(L.of(Colour::red), u, f, norm)) == PerCell{(product + 1) / 2, D + 2});
    CHECK(per_cell(fine.restrict_residual(coarse, L.of(Colour::black), u, f)) ==
          PerCell{(product + 1) / 2 + 1, D + 2 + parent});
    CHECK(per_cell(fine.interpolate_add(u, coarse, Interpolation::constant, {})) == PerCell{1, 2 + parent});
    CHECK(per_cell(fine.interpolate_add(u, coarse, Interpolation::linear, {})) ==
          PerCell{x.dimensions == 2 ? 10.0 : 22.0, 2 + parent});
    CHECK(per_cell(fine.fill(u, 1.0)) == PerCell{0, 1});
    CHECK(per_cell(fine.copy(u, f)) == PerCell{1, 2});
    CHECK(per_cell(fine.axpby(u, 1.0, f, 2.0, r)) == PerCell{3, 3});
    CHECK(per_cell(fine.multiply(u, f, r)) == PerCell{1, 3});
    CHECK(per_cell(fine.divide(u, f, r)) == PerCell{1, 3});
    CHECK(per_cell(fine.square_root(u, f)) == PerCell{1, 2});
    CHECK(per_cell(fine.map(f, Select{1.0}, u, r)) == PerCell{0, 3});
    CHECK(per_cell(fine.shift(u, 1.0)) == PerCell{1, 2});
    CHECK(per_cell(fine.max_norm(u, norm)) == PerCell{1, 1});
    std::array<double, 6> sums{};
    CHECK(per_cell(fine.totals(u, std::span(sums).first(2))) == PerCell{1, 1});
    // Fields that take part in several products are read once.
    const std::array<Product, 3> products{Product{u, u}, Product{u, f}, Product{f, r}};
    CHECK(per_cell(fine.dots(products, sums)) == PerCell{6, 3});
    // Every cell meets its neighbours on the way there and on the way back.
    fine.factor_blocks(r, L);
    CHECK(per_cell(fine.solve_blocks(u, r, L, f)) == PerCell{2 * (2 * D + 1), 2 * D + 6});
    const auto packed = BlockCopy::pack(0, {{}, {3, 2, 1}}, 0);
    const BlockCopy unpacked = packed.reversed();
    const auto items = fine.make_items(std::span(&packed, 1));
    const auto targets = fine.make_items(std::span(&unpacked, 1));
    const std::array<Field, 2> two{u, f};
    const Packed message{fine.make_buffer(12, Wire::staged), 2};
    const auto copied = BlockCopy::local(0, {{}, {3, 2, 1}}, 1, {});
    const auto copies = fine.make_items(std::span(&copied, 1));
    for (const Work& work :
         {fine.copy_blocks(message, items, two, {}), fine.copy_blocks(two, targets, message, {}),
          fine.copy_blocks(two, copies, two, {})}) {
        CHECK(work.bytes == 2 * 8.0 * 12);
        CHECK(work.flops == 0);
    }
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
