// One exchange, a few sums or a short solve, small enough that a model checker of MPI (scripts/model_check)
// tries every order in which messages may meet. A wrong end is aborted, and the checker reports the order
// that led to it.
//   small_runs exchange SCHEME TIMES
//   small_runs sums ALGORITHM TIMES
//   small_runs solve SOLVER ITERATIONS ALGORITHM

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "comm/carry/exchange.hpp"
#include "comm/plans/schemes.hpp"
#include "comm/reductions/reduction.hpp"
#include "kernels/names.hpp"
#include "solvers/krylov/bottom_solver.hpp"
#include "solvers/multigrid/bottom/level_krylov.hpp"
#include "tests/solvers/golden_problem.hpp"

using namespace keel;

namespace {

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "small_runs: %s\n", what);
    std::abort();
}

[[noreturn]] void unknown(const std::string& word) {
    std::fprintf(stderr, "small_runs: no %s\n", word.c_str());
    std::exit(2);
}
SchemeOptions scheme_named(const std::string& word) {
    if (const auto found = candidate_named(word, {.message_cap = 256})) return *found;
    unknown(word);
}
AllReduceAlgorithm algorithm_named(const std::string& word) {
    if (const auto found = named<AllReduceAlgorithm>(word)) return *found;
    unknown(word);
}

// Eight boxes of 2^3 dealt in turn: every rank is every other's neighbour. Nodes have two ranks.
struct Boxes {
    Communicator comm = Communicator::world();
    Topology topology = virtual_topology(comm.size(), 2);
    Layout layout{Domain({2, 2, 2}, {}), 2, place({2, 2, 2}, comm.size(), Placement::round_robin),
                  comm.rank()};
    std::unique_ptr<Backend> backend = make_backend("openmp", {});
    std::unique_ptr<Operations> operations = backend->make_operations(layout, 1);
};

// Exchanges of two fields one behind the other, so that one may meet messages of the other. After each, every
// ghost cell that a neighbour across a face has holds its value.
void exchange(const SchemeOptions& options, int times) {
    Boxes x;
    const GhostPattern pattern = ghost_pattern(x.layout, 1, Neighbours::faces, options);
    const auto ghosts =
        make_exchange(*x.operations, pattern, make_plan(pattern, x.topology, options, x.comm.rank()), {},
                      {x.comm, x.topology, 7});
    const std::array<Field, 2> u{x.operations->make_field(), x.operations->make_field()};
    for (int round = 1; round <= times; ++round) {
        const auto value = [round](std::size_t field, const Index& c) {
            return round * 1000.0 + static_cast<double>(field) * 100.0 + c[0] + 4 * c[1] + 16 * c[2];
        };
        for (std::size_t n = 0; n < u.size(); ++n)
            x.operations->assign(u[n], x.layout.box_cells(), [&](const Index& c) { return value(n, c); });
        ghosts->run(u);
        for (std::size_t n = 0; n < u.size(); ++n) {
            const test::HostField values(*x.operations, u[n]);
            for (int q = 0; q < x.layout.local_count(); ++q) {
                const Index first = x.layout.first_cell(x.layout.local()[static_cast<std::size_t>(q)]);
                for (std::size_t d = 0; d < 3; ++d)
                    for (const int beyond : {-1, 2}) {
                        Index at{1, 0, 1};
                        at[d] = beyond;
                        Index global = first + at;
                        for (int& index : global) index = (index + 4) % 4;
                        require(values(q, at[0], at[1], at[2]) == value(n, global),
                                "a ghost has another value than its neighbour's cell");
                    }
            }
        }
    }
}

// Several pending sums, ended in the order in which they began and progressed in between, then one that is
// waited for.
void sums(AllReduceAlgorithm algorithm, int times) {
    Boxes x;
    const auto reduction = make_reduction(x.comm, x.topology, x.layout, false, {.algorithm = algorithm});
    const auto local = static_cast<std::size_t>(x.layout.local_count());
    const auto parts = [&](double scale) {  // two sums: of 1 and of the boxes' numbers
        std::vector<double> values(2 * local, scale);
        for (std::size_t q = 0; q < local; ++q) values[local + q] *= x.layout.local()[q];
        return values;
    };
    const auto right = [](std::span<const double> totals, double scale) {
        return totals[0] == 8 * scale && totals[1] == 28 * scale;
    };
    std::array<double, 2> totals{};
    std::vector<AllReduceRequest> pending;
    double scale = 1;
    for (int n = 0; n < times; ++n) pending.push_back(reduction->begin_sum(parts(scale *= 2), 2));
    reduction->progress();
    scale = 1;
    for (AllReduceRequest& sum : pending) {
        sum.finish(totals);
        require(right(totals, scale *= 2), "a sum that was pending has another total");
    }
    reduction->sum(parts(scale), totals);
    require(right(totals, scale), "a sum has another total");
}

// At most `iterations` iterations; the residual that the method reports is the true one.
void solve(const std::string& solver, int iterations, AllReduceAlgorithm algorithm) {
    test::Setup setup({.boxes = {3, 1, 1}, .width = 2, .boundaries = test::dirichlet, .beta = "smooth10"},
                      {.bottom_box = 2, .all_reduce = {.algorithm = algorithm}}, Communicator::world(),
                      Placement::round_robin);
    Level& level = setup.finest();
    const auto method =
        make_krylov(level, false, {.solver = solver, .tolerance = 1e-10, .max_iterations = iterations});
    const Report report = method->solve(level.u, level.f);
    require(report.outcome == Outcome::converged || report.outcome == Outcome::iteration_limit,
            "the method broke down");
    const double own = report.residuals.back();
    require(std::abs(own - report.true_residual) <= 1e-8 * (1 + own), "the residual is another one");
}

}  // namespace

int main(int argc, char** argv) {
    Session session(argc, argv);
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.size() == 3 && words[0] == "exchange")
        exchange(scheme_named(words[1]), std::stoi(words[2]));
    else if (words.size() == 3 && words[0] == "sums")
        sums(algorithm_named(words[1]), std::stoi(words[2]));
    else if (words.size() == 4 && words[0] == "solve")
        solve(words[1], std::stoi(words[2]), algorithm_named(words[3]));
    else
        return 2;
    return 0;
}
