// Every operation of every backend against loops written here, on odd widths and several boxes.

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "kernels/backends/registry.hpp"
#include "kernels/vector.hpp"

using namespace keel;

namespace {

constexpr Boundaries periodic{};

// Some number that depends on a cell and on which field it is for.
double noise(int field, const Index& c) {
    return std::sin(1.3 * c[0] + 2.1 * c[1] * c[1] + 0.7 * c[2] * c[0] + 5.0 * field) + 0.1 * field;
}

// Fields on two boxes side by side, every value known: cells, faces and ghosts (by the same formula, beyond the box).
struct Fixture {
    explicit Fixture(const std::string& backend, int box_width = 5, int ghosts = 1)
        : width(box_width),
          layout({2, 1, 1}, box_width, periodic, {0, 0}, 0),
          operations(make_backend(backend)->make_operations(layout, ghosts)) {}

    Field make(int number) {
        const Field field = operations->make_field();
        const View view = field.view();
        for (int q = 0; q < 2; ++q)
            for (int k = -1; k <= width; ++k)
                for (int j = -1; j <= width; ++j)
                    for (int i = -1; i <= width; ++i) view(q, i, j, k) = noise(number, cell(q, i, j, k));
        return field;
    }
    Index cell(int q, int i, int j, int k) const { return {q * width + i, j, k}; }

    Stencil stencil() {
        const Stencil L{make(11), make(12), make(13), make(14), make(15)};
        operations->assign(L.diagonal, {width, width, width},
                           [](const Index& c) { return 3 + noise(14, c); });
        return L;
    }
    double L(int q, int i, int j, int k, const Field& u) const {
        const Index c = cell(q, i, j, k);
        return (3 + noise(14, c)) * u.view()(q, i, j, k) - neighbours(q, i, j, k, u);
    }
    double neighbours(int q, int i, int j, int k, const Field& u) const {
        const View v = u.view();
        const Index c = cell(q, i, j, k);
        return noise(11, c) * v(q, i - 1, j, k) + noise(11, c + Index{1, 0, 0}) * v(q, i + 1, j, k) +
               noise(12, c) * v(q, i, j - 1, k) + noise(12, c + Index{0, 1, 0}) * v(q, i, j + 1, k) +
               noise(13, c) * v(q, i, j, k - 1) + noise(13, c + Index{0, 0, 1}) * v(q, i, j, k + 1);
    }

    // The largest difference between a field and what a function of (q,i,j,k) says, over all cells.
    template <class Expected>
    double difference(const Field& field, const Expected& expected) const {
        double worst = 0;
        const int n = field.shape().width;
        for (int q = 0; q < 2; ++q)
            for (int k = 0; k < n; ++k)
                for (int j = 0; j < n; ++j)
                    for (int i = 0; i < n; ++i)
                        worst = std::max(worst, std::abs(field.view()(q, i, j, k) - expected(q, i, j, k)));
        return worst;
    }

    int width;
    Layout layout;
    std::unique_ptr<Operations> operations;
};

constexpr double rounding = 1e-13;

}  // namespace

TEST_CASE("apply, residual and residual_norm are the operator's formula") {
    const auto backend = GENERATE(from_range(backend_names()));
    Fixture x(backend);
    const Stencil L = x.stencil();
    const Field u = x.make(1);
    const Field f = x.make(2);
    const Field out = x.operations->make_field();
    const Work work = x.operations->apply(out, L, u);
    CHECK(x.difference(out, [&](int q, int i, int j, int k) { return x.L(q, i, j, k, u); }) < rounding);
    CHECK(work.bytes == 6 * 8 * 250);

    const auto residual = [&](int q, int i, int j, int k) {
        return f.view()(q, i, j, k) - x.L(q, i, j, k, u);
    };
    x.operations->residual(out, L, u, f);
    CHECK(x.difference(out, residual) < rounding);
    double norm = 0;
    x.operations->residual_norm(L, u, f, norm);
    const Field zero = x.operations->make_field();
    CHECK(norm == Approx(x.difference(zero, residual)).epsilon(1e-13));
}

TEST_CASE("relax updates the cells of one colour, by their global indices, and no others") {
    const auto backend = GENERATE(from_range(backend_names()));
    const int width = GENERATE(4, 5);
    Fixture x(backend, width);
    const Stencil L = x.stencil();
    const Field f = x.make(2);
    for (const Colour colour : {Colour::red, Colour::black}) {
        const Field u = x.make(1);
        const Field before = x.make(1);
        const Work work = x.operations->relax(u, L, f, colour);
        CHECK(work.bytes == Approx(7 * 8.0 * 2 * width * width * width).epsilon(0.01));
        CHECK(x.difference(u, [&](int q, int i, int j, int k) {
            const Index c = x.cell(q, i, j, k);
            if ((c[0] + c[1] + c[2]) % 2 != static_cast<int>(colour)) return before.view()(q, i, j, k);
            return (f.view()(q, i, j, k) + x.neighbours(q, i, j, k, before)) * noise(15, c);
        }) < rounding);
    }
}

TEST_CASE("a polynomial step adds the scaled residual to what was there") {
    Fixture x(GENERATE(from_range(backend_names())));
    const Stencil L = x.stencil();
    const Field u = x.make(1);
    const Field f = x.make(2);
    const Field p = x.make(3);
    x.operations->polynomial_step(p, 0.3, 0.7, L, u, f);
    CHECK(x.difference(p, [&](int q, int i, int j, int k) {
        const Index c = x.cell(q, i, j, k);
        return 0.3 * noise(3, c) + 0.7 * (f.view()(q, i, j, k) - x.L(q, i, j, k, u)) * noise(15, c);
    }) < rounding);
}

TEST_CASE("setting up completes the diagonal and bounds the spectrum") {
    Fixture x(GENERATE(from_range(backend_names())));
    Stencil L;
    const auto positive = [](int number) {
        return [number](const Index& c) { return 2 + noise(number, c); };
    };
    for (Field* field : {&L.x, &L.y, &L.z, &L.diagonal, &L.inverse_diagonal})
        *field = x.operations->make_field();
    int number = 20;
    for (const Field& field : {L.x, L.y, L.z}) x.operations->assign(field, {6, 6, 6}, positive(number++));
    x.operations->assign(L.diagonal, {5, 5, 5}, [](const Index&) { return 1.5; });
    x.operations->complete_diagonal(L);
    double bound = 0;
    const auto faces = [&](int q, int i, int j, int k) {
        const View a = L.x.view();
        const View b = L.y.view();
        const View c = L.z.view();
        return a(q, i, j, k) + a(q, i + 1, j, k) + b(q, i, j, k) + b(q, i, j + 1, k) + c(q, i, j, k) +
               c(q, i, j, k + 1);
    };
    CHECK(x.difference(L.diagonal, [&](int q, int i, int j, int k) {
        bound = std::max(bound, 2 - 1.5 / (1.5 + faces(q, i, j, k)));
        return 1.5 + faces(q, i, j, k);
    }) < rounding);
    CHECK(x.difference(L.inverse_diagonal,
                       [&](int q, int i, int j, int k) { return 1 / (1.5 + faces(q, i, j, k)); }) < rounding);
    CHECK(x.operations->jacobi_bound(L) == Approx(bound).epsilon(1e-13));
}

TEST_CASE("restriction is the mean of eight cells, with or without storing the residual") {
    const auto backend = GENERATE(from_range(backend_names()));
    const int coarse_width = GENERATE(1, 3, 4);
    Fixture fine(backend, 2 * coarse_width);
    Fixture coarse(backend, coarse_width);
    const Stencil L = fine.stencil();
    const Field u = fine.make(1);
    const Field f = fine.make(2);
    const Field stored = fine.operations->make_field();
    const Field mean = coarse.operations->make_field();
    const Field fused = coarse.operations->make_field();
    fine.operations->residual(stored, L, u, f);
    fine.operations->restrict_to(mean, stored);
    fine.operations->restrict_residual(fused, L, u, f);
    const auto expected = [&](int q, int i, int j, int k) {
        double sum = 0;
        for (int n = 0; n < 8; ++n) {
            const int x = 2 * i + n % 2;
            const int y = 2 * j + n / 2 % 2;
            const int z = 2 * k + n / 4;
            sum += f.view()(q, x, y, z) - fine.L(q, x, y, z, u);
        }
        return sum / 8;
    };
    CHECK(coarse.difference(mean, expected) < rounding);
    CHECK(coarse.difference(fused, expected) < rounding);
}

TEST_CASE("a coarse face is the scaled mean of the four fine faces that tile it") {
    const auto backend = GENERATE(from_range(backend_names()));
    const int direction = GENERATE(0, 1, 2);
    Fixture fine(backend, 6);
    Fixture coarse(backend, 3);
    const Field from = fine.make(1);
    const Field to = coarse.operations->make_field();
    fine.operations->restrict_faces(to, from, direction, 0.25);
    const auto d = static_cast<std::size_t>(direction);
    Index tangent_a{};
    Index tangent_b{};
    tangent_a[(d + 1) % 3] = 1;
    tangent_b[(d + 2) % 3] = 1;
    Index extent{3, 3, 3};
    extent[d] = 4;
    for (int q = 0; q < 2; ++q)
        for (int k = 0; k < extent[2]; ++k)
            for (int j = 0; j < extent[1]; ++j)
                for (int i = 0; i < extent[0]; ++i) {
                    const Index c = fine.cell(q, 2 * i, 2 * j, 2 * k);
                    const double sum = noise(1, c) + noise(1, c + tangent_a) + noise(1, c + tangent_b) +
                                       noise(1, c + tangent_a + tangent_b);
                    CHECK(to.view()(q, i, j, k) == Approx(sum / 16).margin(rounding));
                }
}

TEST_CASE("constant interpolation adds the parent") {
    const auto backend = GENERATE(from_range(backend_names()));
    Fixture fine(backend, 6);
    Fixture coarse(backend, 3);
    const Field u = fine.make(1);
    fine.operations->interpolate_constant_add(u, coarse.make(2));
    CHECK(fine.difference(u, [&](int q, int i, int j, int k) {
        return noise(1, fine.cell(q, i, j, k)) + noise(2, coarse.cell(q, i / 2, j / 2, k / 2));
    }) < rounding);
}

TEST_CASE("linear interpolation is exact for trilinear functions") {
    const auto backend = GENERATE(from_range(backend_names()));
    Fixture fine(backend, 6);
    Fixture coarse(backend, 3);
    const auto f = [](double x, double y, double z) {
        return 1 + 2 * x - y + 3 * z + x * y - 0.5 * x * y * z;
    };
    const Field from = coarse.operations->make_field();
    for (int q = 0; q < 2; ++q)
        for (int k = -1; k <= 3; ++k)
            for (int j = -1; j <= 3; ++j)
                for (int i = -1; i <= 3; ++i)
                    from.view()(q, i, j, k) = f(2 * i + 0.5, 2 * j + 0.5, 2 * k + 0.5);
    const Field u = fine.operations->make_field();
    fine.operations->interpolate_linear_add(u, from);
    CHECK(fine.difference(u, [&](int, int i, int j, int k) { return f(i, j, k); }) < 1e-11);
}

TEST_CASE("combine takes any number of terms, also y itself") {
    const auto backend = GENERATE(from_range(backend_names()));
    const int terms = GENERATE(1, 2, 3, 7, 8, 9, 15, 16, 20);
    Fixture x(backend);
    std::vector<Field> fields;
    std::vector<double> c;
    for (int n = 0; n < terms; ++n) {
        fields.push_back(x.make(n));
        c.push_back(0.5 + n);
    }
    const auto sum = [&](int q, int i, int j, int k) {
        double total = 0;
        for (int n = 0; n < terms; ++n) total += (0.5 + n) * noise(n, x.cell(q, i, j, k));
        return total;
    };
    const Field y = x.operations->make_field();
    x.operations->combine(y, c, fields);
    CHECK(x.difference(y, sum) < 1e-11);
    x.operations->combine(fields[0], c, fields);
    CHECK(x.difference(fields[0], sum) < 1e-11);
}

TEST_CASE("the other vector operations") {
    Fixture x(GENERATE(from_range(backend_names())));
    const Field a = x.make(1);
    const Field b = x.make(2);
    const Field y = x.operations->make_field();
    const auto at = [&](int number, int q, int i, int j, int k) { return noise(number, x.cell(q, i, j, k)); };
    x.operations->multiply(y, a, b);
    CHECK(x.difference(y, [&](int q, int i, int j, int k) { return at(1, q, i, j, k) * at(2, q, i, j, k); }) <
          rounding);
    x.operations->multiply(y, a, a);
    x.operations->square_root(y, y);
    CHECK(x.difference(y, [&](int q, int i, int j, int k) { return std::abs(at(1, q, i, j, k)); }) <
          rounding);
    x.operations->copy(y, a);
    x.operations->shift(y, 2.5);
    CHECK(x.difference(y, [&](int q, int i, int j, int k) { return at(1, q, i, j, k) + 2.5; }) < rounding);
    x.operations->fill(y, 7.0);
    CHECK(x.difference(y, [](int, int, int, int) { return 7.0; }) == 0);
    CHECK(y.view()(1, -1, -1, -1) == 7.0);
    CHECK(y.view()(1, 5, 5, 5) == 7.0);
    x.operations->assign(y, {5, 5, 5}, [](const Index& c) { return c[0] + 100.0 * c[1] + 10000.0 * c[2]; });
    const std::vector<double> values = x.operations->read(y);
    REQUIRE(values.size() == 250);
    CHECK(values[125 + 1 + 5 * (2 + 5 * 3)] == 6 + 200 + 30000);
}

TEST_CASE("many inner products are formed in one call, box by box") {
    const auto backend = GENERATE(from_range(backend_names()));
    const int products = GENERATE(1, 2, 8, 9, 17);
    Fixture x(backend, 9);
    std::vector<Product> pairs;
    for (int n = 0; n < products; ++n) pairs.push_back({x.make(n), x.make(n + 1)});
    std::vector<double> sums(static_cast<std::size_t>(2 * products));
    x.operations->dots(pairs, sums);
    for (int n = 0; n < products; ++n)
        for (int q = 0; q < 2; ++q) {
            double sum = 0;
            for (int k = 0; k < 9; ++k)
                for (int j = 0; j < 9; ++j)
                    for (int i = 0; i < 9; ++i)
                        sum += noise(n, x.cell(q, i, j, k)) * noise(n + 1, x.cell(q, i, j, k));
            CHECK(sums[static_cast<std::size_t>(2 * n + q)] == Approx(sum).epsilon(1e-12).margin(1e-10));
        }
    std::vector<double> totals(2);
    x.operations->totals(pairs[0].x, totals);
    const Field ones = x.operations->make_field();
    x.operations->fill(ones, 1.0);
    const Product with_ones{pairs[0].x, ones};
    std::vector<double> expected(2);
    x.operations->dots(std::span(&with_ones, 1), expected);
    for (std::size_t q = 0; q < 2; ++q) CHECK(totals[q] == Approx(expected[q]).epsilon(1e-13));
}

TEST_CASE("a box's inner product is the same to the last bit wherever the box lives") {
    const auto backend = GENERATE(from_range(backend_names()));
    const std::vector<int> one_rank(8, 0);
    const auto formula = [](const Index& c) { return noise(3, c); };
    const auto box_sums = [&](const std::vector<int>& owners, int rank) {
        const Layout layout({2, 2, 2}, 16, periodic, owners, rank);
        const auto operations = make_backend(backend)->make_operations(layout, 1);
        const Field x = operations->make_field();
        operations->assign(x, {16, 16, 16}, formula);
        const Product square{x, x};
        std::vector<double> sums(static_cast<std::size_t>(layout.local_count()));
        operations->dots(std::span(&square, 1), sums);
        return sums;
    };
    const std::vector<double> together = box_sums(one_rank, 0);
    for (int rank = 0; rank < 3; ++rank) {
        const auto owners = place({2, 2, 2}, 3, Placement::round_robin);
        const Layout layout({2, 2, 2}, 16, periodic, owners, rank);
        const std::vector<double> apart = box_sums(owners, rank);
        for (std::size_t q = 0; q < apart.size(); ++q)
            CHECK(apart[q] == together[static_cast<std::size_t>(layout.local()[q])]);
    }
}

TEST_CASE("max_norm sees every cell, and that a value is not finite") {
    Fixture x(GENERATE(from_range(backend_names())), 9);
    const Field u = x.make(1);
    const auto norm = [&] {
        double value = 0;
        x.operations->max_norm(u, value);
        return value;
    };
    for (const auto& [i, j, k] : {Index{0, 0, 0}, Index{8, 8, 8}, Index{3, 8, 5}}) {
        u.view()(1, i, j, k) = -100.0 - i;
        CHECK(norm() == 100.0 + i);
        u.view()(1, i, j, k) = 0;
    }
    u.view()(0, 8, 0, 0) = std::numeric_limits<double>::quiet_NaN();
    CHECK(norm() == std::numeric_limits<double>::infinity());
    u.view()(0, 8, 0, 0) = -std::numeric_limits<double>::infinity();
    CHECK(norm() == std::numeric_limits<double>::infinity());
}

TEST_CASE("packing several fields and unpacking them moves every cell to its place") {
    const auto backend = GENERATE(from_range(backend_names()));
    const std::size_t fields = static_cast<std::size_t>(GENERATE(1, 2, 8, 9, 20));
    Fixture x(backend);
    std::vector<Field> from;
    std::vector<Field> to;
    for (std::size_t n = 0; n < fields; ++n) {
        from.push_back(x.make(static_cast<int>(n)));
        to.push_back(x.operations->make_field());
    }
    const std::vector<Segment> taken{{0, {{4, 0, 0}, {1, 5, 5}}, 0}, {1, {{0, 1, 2}, {5, 2, 1}}, 25}};
    const std::vector<Segment> put{{1, {{-1, 0, 0}, {1, 5, 5}}, 0}, {0, {{0, 3, -1}, {5, 2, 1}}, 25}};
    const auto taken_items = x.operations->make_items(std::span<const Segment>(taken));
    const auto put_items = x.operations->make_items(std::span<const Segment>(put));
    const Buffer buffer = x.operations->make_buffer(35 * fields);
    x.operations->pack(buffer, taken_items, from);
    // The order on the wire: segment, then field, then cell.
    CHECK(buffer.data[25 * (fields - 1) + 7] == noise(static_cast<int>(fields) - 1, x.cell(0, 4, 2, 1)));
    CHECK(buffer.data[25 * fields + 6] == noise(0, x.cell(1, 1, 2, 2)));
    x.operations->unpack(to, put_items, buffer);
    for (std::size_t n = 0; n < fields; ++n) {
        CHECK(to[n].view()(1, -1, 3, 4) == noise(static_cast<int>(n), x.cell(0, 4, 3, 4)));
        CHECK(to[n].view()(0, 2, 4, -1) == noise(static_cast<int>(n), x.cell(1, 2, 2, 2)));
        CHECK(to[n].view()(0, 2, 2, 2) == 0);
    }
    const std::vector<CopyItem> copies{{0, taken[0].cells, 1, put[0].cells}};
    for (const Field& field : to) x.operations->fill(field, 0.0);
    x.operations->copy_cells(to, x.operations->make_items(std::span<const CopyItem>(copies)));
    x.operations->copy_cells(from, x.operations->make_items(std::span<const CopyItem>(copies)));
    for (std::size_t n = 0; n < fields; ++n)
        CHECK(from[n].view()(1, -1, 3, 4) == noise(static_cast<int>(n), x.cell(0, 4, 3, 4)));
}

TEST_CASE("ghosts outside the domain are mirror images with the sign of their boundary") {
    Fixture x(GENERATE(from_range(backend_names())));
    const Field u = x.make(1);
    const std::vector<BoundaryItem> ghosts{
        {0, {{-1, 0, 0}, {1, 5, 5}}, {-1, 0, 0}},    // a face
        {1, {{5, 5, 0}, {1, 1, 5}}, {1, 1, 0}},      // an edge
        {1, {{-1, 5, -1}, {1, 1, 1}}, {0, 1, -1}}};  // a corner, x inside the domain
    x.operations->fill_boundary(u, x.operations->make_items(std::span<const BoundaryItem>(ghosts)),
                                {-1.0, 1.0, -1.0});
    CHECK(u.view()(0, -1, 2, 3) == -noise(1, x.cell(0, 0, 2, 3)));
    CHECK(u.view()(1, 5, 5, 3) == -noise(1, x.cell(1, 4, 4, 3)));
    CHECK(u.view()(1, -1, 5, -1) == -noise(1, x.cell(1, -1, 4, 0)));
}

TEST_CASE("unknown backends are refused") {
    CHECK_THROWS_AS(make_backend("abacus"), std::invalid_argument);
}
