// problem.matrix = "grid": the matrix of a grid's operator is that operator, whatever the boundaries, the
// shape and the ranks.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "miniapp/modes/spmv/matrix/matrix_source.hpp"
#include "miniapp/setup/problem/problem.hpp"
#include "miniapp/setup/problem/shape.hpp"
#include "solvers/amg/cycle.hpp"
#include "solvers/amg/hierarchy.hpp"
#include "solvers/krylov/sparse_krylov.hpp"
#include "tests/chosen_backend.hpp"

namespace {

using namespace keel;
using namespace keel::test;

MatrixChoice choice_of(const ProblemOptions& problem) {
    MatrixChoice choice;
    choice.options.matrix = grid_matrix;
    choice.grid = GridOperator{problem, domain_of(problem, 1)};
    return choice;
}

double x_at(std::int64_t row) {
    return std::sin(0.7 * static_cast<double>(row) + 1.0);
}

ProblemOptions problem_with(Boundaries boundary, int dimensions = 3) {
    ProblemOptions problem;
    problem.dimensions = dimensions;
    problem.box = 4;
    problem.boxes = dimensions == 2 ? Index{3, 2, 1} : Index{3, 2, 1};
    problem.boundary = boundary;
    problem.coefficients = Coefficients::smooth;
    problem.contrast = 50;
    problem.anisotropy = {1, 2, dimensions == 2 ? 1.0 : 0.5};
    problem.alpha = Alpha::wave;
    return problem;
}

ProblemOptions made_of(ProblemOptions problem, int box, const Index& boxes) {
    problem.box = box;
    problem.boxes = boxes;
    return problem;
}

std::vector<ProblemOptions> problems() {
    const Boundaries sides{Boundary::periodic, Sides(Boundary::neumann, Boundary::dirichlet),
                           Boundary::neumann};
    std::vector<ProblemOptions> all;
    for (const Boundary kind : {Boundary::periodic, Boundary::dirichlet, Boundary::neumann})
        for (const int dimensions : {2, 3}) all.push_back(problem_with({kind, kind, kind}, dimensions));
    all.push_back(problem_with(sides));
    all.push_back(made_of(problem_with(sides), 2, {1, 1, 3}));  // two periodic cells
    all.push_back(made_of(problem_with(sides), 1, {1, 2, 3}));  // and one
    for (const Outside outside : {Outside::dirichlet, Outside::neumann}) {
        ProblemOptions shape = made_of(problem_with(sides), 3, {4, 4, 2});
        shape.shape = DomainShape::l;
        shape.outside = outside;
        all.push_back(shape);
        shape.shape = DomainShape::list;
        shape.boxes_list.positions = {{0, 0, 0}, {1, 0, 0}, {3, 3, 1}, {1, 2, 1}, {1, 1, 1}};
        shape.dimensions = 3;
        all.push_back(shape);
    }
    ProblemOptions singular = problem_with({Boundary::neumann, Boundary::periodic, Boundary::neumann});
    singular.a = 0;
    all.push_back(singular);
    return all;
}

// The values of all rows, on every rank, of (row, value) pairs.
std::vector<double> by_rows(const Communicator& comm, const std::vector<double>& rows,
                            const std::vector<double>& values, std::size_t all) {
    std::vector<double> whole(all, 0.0);
    for (std::size_t n = 0; n < rows.size(); ++n) whole[static_cast<std::size_t>(rows[n])] = values[n];
    for (double& value : whole) value = comm.sum(value);
    return whole;
}

// L x and D by the grid, on every rank.
struct OnGrid {
    std::vector<double> Lx, D;
};
OnGrid on_grid(const Communicator& comm, const ProblemOptions& problem, const Domain& domain) {
    const Topology topology = virtual_topology(comm.size(), 2);
    const auto backend = chosen_backend(comm.rank());
    const Layout layout(domain, problem.box, place(domain, comm.size(), Placement::curve), comm.rank());
    const Problem formulas(problem, layout);
    Ledger ledger(1);
    HierarchyOptions options;
    options.bottom_box = problem.box;
    Hierarchy hierarchy(comm, topology, *backend, layout, formulas.operator_formulas(), options, ledger);
    Level& level = hierarchy.level(0);
    const auto cells = static_cast<std::int64_t>(layout.box_cells().cells());
    const auto row_of = [&](const Index& at) {
        const Index extent = layout.extent();
        const Index box{at[0] / extent[0], at[1] / extent[1], at[2] / extent[2]};
        const Index in{at[0] % extent[0], at[1] % extent[1], at[2] % extent[2]};
        return *domain.box_at(box) * cells + (in[2] * extent[1] + in[1]) * extent[0] + in[0];
    };
    level.plain->assign(level.u, layout.box_cells(), [&](const Index& at) { return x_at(row_of(at)); });
    level.plain->assign(level.f, layout.box_cells(),
                        [&](const Index& at) { return static_cast<double>(row_of(at)); });
    level.ghosts->run(level.u);
    level.plain->apply(level.r, level.L, level.u);
    const std::vector<double> rows = level.plain->read(level.f, layout.box_cells());
    const auto whole = [&](Field field) {
        return by_rows(comm, rows, level.plain->read(field, layout.box_cells()), layout.cell_count());
    };
    std::vector<double> D = whole(level.L.inverse_diagonal);
    for (double& value : D) value = 1 / value;
    return {whole(level.r), std::move(D)};
}

}  // namespace

TEST_CASE("the matrix of a grid is its operator, and has its diagonal to the last bit") {
    const Communicator comm = Communicator::world();
    const Topology topology = virtual_topology(comm.size(), 2);
    const auto backend = chosen_backend(comm.rank());
    int n = 0;
    for (const ProblemOptions& problem : problems()) {
        const MatrixChoice choice = choice_of(problem);
        if (choice.grid->domain.count() < comm.size()) continue;  // a grid has a box for each rank
        INFO("problem " << n++);
        const OnGrid grid = on_grid(comm, problem, choice.grid->domain);
        const RowPartition partition{matrix_size(choice).rows, comm.size()};
        const GlobalRows rows = read_matrix(choice, partition, comm);
        const double entries = comm.sum(static_cast<double>(rows.columns.size()));
        const Index cells = problem.box * choice.grid->domain.around();
        const bool merges = std::ranges::any_of(std::array{0, 1, 2}, [&](int d) {
            return problem.boundary[static_cast<std::size_t>(d)].low == Boundary::periodic &&
                   cells[static_cast<std::size_t>(d)] <= 2;
        });
        if (merges)
            CHECK(entries <= matrix_size(choice).entries);
        else
            CHECK(entries == matrix_size(choice).entries);

        Ledger ledger(1);
        SparseMatrix A(comm, topology, *backend, partition, rows, {}, ledger);
        const Field x = A.make_vector();
        const Field y = A.make_vector();
        A.assign(x, x_at);
        A.apply(std::span(&y, 1), A.plain(), std::span(&x, 1));
        const std::vector<double> Ax = A.read(y);
        double largest = 0;
        for (const double value : grid.D) largest = std::max(largest, value);
        double worst = 0;
        bool same = true;
        for (std::size_t r = 0; r < rows.rows(); ++r) {
            const auto row = static_cast<std::size_t>(partition.first(comm.rank())) + r;
            worst = std::max(worst, std::abs(Ax[r] - grid.Lx[row]));
            if (!merges) same = same && A.diagonal()[r] == grid.D[row];
        }
        CHECK(worst <= 1e-14 * largest);
        CHECK(same);
    }
    CHECK(n >= (comm.size() > 2 ? 9 : 10));
}

TEST_CASE("the matrix of a grid is symmetric to the last bit, and its rows do not depend on the ranks") {
    for (const ProblemOptions& problem : problems()) {
        const MatrixChoice choice = choice_of(problem);
        const auto all = static_cast<std::size_t>(matrix_size(choice).rows);
        const GlobalRows rows = read_whole_matrix(choice);
        const auto entry = [&](std::size_t r, std::int64_t c) {
            const auto first = rows.columns.begin() + rows.first[r];
            const auto last = rows.columns.begin() + rows.first[r + 1];
            const auto found = std::lower_bound(first, last, c);
            REQUIRE((found != last && *found == c));
            return rows.values[static_cast<std::size_t>(found - rows.columns.begin())];
        };
        bool symmetric = true;
        for (std::size_t r = 0; r < all; ++r)
            for (auto e = static_cast<std::size_t>(rows.first[r]);
                 e < static_cast<std::size_t>(rows.first[r + 1]); ++e)
                symmetric = symmetric && rows.values[e] == entry(static_cast<std::size_t>(rows.columns[e]),
                                                                 static_cast<std::int64_t>(r));
        CHECK(symmetric);
        const RowPartition partition{static_cast<std::int64_t>(all), 5};
        std::vector<double> values;
        for (int rank = 0; rank < 5; ++rank) {
            const GlobalRows part = read_matrix(choice, partition, Communicator::virtual_rank(rank, 5));
            values.insert(values.end(), part.values.begin(), part.values.end());
        }
        CHECK(values == rows.values);
    }
}

TEST_CASE("cycles solve on a grid's matrix, where constants are in its null space too") {
    const Communicator comm = Communicator::world();
    const Topology topology = virtual_topology(comm.size(), 2);
    const auto backend = chosen_backend(comm.rank());
    const SetupContext context{comm, topology, *backend};
    for (const Boundary kind : {Boundary::periodic, Boundary::dirichlet, Boundary::neumann})
        for (const int dimensions : {2, 3})
            for (const CoarseningRule coarsening : {CoarseningRule::aggregation, CoarseningRule::pmis})
                for (const std::int64_t max_coarse : {1, 30}) {
                    ProblemOptions problem = problem_with({kind, kind, kind}, dimensions);
                    problem.a = 0;
                    problem.contrast = 3;
                    problem.anisotropy = {1, 1, 1};
                    const MatrixChoice choice = choice_of(problem);
                    INFO(keel::name(kind) << ", dimensions " << dimensions << ", " << keel::name(coarsening)
                                          << ", max_coarse " << max_coarse);
                    const RowPartition partition{matrix_size(choice).rows, comm.size()};
                    const GlobalRows rows = read_matrix(choice, partition, comm);
                    AmgOptions options;
                    options.coarsening = coarsening;
                    options.theta = options.aggregates() ? 0 : 0.25;
                    options.max_coarse = max_coarse;
                    Ledger ledger(most_amg_levels);
                    SparseMatrix A(comm, topology, *backend, partition, rows, {}, ledger);
                    CHECK(is_singular(choice) == (kind != Boundary::dirichlet));
                    AmgHierarchy hierarchy(context, A, rows, options, {}, ledger,
                                           {.watch = {}, .singular = is_singular(choice)});
                    REQUIRE(hierarchy.missing().empty());
                    AmgCycle M(hierarchy);
                    const Field u = A.make_vector();
                    const Field f = A.make_vector();
                    A.assign(u, x_at);
                    A.apply(std::span(&f, 1), A.plain(), std::span(&u, 1));
                    BottomOptions bottom;
                    bottom.scaling = Scaling::none;
                    bottom.tolerance = 1e-9;
                    bottom.max_iterations = 60;
                    for (const bool by_cg : {false, true}) {
                        bottom.solver = by_cg ? "cg" : "amg";
                        const Report report = make_krylov(A, bottom, M)->solve(u, f);
                        CHECK(report.succeeded());
                        CHECK(report.true_residual <= 1e-9);
                        CHECK(report.iterations < (by_cg ? 30 : 60));
                    }
                    if (kind == Boundary::dirichlet) continue;
                    // Without a word of it the coarsest level has no pivot.
                    const AmgHierarchy untold(context, A, rows, options, {}, ledger);
                    CHECK((untold.outcome() == AmgOutcome::singular ||
                           untold.outcome() == AmgOutcome::zero_diagonal));
                }
}
