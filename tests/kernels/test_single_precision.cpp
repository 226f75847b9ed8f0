// The operations of a multigrid cycle in single precision against the same in double: equal but for the
// rounding of single.

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "tests/chosen_backend.hpp"

using namespace keel;
using keel::test::chosen_backend;
using keel::test::HostField;

namespace {

// Some number of cells and fields that single precision has, too.
double single_noise(int field, const Index& c) {
    return static_cast<float>(std::sin(1.3 * c[0] + 2.1 * c[1] * c[1] + 0.7 * c[2] * c[0] + 5.0 * field));
}

// The same level in both precisions, in single with faces of this one.
struct Twins {
    Twins(const Backend& backend, const Layout& layout, int layers_of_ghosts, Storage storage,
          Precision of_faces)
        : ghosts(layers_of_ghosts),
          faces(of_faces),
          layers(layout.layers(ghosts)),
          cells(layout.box_cells()),
          wide(backend.make_operations(layout, ghosts, storage)),
          narrow(backend.make_cycle_operations(layout, ghosts, storage, of_faces)) {}

    struct Pair {
        Field wide, narrow;
    };
    Pair make(int number) const {
        return make([number](const Index& c) { return single_noise(number, c); });
    }
    Pair make(const Formula& value) const {
        const Pair pair{wide->make_field(), narrow->make_field()};
        const Region all{-layers, cells.size + 2 * layers};
        wide->assign(pair.wide, all, value);
        narrow->assign(pair.narrow, all, value);
        return pair;
    }
    struct Operators {
        Stencil wide, narrow;
    };
    Operators make_operators() const {
        Operators L;
        for (const auto member : {&Stencil::x, &Stencil::y, &Stencil::z, &Stencil::inverse_diagonal}) {
            const Pair pair = make([&](const Index& c) {
                const double value = single_noise(11, c) + 2.0;
                return faces == Precision::fp16 ? Half(value) : value;
            });
            L.wide.*member = pair.wide;
            L.narrow.*member = pair.narrow;
        }
        if (faces == Precision::fp32) return L;
        Stencil rounded{{}, {}, {}, L.narrow.inverse_diagonal};
        narrow->round_faces(rounded, L.narrow, ghosts);
        return {L.wide, rounded};
    }
    // The largest difference of two fields, ghosts included.
    double gap(const Pair& u) const {
        const Region all{-layers, cells.size + 2 * layers};
        const auto a = wide->read(u.wide, all);
        const auto b = narrow->read(u.narrow, all);
        double largest = a.size() == b.size() ? 0.0 : HUGE_VAL;
        for (std::size_t n = 0; n < std::min(a.size(), b.size()); ++n) {
            const double difference = std::abs(a[n] - b[n]);
            largest = std::isnan(difference) ? HUGE_VAL : std::max(largest, difference);
        }
        return largest;
    }

    int ghosts;
    Precision faces;
    Index layers;
    Region cells;
    std::unique_ptr<Operations> wide, narrow;
};

// Rounding of sums of some ten products of numbers of about one.
constexpr double single_rounding = 5e-5;

}  // namespace

TEST_CASE("a cycle's operations in single precision are those in double but for rounding") {
    const auto backend = chosen_backend();
    const bool able = backend_info(backend->name()).features.single_precision;
    std::mt19937 random(7);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    for (int round = 0; round < 24; ++round) {
        const int dimensions = 2 + round % 2;
        const Storage storage = round / 2 % 2 == 0 ? Storage::boxes : Storage::blocks;
        const int ghosts = 1 + below(3);
        const int width = 2 * (1 + below(6));
        const Index boxes{1 + below(3), 1 + below(2), dimensions == 2 ? 1 : 1 + below(2)};
        CAPTURE(dimensions, ghosts, width, boxes, round);
        const Domain domain(boxes, {}, dimensions);
        const Layout layout(domain, width, place(domain, 1, Placement::lexicographic), 0);
        if (!able) {
            CHECK(backend->make_cycle_operations(layout, ghosts, storage, Precision::fp32) == nullptr);
            continue;
        }
        const Precision faces = round % 3 == 0 ? Precision::fp16 : Precision::fp32;
        const Twins x(*backend, layout, ghosts, storage, faces);
        const Twins coarser(*backend, layout.coarsened(), ghosts, storage, faces);
        const auto L = x.make_operators();
        const auto f = x.make(1);
        // The same verb on both of a pair, whose work is the same but for the bytes.
        const auto both = [&](const char* verb, const Twins& result, int field, const auto& action) {
            CAPTURE(verb);
            const auto u = result.make(field);
            const Work wide = action(*x.wide, u.wide, L.wide, f.wide, true);
            const Work narrow = action(*x.narrow, u.narrow, L.narrow, f.narrow, false);
            CHECK(result.gap(u) < single_rounding);
            CHECK(narrow.flops == wide.flops);
            CHECK((narrow.bytes == wide.bytes / 2 ||
                   (faces == Precision::fp16 && narrow.bytes < wide.bytes / 2)));
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
            x.wide->relax(u.wide, L.wide, f.wide, HalfSweeps{colours, factor});
            x.narrow->relax(u.narrow, L.narrow, f.narrow, HalfSweeps{colours, factor});
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
        const Region edge{{width - 1, 0, 0}, {1, width, dimensions == 2 ? 1 : width}};
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
    const auto backend = chosen_backend();
    if (!backend_info(backend->name()).features.single_precision) return;
    for (const int dimensions : {2, 3}) {
        const Domain domain({2, 1, 1}, {}, dimensions);
        const Layout layout(domain, 6, place(domain, 1, Placement::lexicographic), 0);
        const auto wide = backend->make_operations(layout, 1);
        const auto narrow = backend->make_cycle_operations(layout, 3, Storage::boxes, Precision::fp32);
        const Index layer = layout.layers(1);
        const Region all{-layer, layout.extent() + 2 * layer};
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
                  20.0 * 2 * static_cast<double>(layout.box_cells().cells()));
            for (const double left : wide->read(r, layout.box_cells()))
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
    const auto backend = chosen_backend();
    if (!backend_info(backend->name()).features.single_precision) return;
    for (const int dimensions : {2, 3}) {
        const Domain domain({1, 1, 1}, {}, dimensions);
        const Layout layout(domain, 8, place(domain, 1, Placement::lexicographic), 0);
        const Twins x(*backend, layout, 1, Storage::boxes, Precision::fp16);
        const auto face = [](const Index& c) { return 0.1 * (2 + single_noise(3, c)); };
        Stencil L{x.make(face).narrow, x.make(face).narrow, x.make(face).narrow, {}};
        const double reaction = 1e-3;
        L.inverse_diagonal = x.make([&](const Index& c) {
                                  double sum = reaction;
                                  for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d) {
                                      Index upper = c;
                                      ++upper[d];
                                      sum += static_cast<float>(face(c)) + static_cast<float>(face(upper));
                                  }
                                  return 1 / sum;
                              }).narrow;
        Stencil rounded{{}, {}, {}, L.inverse_diagonal};
        x.narrow->round_faces(rounded, L, 1);
        const auto one = x.make([](const Index&) { return 1.0; });
        const auto row_sum = x.make(1);
        x.narrow->fill(row_sum.narrow, 0.0);
        // -(L 1) / D: rounded faces beside the old diagonal would leave some 1e-4.
        x.narrow->polynomial_step(row_sum.narrow, 0, 1, rounded, one.narrow, row_sum.narrow);
        for (const double sum : x.narrow->read(row_sum.narrow, layout.box_cells()))
            CHECK(std::abs(sum + reaction / (0.4 * dimensions)) < reaction);
    }
}
