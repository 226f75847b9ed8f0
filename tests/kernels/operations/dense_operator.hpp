#pragma once

// The operator of the design over the cells of a whole domain, as a dense matrix, and what a rank has of it.

#include <vector>

#include "tests/kernels/boxes.hpp"

namespace keel::test {

// a alpha u - b div(beta grad u), with a ghost u = -u beyond a Dirichlet face and u = +u beyond a Neumann
// face.
struct DenseOperator {
    static constexpr double a = 0.9;
    static constexpr double b = 0.7;

    explicit DenseOperator(const Layout& layout)
        : n(layout.cells()),
          dimensions(layout.dimensions()),
          boundaries(layout.boundaries()),
          h(layout.spacing()) {
        const std::size_t cells = layout.cell_count();
        rows.assign(cells, std::vector<double>(cells));
        for_each_offset(n, [&](const Index& c) {
            std::vector<double>& row = rows[number(c)];
            row[number(c)] += a * alpha(c);
            for (std::size_t d = 0; d < dimensions; ++d)
                for (const int side : {-1, 1}) {
                    Index face = c;
                    face[d] += side > 0 ? 1 : 0;
                    const double weight = b / (h * h) * beta(d, face);
                    const Index other = c + side * step(d);
                    if (is_inside(other) || boundaries[d] == Boundary::periodic) {
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
        for (std::size_t d = 0; d < dimensions; ++d)
            if (boundaries[d] == Boundary::periodic) c[d] = (c[d] + n[d]) % n[d];
        return c;
    }
    bool is_inside(const Index& c) const { return inside({{}, n}, c); }
    std::size_t number(const Index& c) const {
        return static_cast<std::size_t>(c[0] + n[0] * (c[1] + n[1] * c[2]));
    }

    // Whether no two neighbours have the same colour: on a period of odd length some have.
    bool two_colourable() const {
        bool even = true;
        for (std::size_t d = 0; d < dimensions; ++d)
            even = even && (boundaries[d] != Boundary::periodic || n[d] % 2 == 0);
        return even;
    }

    std::vector<double> vector(int field) const {
        std::vector<double> values(rows.size());
        for_each_offset(n, [&](const Index& c) { values[number(c)] = noise(field, c); });
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
    std::size_t dimensions;
    Boundaries boundaries;
    double h;
    double largest = 0;  // diagonal entry
    std::vector<std::vector<double>> rows;
};

// One rank's boxes of a dense operator's domain, current ghosts included.
struct RankOf {
    RankOf(const DenseOperator& dense, const Layout& layout)
        : A(dense), operations(chosen_backend()->make_operations(layout, 1)) {
        Field* const faces[] = {&L.x, &L.y, &L.z};
        for (std::size_t d = 0; d < A.dimensions; ++d) {
            *faces[d] = operations->make_field();
            operations->assign(*faces[d], {{}, layout.extent() + step(d)},
                               [&](const Index& face) { return A.face_coefficient(d, face); });
        }
        L.inverse_diagonal = operations->make_field();
        operations->assign(L.inverse_diagonal, layout.box_cells(),
                           [&](const Index& c) { return A.a * A.alpha(c); });
        operations->complete_diagonal(L);
    }

    Field make(const std::vector<double>& values) const {
        const Field field = operations->make_field();
        set(field, values);
        return field;
    }
    // Ghosts outside the domain hold 0.
    void set(const Field& field, const std::vector<double>& values) const {
        const Index around = operations->layout().layers(1);
        operations->assign(field, {-around, operations->layout().extent() + 2 * around}, [&](const Index& c) {
            const Index at = A.wrapped(c);
            return A.is_inside(at) ? values[A.number(at)] : 0.0;
        });
    }
    double difference(const Field& field, const std::vector<double>& values) const {
        const Layout& layout = operations->layout();
        const std::vector<double> on_host = operations->read(field, layout.box_cells());
        double worst = 0;
        std::size_t next = 0;
        for (const int box : layout.local())
            for_each_offset(layout.extent(), [&](const Index& at) {
                worst = std::max(worst, gap(on_host[next++], values[A.number(layout.first_cell(box) + at)]));
            });
        return worst;
    }

    const DenseOperator& A;
    std::unique_ptr<Operations> operations;
    Stencil L;
};

// Runs `action(operator, rank)` for every virtual rank of every arrangement of boxes and kind of boundary.
template <class Action>
void for_each_rank(const Action& action) {
    struct Arrangement {
        int dimensions;
        Index boxes;
        int width;
        int ranks;
    };
    constexpr Boundary p = Boundary::periodic;
    constexpr Boundary d = Boundary::dirichlet;
    constexpr Boundary n = Boundary::neumann;
    for (const auto& [dimensions, boxes, width, ranks] : {Arrangement{3, {1, 1, 1}, 5, 1},
                                                          {3, {3, 1, 2}, 3, 1},
                                                          {3, {1, 2, 1}, 4, 2},
                                                          {3, {2, 2, 2}, 3, 3},
                                                          {2, {1, 1, 1}, 5, 1},
                                                          {2, {3, 2, 1}, 3, 2}})
        for (const Boundaries& boundaries :
             {Boundaries{p, p, p}, Boundaries{d, d, d}, Boundaries{n, n, n}, Boundaries{n, p, d}}) {
            const Domain domain(boxes, boundaries, dimensions);
            const auto owners = place(domain, ranks, Placement::scattered);
            const DenseOperator A(Layout(domain, width, owners, 0));
            for (int rank = 0; rank < ranks; ++rank)
                action(A, RankOf(A, Layout(domain, width, owners, rank)));
        }
}

}  // namespace keel::test
