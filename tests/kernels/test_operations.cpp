// Every operation of every backend against loops written here, on odd widths and several boxes.

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/bodies/accurate_sums.hpp"
#include "kernels/bodies/vector.hpp"
#include "tests/boundaries.hpp"
#include "tests/chosen_backend.hpp"
#include "tests/kernels/noise.hpp"

using namespace keel;
using namespace keel::test;

namespace {

// |a - b|, infinite where one of them is not a number: a maximum must not overlook that.
double gap(double a, double b) {
    return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::infinity() : std::abs(a - b);
}

// Fields on two boxes side by side, every value known: cells, faces and ghosts (by the same formula, beyond
// the box). Each test that has one runs with the boxes alone, and again with both in a block.
struct Fixture {
    explicit Fixture(int box_width = 5, int ghosts = 1, std::shared_ptr<Backend> same = chosen_backend())
        : Fixture(box_width, ghosts, std::move(same), GENERATE(Storage::boxes, Storage::blocks)) {}
    // Boxes alone, for tests that tell a box's ghosts from its neighbour's cells.
    static Fixture alone(int box_width = 5, int ghosts = 1) {
        return {box_width, ghosts, chosen_backend(), Storage::boxes};
    }
    Fixture(int box_width, int ghosts, std::shared_ptr<Backend> same, Storage stored)
        : width(box_width),
          storage(stored),
          layout({2, 1, 1}, box_width, periodic, {0, 0}, 0),
          backend(std::move(same)),
          operations(backend->make_operations(layout, ghosts, storage)) {}

    Field make(int number, int layers = 1) {
        const Field field = operations->make_field();
        operations->assign(field, cube(width, layers), [number](const Index& c) { return noise(number, c); });
        return field;
    }
    Index cell(int q, int i, int j, int k) const { return {q * width + i, j, k}; }
    HostField on_host(Field u) const { return {*operations, u}; }
    void poke(Field u, int q, const Index& at, double value) {
        const HostField before = on_host(u);
        const Index there = cell(q, at[0], at[1], at[2]);
        operations->assign(u, {at, {1, 1, 1}}, [&](const Index& c) {
            return c == there ? value : before(1 - q, at[0], at[1], at[2]);
        });
    }

    Stencil stencil() { return {make(11), make(12), make(13), make(14)}; }
    double L(int q, int i, int j, int k, const HostField& u) const {
        const Index c = cell(q, i, j, k);
        return u(q, i, j, k) / noise(14, c) - neighbours(q, i, j, k, u);
    }
    double neighbours(int q, int i, int j, int k, const HostField& v) const {
        const Index c = cell(q, i, j, k);
        return noise(11, c) * v(q, i - 1, j, k) + noise(11, c + Index{1, 0, 0}) * v(q, i + 1, j, k) +
               noise(12, c) * v(q, i, j - 1, k) + noise(12, c + Index{0, 1, 0}) * v(q, i, j + 1, k) +
               noise(13, c) * v(q, i, j, k - 1) + noise(13, c + Index{0, 0, 1}) * v(q, i, j, k + 1);
    }

    // The largest difference between a field and what a function of (q,i,j,k) says, over all cells.
    template <class Expected>
    double difference(const Field& field, const Expected& expected) const {
        const HostField values = on_host(field);
        double worst = 0;
        const int n = width;
        for (int q = 0; q < 2; ++q)
            for (int k = 0; k < n; ++k)
                for (int j = 0; j < n; ++j)
                    for (int i = 0; i < n; ++i)
                        worst = std::max(worst, gap(values(q, i, j, k), expected(q, i, j, k)));
        return worst;
    }

    int width;
    Storage storage;
    Layout layout;
    std::shared_ptr<Backend> backend;
    std::unique_ptr<Operations> operations;
};

// The operator of the design over the cells of a whole domain, as a dense matrix: a alpha u - b div(beta grad
// u) with a ghost u = -u beyond a Dirichlet face and u = +u beyond a Neumann face.
struct DenseOperator {
    static constexpr double a = 0.9;
    static constexpr double b = 0.7;

    explicit DenseOperator(const Layout& layout)
        : n(layout.cells()), boundaries(layout.boundaries()), h(layout.spacing()) {
        const std::size_t cells = layout.cell_count();
        rows.assign(cells, std::vector<double>(cells));
        for_each_cell([&](const Index& c) {
            std::vector<double>& row = rows[number(c)];
            row[number(c)] += a * alpha(c);
            for (std::size_t d = 0; d < 3; ++d)
                for (const int side : {-1, 1}) {
                    Index face = c;
                    face[d] += side > 0 ? 1 : 0;
                    const double weight = b / (h * h) * beta(d, face);
                    Index other = c;
                    other[d] += side;
                    const bool inside = other[d] >= 0 && other[d] < n[d];
                    if (inside || boundaries[d] == Boundary::periodic) {
                        row[number(c)] += weight;
                        row[number(wrapped(other))] -= weight;
                    } else if (boundaries[d] == Boundary::dirichlet) {
                        row[number(c)] += 2 * weight;
                    }
                }
            largest = std::max(largest, row[number(c)]);
        });
    }

    double alpha(const Index& c) const { return 1.0 + 0.5 * std::sin(c[0] + 2.0 * c[1] + 3.0 * c[2]); }
    double beta(std::size_t d, const Index& face) const {
        const Index f = wrapped(face);
        return 1.0 + 0.7 * std::sin(1.0 + static_cast<double>(d) + 1.1 * f[0] + 2.3 * f[1] + 3.7 * f[2]);
    }
    // The face coefficient c of stencil.hpp.
    double face_coefficient(std::size_t d, const Index& face) const {
        const bool wall = boundaries[d] != Boundary::periodic && (face[d] == 0 || face[d] == n[d]);
        const double weight = !wall ? 1.0 : boundaries[d] == Boundary::dirichlet ? 2.0 : 0.0;
        return weight * b * beta(d, face) / (h * h);
    }

    Index wrapped(Index c) const {
        for (std::size_t d = 0; d < 3; ++d)
            if (boundaries[d] == Boundary::periodic) c[d] = (c[d] + n[d]) % n[d];
        return c;
    }
    std::size_t number(const Index& c) const {
        return static_cast<std::size_t>(c[0] + n[0] * (c[1] + n[1] * c[2]));
    }
    template <class Action>
    void for_each_cell(const Action& action) const {
        for (int k = 0; k < n[2]; ++k)
            for (int j = 0; j < n[1]; ++j)
                for (int i = 0; i < n[0]; ++i) action(Index{i, j, k});
    }

    // Whether no two neighbours have the same colour: on a period of odd length some have.
    bool two_colourable() const {
        bool even = true;
        for (std::size_t d = 0; d < 3; ++d)
            even = even && (boundaries[d] != Boundary::periodic || n[d] % 2 == 0);
        return even;
    }

    std::vector<double> vector(int field) const {
        std::vector<double> values(rows.size());
        for_each_cell([&](const Index& c) { values[number(c)] = noise(field, c); });
        return values;
    }
    double row_times(std::size_t row, const std::vector<double>& u) const {
        double sum = 0;
        for (std::size_t column = 0; column < u.size(); ++column) sum += rows[row][column] * u[column];
        return sum;
    }
    std::vector<double> residual(const std::vector<double>& f, const std::vector<double>& u) const {
        std::vector<double> r(f);
        for (std::size_t row = 0; row < r.size(); ++row) r[row] -= row_times(row, u);
        return r;
    }

    Index n;
    Boundaries boundaries;
    double h;
    double largest = 0;  // diagonal entry
    std::vector<std::vector<double>> rows;
};

// One rank's boxes of a dense operator's domain, current ghosts included.
struct RankOf {
    RankOf(const DenseOperator& dense, const Layout& layout)
        : A(dense), operations(chosen_backend()->make_operations(layout, 1)) {
        const int n = layout.width();
        for (Field* field : {&L.x, &L.y, &L.z, &L.inverse_diagonal}) *field = operations->make_field();
        std::size_t d = 0;
        for (const Field& faces : {L.x, L.y, L.z}) {
            Index extent{n, n, n};
            ++extent[d];
            operations->assign(faces, {{}, extent},
                               [&](const Index& face) { return A.face_coefficient(d, face); });
            ++d;
        }
        operations->assign(L.inverse_diagonal, cube(n), [&](const Index& c) { return A.a * A.alpha(c); });
        operations->complete_diagonal(L);
    }

    Field make(const std::vector<double>& values) const {
        const Field field = operations->make_field();
        set(field, values);
        return field;
    }
    // Ghosts outside the domain hold 0.
    void set(const Field& field, const std::vector<double>& values) const {
        operations->assign(field, cube(operations->layout().width(), 1), [&](const Index& c) {
            const Index at = A.wrapped(c);
            bool inside = true;
            for (std::size_t d = 0; d < 3; ++d) inside = inside && at[d] >= 0 && at[d] < A.n[d];
            return inside ? values[A.number(at)] : 0.0;
        });
    }
    double difference(const Field& field, const std::vector<double>& values) const {
        const Layout& layout = operations->layout();
        const int n = layout.width();
        const HostField on_host(*operations, field);
        double worst = 0;
        for (int q = 0; q < layout.local_count(); ++q)
            for (int k = 0; k < n; ++k)
                for (int j = 0; j < n; ++j)
                    for (int i = 0; i < n; ++i) {
                        const int box = layout.local()[static_cast<std::size_t>(q)];
                        const std::size_t cell = A.number(layout.first_cell(box) + Index{i, j, k});
                        worst = std::max(worst, gap(on_host(q, i, j, k), values[cell]));
                    }
        return worst;
    }

    const DenseOperator& A;
    std::unique_ptr<Operations> operations;
    Stencil L;
};

template <class Action>
void for_each_offset(const Index& size, const Action& action) {
    for (int k = 0; k < size[2]; ++k)
        for (int j = 0; j < size[1]; ++j)
            for (int i = 0; i < size[0]; ++i) action(Index{i, j, k});
}

struct Arrangement {
    Index boxes;
    int width;
    int ranks;
};

const std::vector<Arrangement>& arrangements() {
    static const std::vector<Arrangement> all{
        {{1, 1, 1}, 5, 1}, {{3, 1, 2}, 3, 1}, {{1, 2, 1}, 4, 2}, {{2, 2, 2}, 3, 3}};
    return all;
}

// Runs `action(operator, rank)` for every virtual rank of every arrangement of boxes and kind of boundary.
template <class Action>
void for_each_rank(const Action& action) {
    constexpr Boundary p = Boundary::periodic;
    constexpr Boundary d = Boundary::dirichlet;
    constexpr Boundary n = Boundary::neumann;
    for (const auto& [boxes, width, ranks] : arrangements())
        for (const Boundaries& boundaries :
             {Boundaries{p, p, p}, Boundaries{d, d, d}, Boundaries{n, n, n}, Boundaries{n, p, d}}) {
            const auto owners = place(boxes, ranks, Placement::scattered);
            const DenseOperator A(Layout(boxes, width, boundaries, owners, 0));
            for (int rank = 0; rank < ranks; ++rank)
                action(A, RankOf(A, Layout(boxes, width, boundaries, owners, rank)));
        }
}

}  // namespace

TEST_CASE("the operator is the dense matrix of its definition, on odd boxes and with every boundary") {
    for_each_rank([](const DenseOperator& A, const RankOf& rank) {
        const double tolerance = rounding * A.largest;
        const std::vector<double> zero(A.rows.size());
        const auto u = A.vector(1);
        const auto f = A.vector(2);
        std::vector<double> inverse;
        for (std::size_t row = 0; row < zero.size(); ++row) inverse.push_back(1 / A.rows[row][row]);
        CHECK(rank.difference(rank.L.inverse_diagonal, inverse) < rounding * std::ranges::max(inverse));

        const Field x = rank.make(u);
        const Field b = rank.make(f);
        const Field out = rank.operations->make_field();
        rank.operations->apply(out, rank.L, x);
        std::vector<double> product = A.residual(zero, u);
        for (double& value : product) value = -value;
        CHECK(rank.difference(out, product) < tolerance);
        rank.operations->residual(out, rank.L, x, b);
        CHECK(rank.difference(out, A.residual(f, u)) < tolerance);
        double norm = 0;
        rank.operations->residual_norm(rank.L, x, b, norm);
        CHECK(norm == Approx(rank.difference(rank.make(zero), A.residual(f, u))).epsilon(rounding));
    });
}

TEST_CASE("two half sweeps are Gauss-Seidel on the dense matrix, red cells before black ones") {
    for_each_rank([](const DenseOperator& A, const RankOf& rank) {
        auto u = A.vector(1);
        const auto f = A.vector(2);
        const Field x = rank.make(u);
        const Field b = rank.make(f);
        for (const Colour colour : {Colour::red, Colour::black}) {
            const auto before = u;
            A.for_each_cell([&](const Index& c) {
                if ((c[0] + c[1] + c[2]) % 2 != static_cast<int>(colour)) return;
                const std::size_t row = A.number(c);
                u[row] += (f[row] - A.row_times(row, before)) / A.rows[row][row];
            });
            // With two colours a cell's old value must not matter, not even NaN.
            if (A.two_colourable()) {
                auto spoiled = before;
                A.for_each_cell([&](const Index& c) {
                    if ((c[0] + c[1] + c[2]) % 2 == static_cast<int>(colour))
                        spoiled[A.number(c)] = std::numeric_limits<double>::quiet_NaN();
                });
                rank.set(x, spoiled);
            }
            rank.operations->relax(x, rank.L, b, colour, 1.0);
            CHECK(rank.difference(x, u) < 1e-11);
            rank.set(x, u);  // an exchange
        }
    });
}

TEST_CASE("nonlinear half sweeps are steps of Newton's method in each cell, red cells before black ones") {
    const auto kind = GENERATE(ReactionKind::exponential, ReactionKind::heat_1, ReactionKind::heat_2);
    const Reaction phi{kind, kind == ReactionKind::heat_2 ? -0.01 : 0.5};
    for_each_rank([&](const DenseOperator& A, const RankOf& rank) {
        auto u = A.vector(1);
        const auto f = A.vector(2);
        const Field x = rank.make(u);
        const Field b = rank.make(f);
        for (const Colour colour : {Colour::red, Colour::black}) {
            const auto before = u;
            A.for_each_cell([&](const Index& c) {
                if ((c[0] + c[1] + c[2]) % 2 != static_cast<int>(colour)) return;
                const std::size_t row = A.number(c);
                const double h = 1e-6;  // the derivative by differences
                const double slope = (phi(u[row] + h) - phi(u[row] - h)) / (2 * h);
                const double residual = f[row] - A.row_times(row, before) - phi(before[row]);
                const double derivative = A.rows[row][row] + slope;
                u[row] = derivative > 0 ? u[row] + residual / derivative : std::nan("");
            });
            rank.operations->relax_newton(x, rank.L, phi, b, colour);
            CHECK(rank.difference(x, u) < 1e-7);
            rank.set(x, u);
        }
    });
}

TEST_CASE("the sources of heat are those of their formulas, and a reaction is added with a factor") {
    Fixture x;
    const Field u = x.make(1);
    const Field y = x.make(2);
    const Field out = x.make(3);
    const auto kind = GENERATE(ReactionKind::exponential, ReactionKind::heat_1, ReactionKind::heat_2);
    const auto phi = [kind](double v) {
        const double e = std::exp(v);
        return kind == ReactionKind::exponential ? e
               : kind == ReactionKind::heat_1    ? v + v * e + v * std::exp(-v) + std::pow(v - e, 2)
                                                 : 100 * (v - v * v);
    };
    x.operations->add_reaction(out, y, -0.5, {kind, 3.0}, u);
    CHECK(x.difference(out, [&](int q, int i, int j, int k) {
        const Index c = x.cell(q, i, j, k);
        return noise(2, c) - 1.5 * phi(noise(1, c));
    }) < 1e-12);
}

TEST_CASE("where the derivative of a cell's equation is not positive, the cell becomes no number") {
    Fixture x;
    const Field u = x.make(1);
    const Stencil L = x.stencil();
    x.operations->relax_newton(u, L, {ReactionKind::exponential, -1e6}, x.make(2), Colour::red);
    double norm = 0;
    x.operations->max_norm(u, norm);
    CHECK(std::isinf(norm));
}

TEST_CASE("a polynomial step without memory is damped Jacobi on the dense matrix") {
    for_each_rank([](const DenseOperator& A, const RankOf& rank) {
        const auto f = A.vector(2);
        auto step = A.residual(f, A.vector(1));
        for (std::size_t row = 0; row < step.size(); ++row) step[row] *= 0.8 / A.rows[row][row];
        const Field p = rank.make(A.vector(3));
        rank.operations->polynomial_step(p, 0.0, 0.8, rank.L, rank.make(A.vector(1)), rank.make(f));
        CHECK(rank.difference(p, step) < 1e-12);
    });
}

TEST_CASE("the operator is symmetric, with every boundary") {
    for_each_rank([](const DenseOperator& A, const RankOf& rank) {
        if (rank.operations->layout().local_count() != rank.operations->layout().box_count()) return;
        const Field x = rank.make(A.vector(1));
        const Field y = rank.make(A.vector(2));
        const Field Ax = rank.operations->make_field();
        const Field Ay = rank.operations->make_field();
        rank.operations->apply(Ax, rank.L, x);
        rank.operations->apply(Ay, rank.L, y);
        const std::array<Product, 3> products{Product{Ax, y}, Product{x, Ay}, Product{Ax, Ax}};
        const auto boxes = static_cast<std::size_t>(rank.operations->layout().box_count());
        std::vector<double> sums(3 * boxes);
        rank.operations->dots(products, sums);
        std::array<double, 3> totals{};
        for (std::size_t n = 0; n < sums.size(); ++n) totals[n / boxes] += sums[n];
        CHECK(std::abs(totals[0] - totals[1]) < 1e-12 * totals[2]);
        CHECK(totals[0] != 0);
    });
}

TEST_CASE("apply, residual and residual_norm are the operator's formula") {
    Fixture x;
    const Stencil L = x.stencil();
    const Field u = x.make(1);
    const Field f = x.make(2);
    const Field out = x.operations->make_field();
    const Work work = x.operations->apply(out, L, u);
    const HostField us = x.on_host(u);
    const HostField fs = x.on_host(f);
    CHECK(x.difference(out, [&](int q, int i, int j, int k) { return x.L(q, i, j, k, us); }) < rounding);
    CHECK(work.bytes == 6 * 8 * 250);

    const auto residual = [&](int q, int i, int j, int k) { return fs(q, i, j, k) - x.L(q, i, j, k, us); };
    x.operations->residual(out, L, u, f);
    CHECK(x.difference(out, residual) < rounding);
    double norm = 0;
    x.operations->residual_norm(L, u, f, norm);
    const Field zero = x.operations->make_field();
    CHECK(norm == Approx(x.difference(zero, residual)).epsilon(1e-13));

    for (const Colour colour : {Colour::red, Colour::black}) {
        const auto of_colour = [&](int q, int i, int j, int k) {
            const Index c = x.cell(q, i, j, k);
            return ((c[0] + c[1] + c[2]) & 1) == static_cast<int>(colour) ? residual(q, i, j, k) : 0.0;
        };
        x.operations->residual_norm(L.of(colour), u, f, norm);
        CHECK(norm == Approx(x.difference(zero, of_colour)).epsilon(1e-13));
    }
}

TEST_CASE("relax updates the cells of one colour, by their global indices, and no others") {
    const int width = GENERATE(4, 5);
    const double relaxation = GENERATE(1.0, 1.3);
    Fixture x(width);
    const Stencil L = x.stencil();
    const Field f = x.make(2);
    for (const Colour colour : {Colour::red, Colour::black}) {
        const Field u = x.make(1);
        const HostField before = x.on_host(u);
        const HostField fs = x.on_host(f);
        const Work work = x.operations->relax(u, L, f, colour, relaxation);
        const double values = relaxation == 1.0 ? 5 : 5.5;  // a cell of both colours
        CHECK(work.bytes == Approx(values * 8 * 2 * width * width * width).epsilon(0.01));
        CHECK(x.difference(u, [&](int q, int i, int j, int k) {
            const Index c = x.cell(q, i, j, k);
            if ((c[0] + c[1] + c[2]) % 2 != static_cast<int>(colour)) return before(q, i, j, k);
            const double gauss_seidel = (fs(q, i, j, k) + x.neighbours(q, i, j, k, before)) * noise(14, c);
            return relaxation * gauss_seidel + (1 - relaxation) * before(q, i, j, k);
        }) < rounding);
    }
}

TEST_CASE("half sweeps in one are half sweeps one by one, each on a ghost layer less") {
    const int width = GENERATE(1, 2, 3, 8, 13);
    const int ghosts = 5;
    const double relaxation = GENERATE(1.0, 0.7);
    const auto red = Colour::red, black = Colour::black;
    const std::vector<Colour> colours =
        GENERATE_COPY(std::vector{black}, std::vector{red, black, red}, std::vector{red, black, red, black},
                      std::vector{black, red, black, red, black});
    Fixture x(width, ghosts);
    const auto make = [&](int number) { return x.make(number, ghosts); };
    const Stencil L{make(11), make(12), make(13), make(14)};
    const Field u = make(1);
    const HostField before = x.on_host(u);
    const HostField f = x.on_host(make(2));

    // The same on the host, with the same formulas for f and the coefficients.
    const int span = width + 2 * ghosts;
    const auto place = [&](int q, int i, int j, int k) {
        const int row = (q * span + k + ghosts) * span + j + ghosts;
        return static_cast<std::size_t>(row * span + i + ghosts);
    };
    std::vector<double> values(place(2, -ghosts, -ghosts, -ghosts));
    const auto value = [&](int q, int i, int j, int k) -> double& { return values[place(q, i, j, k)]; };
    const auto each = [&](int layers, const auto& body) {
        for (int q = 0; q < 2; ++q)
            for (int k = -layers; k < width + layers; ++k)
                for (int j = -layers; j < width + layers; ++j)
                    for (int i = -layers; i < width + layers; ++i) body(q, i, j, k);
    };
    each(ghosts, [&](int q, int i, int j, int k) { value(q, i, j, k) = before(q, i, j, k); });
    int layers = static_cast<int>(colours.size());
    for (const Colour colour : colours) {
        --layers;
        each(layers, [&](int q, int i, int j, int k) {
            const Index c = x.cell(q, i, j, k);
            if (((c[0] + c[1] + c[2]) & 1) != static_cast<int>(colour)) return;
            const Index right = c + Index{1, 0, 0}, behind = c + Index{0, 1, 0}, above = c + Index{0, 0, 1};
            const double gauss_seidel =
                (f(q, i, j, k) + noise(11, c) * value(q, i - 1, j, k) +
                 noise(11, right) * value(q, i + 1, j, k) + noise(12, c) * value(q, i, j - 1, k) +
                 noise(12, behind) * value(q, i, j + 1, k) + noise(13, c) * value(q, i, j, k - 1) +
                 noise(13, above) * value(q, i, j, k + 1)) *
                noise(14, c);
            value(q, i, j, k) += relaxation * (gauss_seidel - value(q, i, j, k));
        });
    }

    const Work work = x.operations->relax(u, L, make(2), HalfSweeps{colours, relaxation});
    CHECK(work.bytes > 0);
    const HostField after = x.on_host(u);
    double worst = 0;
    // In a block ghosts between the boxes are cells, which all half sweeps relax.
    each(x.storage == Storage::boxes ? ghosts : 0, [&](int q, int i, int j, int k) {
        const double expected = value(q, i, j, k);
        worst = std::max(worst, gap(after(q, i, j, k), expected) / std::max(1.0, std::abs(expected)));
    });
    CHECK(worst < 1e-12);
}

TEST_CASE("a leg that ends with the residual in its pass ends with that of what it has relaxed") {
    const int coarse_width = GENERATE(1, 2, 4, 7);
    const int ghosts = 5;
    const double relaxation = GENERATE(1.0, 0.7);
    const auto red = Colour::red, black = Colour::black;
    const std::vector<Colour> colours =
        GENERATE_COPY(std::vector{black}, std::vector{red, black, red}, std::vector{red, black, red, black});
    Fixture fine(2 * coarse_width, ghosts);
    Fixture coarse(coarse_width, 1, fine.backend, fine.storage);
    Operations& x = *fine.operations;
    const auto make = [&](int number) { return fine.make(number, ghosts); };
    const Stencil L{make(11), make(12), make(13), make(14)};
    const Field f = make(2);

    // The last half sweep relaxes a ghost layer, too, so that the plain operations find there what an
    // exchange would leave.
    const Field relaxed = make(1), restricted_too = make(1), measured_too = make(1);
    const Field restricted = coarse.operations->make_field(), expected = coarse.operations->make_field();
    const HalfSweeps leg{colours, relaxation};
    x.relax(relaxed, L, f, leg);
    const Work work = x.smooth(restricted_too, L, f, leg, {.restricted = restricted});
    double norm = 0, expected_norm = 0;
    x.smooth(measured_too, L, f, leg, {.norm = &norm});
    const Stencil where = L.of(leg.unsolved());
    const Colour other = colours.back() == red ? black : red;
    CHECK(where.colour == (relaxation == 1.0 ? std::optional(other) : std::nullopt));
    x.restrict_residual(expected, where, restricted_too, f);
    x.residual_norm(where, restricted_too, f, expected_norm);

    const HostField us = fine.on_host(relaxed), after = fine.on_host(measured_too);
    const auto same = [&](int q, int i, int j, int k) { return us(q, i, j, k); };
    CHECK(fine.difference(restricted_too, same) == 0);
    CHECK(fine.difference(measured_too, same) == 0);
    const HostField means = coarse.on_host(expected);
    CHECK(coarse.difference(restricted, [&](int q, int i, int j, int k) { return means(q, i, j, k); }) == 0);
    CHECK(norm == expected_norm);
    CHECK(work.bytes > 0);
    CHECK(work.flops > 0);

    fine.poke(f, 1, {coarse_width, coarse_width, coarse_width}, std::numeric_limits<double>::quiet_NaN());
    x.smooth(measured_too, L, f, leg, {.norm = &norm});
    CHECK(std::isinf(norm));
}

TEST_CASE("a pass that is to end with the restricted residual and with its norm is refused") {
    Fixture fine(4, 2);
    Fixture coarse(2, 1, fine.backend, fine.storage);
    const auto make = [&](int number) { return fine.make(number, 2); };
    const Stencil L{make(11), make(12), make(13), make(14)};
    const Colour colour = Colour::red;
    double norm = 0;
    const PassEnd both{.restricted = coarse.operations->make_field(), .norm = &norm};
    CHECK_THROWS_AS(fine.operations->smooth(make(1), L, make(2), {std::span(&colour, 1), 1.0}, both),
                    std::logic_error);
}

TEST_CASE("half sweeps of zeros are those of a u that holds zeros, and read nothing of it") {
    const int width = GENERATE(2, 3, 8, 13);
    const int ghosts = 5;
    const double relaxation = GENERATE(1.0, 0.7);
    const auto red = Colour::red, black = Colour::black;
    const std::vector<Colour> colours =
        GENERATE_COPY(std::vector<Colour>{}, std::vector{black}, std::vector{red, black, red, black});
    Fixture fine(width, ghosts);
    Operations& x = *fine.operations;
    const auto make = [&](int number) { return fine.make(number, ghosts); };
    const Stencil L{make(11), make(12), make(13), make(14)};
    const Field f = make(2), zeros = x.make_field(), anything = x.make_field();
    x.relax(zeros, L, f, HalfSweeps{colours, relaxation});
    x.fill(anything, std::numeric_limits<double>::quiet_NaN());
    x.relax(anything, L, f, HalfSweeps{colours, relaxation, Guess::zero});
    const HostField expected = fine.on_host(zeros);
    CHECK(fine.difference(anything, [&](int q, int i, int j, int k) { return expected(q, i, j, k); }) == 0);

    if (width % 2 != 0 || colours.empty()) return;
    Fixture coarse(width / 2, 1, fine.backend, fine.storage);
    const Field restricted = coarse.operations->make_field(), same = coarse.operations->make_field();
    x.fill(zeros, 0.0);
    x.smooth(zeros, L, f, HalfSweeps{colours, relaxation}, {.restricted = restricted});
    x.fill(anything, std::numeric_limits<double>::quiet_NaN());
    x.smooth(anything, L, f, HalfSweeps{colours, relaxation, Guess::zero}, {.restricted = same});
    const HostField means = coarse.on_host(restricted);
    CHECK(coarse.difference(same, [&](int q, int i, int j, int k) { return means(q, i, j, k); }) == 0);
}

TEST_CASE("half sweeps of the interior and then of the shell, with their ends, are those of all cells") {
    const int width = GENERATE(4, 14, 26, 34);
    const int ghosts = 5;
    const double relaxation = GENERATE(1.0, 0.7);
    const auto red = Colour::red, black = Colour::black;
    const std::vector<Colour> colours =
        GENERATE_COPY(std::vector{black}, std::vector{red, black, red}, std::vector{red, black, red, black});
    Fixture fine = Fixture::alone(width, ghosts);
    Fixture coarse(width / 2, 1, fine.backend, fine.storage);
    Operations& x = *fine.operations;
    const auto make = [&](int number) { return fine.make(number, ghosts); };
    const Stencil L{make(11), make(12), make(13), make(14)};
    const Field f = make(2);
    const HalfSweeps leg{colours, relaxation};
    const auto same = [](const Fixture& level, Field a, Field b) {
        const HostField expected = level.on_host(a);
        return level.difference(b, [&](int q, int i, int j, int k) { return expected(q, i, j, k); }) == 0;
    };
    // The interior reads no ghost, and ends with values that the shell leaves as they are.
    const auto in_parts = [&](const auto& run) {
        const Field u = make(1), ghosts_unknown = x.make_field();
        x.fill(ghosts_unknown, std::numeric_limits<double>::quiet_NaN());
        x.assign(ghosts_unknown, cube(width), [&](const Index& c) { return noise(1, c); });
        Work work = run(ghosts_unknown, L.on(Part::interior));
        x.scale(u, 1.0, ghosts_unknown);  // the cells of the boxes: ghosts are there now
        work += run(u, L.on(Part::shell));
        return std::pair(u, work);
    };

    const Field all = make(1), restricted_all = make(1), measured_all = make(1);
    const Work work = x.relax(all, L, f, leg);
    const auto [parts, work_in_parts] =
        in_parts([&](Field u, const Stencil& part) { return x.relax(u, part, f, leg); });
    CHECK(same(fine, all, parts));
    CHECK(work_in_parts.flops == Approx(work.flops).epsilon(0.01));

    const Field expected = coarse.operations->make_field(), restricted = coarse.operations->make_field();
    x.smooth(restricted_all, L, f, leg, {.restricted = expected});
    const auto after = in_parts(
        [&](Field u, const Stencil& part) { return x.smooth(u, part, f, leg, {.restricted = restricted}); });
    CHECK(same(fine, restricted_all, after.first));
    CHECK(same(coarse, expected, restricted));

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

TEST_CASE("both colours of what is interpolated together are all of it, each cell once") {
    const int coarse_width = GENERATE(1, 3, 8, 33);
    const Interpolation interpolation = GENERATE(Interpolation::constant, Interpolation::linear);
    Fixture fine(2 * coarse_width, 2);
    Fixture coarse(coarse_width, 1, fine.backend, fine.storage);
    Operations& x = *fine.operations;
    const Field from = coarse.make(3, 1), whole = fine.make(1), halves = fine.make(1);
    const Work work = x.interpolate_add(whole, from, interpolation, {});
    const HostField before = fine.on_host(halves), expected = fine.on_host(whole);
    Work of_halves = x.interpolate_add(halves, from, interpolation, Colour::red);
    CHECK(fine.difference(halves, [&](int q, int i, int j, int k) {
        const Index c = fine.cell(q, i, j, k);
        return (((c[0] + c[1] + c[2]) & 1) == 0 ? expected : before)(q, i, j, k);
    }) == 0);
    of_halves += x.interpolate_add(halves, from, interpolation, Colour::black);
    CHECK(fine.difference(halves, [&](int q, int i, int j, int k) { return expected(q, i, j, k); }) == 0);
    CHECK(of_halves.flops == work.flops);
}

TEST_CASE("half sweeps read nothing before them but what they say") {
    const int width = GENERATE(2, 5, 8);
    const int ghosts = 5;
    const double relaxation = GENERATE(1.0, 0.7);
    const auto red = Colour::red, black = Colour::black;
    const std::vector<Colour> colours =
        GENERATE_COPY(std::vector{black}, std::vector{red, black, red, black});
    Fixture x(width, ghosts);
    const auto make = [&](int number) { return x.make(number, ghosts); };
    const Stencil L{make(11), make(12), make(13), make(14)};
    const HalfSweeps sweeps{colours, relaxation};
    const std::optional<Colour> read = sweeps.read();
    CHECK(read == (relaxation == 1.0 ? std::optional(colours.front() == red ? black : red) : std::nullopt));
    const Field f = make(2), all = make(1), some = make(1);
    if (read)
        x.operations->assign(some, cube(width, ghosts), [&](const Index& c) {
            const bool counts = ((c[0] + c[1] + c[2]) & 1) == static_cast<int>(*read);
            return counts ? noise(1, c) : std::numeric_limits<double>::quiet_NaN();
        });
    x.operations->relax(all, L, f, sweeps);
    x.operations->relax(some, L, f, sweeps);
    const HostField expected = x.on_host(all);
    CHECK(x.difference(some, [&](int q, int i, int j, int k) { return expected(q, i, j, k); }) == 0);
}

TEST_CASE("interior and shell together are all cells, and neither touches the other's") {
    const int width = GENERATE(1, 2, 5, 8, 18, 66);
    const int ghosts = GENERATE(1, 2);
    Fixture x = Fixture::alone(width, ghosts);
    const Stencil L = x.stencil();
    const Field u = x.make(1);
    const Field f = x.make(2);
    const Field whole = x.make(3);
    const Field parts = x.make(3);
    const Work all = x.operations->residual(whole, L, u, f);
    Work work = x.operations->residual(parts, L.on(Part::interior), u, f);
    const HostField expected = x.on_host(whole);
    const auto in_shell = [&](int i, int j, int k) {
        return std::min({i, j, k}) < ghosts || std::max({i, j, k}) >= width - ghosts;
    };
    CHECK(x.difference(parts, [&](int q, int i, int j, int k) {
        return in_shell(i, j, k) ? noise(3, x.cell(q, i, j, k)) : expected(q, i, j, k);
    }) == 0);
    work += x.operations->residual(parts, L.on(Part::shell), u, f);
    CHECK(x.difference(parts, [&](int q, int i, int j, int k) { return expected(q, i, j, k); }) == 0);
    CHECK(work.bytes == all.bytes);

    for (const Colour colour : {Colour::red, Colour::black}) {
        // Over-relaxed: without that a cell may be relaxed twice and nobody sees it.
        const Field at_once = x.make(1);
        const Field in_parts = x.make(1);
        x.operations->relax(at_once, L, f, colour, 1.3);
        x.operations->relax(in_parts, L.on(Part::interior), f, colour, 1.3);
        x.operations->relax(in_parts, L.on(Part::shell), f, colour, 1.3);
        const HostField relaxed = x.on_host(at_once);
        CHECK(x.difference(in_parts, [&](int q, int i, int j, int k) { return relaxed(q, i, j, k); }) == 0);
    }
}

TEST_CASE("a result is written on as many ghost layers as it asks for, and on no more") {
    const int width = GENERATE(1, 3, 8);
    const int ghosts = 4;
    const int layers = GENERATE(0, 1, 3);
    Fixture x = Fixture::alone(width, ghosts);
    const auto make = [&](int number) { return x.make(number, ghosts); };
    const Stencil L{make(11), make(12), make(13), make(14)};
    const Field u = make(1);
    const Field v = make(2);
    const HostField us = x.on_host(u);
    const HostField vs = x.on_host(v);
    const std::size_t cells = 2 * cube(width, layers).cells();
    // The largest difference over all layers: `expected` on those asked for, what was there before on the
    // others.
    const auto difference = [&](Field field, int before, const auto& expected) {
        const HostField values = x.on_host(field);
        double worst = 0;
        for (int q = 0; q < 2; ++q)
            for (int k = -ghosts; k < width + ghosts; ++k)
                for (int j = -ghosts; j < width + ghosts; ++j)
                    for (int i = -ghosts; i < width + ghosts; ++i) {
                        const bool asked =
                            std::min({i, j, k}) >= -layers && std::max({i, j, k}) < width + layers;
                        const double wanted =
                            asked ? expected(q, i, j, k) : noise(before, x.cell(q, i, j, k));
                        worst = std::max(worst, gap(values(q, i, j, k), wanted));
                    }
        return worst;
    };

    const Field Lu = make(3);
    const Work applied = x.operations->apply(Lu.with_ghosts(layers), L, u);
    CHECK(applied.bytes == (Apply<3>::cost * cells).bytes);
    CHECK(difference(Lu, 3, [&](int q, int i, int j, int k) { return x.L(q, i, j, k, us); }) < rounding);

    const Field parts = make(3);
    Work work = x.operations->apply(parts.with_ghosts(layers), L.on(Part::interior), u);
    work += x.operations->apply(parts.with_ghosts(layers), L.on(Part::shell), u);
    CHECK(work.bytes == applied.bytes);
    CHECK(x.operations->read(parts, cube(width, ghosts)) == x.operations->read(Lu, cube(width, ghosts)));

    const Field uv = make(4);
    CHECK(x.operations->multiply(uv.with_ghosts(layers), u, v).bytes == (Multiply::cost * cells).bytes);
    CHECK(difference(uv, 4, [&](int q, int i, int j, int k) { return us(q, i, j, k) * vs(q, i, j, k); }) ==
          0);

    const Field quotient = make(4), inverse = make(14);
    CHECK(x.operations->divide(quotient.with_ghosts(layers), u, inverse).bytes ==
          (Divide::cost * cells).bytes);
    CHECK(difference(quotient, 4, [&](int q, int i, int j, int k) {
              return us(q, i, j, k) / noise(14, x.cell(q, i, j, k));
          }) < rounding);

    const Field square = make(5);
    const Field root = make(5);
    x.operations->multiply(square.with_ghosts(ghosts), u, u);
    x.operations->square_root(root.with_ghosts(layers), square);
    CHECK(difference(root, 5, [&](int q, int i, int j, int k) { return std::abs(us(q, i, j, k)); }) <
          rounding);

    // More terms than one pass takes, the result among them.
    const Field sum = make(6);
    std::vector<Field> terms(max_terms, u);
    terms.push_back(sum);
    terms.push_back(v);
    std::vector<double> c(max_terms, 0.5);
    c.push_back(2);
    c.push_back(-1);
    x.operations->combine(sum.with_ghosts(layers), c, terms);
    CHECK(difference(sum, 6, [&](int q, int i, int j, int k) {
              return 0.5 * max_terms * us(q, i, j, k) + 2 * noise(6, x.cell(q, i, j, k)) - vs(q, i, j, k);
          }) < 10 * rounding);

    CHECK_THROWS_AS(u.with_ghosts(ghosts + 1), std::logic_error);
    CHECK_THROWS_AS(u.with_ghosts(-1), std::logic_error);
    CHECK_THROWS_AS(x.operations->apply(Lu.with_ghosts(ghosts), L, u), std::logic_error);
}

TEST_CASE("a restricted residual may be formed in two parts") {
    const int coarse_width = GENERATE(1, 3, 4);
    const int ghosts = GENERATE(1, 2);
    Fixture fine(2 * coarse_width, ghosts);
    Fixture coarse(coarse_width, 1, fine.backend);
    const Field u = fine.make(1);
    const Field f = fine.make(2);
    const Field whole = coarse.operations->make_field();
    const Field parts = coarse.operations->make_field();
    const auto colour = GENERATE(std::optional<Colour>(), std::optional(Colour::red));
    const Stencil L = fine.stencil().of(colour);
    const Work all = fine.operations->restrict_residual(whole, L, u, f);
    Work work = fine.operations->restrict_residual(parts, L.on(Part::interior), u, f);
    work += fine.operations->restrict_residual(parts, L.on(Part::shell), u, f);
    const HostField expected = coarse.on_host(whole);
    CHECK(coarse.difference(parts, [&](int q, int i, int j, int k) { return expected(q, i, j, k); }) <
          rounding);
    CHECK(work.bytes == all.bytes);
}

TEST_CASE("a half sweep writes no ghost cell and no cell of the right-hand side") {
    const int width = GENERATE(3, 8, 18, 66);  // wide ones are marched through in chunks
    Fixture x = Fixture::alone(width);
    const Stencil L = x.stencil();
    const Field u = x.make(1);
    const Field f = x.make(2);
    x.operations->relax(u, L, f, Colour::red, 1.0);
    x.operations->relax(u, L, f, Colour::black, 1.0);
    const HostField us = x.on_host(u);
    const HostField fs = x.on_host(f);
    int written = 0;
    for (int q = 0; q < 2; ++q)
        for (int k = -1; k <= width; ++k)
            for (int j = -1; j <= width; ++j)
                for (int i = -1; i <= width; ++i) {
                    const Index c = x.cell(q, i, j, k);
                    const bool ghost = std::min({i, j, k}) < 0 || std::max({i, j, k}) == width;
                    written += ghost && us(q, i, j, k) != noise(1, c) ? 1 : 0;
                    written += fs(q, i, j, k) != noise(2, c) ? 1 : 0;
                }
    CHECK(written == 0);
}

TEST_CASE("a polynomial step adds the scaled residual to what was there") {
    Fixture x;
    const Stencil L = x.stencil();
    const Field u = x.make(1);
    const Field f = x.make(2);
    const Field p = x.make(3);
    x.operations->polynomial_step(p, 0.3, 0.7, L, u, f);
    const HostField us = x.on_host(u);
    const HostField fs = x.on_host(f);
    CHECK(x.difference(p, [&](int q, int i, int j, int k) {
        const Index c = x.cell(q, i, j, k);
        return 0.3 * noise(3, c) + 0.7 * (fs(q, i, j, k) - x.L(q, i, j, k, us)) * noise(14, c);
    }) < rounding);
}

TEST_CASE("setting up completes the diagonal and bounds the spectrum") {
    Fixture x;
    Stencil L;
    const auto positive = [](int number) {
        return [number](const Index& c) { return 2 + noise(number, c); };
    };
    for (Field* field : {&L.x, &L.y, &L.z, &L.inverse_diagonal}) *field = x.operations->make_field();
    int number = 20;
    for (const Field& field : {L.x, L.y, L.z}) x.operations->assign(field, cube(6), positive(number++));
    x.operations->assign(L.inverse_diagonal, cube(5), [](const Index&) { return 1.5; });
    const double jacobi_bound = x.operations->complete_diagonal(L);
    double bound = 0;
    const HostField a = x.on_host(L.x);
    const HostField b = x.on_host(L.y);
    const HostField c = x.on_host(L.z);
    const auto faces = [&](int q, int i, int j, int k) {
        return a(q, i, j, k) + a(q, i + 1, j, k) + b(q, i, j, k) + b(q, i, j + 1, k) + c(q, i, j, k) +
               c(q, i, j, k + 1);
    };
    CHECK(x.difference(L.inverse_diagonal, [&](int q, int i, int j, int k) {
        bound = std::max(bound, 2 - 1.5 / (1.5 + faces(q, i, j, k)));
        return 1 / (1.5 + faces(q, i, j, k));
    }) < rounding);
    CHECK(jacobi_bound == Approx(bound).epsilon(1e-13));
}

TEST_CASE("restriction of a constant is that constant, and undoes constant interpolation") {
    const int coarse_width = GENERATE(1, 3, 4);
    Fixture fine(2 * coarse_width);
    Fixture coarse(coarse_width, 1, fine.backend);
    const Field u = fine.operations->make_field();
    const Field mean = coarse.operations->make_field();
    fine.operations->fill(u, 3.0);
    fine.operations->restrict_to(mean, u);
    CHECK(coarse.difference(mean, [](int, int, int, int) { return 3.0; }) == 0);
    fine.operations->fill(u, 0.0);
    fine.operations->interpolate_add(u, coarse.make(2), Interpolation::constant, {});
    fine.operations->restrict_to(mean, u);
    CHECK(coarse.difference(mean, [&](int q, int i, int j, int k) {
        return noise(2, coarse.cell(q, i, j, k));
    }) < rounding);
}

TEST_CASE("restriction is the mean of eight cells, with or without storing the residual") {
    const int coarse_width = GENERATE(1, 3, 4);
    Fixture fine(2 * coarse_width);
    Fixture coarse(coarse_width, 1, fine.backend);
    const Stencil L = fine.stencil();
    const Field u = fine.make(1);
    const Field f = fine.make(2);
    const Field stored = fine.operations->make_field();
    const Field mean = coarse.operations->make_field();
    const Field fused = coarse.operations->make_field();
    fine.operations->residual(stored, L, u, f);
    fine.operations->restrict_to(mean, stored);
    fine.operations->restrict_residual(fused, L, u, f);
    const HostField us = fine.on_host(u);
    const HostField fs = fine.on_host(f);
    const auto expected = [&](int q, int i, int j, int k) {
        double sum = 0;
        for (int n = 0; n < 8; ++n) {
            const int x = 2 * i + n % 2;
            const int y = 2 * j + n / 2 % 2;
            const int z = 2 * k + n / 4;
            sum += fs(q, x, y, z) - fine.L(q, x, y, z, us);
        }
        return sum / 8;
    };
    CHECK(coarse.difference(mean, expected) < rounding);
    CHECK(coarse.difference(fused, expected) < rounding);

    // With one colour, residuals of the other colour count as zero.
    for (const Colour colour : {Colour::red, Colour::black}) {
        fine.operations->restrict_residual(fused, L.of(colour), u, f);
        const auto of_colour = [&](int q, int i, int j, int k) {
            double sum = 0;
            for (int n = 0; n < 8; ++n) {
                const int x = 2 * i + n % 2, y = 2 * j + n / 2 % 2, z = 2 * k + n / 4;
                const Index c = fine.cell(q, x, y, z);
                if (((c[0] + c[1] + c[2]) & 1) == static_cast<int>(colour))
                    sum += fs(q, x, y, z) - fine.L(q, x, y, z, us);
            }
            return sum / 8;
        };
        CHECK(coarse.difference(fused, of_colour) < rounding);
    }
}

TEST_CASE("a coarse face is the scaled mean of the four fine faces that tile it") {
    const int direction = GENERATE(0, 1, 2);
    Fixture fine(6);
    Fixture coarse(3, 1, fine.backend);
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
    const HostField means = coarse.on_host(to);
    for (int q = 0; q < 2; ++q)
        for (int k = 0; k < extent[2]; ++k)
            for (int j = 0; j < extent[1]; ++j)
                for (int i = 0; i < extent[0]; ++i) {
                    const Index c = fine.cell(q, 2 * i, 2 * j, 2 * k);
                    const double sum = noise(1, c) + noise(1, c + tangent_a) + noise(1, c + tangent_b) +
                                       noise(1, c + tangent_a + tangent_b);
                    CHECK(means(q, i, j, k) == Approx(sum / 16).margin(rounding));
                }
}

TEST_CASE("constant interpolation adds the parent") {
    Fixture fine(6);
    Fixture coarse(3, 1, fine.backend);
    const Field u = fine.make(1);
    fine.operations->interpolate_add(u, coarse.make(2), Interpolation::constant, {});
    CHECK(fine.difference(u, [&](int q, int i, int j, int k) {
        return noise(1, fine.cell(q, i, j, k)) + noise(2, coarse.cell(q, i / 2, j / 2, k / 2));
    }) < rounding);
}

TEST_CASE("linear interpolation is exact for trilinear functions") {
    Fixture fine(6);
    Fixture coarse(3, 1, fine.backend);
    const auto f = [](double x, double y, double z) {
        return 1 + 2 * x - y + 3 * z + x * y - 0.5 * x * y * z;
    };
    const Field from = coarse.operations->make_field();
    coarse.operations->assign(
        from, cube(3, 1), [&](const Index& c) { return f(2 * c[0] + 0.5, 2 * c[1] + 0.5, 2 * c[2] + 0.5); });
    const Field u = fine.operations->make_field();
    fine.operations->interpolate_add(u, from, Interpolation::linear, {});
    CHECK(fine.difference(u, [&](int q, int i, int j, int k) { return f(6 * q + i, j, k); }) < 1e-11);
}

TEST_CASE("combine takes any number of terms, also y itself") {
    const int terms = GENERATE(1, 2, 3, 7, 8, 9, 15, 16, 20);
    Fixture x;
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
    for (std::size_t own = 0; own < fields.size(); ++own) {  // y in any place among the x
        const Field before = x.make(static_cast<int>(own));
        x.operations->combine(fields[own], c, fields);
        CHECK(x.difference(fields[own], sum) < 1e-11);
        fields[own] = before;
    }
}

TEST_CASE("combine takes y among its terms more than once") {
    const std::size_t terms = static_cast<std::size_t>(GENERATE(3, 9, 12, 20));
    Fixture x;
    const Field y = x.make(1);
    const Field z = x.make(2);
    std::vector<Field> fields(terms, z);
    fields[1] = y;
    fields.back() = y;
    const std::vector<double> c(terms, 0.5);
    x.operations->combine(y, c, fields);
    CHECK(x.difference(y, [&](int q, int i, int j, int k) {
        const Index at = x.cell(q, i, j, k);
        return noise(1, at) + 0.5 * static_cast<double>(terms - 2) * noise(2, at);
    }) < 1e-12);
}

TEST_CASE("combine refuses no terms, and coefficients that are not one per field") {
    Fixture x;
    const Field y = x.make(1);
    const std::array c{1.0, 2.0};
    CHECK_THROWS_AS(x.operations->combine(y, c, std::span(&y, 1)), std::logic_error);
    CHECK_THROWS_AS(x.operations->combine(y, {}, {}), std::logic_error);
}

TEST_CASE("the other vector operations") {
    Fixture x;
    const Field a = x.make(1);
    const Field b = x.make(2);
    const Field y = x.operations->make_field();
    const auto at = [&](int number, int q, int i, int j, int k) { return noise(number, x.cell(q, i, j, k)); };
    x.operations->multiply(y, a, b);
    CHECK(x.difference(y, [&](int q, int i, int j, int k) { return at(1, q, i, j, k) * at(2, q, i, j, k); }) <
          rounding);
    x.operations->divide(y, a, x.make(14));
    CHECK(x.difference(y, [&](int q, int i, int j, int k) {
        return at(1, q, i, j, k) / at(14, q, i, j, k);
    }) < rounding);
    x.operations->multiply(y, a, a);
    x.operations->square_root(y, y);
    CHECK(x.difference(y, [&](int q, int i, int j, int k) { return std::abs(at(1, q, i, j, k)); }) <
          rounding);
    x.operations->copy(y, a);
    x.operations->shift(y, 2.5);
    CHECK(x.difference(y, [&](int q, int i, int j, int k) { return at(1, q, i, j, k) + 2.5; }) < rounding);
    x.operations->fill(y, 7.0);
    CHECK(x.difference(y, [](int, int, int, int) { return 7.0; }) == 0);
    CHECK(x.on_host(y)(1, -1, -1, -1) == 7.0);
    CHECK(x.on_host(y)(1, 5, 5, 5) == 7.0);
    x.operations->axpby(y, 2.0, a, -3.0, b);
    CHECK(x.difference(y, [&](int q, int i, int j, int k) {
        return 2 * at(1, q, i, j, k) - 3 * at(2, q, i, j, k);
    }) < rounding);
    x.operations->scale(y, -0.5, a);
    CHECK(x.difference(y, [&](int q, int i, int j, int k) { return -0.5 * at(1, q, i, j, k); }) == 0);
}

TEST_CASE("selected are the cells where a field has the value that is wanted, zeros elsewhere") {
    Fixture x;
    const Field u = x.make(1);
    const Field y = x.make(2);
    const Field column = x.operations->make_field();
    const HostField values = x.on_host(u);
    const auto column_of = [](const Index& cell) { return (cell[0] + 2 * cell[1] + 3 * cell[2]) % 3; };
    x.operations->assign(column, x.layout.box_cells(), column_of);
    const auto selected = [&](int wanted) {
        return [&, wanted](int q, int i, int j, int k) {
            return column_of(x.cell(q, i, j, k)) == wanted ? values(q, i, j, k) : 0.0;
        };
    };
    for (const int wanted : {0, 1, 2}) {
        x.operations->map(y, Select{static_cast<double>(wanted)}, u, column);
        CHECK(x.difference(y, selected(wanted)) == 0.0);
    }
    x.operations->map(u, Select{1.0}, u, column);  // in place
    CHECK(x.difference(u, selected(1)) == 0.0);
}

TEST_CASE("a formula is assigned by global index and read box by box, x fastest") {
    const int width = GENERATE(1, 4, 5);
    const auto formula = [](const Index& c) { return c[0] + 100.0 * c[1] + 10000.0 * c[2]; };
    const auto owners = place({3, 2, 2}, 3, Placement::round_robin);
    for (int rank = 0; rank < 3; ++rank) {
        const Layout layout({3, 2, 2}, width, periodic, owners, rank);
        const auto operations = chosen_backend()->make_operations(layout, 1);
        const Field u = operations->make_field();
        operations->assign(u, cube(width), formula);
        std::vector<double> expected;
        for (const int box : layout.local())
            for (int k = 0; k < width; ++k)
                for (int j = 0; j < width; ++j)
                    for (int i = 0; i < width; ++i)
                        expected.push_back(formula(layout.first_cell(box) + Index{i, j, k}));
        CHECK(operations->read(u, cube(width)) == expected);
    }
}

TEST_CASE("many inner products are formed in one call, box by box") {
    const int products = GENERATE(1, 2, 8, 9, 17);
    Fixture x(9);
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

TEST_CASE("a Gram matrix is its inner products one by one, row by row, box by box") {
    // Slabs of many planes, of several that do not divide the box, of one, and rows longer than a tile of
    // cells.
    const int width = GENERATE(1, 3, 5, 8, 12, 130);
    const auto [n, m] = GENERATE(std::pair(1, 0), std::pair(3, 1), std::pair(9, 2), std::pair(17, 1));
    if (width == 130 && n != 1) return;
    CAPTURE(width, n, m);
    Fixture f(width);
    std::vector<Field> fields;
    for (int field = 0; field < n + m; ++field) fields.push_back(f.make(field));
    const auto x = std::span(fields).first(static_cast<std::size_t>(n));
    const auto y = std::span(fields).last(static_cast<std::size_t>(m));

    std::vector<Product> pairs;
    for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t j = i; j < fields.size(); ++j) pairs.push_back({fields[i], fields[j]});
    REQUIRE(pairs.size() == gram_pairs(x.size(), y.size()));
    std::vector<double> expected(2 * pairs.size());
    f.operations->dots(pairs, expected);
    std::vector<double> sums(2 * pairs.size(), 7.0);
    const Work work = f.operations->gram(x, y, GramAccuracy::plain, sums);
    const double cells = 2.0 * width * width * width;
    for (std::size_t i = 0; i < sums.size(); ++i)
        CHECK(sums[i] == Approx(expected[i]).epsilon(1e-12).margin(1e-13 * cells));

    // Every field is read once, whatever the number of products.
    CHECK(work.bytes == cells * 8.0 * (n + m));
    CHECK(work.flops == cells * 2.0 * static_cast<double>(pairs.size()));
    // The same fields again, and fewer of them: nothing is left over from the call before.
    std::vector<double> again(sums.size(), 7.0);
    f.operations->gram(x, y, GramAccuracy::plain, again);
    CHECK(again == sums);
    double square[2] = {7.0, 7.0};
    f.operations->gram(x.first(1), {}, GramAccuracy::plain, square);
    CHECK(square[0] == sums[0]);
    CHECK(square[1] == sums[1]);
}

TEST_CASE("an accurate Gram matrix is exact where twice a double's precision holds it") {
    // Integers of 2^40 and more, whose products no double holds; the sums of a box are compared as integers
    // of 128 bits.
    const int width = GENERATE(1, 3, 8);
    const auto [n, m] = GENERATE(std::pair(1, 0), std::pair(3, 1), std::pair(9, 2));
    CAPTURE(width, n, m);
    Fixture f(width);
    const auto value = [](int seed, const Index& cell) { return std::floor(0x1p44 * noise(seed, cell)); };
    std::vector<Field> fields;
    for (int seed = 0; seed < n + m; ++seed) {
        fields.push_back(f.operations->make_field());
        f.operations->assign(fields.back(), cube(width),
                             [&](const Index& cell) { return value(seed, cell); });
    }
    const auto x = std::span(fields).first(static_cast<std::size_t>(n));
    const auto y = std::span(fields).last(static_cast<std::size_t>(m));
    const std::size_t pairs = gram_pairs(x.size(), y.size());
    std::vector<double> sums(4 * pairs, 7.0);
    const Work work = f.operations->gram(x, y, GramAccuracy::doubled, sums);
    __extension__ using Integer = __int128;
    const Layout& layout = f.operations->layout();
    std::size_t pair = 0;
    bool rounded = false;  // by a sum in doubles
    for (int i = 0; i < n; ++i)
        for (int j = i; j < n + m; ++j, ++pair)
            for (std::size_t q = 0; q < 2; ++q) {
                const Index first = layout.first_cell(layout.local()[q]);
                Integer expected = 0;
                double plain = 0;
                for (int cell = 0; cell < width * width * width; ++cell) {
                    const Index at = first + Index{cell % width, cell / width % width, cell / width / width};
                    const double u = value(i, at), v = value(j, at);
                    expected += static_cast<Integer>(u) * static_cast<Integer>(v);
                    plain += u * v;
                }
                const double high = sums[4 * pair + q], low = sums[4 * pair + 2 + q];
                CHECK((static_cast<Integer>(high) + static_cast<Integer>(low) == expected));
                CHECK(high + low == high);
                rounded = rounded || static_cast<Integer>(plain) != expected;
            }
    CHECK((rounded || width == 1));
    const double cells = 2.0 * width * width * width;
    CHECK(work.bytes == cells * 8.0 * (n + m));
    CHECK(work.flops == cells * accurate_product_flops * static_cast<double>(pairs));
    std::vector<double> again(sums.size(), 7.0);
    f.operations->gram(x, y, GramAccuracy::doubled, again);
    CHECK(again == sums);
}

TEST_CASE("a box's inner product is the same to the last bit wherever the box lives") {
    // All together are enough cells for several threads; one box of 8^3 or 9^3 is not.
    const int width = GENERATE(8, 9, 16);
    const int ranks = GENERATE(3, 8);
    constexpr std::size_t products = 3;
    const auto box_sums = [&](const std::vector<int>& owners, int rank) {
        const Layout layout({2, 2, 2}, width, periodic, owners, rank);
        const auto operations = chosen_backend()->make_operations(layout, 1);
        const Field x = operations->make_field();
        const Field y = operations->make_field();
        operations->assign(x, cube(width), [](const Index& c) { return noise(3, c); });
        operations->assign(y, cube(width), [](const Index& c) { return noise(4, c); });
        const std::array<Product, products> pairs{Product{x, x}, Product{x, y}, Product{y, y}};
        const auto boxes = static_cast<std::size_t>(layout.local_count());
        std::vector<double> sums((4 * products + 1) * boxes);
        operations->dots(pairs, std::span(sums).first(products * boxes));
        const std::array<Field, 2> fields{x, y};
        operations->gram(fields, {}, GramAccuracy::plain,
                         std::span(sums).subspan(products * boxes, products * boxes));
        operations->gram(fields, {}, GramAccuracy::doubled,
                         std::span(sums).subspan(2 * products * boxes, 2 * products * boxes));
        operations->totals(x, std::span(sums).last(boxes));
        return sums;
    };
    const std::vector<double> together = box_sums(std::vector<int>(8, 0), 0);
    for (int rank = 0; rank < ranks; ++rank) {
        const auto owners = place({2, 2, 2}, ranks, Placement::round_robin);
        const Layout layout({2, 2, 2}, width, periodic, owners, rank);
        const auto boxes = static_cast<std::size_t>(layout.local_count());
        const std::vector<double> apart = box_sums(owners, rank);
        for (std::size_t n = 0; n <= 4 * products; ++n)
            for (std::size_t q = 0; q < boxes; ++q)
                CHECK(apart[n * boxes + q] == together[n * 8 + static_cast<std::size_t>(layout.local()[q])]);
    }
}

TEST_CASE("inner products, Gram matrices and totals refuse sums of the wrong length") {
    Fixture x;
    const Field u = x.make(1);
    const Product square{u, u};
    std::array<double, 3> sums{};
    CHECK_THROWS_AS(x.operations->dots(std::span(&square, 1), sums), std::logic_error);
    CHECK_THROWS_AS(x.operations->gram(std::span(&u, 1), {}, GramAccuracy::plain, sums), std::logic_error);
    CHECK_THROWS_AS(x.operations->gram(std::span(&u, 1), {}, GramAccuracy::doubled, sums), std::logic_error);
    CHECK_THROWS_AS(x.operations->totals(u, sums), std::logic_error);
}

TEST_CASE("max_norm sees every cell, and that a value is not finite") {
    Fixture x(9);
    const Field u = x.make(1);
    const auto norm = [&] {
        double value = 0;
        x.operations->max_norm(u, value);
        return value;
    };
    for (const Index& at : {Index{0, 0, 0}, Index{8, 8, 8}, Index{3, 8, 5}}) {
        x.poke(u, 1, at, -100.0 - at[0]);
        CHECK(norm() == 100.0 + at[0]);
        x.poke(u, 1, at, 0);
    }
    x.poke(u, 0, {8, 0, 0}, std::numeric_limits<double>::quiet_NaN());
    CHECK(norm() == std::numeric_limits<double>::infinity());
    x.poke(u, 0, {8, 0, 0}, -std::numeric_limits<double>::quiet_NaN());
    CHECK(norm() == std::numeric_limits<double>::infinity());
    x.poke(u, 0, {8, 0, 0}, std::numeric_limits<double>::infinity());
    CHECK(norm() == std::numeric_limits<double>::infinity());
    x.poke(u, 0, {8, 0, 0}, -std::numeric_limits<double>::infinity());
    CHECK(norm() == std::numeric_limits<double>::infinity());

    // Ghosts do not count, the smallest numbers do.
    x.operations->fill(u, std::numeric_limits<double>::quiet_NaN());
    x.operations->assign(u, cube(9), [](const Index&) { return -0.0; });
    CHECK(norm() == 0.0);
    x.poke(u, 1, {4, 4, 4}, -std::numeric_limits<double>::denorm_min());
    CHECK(norm() == std::numeric_limits<double>::denorm_min());
}

TEST_CASE("residual_norm is infinite where a residual is not finite") {
    Fixture x;
    const Stencil L = x.stencil();
    const Field u = x.make(1);
    const Field f = x.make(2);
    x.poke(f, 1, {4, 0, 2}, std::numeric_limits<double>::quiet_NaN());
    double norm = 0;
    x.operations->residual_norm(L, u, f, norm);
    CHECK(norm == std::numeric_limits<double>::infinity());
}

TEST_CASE("packing several fields and unpacking them moves every cell to its place") {
    const std::size_t fields = static_cast<std::size_t>(GENERATE(1, 2, 8, 9, 20));
    Fixture x = Fixture::alone();
    std::vector<Field> from;
    std::vector<Field> to;
    for (std::size_t n = 0; n < fields; ++n) {
        from.push_back(x.make(static_cast<int>(n)));
        to.push_back(x.operations->make_field());
    }
    const std::vector<BlockCopy> taken{BlockCopy::pack(0, {{4, 0, 0}, {1, 5, 5}}, 0),
                                       BlockCopy::pack(1, {{0, 1, 2}, {5, 2, 1}}, 25)};
    const std::vector<BlockCopy> put{BlockCopy::pack(1, {{-1, 0, 0}, {1, 5, 5}}, 0).reversed(),
                                     BlockCopy::pack(0, {{0, 3, -1}, {5, 2, 1}}, 25).reversed()};
    const auto taken_items = x.operations->make_items(std::span(taken));
    const auto put_items = x.operations->make_items(std::span(put));
    CHECK(taken_items.count == 2);
    CHECK(taken_items.cells == 35);
    const Buffer buffer = x.operations->make_buffer(35 * fields, Wire::staged);
    x.operations->copy_blocks(Packed{buffer, fields}, taken_items, from, {});

    // The order on the wire: block, then field, then cell.
    std::vector<double> wire;
    for (const BlockCopy& one : taken)
        for (std::size_t n = 0; n < fields; ++n)
            for_each_offset(one.extent, [&](const Index& c) {
                const Index at = one.from.at + c;
                wire.push_back(noise(static_cast<int>(n), x.cell(one.from.box, at[0], at[1], at[2])));
            });
    const auto* const sent = static_cast<const double*>(buffer.wire);
    CHECK(std::vector<double>(sent, sent + buffer.values) == wire);

    // The values that every cell and ghost cell of `u` should hold after the regions `source` have become
    // `target`.
    const auto wrong = [&](const std::vector<Field>& u, const auto& value_elsewhere) {
        int count = 0;
        for (std::size_t n = 0; n < fields; ++n) {
            const HostField values = x.on_host(u[n]);
            for (int q = 0; q < 2; ++q)
                for_each_offset({7, 7, 7}, [&](const Index& c) {
                    const Index at = c + Index{-1, -1, -1};
                    double expected = value_elsewhere(n, q, at);
                    for (std::size_t r = 0; r < put.size(); ++r) {
                        const Index off = at + -put[r].to.at;
                        bool inside = put[r].to.box == q;
                        for (std::size_t d = 0; d < 3; ++d)
                            inside = inside && off[d] >= 0 && off[d] < put[r].extent[d];
                        const Index origin = taken[r].from.at + off;
                        if (inside)
                            expected = noise(static_cast<int>(n),
                                             x.cell(taken[r].from.box, origin[0], origin[1], origin[2]));
                    }
                    count += values(q, at[0], at[1], at[2]) == expected ? 0 : 1;
                });
        }
        return count;
    };
    x.operations->copy_blocks(to, put_items, Packed{buffer, fields}, {});
    CHECK(wrong(to, [](std::size_t, int, const Index&) { return 0.0; }) == 0);

    const std::vector<BlockCopy> copies{{taken[0].extent, taken[0].from, put[0].to},
                                        {taken[1].extent, taken[1].from, put[1].to}};
    x.operations->copy_blocks(from, x.operations->make_items(std::span(copies)), from, {});
    const auto as_before = [&](std::size_t n, int q, const Index& at) {
        return noise(static_cast<int>(n), x.cell(q, at[0], at[1], at[2]));
    };
    CHECK(wrong(from, as_before) == 0);

    const Buffer small = x.operations->make_buffer(35 * fields - 1, Wire::staged);
    CHECK_THROWS_AS(x.operations->copy_blocks(Packed{small, fields}, taken_items, from, {}),
                    std::logic_error);
    CHECK_THROWS_AS(x.operations->copy_blocks(to, put_items, Packed{small, fields}, {}), std::logic_error);
}

TEST_CASE("of one colour what is copied are the cells that have it where they are copied to") {
    const int size = GENERATE(1, 3, 9);  // cells of the region along its rows
    const std::size_t fields = static_cast<std::size_t>(GENERATE(1, 10));
    Fixture x = Fixture::alone(9, 2);
    std::vector<Field> u;
    for (std::size_t n = 0; n < fields; ++n) u.push_back(x.make(static_cast<int>(n), 2));
    // By an odd number of cells, so that a cell's colour is not that of the one that becomes it.
    const Region source{{0, 1, 2}, {size, 4, 3}}, target{{0, 2, 4}, {size, 4, 3}};
    const auto item = BlockCopy::local(0, source, 1, target.lo);
    const Colour colour = GENERATE(Colour::red, Colour::black);
    const Work work = x.operations->copy_blocks(u, x.operations->make_items(std::span(&item, 1)), u, colour);
    CHECK(work.bytes == 16.0 * (size * 12 / 2) * static_cast<double>(fields));
    for (std::size_t n = 0; n < fields; ++n)
        CHECK(x.difference(u[n], [&](int q, int i, int j, int k) {
            const Index c = x.cell(q, i, j, k), off = Index{i, j, k} + -target.lo;
            bool taken = q == 1 && ((c[0] + c[1] + c[2]) & 1) == static_cast<int>(colour);
            for (std::size_t d = 0; d < 3; ++d) taken = taken && off[d] >= 0 && off[d] < target.size[d];
            const Index from = source.lo + off;
            return noise(static_cast<int>(n), taken ? x.cell(0, from[0], from[1], from[2]) : c);
        }) == 0);
}

TEST_CASE("of one colour a region takes half the places of a buffer, whatever its extents") {
    const int size = GENERATE(1, 2, 3, 8, 9);  // along its rows
    const auto [rows, planes] = GENERATE(std::pair(2, 3), std::pair(3, 3));
    const std::size_t fields = static_cast<std::size_t>(GENERATE(1, 10));
    const Colour colour = GENERATE(Colour::red, Colour::black);
    Fixture x = Fixture::alone(10, 2);
    std::vector<Field> from;
    std::vector<Field> to;
    for (std::size_t n = 0; n < fields; ++n) {
        from.push_back(x.make(static_cast<int>(n)));
        to.push_back(x.operations->make_field());
    }
    // The copied cells lie an even number of cells away, so that they keep their colour; part of the region
    // is unpacked alone.
    const Region source{{0, 1, 2}, {size, rows, planes}};
    const Index part{size - size / 2, rows - 1, planes - 1};
    auto taken = BlockCopy::pack(0, source, 3);
    taken.to.shift = 1;
    const Index begin{size / 2, 1, 1};
    BlockCopy put{part, taken.to, in_box(1, source.lo + begin)};
    put.from.at = begin;
    const std::size_t cells = source.cells();
    CHECK(taken.to.end() == 3 + (cells + 1) / 2);
    const Buffer buffer = x.operations->make_buffer((3 + (cells + 1) / 2) * fields, Wire::staged);
    const Work work = x.operations->copy_blocks(Packed{buffer, fields},
                                                x.operations->make_items(std::span(&taken, 1)), from, colour);
    CHECK(work.bytes == 16.0 * static_cast<double>(cells * fields / 2));
    x.operations->copy_blocks(to, x.operations->make_items(std::span(&put, 1)), Packed{buffer, fields},
                              colour);
    int brought = 0;
    for (std::size_t n = 0; n < fields; ++n)
        CHECK(x.difference(to[n], [&](int q, int i, int j, int k) {
            const Index off = Index{i, j, k} + -put.to.at;
            const Index c = x.cell(0, i, j, k);
            bool here = q == 1 && ((c[0] + c[1] + c[2]) & 1) == static_cast<int>(colour);
            for (std::size_t d = 0; d < 3; ++d) here = here && off[d] >= 0 && off[d] < part[d];
            brought += here ? 1 : 0;
            return here ? noise(static_cast<int>(n), c) : 0.0;
        }) == 0);
    CHECK(brought >= static_cast<int>(fields));
}

TEST_CASE("part of a region that lies in a buffer as a whole can be unpacked alone") {
    const std::size_t fields = static_cast<std::size_t>(GENERATE(1, 3));
    Fixture x;
    std::vector<Field> from;
    std::vector<Field> to;
    for (std::size_t n = 0; n < fields; ++n) {
        from.push_back(x.make(static_cast<int>(n)));
        to.push_back(x.operations->make_field());
    }
    const Region whole{{1, 0, 2}, {4, 3, 2}};
    const Region part{{3, 1, 2}, {2, 2, 2}};
    const Index moved{1, 1, 1};
    const auto taken = BlockCopy::pack(0, whole, 7);
    const BlockCopy put{part.size, in_buffer(7, whole.size, part.lo + -whole.lo), in_box(1, part.lo + moved)};
    const auto put_items = x.operations->make_items(std::span(&put, 1));
    CHECK(put_items.cells == 8);
    CHECK(put_items.values == 7 + 24);
    const Buffer buffer = x.operations->make_buffer(31 * fields, Wire::staged);
    x.operations->copy_blocks(Packed{buffer, fields}, x.operations->make_items(std::span(&taken, 1)), from,
                              {});
    x.operations->copy_blocks(to, put_items, Packed{buffer, fields}, {});
    int wrong = 0;
    for (std::size_t n = 0; n < fields; ++n) {
        const HostField values = x.on_host(to[n]);
        for (int q = 0; q < 2; ++q)
            for_each_offset({7, 7, 7}, [&](const Index& c) {
                const Index at = c + Index{-1, -1, -1};
                const Index source = at + -moved;
                bool inside = q == 1;
                for (std::size_t d = 0; d < 3; ++d)
                    inside = inside && source[d] >= part.lo[d] && source[d] < part.lo[d] + part.size[d];
                const double expected =
                    inside ? noise(static_cast<int>(n), x.cell(0, source[0], source[1], source[2])) : 0.0;
                wrong += values(q, at[0], at[1], at[2]) == expected ? 0 : 1;
            });
    }
    CHECK(wrong == 0);
}

TEST_CASE("forwarding copies values from buffer to buffer, all fields of each together") {
    const std::size_t fields = static_cast<std::size_t>(GENERATE(1, 2, 9));
    Fixture x;
    std::vector<Field> u;
    std::vector<Field> v;
    for (std::size_t n = 0; n < fields; ++n) {
        u.push_back(x.make(static_cast<int>(n)));
        v.push_back(x.operations->make_field());
    }
    // Two rows are packed; they are passed on in the other order, behind a gap, and unpacked.
    const std::vector<BlockCopy> taken{BlockCopy::pack(0, {{0, 1, 1}, {5, 1, 1}}, 0),
                                       BlockCopy::pack(1, {{1, 2, 0}, {3, 1, 1}}, 5)};
    const std::vector<BlockCopy> forwards{BlockCopy::forward(0, 6, 5), BlockCopy::forward(5, 2, 3)};
    const std::vector<BlockCopy> put{BlockCopy::pack(1, {{0, 3, 3}, {5, 1, 1}}, 6).reversed(),
                                     BlockCopy::pack(0, {{2, 4, 4}, {3, 1, 1}}, 2).reversed()};
    const Buffer received = x.operations->make_buffer(8 * fields, Wire::direct);
    const Buffer sent = x.operations->make_buffer(11 * fields, Wire::direct);
    const auto forward_items = x.operations->make_items(std::span(forwards));
    x.operations->copy_blocks(Packed{received, fields}, x.operations->make_items(std::span(taken)), u, {});
    const Work work =
        x.operations->copy_blocks(Packed{sent, fields}, forward_items, Packed{received, fields}, {});
    CHECK(work.bytes == 2 * 8.0 * 8 * static_cast<double>(fields));
    x.operations->copy_blocks(v, x.operations->make_items(std::span(put)), Packed{sent, fields}, {});
    int wrong = 0;
    for (std::size_t n = 0; n < fields; ++n) {
        const HostField values = x.on_host(v[n]);
        for (int i = 0; i < 5; ++i)
            wrong += values(1, i, 3, 3) == noise(static_cast<int>(n), x.cell(0, i, 1, 1)) ? 0 : 1;
        for (int i = 0; i < 3; ++i)
            wrong += values(0, 2 + i, 4, 4) == noise(static_cast<int>(n), x.cell(1, 1 + i, 2, 0)) ? 0 : 1;
    }
    CHECK(wrong == 0);
}

TEST_CASE(
    "ghosts outside the domain are mirror images with the sign of their boundary, and no others change") {
    const int width = GENERATE(1, 4, 5);
    const MirrorFactors factor{-1.0, 1.0, Sides(-1.0, 1.0)};
    Fixture x = Fixture::alone(width);
    const Field u = x.make(1);
    // All 26 sides of box 0, and of box 1 those where only y and z lead out of the domain.
    std::vector<BoundaryItem> ghosts;
    for (int code = 0; code < 27; ++code) {
        const Index side{code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1};
        Region cells;
        for (std::size_t d = 0; d < 3; ++d) {
            cells.lo[d] = side[d] < 0 ? -1 : side[d] > 0 ? width : 0;
            cells.size[d] = side[d] == 0 ? width : 1;
        }
        if (side != Index{}) ghosts.push_back({0, cells, side});
        if (side[1] != 0 || side[2] != 0) ghosts.push_back({1, cells, {0, side[1], side[2]}});
    }
    const Work work = x.operations->fill_boundary(
        u, x.operations->make_items(std::span<const BoundaryItem>(ghosts)), factor);
    const int outside_0 = (width + 2) * (width + 2) * (width + 2) - width * width * width;
    const int outside_1 = (width + 2) * ((width + 2) * (width + 2) - width * width);
    CHECK(work.bytes == 2 * 8.0 * (outside_0 + outside_1));
    const HostField values = x.on_host(u);
    int wrong = 0;
    for (int q = 0; q < 2; ++q)
        for_each_offset({width + 2, width + 2, width + 2}, [&](const Index& c) {
            const Index at = c + Index{-1, -1, -1};
            Index mirror = at;
            double sign = 1;
            for (std::size_t d = q == 0 ? 0 : 1; d < 3; ++d) {
                if (at[d] == -1) mirror[d] = 0;
                if (at[d] == width) mirror[d] = width - 1;
                if (mirror[d] != at[d]) sign *= at[d] < 0 ? factor[d].low : factor[d].high;
            }
            const double expected = sign * noise(1, x.cell(q, mirror[0], mirror[1], mirror[2]));
            wrong += values(q, at[0], at[1], at[2]) == expected ? 0 : 1;
        });
    CHECK(wrong == 0);
}

TEST_CASE("every operation declares the flops of its formula and the bytes that its grids hold") {
    Fixture x(4);
    Fixture small(2, 2, x.backend);
    Operations& fine = *x.operations;
    const Stencil L = x.stencil();
    const Field u = x.make(1);
    const Field f = x.make(2);
    const Field r = x.make(3);
    const Field coarse = small.make(4);
    double norm = 0;
    using PerCell = std::pair<double, double>;  // flops and doubles
    const auto per_cell = [](const Work& work) {
        return PerCell{work.flops / (2 * 64), work.bytes / (8.0 * 2 * 64)};
    };
    CHECK(per_cell(fine.apply(r, L, u)) == PerCell{13, 6});                // u, x, y, z, 1/D, out
    CHECK(per_cell(fine.residual(r, L, u, f)) == PerCell{14, 7});          // and f
    CHECK(per_cell(fine.residual_norm(L, u, f, norm)) == PerCell{14, 6});  // which is not stored
    // u of either colour, x, y, z, and of one colour 1/D and f.
    CHECK(per_cell(fine.relax(u, L, f, Colour::red, 1.0)) == PerCell{6.5, 5});
    CHECK(per_cell(fine.relax(u, L, f, Colour::black, 1.0)) == PerCell{6.5, 5});
    const Colour one[] = {Colour::black};  // in a pass of its own
    CHECK(per_cell(fine.relax(u, L, f, HalfSweeps{one})) == PerCell{6.5, 5});
    CHECK(per_cell(fine.relax(u, L, f, HalfSweeps{one, 1.3})) == PerCell{8, 5.5});
    CHECK(per_cell(fine.polynomial_step(r, 0.5, 0.5, L, u, f)) == PerCell{18, 8});
    CHECK(per_cell(fine.add_reaction(r, f, 1.0, {}, u)) == PerCell{23, 3});
    CHECK(per_cell(fine.relax_newton(u, L, {}, f, Colour::red)) == PerCell{29, 5.5});
    CHECK(per_cell(fine.restrict_to(coarse, u)) == PerCell{1, 1 + 1.0 / 8});
    CHECK(per_cell(fine.restrict_residual(coarse, L, u, f)) == PerCell{15, 6 + 1.0 / 8});
    // With one colour, f and 1/D of the other colour are not read.
    CHECK(per_cell(fine.residual_norm(L.of(Colour::red), u, f, norm)) == PerCell{7, 5});
    CHECK(per_cell(fine.restrict_residual(coarse, L.of(Colour::black), u, f)) == PerCell{8, 5 + 1.0 / 8});
    CHECK(per_cell(fine.interpolate_add(u, coarse, Interpolation::constant, {})) == PerCell{1, 2 + 1.0 / 8});
    CHECK(per_cell(fine.interpolate_add(u, coarse, Interpolation::linear, {})) == PerCell{23, 2 + 1.0 / 8});
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
    const Work dots = fine.dots(products, sums);
    CHECK(per_cell(dots) == PerCell{6, 3});
    // Every cell meets its neighbours on the way there and on the way back.
    fine.factor_blocks(r, L);
    CHECK(per_cell(fine.solve_blocks(u, r, L, f)) == PerCell{2 * 7, 12});
    const auto packed = BlockCopy::pack(0, {{}, {3, 2, 1}}, 0);
    const BlockCopy unpacked = packed.reversed();
    const auto items = fine.make_items(std::span(&packed, 1));
    const auto targets = fine.make_items(std::span(&unpacked, 1));
    const std::array<Field, 2> two{u, f};
    const Buffer buffer = fine.make_buffer(12, Wire::staged);
    const auto copied = BlockCopy::local(0, {{}, {3, 2, 1}}, 1, {});
    const auto copies = fine.make_items(std::span(&copied, 1));
    const Packed message{buffer, 2};
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
