#pragma once

// The problems of the golden files, written from the formulas in their key "def" and from nothing else of
// Keel, cut into boxes and handed to a hierarchy; and the plain operator in loops over the whole grid, to
// check solutions with.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/ranks/communicator.hpp"
#include "comm/ranks/topology.hpp"
#include "kernels/layout/layout.hpp"
#include "solvers/multigrid/hierarchy.hpp"
#include "solvers/systems/grid_system.hpp"
#include "tests/boundaries.hpp"
#include "tests/chosen_backend.hpp"

namespace keel::test {

inline constexpr double two_pi = 6.283185307179586476925286766559;

struct Problem {
    Index boxes{2, 2, 2};
    int width = 8;  // cells along a box
    Boundaries boundaries = periodic;
    double a = 0.9;
    double b = 0.9;
    std::string beta = "const";   // "const", "smoothK", "ballK" with K a number, "var" from 1 to 20
    std::string alpha = "const";  // "const", "wave"
    std::string rhs = "wave";     // "wave", "wave_by_rows", "tri", "hash", "point"
    // The golden formulas are periodic in a cube, and there but for rounding; these also elsewhere, to the
    // last bit.
    bool exactly_periodic = false;
    std::array<double, 3> anisotropy{1.0, 1.0, 1.0};  // factors of the faces of each direction
    bool free_top = false;                            // Neumann's condition at the high end of z alone
    int dimensions = 3;                               // 2: one layer of boxes, without faces in z
    double of_dirichlet = 2;  // w of a Dirichlet face; 1: u = 0 a cell beyond the last

    Index cells() const { return in_each_direction(width, directions(), 1) * boxes; }
    std::size_t directions() const { return static_cast<std::size_t>(dimensions); }
    double h() const { return 1.0 / (width * *std::max_element(boxes.begin(), boxes.end())); }
    bool singular() const {
        const auto last = boundaries.begin() + dimensions;
        return a == 0.0 && std::find(boundaries.begin(), last, Boundary::dirichlet) == last;
    }

    double a_alpha(const Index& cell) const {
        const auto [x, y, z] = centre(cell);
        if (alpha == "const") return a;
        return a * (1 + 0.5 * std::cos(two_pi * x) * std::cos(two_pi * y) * std::cos(two_pi * z));
    }

    // w b beta / h^2 of the face between cells index-1 and index in direction d
    double face(std::size_t d, const Index& index) const {
        const bool outer = index[d] == 0 || index[d] == cells()[d];
        double w = 1;
        if (outer && boundaries[d] == Boundary::dirichlet) w = of_dirichlet;
        if (outer && boundaries[d] == Boundary::neumann) w = 0;
        if (free_top && d == 2 && index[d] == cells()[d]) w = 0;
        w *= anisotropy[d];
        auto at = centre(index);
        at[d] = index[d] * h();
        if (exactly_periodic && boundaries[d] == Boundary::periodic) at[d] = index[d] % cells()[d] * h();
        return w * b * beta_at(at) / (h() * h());
    }

    double diagonal(const Index& cell) const {
        double D = a_alpha(cell);
        for (std::size_t d = 0; d < directions(); ++d) {
            Index high = cell;
            high[d] += 1;
            D += face(d, cell) + face(d, high);
        }
        return D;
    }

    double f(const Index& cell) const {
        const auto [x, y, z] = centre(cell);
        const double q = (cell[0] * cells()[1] + cell[1]) * cells()[2] + cell[2];
        if (rhs == "wave_by_rows")
            return std::sin(2.59 * (cell[1] * cells()[0] + cell[0])) +
                   0.2 * std::cos(1.3 * (cell[1] * cells()[0] + cell[0]));
        if (rhs == "wave") return std::sin(2.59 * q) + 0.2 * std::cos(1.3 * q);
        if (rhs == "tri") return triangle(x) * triangle(y) * triangle(z);
        if (rhs == "hash") return hash(cell[0] + cells()[0] * (cell[1] + cells()[1] * cell[2]));
        return q == 0 ? 1 : 0;
    }

    OperatorFormulas formulas() const {
        const auto along = [*this](std::size_t d) {
            return [*this, d](const Index& index) { return face(d, index); };
        };
        return {
            [*this](const Index& cell) { return a_alpha(cell); }, {along(0), along(1), along(2)}, singular()};
    }

    std::array<double, 3> centre(const Index& cell) const {
        return {(cell[0] + 0.5) * h(), (cell[1] + 0.5) * h(), (cell[2] + 0.5) * h()};
    }

  private:
    static double triangle(double x) { return 4 * std::abs(x - std::floor(x) - 0.5) - 1; }

    static double hash(int n) {
        auto x = static_cast<std::uint32_t>(n);
        x = (x ^ (x >> 16)) * 0x7feb352dU;
        x = (x ^ (x >> 15)) * 0x846ca68bU;
        return (x ^ (x >> 16)) / 2147483648.0 - 1;
    }

    double beta_at(const std::array<double, 3>& at) const {
        if (beta == "var")
            return 1 +
                   9.5 * (1 + std::sin(two_pi * at[0]) * std::sin(two_pi * at[1]) * std::sin(two_pi * at[2]));
        const auto [x, y, z] = at;
        if (beta.rfind("smooth", 0) == 0)
            return std::pow(std::stod(beta.substr(6)),
                            0.5 * std::sin(two_pi * x) * std::sin(two_pi * y) * std::sin(two_pi * z));
        if (beta.rfind("ball", 0) == 0) {
            const double distance = (x - 0.5) * (x - 0.5) + (y - 0.5) * (y - 0.5) + (z - 0.5) * (z - 0.5);
            return distance < 0.0625 ? std::stod(beta.substr(4)) : 1.0;
        }
        return 1;
    }
};

// Coefficients that vary, the same to the last bit on both sides of a periodic boundary.
inline Problem varying(const Index& boxes, int width, const Boundaries& boundaries, double a,
                       int dimensions = 3) {
    return {.boxes = boxes,
            .width = width,
            .boundaries = boundaries,
            .a = a,
            .beta = "smooth10",
            .alpha = "wave",
            .exactly_periodic = true,
            .dimensions = dimensions};
}

// A grid function on all cells of the domain, x fastest.
struct Whole {
    Index cells{};
    std::vector<double> values;

    double& operator()(const Index& c) { return values[place(c)]; }
    double operator()(const Index& c) const { return values[place(c)]; }

  private:
    std::size_t place(const Index& c) const {
        return static_cast<std::size_t>(c[0] + cells[0] * (c[1] + cells[1] * c[2]));
    }
};

template <class Action>
void for_each_index(const Index& extent, const Action& action) {
    for (int k = 0; k < extent[2]; ++k)
        for (int j = 0; j < extent[1]; ++j)
            for (int i = 0; i < extent[0]; ++i) action(Index{i, j, k});
}

// L u in one cell, by the formulas.
inline double product_by_formula(const Problem& problem, const Whole& u, const Index& cell) {
    double Lu = problem.a_alpha(cell) * u(cell);
    for (std::size_t d = 0; d < problem.directions(); ++d)
        for (const int side : {-1, 1}) {
            const int n = problem.cells()[d];
            Index at = cell;
            at[d] += side;
            const bool outside = at[d] < 0 || at[d] >= n;
            Index index = cell;
            index[d] += side < 0 ? 0 : 1;
            at[d] = (at[d] + n) % n;
            const double beyond = outside && problem.boundaries[d] != Boundary::periodic ? 0.0 : u(at);
            Lu += problem.face(d, index) * (u(cell) - beyond);
        }
    return Lu;
}

// f - L u by the formulas, cell by cell.
inline Whole residual_by_formula(const Problem& problem, const Whole& u, const Whole& f) {
    Whole r = f;
    for_each_index(problem.cells(),
                   [&](const Index& cell) { r(cell) -= product_by_formula(problem, u, cell); });
    return r;
}

inline double max_norm(const Whole& u) {
    double norm = 0;
    for (const double value : u.values) norm = std::max(norm, std::abs(value));
    return norm;
}
inline double two_norm(const Whole& u) {
    double sum = 0;
    for (const double value : u.values) sum += value * value;
    return std::sqrt(sum);
}
inline double mean(const Whole& u) {
    double sum = 0;
    for (const double value : u.values) sum += value;
    return sum / static_cast<double>(u.values.size());
}

// A problem on the ranks of `comm`, its right-hand side in f of the finest level. Collective throughout.
class Setup {
  public:
    static constexpr int ranks_per_node = 2;  // a pretended node has two

    explicit Setup(const Problem& chosen, HierarchyOptions options = {},
                   const Communicator& ranks = Communicator::world(), Placement placement = Placement::curve)
        : problem(chosen),
          comm(ranks),
          topology(virtual_topology(comm.size(), ranks_per_node)),
          backend(chosen_backend(comm.rank())),
          ledger(static_cast<int>(level_shapes(problem.boxes, static_cast<std::size_t>(problem.dimensions),
                                               problem.width, comm.size(),
                                               {options.bottom_box, options.agglomerate})
                                      .size())),
          hierarchy(comm, topology, *backend,
                    Layout(Domain(problem.boxes, problem.boundaries, problem.dimensions), problem.width,
                           place(problem.boxes, comm.size(), placement), comm.rank()),
                    problem.formulas(), options, ledger) {
        set_f([this](const Index& cell) { return problem.f(cell); });
    }

    Level& finest() { return hierarchy.level(0); }
    void set(Field field, const Formula& formula) {
        finest().plain->assign(field, finest().layout.box_cells(), formula);
    }
    // The finest right-hand side, with a solution where the problem is singular.
    void set_f(const Formula& formula) {
        set(finest().f, formula);
        if (problem.singular()) make_solvable(finest());
        ledger.clear();
    }

    // The values of all cells of a level on rank 0; zeros elsewhere.
    Whole gather(const Level& level, Field field) const {
        const Layout& layout = level.layout;
        std::vector<double> mine = level.plain->read(field, layout.box_cells());
        mine.resize(static_cast<std::size_t>(comm.max(static_cast<double>(mine.size()))));
        const std::vector<double> all = comm.gather(mine);
        Whole whole{layout.cells(), std::vector<double>(layout.cell_count())};
        if (comm.rank() != 0) return whole;
        std::vector<std::size_t> next(static_cast<std::size_t>(comm.size()));
        for (std::size_t rank = 0; rank < next.size(); ++rank) next[rank] = rank * mine.size();
        for (int box = 0; box < layout.box_count(); ++box)
            for_each_index(layout.extent(), [&](const Index& cell) {
                whole(layout.first_cell(box) + cell) =
                    all[next[static_cast<std::size_t>(layout.owner(box))]++];
            });
        return whole;
    }
    Whole gather(Field field) { return gather(finest(), field); }

    // Returns rank 0's value on every rank.
    double agreed(double value) const { return comm.sum(comm.rank() == 0 ? value : 0.0); }

    // max|f - L u| of the finest level by the formulas.
    double residual_by_formula() {
        return agreed(max_norm(test::residual_by_formula(problem, gather(finest().u), gather(finest().f))));
    }

    Problem problem;
    Communicator comm;
    Topology topology;
    std::unique_ptr<Backend> backend;
    Ledger ledger;
    Hierarchy hierarchy;
};

// The level's operator as a linear system.
inline GridSystem system_of(Level& level, DiagonalScaling scaling = DiagonalScaling::none) {
    return {level.operations, *level.ghosts, *level.reduction, level.L, scaling};
}

inline double relative(double value, double reference) {
    return std::abs(value - reference) / std::max(std::abs(reference), 1e-300);
}

// Whether there are boxes for all ranks.
inline bool enough_boxes(const Index& boxes) {
    return product(boxes) >= static_cast<std::size_t>(Communicator::world().size());
}

}  // namespace keel::test
