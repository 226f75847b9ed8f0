// Every operation of every backend in two dimensions, against loops over a plane written here: nothing reads
// or writes what would be below or above it.

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "kernels/bodies/stencil.hpp"
#include "kernels/bodies/transfer.hpp"
#include "tests/chosen_backend.hpp"
#include "tests/kernels/noise.hpp"

using namespace keel;
using namespace keel::test;

namespace {

// Two boxes side by side, alone or in a block, every value known: cells, faces and ghosts.
struct Plane {
    explicit Plane(int box_width = 5, int ghosts = 1, std::shared_ptr<Backend> same = chosen_backend())
        : Plane(box_width, ghosts, std::move(same), GENERATE(Storage::boxes, Storage::blocks)) {}
    Plane(int box_width, int ghosts, std::shared_ptr<Backend> same, Storage stored)
        : width(box_width),
          storage(stored),
          layout(Domain({2, 1, 1}, {}, 2), box_width, {0, 0}, 0),
          backend(std::move(same)),
          operations(backend->make_operations(layout, ghosts, storage)) {}

    Field make(int number) {
        const Field field = operations->make_field();
        const Index layers = layout.layers(field.shape().ghosts);
        operations->assign(field, {-layers, layout.extent() + 2 * layers},
                           [number](const Index& c) { return noise(number, c); });
        return field;
    }
    Stencil stencil() { return {make(11), make(12), {}, make(14)}; }
    HostField on_host(Field u) const { return {*operations, u}; }

    static double diagonal(const Index& c) { return 1 / noise(14, c); }
    // SUM c u and L u at a cell of a box; the fields' values are those of make().
    static double neighbours(const Index& c, const std::function<double(const Index&)>& u) {
        return noise(11, c) * u(c + Index{-1, 0, 0}) + noise(11, c + Index{1, 0, 0}) * u(c + Index{1, 0, 0}) +
               noise(12, c) * u(c + Index{0, -1, 0}) + noise(12, c + Index{0, 1, 0}) * u(c + Index{0, 1, 0});
    }
    static double L(const Index& c, int u) {
        return diagonal(c) * noise(u, c) - neighbours(c, [u](const Index& at) { return noise(u, at); });
    }

    // The largest difference between a field and what a function of the global cell says, NaN counted as
    // infinite.
    double difference(Field field, const std::function<double(const Index&)>& expected,
                      int layers = 0) const {
        const HostField values = on_host(field);
        double worst = 0;
        for (int q = 0; q < 2; ++q)
            for (int j = -layers; j < width + layers; ++j)
                for (int i = -layers; i < width + layers; ++i) {
                    const double gap = std::abs(values(q, i, j, 0) - expected({q * width + i, j, 0}));
                    worst = std::isnan(gap) ? HUGE_VAL : std::max(worst, gap);
                }
        return worst;
    }

    int width;
    Storage storage;
    Layout layout;
    std::shared_ptr<Backend> backend;
    std::unique_ptr<Operations> operations;
};

}  // namespace

TEST_CASE("a field of a plane has one plane and no ghosts below and above it") {
    const Shape plane = Shape::of(3, {16, 16, 1}, 2, 2);
    const Shape box = Shape::of(3, {16, 16, 16}, 2);
    CHECK(plane.values() < 3 * 24 * 24);
    CHECK(box.values() > 10 * plane.values());
    Plane x(4, 2);
    const Field u = x.make(1);
    CHECK(u.shape().extent[2] == 1);
    CHECK(x.layout.layers(2) == Index{2, 2, 0});
    CHECK(x.layout.local_cells() == 32);
    // Boxes of a block have the cells between them in common, ghosts of each other.
    CHECK(x.difference(
              u, [](const Index& c) { return noise(1, c); }, x.storage == Storage::boxes ? 2 : 0) == 0.0);
}

TEST_CASE("the operator of a plane has five points, and its residual is f less that") {
    Plane x(5, 2);
    const Stencil L = x.stencil();
    const Field u = x.make(1), f = x.make(2), out = x.make(3);
    const std::size_t cells = x.layout.local_cells();
    const auto Lu = [](const Index& c) { return Plane::L(c, 1); };
    const Work applied = x.operations->apply(out, L, u);
    CHECK(x.difference(out, Lu) < rounding);
    CHECK(applied.flops == 9.0 * static_cast<double>(cells));
    CHECK(applied.bytes == 8 * 5.0 * static_cast<double>(cells));
    for (const Part first : {Part::interior, Part::shell}) {
        x.operations->fill(out, 7.0);
        x.operations->apply(out, L.on(first), u);
        x.operations->apply(out, L.on(first == Part::shell ? Part::interior : Part::shell), u);
        CHECK(x.difference(out, Lu) < rounding);
    }
    const Work subtracted = x.operations->residual(out, L, u, f);
    CHECK(x.difference(out, [&](const Index& c) { return noise(2, c) - Lu(c); }) < rounding);
    CHECK(subtracted.flops == 10.0 * static_cast<double>(cells));
    double norm = 0, largest = 0;
    x.operations->residual_norm(L, u, f, norm);
    x.operations->max_norm(out, largest);
    CHECK(norm == Approx(largest).epsilon(1e-14));

    const Field p = x.make(4);
    x.operations->polynomial_step(p, 0.25, 0.5, L, u, f);
    CHECK(x.difference(p, [&](const Index& c) {
        return 0.25 * noise(4, c) + 0.5 * (noise(2, c) - Lu(c)) * noise(14, c);
    }) < rounding);
}

TEST_CASE("on a plane the operator writes the ghost layers that are asked for") {
    Plane x(6, 3, chosen_backend(), Storage::boxes);
    const Stencil L = x.stencil();
    const Field u = x.make(1), out = x.make(3);
    x.operations->apply(out.with_ghosts(2), L, u);
    CHECK(x.difference(
              out, [](const Index& c) { return Plane::L(c, 1); }, 2) < rounding);
    x.operations->multiply(out.with_ghosts(1), u, u);
    CHECK(x.difference(
              out, [](const Index& c) { return noise(1, c) * noise(1, c); }, 1) < rounding);
}

TEST_CASE("half sweeps on a plane relax the cells of one colour") {
    const double relaxation = GENERATE(1.0, 1.4);
    Plane x(5);
    const Stencil L = x.stencil();
    const Field f = x.make(2);
    for (const Colour colour : {Colour::red, Colour::black}) {
        const Field u = x.make(1);
        const auto old = [](const Index& c) { return noise(1, c); };
        x.operations->relax(u, L, f, colour, relaxation);
        CHECK(x.difference(u, [&](const Index& c) {
            if (((c[0] + c[1]) & 1) != static_cast<int>(colour)) return old(c);
            const double relaxed = (noise(2, c) + Plane::neighbours(c, old)) * noise(14, c);
            return old(c) + relaxation * (relaxed - old(c));
        }) < rounding);

        const Reaction phi{ReactionKind::heat_1, 0.3};
        const Field v = x.make(1);
        x.operations->relax_newton(v, L, phi, f, colour);
        CHECK(x.difference(v, [&](const Index& c) {
            if (((c[0] + c[1]) & 1) != static_cast<int>(colour)) return old(c);
            const double slope = Plane::diagonal(c) + phi.slope(old(c));
            const double rest = noise(2, c) - Plane::L(c, 1) - phi(old(c));
            return slope > 0 ? old(c) + rest / slope : old(c) / 0.0;
        }) < rounding);
    }
}

TEST_CASE("fused half sweeps on a plane are half sweeps of shrinking ghost layers") {
    // Narrow, and wide enough for several threads and tiles.
    const int width = GENERATE(6, 80);
    const int half_sweeps = GENERATE(2, 4);
    Plane x(width, half_sweeps, chosen_backend(), Storage::boxes);
    const Stencil L = x.stencil();
    const Field f = x.make(2), u = x.make(1);
    std::vector<Colour> colours;
    for (int n = 0; n < half_sweeps; ++n) colours.push_back(n % 2 == 0 ? Colour::red : Colour::black);
    const int span = width + 2 * half_sweeps;
    std::array<std::vector<double>, 2> expected;
    for (int q = 0; q < 2; ++q) {
        std::vector<double>& values = expected[static_cast<std::size_t>(q)];
        const auto global = [&](int i, int j) { return Index{q * width + i, j, 0}; };
        const auto at = [&](const Index& c) -> double& {
            return values[static_cast<std::size_t>((c[1] + half_sweeps) * span + c[0] - q * width +
                                                   half_sweeps)];
        };
        values.resize(static_cast<std::size_t>(span * span));
        for (int j = -half_sweeps; j < width + half_sweeps; ++j)
            for (int i = -half_sweeps; i < width + half_sweeps; ++i)
                at(global(i, j)) = noise(1, global(i, j));
        for (int n = 0; n < half_sweeps; ++n) {
            const int layers = half_sweeps - 1 - n;
            for (int j = -layers; j < width + layers; ++j)
                for (int i = -layers; i < width + layers; ++i) {
                    const Index c = global(i, j);
                    if (((c[0] + c[1]) & 1) != n % 2) continue;
                    at(c) = (noise(2, c) + Plane::neighbours(c, at)) * noise(14, c);
                }
        }
    }
    x.operations->relax(u, L, f, HalfSweeps{colours});
    CHECK(x.difference(u, [&](const Index& c) {
        const int q = c[0] / width;
        return expected[static_cast<std::size_t>(q)]
                       [static_cast<std::size_t>((c[1] + half_sweeps) * span + c[0] % width + half_sweeps)];
    }) < 1e-11);
}

TEST_CASE("between planes a coarse cell has four children, a coarse face two") {
    const auto backend = chosen_backend();
    const Storage storage = GENERATE(Storage::boxes, Storage::blocks);
    Plane fine(8, 1, std::shared_ptr<Backend>(chosen_backend()), storage);
    Plane coarse(4, 1, fine.backend, storage);
    const auto children = [](const Index& c, const std::function<double(const Index&)>& value) {
        double sum = 0;
        for (const Index& child : {Index{0, 0, 0}, Index{1, 0, 0}, Index{0, 1, 0}, Index{1, 1, 0}})
            sum += value(2 * c + child);
        return sum / 4;
    };
    const Field u = fine.make(1), f = fine.make(2), out = coarse.make(3);
    const Stencil L = fine.stencil();
    fine.operations->restrict_to(out, u);
    CHECK(coarse.difference(out, [&](const Index& c) {
        return children(c, [](const Index& at) { return noise(1, at); });
    }) < rounding);
    const Work restricted = fine.operations->restrict_residual(out, L, u, f);
    CHECK(coarse.difference(out, [&](const Index& c) {
        return children(c, [](const Index& at) { return noise(2, at) - Plane::L(at, 1); });
    }) < rounding);
    CHECK(restricted.flops == 4 * 11.0 * static_cast<double>(coarse.layout.local_cells()));
    for (const int colour : {0, 1}) {
        fine.operations->restrict_residual(out, L.of(static_cast<Colour>(colour)), u, f);
        CHECK(coarse.difference(out, [&](const Index& c) {
            return children(c, [&](const Index& at) {
                return ((at[0] + at[1]) & 1) == colour ? noise(2, at) - Plane::L(at, 1) : 0.0;
            });
        }) < rounding);
    }
    for (const Part first : {Part::interior, Part::shell}) {
        coarse.operations->fill(out, 7.0);
        fine.operations->restrict_residual(out, L.on(first), u, f);
        fine.operations->restrict_residual(out, L.on(first == Part::shell ? Part::interior : Part::shell), u,
                                           f);
        CHECK(coarse.difference(out, [&](const Index& c) {
            return children(c, [](const Index& at) { return noise(2, at) - Plane::L(at, 1); });
        }) < rounding);
    }

    const Field faces = coarse.make(3);
    fine.operations->restrict_faces(faces, L.x, 0, 0.25);
    CHECK(coarse.difference(faces, [](const Index& c) {
        return 0.125 * (noise(11, 2 * c) + noise(11, 2 * c + Index{0, 1, 0}));
    }) < rounding);
    fine.operations->restrict_faces(faces, L.y, 1, 0.25);
    CHECK(coarse.difference(faces, [](const Index& c) {
        return 0.125 * (noise(12, 2 * c) + noise(12, 2 * c + Index{1, 0, 0}));
    }) < rounding);

    const Field of_coarse = coarse.make(5);
    const auto parent = [](const Index& c) { return Index{c[0] >> 1, c[1] >> 1, 0}; };
    Field to = fine.make(1);
    fine.operations->interpolate_add(to, of_coarse, Interpolation::constant, {});
    CHECK(fine.difference(to, [&](const Index& c) { return noise(1, c) + noise(5, parent(c)); }) < rounding);
    to = fine.make(1);
    fine.operations->interpolate_add(to, of_coarse, Interpolation::linear, {});
    CHECK(fine.difference(to, [&](const Index& c) {
        const Index at = parent(c);
        const Index dx{(c[0] & 1) * 2 - 1, 0, 0}, dy{0, (c[1] & 1) * 2 - 1, 0};
        return noise(1, c) +
               (9 * noise(5, at) + 3 * noise(5, at + dx) + 3 * noise(5, at + dy) + noise(5, at + dx + dy)) /
                   16;
    }) < rounding);
}

TEST_CASE("a diagonal of a plane is completed by four faces") {
    Plane x(5);
    const Stencil L = x.stencil();
    const auto a_alpha = [](const Index& c) { return 3 + noise(15, c); };
    x.operations->assign(L.inverse_diagonal, x.layout.box_cells(), a_alpha);
    const double jacobi_bound = x.operations->complete_diagonal(L);
    const auto faces = [](const Index& c) {
        return noise(11, c) + noise(11, c + Index{1, 0, 0}) + noise(12, c) + noise(12, c + Index{0, 1, 0});
    };
    CHECK(x.difference(L.inverse_diagonal, [&](const Index& c) { return 1 / (a_alpha(c) + faces(c)); }) <
          1e-9);
    double bound = 0;
    for (int j = 0; j < 5; ++j)
        for (int i = 0; i < 10; ++i) {
            const Index c{i, j, 0};
            bound = std::max(bound, std::abs(1 + faces(c) / (a_alpha(c) + faces(c))));
        }
    CHECK(jacobi_bound == Approx(bound).epsilon(1e-9));
}

TEST_CASE("sums over a plane are those of its boxes, however many of them are formed") {
    const int width = GENERATE(5, 80);
    Plane x(width);
    std::vector<Field> fields;
    for (int n = 0; n < 5; ++n) fields.push_back(x.make(n));
    const auto sum = [&](int q, int n, int m) {
        double total = 0;
        for (int j = 0; j < width; ++j)
            for (int i = 0; i < width; ++i) {
                const Index c{q * width + i, j, 0};
                total += noise(n, c) * (m < 0 ? 1.0 : noise(m, c));
            }
        return total;
    };
    const double size = width * width;
    const std::array products{Product{fields[0], fields[1]}, Product{fields[2], fields[2]}};
    std::vector<double> sums(4);
    x.operations->dots(products, sums);
    for (int q = 0; q < 2; ++q) {
        const auto at = static_cast<std::size_t>(q);
        CHECK(std::abs(sums[at] - sum(q, 0, 1)) < 1e-13 * size);
        CHECK(std::abs(sums[2 + at] - sum(q, 2, 2)) < 1e-13 * size);
    }
    std::vector<double> all(2 * gram_pairs(3, 2));
    x.operations->gram(std::span(fields).first(3), std::span(fields).last(2), GramAccuracy::plain, all);
    auto next = all.begin();
    for (int n = 0; n < 3; ++n)
        for (int m = n; m < 5; ++m)
            for (int q = 0; q < 2; ++q) CHECK(std::abs(*next++ - sum(q, n, m)) < 1e-13 * size);
    std::vector<double> totals(2);
    x.operations->totals(fields[3], totals);
    for (int q = 0; q < 2; ++q)
        CHECK(std::abs(totals[static_cast<std::size_t>(q)] - sum(q, 3, -1)) < 1e-13 * size);
}
