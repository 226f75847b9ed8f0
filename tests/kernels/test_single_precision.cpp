// The operations of a multigrid cycle in single precision against the same in double: equal but for the
// rounding of single.

#include <array>
#include <cstring>
#include <limits>
#include <random>

#include "tests/kernels/boxes.hpp"

using namespace keel;
using namespace keel::test;

namespace {

Boxes::Choice single(Boxes::Choice choice) {
    choice.precision = Precision::fp32;
    return choice;
}

// The same level in both precisions.
struct Twins {
    Twins(const Boxes::Choice& choice, const std::shared_ptr<Backend>& backend)
        : wide(choice, backend), narrow(single(choice), backend) {}

    struct Pair {
        Field wide, narrow;
    };
    Pair make(int number) { return {wide.make(number), narrow.make(number)}; }
    struct Operators {
        Stencil wide, narrow;
    };
    // With faces of 16 bits both operators have these: rounding them changes the last digit of 1 / D alone.
    Operators operators() {
        const Operators L{wide.stencil(), narrow.stencil()};
        if (narrow.chosen.faces == Precision::fp32) return L;
        const int ghosts = narrow.chosen.ghosts;
        for (std::size_t d = 0; d < wide.dimensions; ++d) {
            const auto value = [d](const Index& c) { return Half(noise(11 + static_cast<int>(d), c)); };
            wide.operations->assign(L.wide.faces(d), wide.cells(ghosts), value);
            narrow.operations->assign(L.narrow.faces(d), narrow.cells(ghosts), value);
        }
        Stencil rounded{{}, {}, {}, L.narrow.inverse_diagonal};
        narrow.operations->round_faces(rounded, L.narrow, ghosts);
        return {L.wide, rounded};
    }
    // The largest difference of two fields, ghosts included.
    double gap(const Pair& u) const {
        return wide.difference(u.wide, narrow.on_host(u.narrow), wide.chosen.ghosts);
    }

    Boxes wide, narrow;
};

// Rounding of sums of some ten products of numbers of about one.
constexpr double single_rounding = 5e-5;

}  // namespace

TEST_CASE("a cycle's operations in single precision are those in double but for rounding") {
    const std::shared_ptr<Backend> backend = chosen_backend();
    if (!backend_info(backend->name()).features.single_precision) {
        CHECK(backend->make_cycle_operations(Boxes({}).layout, 1, Storage::boxes, Precision::fp32) ==
              nullptr);
        return;
    }
    std::mt19937 random(7);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    for (int round = 0; round < 24; ++round) {
        Boxes::Choice choice{.dimensions = 2 + round % 2};
        choice.storage = round / 2 % 2 == 0 ? Storage::boxes : Storage::blocks;
        const int ghosts = choice.ghosts = 1 + below(3);
        const int width = choice.width = 2 * (1 + below(6));
        choice.boxes = 1 + below(5);
        if (round % 3 == 0) choice.faces = Precision::fp16;
        CAPTURE(choice.dimensions, ghosts, width, choice.boxes, round);
        Twins x(choice, backend);
        choice.width /= 2;
        Twins coarser(choice, backend);
        const auto [wide_L, narrow_L] = x.operators();
        const auto f = x.make(1);
        // The same verb on both of a pair, whose work is the same but for the bytes.
        const auto both = [&](const char* verb, Twins& result, int field, const auto& action) {
            CAPTURE(verb);
            const auto u = result.make(field);
            const Work wide = action(*x.wide.operations, u.wide, wide_L, f.wide, true);
            const Work narrow = action(*x.narrow.operations, u.narrow, narrow_L, f.narrow, false);
            CHECK(result.gap(u) < single_rounding);
            CHECK(narrow.flops == wide.flops);
            CHECK((narrow.bytes == wide.bytes / 2 ||
                   (choice.faces == Precision::fp16 && narrow.bytes < wide.bytes / 2)));
        };
        using O = Operations&;
        using S = const Stencil&;
        for (const Colour colour : {Colour::red, Colour::black})
            for (const double factor : {1.0, 1.3})
                both("relax", x, 2,
                     [&](O o, Field u, S A, Field g, bool) { return o.relax(u, A, g, colour, factor); });
        for (const double factor : {1.0, 1.3}) {
            std::vector<Colour> colours;
            for (int n = 0; n < ghosts; ++n) colours.push_back(n % 2 == 0 ? Colour::red : Colour::black);
            // Each half sweep multiplies what those before it rounded.
            auto u = x.make(2);
            x.wide.operations->relax(u.wide, wide_L, f.wide, HalfSweeps{colours, factor});
            x.narrow.operations->relax(u.narrow, narrow_L, f.narrow, HalfSweeps{colours, factor});
            CHECK(x.gap(u) < single_rounding * std::pow(50.0, ghosts - 1));
        }
        for (const Part part : {Part::all, Part::interior, Part::shell}) {
            both("polynomial step", x, 3, [&](O o, Field p, S A, Field g, bool) {
                return o.polynomial_step(p, 0.3, 0.7, A.on(part), g, p);
            });
            both("restricted residual", coarser, 4, [&](O o, Field coarse, S A, Field g, bool) {
                return o.restrict_residual(coarse, A.on(part), g, g);
            });
            both("restricted residual of one colour", coarser, 4, [&](O o, Field coarse, S A, Field g, bool) {
                return o.restrict_residual(coarse, A.on(part).of(Colour::black), g, g);
            });
        }
        both("fill", x, 5, [](O o, Field u, S, Field, bool) { return o.fill(u, 0.1); });
        both("sum", x, 5, [](O o, Field u, S, Field g, bool) { return o.axpby(u, 0.3, u, 0.7, g); });
        both("multiple", x, 5, [](O o, Field u, S, Field g, bool) { return o.scale(u, 0.3, g); });
        both("restriction", coarser, 6,
             [](O o, Field coarse, S, Field g, bool) { return o.restrict_to(coarse, g); });
        const auto coarse = coarser.make(7);
        both("constant interpolation", x, 8, [&](O o, Field u, S, Field, bool wide) {
            return o.interpolate_add(u, wide ? coarse.wide : coarse.narrow, Interpolation::constant, {});
        });
        both("linear interpolation", x, 8, [&](O o, Field u, S, Field, bool wide) {
            return o.interpolate_add(u, wide ? coarse.wide : coarse.narrow, Interpolation::linear, {});
        });

        // Ghosts and messages: values that are moved are not rounded.
        const Region edge{{width - 1, 0, 0}, {1, width, choice.dimensions == 2 ? 1 : width}};
        const Region beyond{{-1, 0, 0}, edge.size};
        both("boundary", x, 9, [&](O o, Field u, S, Field, bool) {
            const BoundaryItem item{0, {{0, -1, 0}, {width, 1, 1}}, {0, -1, 0}};
            return o.fill_boundary(u, o.make_items(std::span(&item, 1)), {-1.0, -1.0, 1.0});
        });
        for (const Wire wire : {Wire::staged, Wire::direct})
            both("message", x, 9, [&](O o, Field u, S, Field g, bool) {
                const auto taken = BlockCopy::pack(0, edge, 3);
                const BlockCopy given = BlockCopy::pack(0, beyond, 3).reversed();
                const auto forward = BlockCopy::forward(0, 0, static_cast<int>(edge.cells()) + 3);
                const std::array from{g, u};
                const std::array to{u, u};
                const Buffer packed = o.make_buffer(2 * (edge.cells() + 3), wire);
                const Buffer passed = o.make_buffer(2 * (edge.cells() + 3), wire);
                CHECK(packed.precision == u.precision());
                Work work = o.copy_blocks(Packed{packed, 2}, o.make_items(std::span(&taken, 1)), from, {});
                work += o.copy_blocks(Packed{passed, 2}, o.make_items(std::span(&forward, 1)),
                                      Packed{packed, 2}, {});
                if (wire == Wire::staged)
                    std::memcpy(passed.wire, packed.wire, packed.values * bytes_of_value(packed.precision));
                return work += o.copy_blocks(std::span(to).first(1), o.make_items(std::span(&given, 1)),
                                             Packed{passed, 1}, {});
            });
        both("copy", x, 9, [&](O o, Field u, S, Field, bool) {
            const auto item = BlockCopy::local(0, edge, 0, beyond.lo);
            return o.copy_blocks(std::span(&u, 1), o.make_items(std::span(&item, 1)), std::span(&u, 1), {});
        });
    }
}

TEST_CASE("fields of either precision are converted, scaled, on the ghost layers that are asked for") {
    const std::shared_ptr<Backend> backend = chosen_backend();
    if (!backend_info(backend->name()).features.single_precision) return;
    for (const int dimensions : {2, 3}) {
        const Boxes::Choice choice{.width = 6, .ghosts = 3, .dimensions = dimensions};
        const Boxes wide_boxes(choice, backend), narrow_boxes(single(choice), backend);
        const auto &wide = wide_boxes.operations, &narrow = narrow_boxes.operations;
        const Region all = wide_boxes.cells(1), cells = wide_boxes.cells();
        // Larger and smaller than any that single precision has.
        for (const double size : {1.0, 1e60, 1e-60}) {
            CAPTURE(dimensions, size);
            const Field r = wide->make_field();
            wide->assign(r, all, [&](const Index& c) { return size * std::sin(1.0 * c[0] + 3 * c[1]); });
            const Field e = narrow->make_field();
            const Work work = narrow->convert(e.with_ghosts(1), r, 1 / size, Update::replace);
            CHECK(work.bytes == 12.0 * 2 * static_cast<double>(all.cells()));
            const auto given = wide->read(r, all);
            const auto taken = narrow->read(e, all);
            double gap = 0;
            for (std::size_t n = 0; n < given.size(); ++n)
                gap = std::max(gap, std::abs(given[n] / size - taken[n]));
            CHECK(gap < std::numeric_limits<float>::epsilon());
            CHECK(gap > 0);

            CHECK(wide->convert(r, e, -size, Update::add).bytes ==
                  20.0 * 2 * static_cast<double>(cells.cells()));
            for (const double left : wide->read(r, cells))
                CHECK(std::abs(left) < size * std::numeric_limits<float>::epsilon());
        }
        // Fields of another precision than the operations are refused.
        CHECK_THROWS(wide->fill(narrow->make_field(), 0.0));
        CHECK_THROWS(narrow->fill(wide->make_field(), 0.0));
        double norm = 0;
        CHECK_THROWS(narrow->max_norm(narrow->make_field(), norm));
    }
}

TEST_CASE("numbers of 16 bits are the nearest ones, and zero is zero") {
    CHECK(Half(0.0F) == 0.0F);
    CHECK(Half(1 + 0x1p-11) == 1.0F);  // the even one of two
    CHECK(Half(1 + 0x3p-11) == 1 + 0x1p-9F);
    for (int exponent = -61; exponent <= 1; ++exponent)
        for (const double digits : {1.0, 1.2345, 1.6789, 1.999}) {
            const double value = std::ldexp(digits, exponent);
            CHECK(std::abs(Half(value) - value) <= std::ldexp(1.0, exponent - 11));
        }
    CHECK(Half(0x1p-70) == 0x1p-70F);  // not normal any more
}

TEST_CASE("an operator keeps the sums of its rows when its faces are rounded") {
    const std::shared_ptr<Backend> backend = chosen_backend();
    if (!backend_info(backend->name()).features.single_precision) return;
    Boxes boxes({.width = 8,
                 .dimensions = GENERATE(2, 3),
                 .boxes = 1,
                 .precision = Precision::fp32,
                 .faces = Precision::fp16},
                backend);
    Operations& operations = *boxes.operations;
    Stencil L = boxes.stencil();
    const double reaction = 1e-3;
    operations.assign(L.inverse_diagonal, boxes.cells(), [&](const Index& c) {
        double sum = reaction;
        for (std::size_t d = 0; d < boxes.dimensions; ++d) {
            const int face = 11 + static_cast<int>(d);
            sum += static_cast<float>(noise(face, c)) + static_cast<float>(noise(face, c + step(d)));
        }
        return 1 / sum;
    });
    Stencil rounded{{}, {}, {}, L.inverse_diagonal};
    operations.round_faces(rounded, L, 1);
    const Field one = boxes.make(), row_sum = boxes.make();
    operations.fill(one, 1.0);
    // -(L 1) / D, where D is some 6: rounded faces beside the old diagonal would leave some 1e-4 of D.
    operations.polynomial_step(row_sum, 0, 1, rounded, one, row_sum);
    for (const double sum : operations.read(row_sum, boxes.cells())) {
        CHECK(sum < -0.05 * reaction);
        CHECK(sum > -0.6 * reaction);
    }
}
