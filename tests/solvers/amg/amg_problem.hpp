#pragma once

// The problems of the golden files of algebraic multigrid, written from their formulas, and what sets up
// hierarchies over them on all ranks.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "kernels/hash.hpp"
#include "solvers/amg/cycle.hpp"
#include "solvers/amg/hierarchy.hpp"
#include "solvers/krylov/sparse_krylov.hpp"
#include "tests/chosen_backend.hpp"

namespace keel::test {

// Entries of a row by columns.
using Row = std::map<std::int64_t, double>;
struct AmgProblem {
    std::int64_t rows = 0;
    std::function<Row(std::int64_t)> row;
    // Values of near-null vectors in a row; none: the constants. And the rows of a node.
    std::function<std::vector<double>(std::int64_t)> near_null = {};
    int node = 1;
};

using Cells = std::array<std::int64_t, 3>;

inline Cells cell_of_row(const Cells& cells, std::int64_t row) {
    return {row % cells[0], row / cells[0] % cells[1], row / cells[0] / cells[1]};
}

// `value` of an offset; 0: no entry. Neighbours outside are left out.
inline AmgProblem on_grid(const Cells& cells, const std::function<double(const Cells&)>& value) {
    return {cells[0] * cells[1] * cells[2], [=](std::int64_t number) {
                const Cells at = cell_of_row(cells, number);
                Row row;
                for (std::int64_t z = -1; z <= 1; ++z)
                    for (std::int64_t y = -1; y <= 1; ++y)
                        for (std::int64_t x = -1; x <= 1; ++x) {
                            const Cells to{at[0] + x, at[1] + y, at[2] + z};
                            bool inside = true;
                            for (std::size_t d = 0; d < 3; ++d)
                                inside = inside && to[d] >= 0 && to[d] < cells[d];
                            const double v = value({x, y, z});
                            if (inside && v != 0) row[(to[2] * cells[1] + to[1]) * cells[0] + to[0]] = v;
                        }
                return row;
            }};
}

inline std::int64_t distance(const Cells& offset) {
    return std::abs(offset[0]) + std::abs(offset[1]) + std::abs(offset[2]);
}

inline AmgProblem stencil7(const Cells& cells) {
    return on_grid(cells, [](const Cells& o) {
        return distance(o) == 0 ? 6.0 : distance(o) == 1 ? -1.0 : 0.0;
    });
}
inline AmgProblem stencil27(const Cells& cells) {
    return on_grid(cells, [](const Cells& o) { return distance(o) == 0 ? 26.0 : -1.0; });
}
inline AmgProblem stencil5(const Cells& cells) {
    return on_grid(cells, [](const Cells& o) {
        return o[2] != 0 ? 0.0 : distance(o) == 0 ? 4.0 : distance(o) == 1 ? -1.0 : 0.0;
    });
}
inline AmgProblem rotated(const Cells& cells, double epsilon, double theta) {
    const double C = std::cos(theta), S = std::sin(theta);
    const double E = C * C + epsilon * S * S, F = 2 * (1 - epsilon) * C * S, G = epsilon * C * C + S * S;
    return on_grid(cells, [=](const Cells& o) {
        if (o[2] != 0) return 0.0;
        if (distance(o) == 0) return 2 * E + 2 * G;
        if (distance(o) == 1) return o[0] != 0 ? -E : -G;
        return o[0] == o[1] ? -F / 4 : F / 4;
    });
}
// a u - div(beta grad u), beta the contrast inside a ball; a wall counts twice under Dirichlet's condition.
inline AmgProblem ball(const Cells& cells, double contrast, bool wraps, double a) {
    const double h = 1.0 / static_cast<double>(cells[0]);
    return {cells[0] * cells[1] * cells[2], [=](std::int64_t number) {
                const Cells at = cell_of_row(cells, number);
                Row row;
                row[number] = a;
                for (std::size_t d = 0; d < 3; ++d)
                    for (const std::int64_t side : {0, 1}) {
                        const std::int64_t face = at[d] + side;
                        const bool outer = !wraps && (face == 0 || face == cells[d]);
                        double from_centre = 0;
                        for (std::size_t t = 0; t < 3; ++t) {
                            const double x = t == d ? static_cast<double>(wraps ? face % cells[d] : face)
                                                    : static_cast<double>(at[t]) + 0.5;
                            const double y = x / static_cast<double>(cells[t]) - 0.5;
                            from_centre += y * y;
                        }
                        const double c =
                            (outer ? 2.0 : 1.0) * (from_centre < 0.0625 ? contrast : 1.0) / (h * h);
                        row[number] += c;
                        if (outer) continue;
                        Cells to = at;
                        to[d] = (at[d] + (side == 1 ? 1 : cells[d] - 1)) % cells[d];
                        row[(to[2] * cells[1] + to[1]) * cells[0] + to[0]] = -c;
                    }
                return row;
            }};
}

// Plane strain in bilinear elements, the sum over the four that meet in a node of 2 x 2 Gauss points, and its
// rigid modes.
inline AmgProblem elasticity(const Cells& cells) {
    constexpr double ratio = 0.3, mu = 0.5 / (1 + ratio), lambda = 2 * mu * ratio / (1 - 2 * ratio);
    const auto entry = [=](std::int64_t x, std::int64_t y, std::size_t i, std::size_t j) {
        double sum = 0;
        for (const std::int64_t ex : {-1, 0})
            for (const std::int64_t ey : {-1, 0}) {
                // Corners of the element, from the lower left one, of this node and of the other.
                const std::int64_t a = -ex, b = -ey, c = x - ex, d = y - ey;
                if (c < 0 || c > 1 || d < 0 || d > 1) continue;
                for (const double s : {-1.0, 1.0})
                    for (const double t : {-1.0, 1.0}) {
                        const double px = 0.5 + s / std::sqrt(12.0), py = 0.5 + t / std::sqrt(12.0);
                        const auto slope = [&](std::int64_t m, std::int64_t n) {
                            return std::array{(m == 1 ? 1 : -1) * (n == 1 ? py : 1 - py),
                                              (n == 1 ? 1 : -1) * (m == 1 ? px : 1 - px)};
                        };
                        const auto u = slope(a, b), v = slope(c, d);
                        const double both = i == j ? u[0] * v[0] + u[1] * v[1] : 0.0;
                        sum += (lambda * u[i] * v[j] + mu * u[j] * v[i] + mu * both) / 4;
                    }
            }
        return sum;
    };
    const auto nodes = cells[0] * cells[1];
    const auto row = [=](std::int64_t number) {
        Row entries;
        const Cells at = cell_of_row(cells, number / 2);
        for (std::int64_t y = -1; y <= 1; ++y)
            for (std::int64_t x = -1; x <= 1; ++x)
                for (const std::int64_t along : {0, 1}) {
                    const bool inside =
                        at[0] + x >= 0 && at[0] + x < cells[0] && at[1] + y >= 0 && at[1] + y < cells[1];
                    const double value =
                        entry(x, y, static_cast<std::size_t>(number % 2), static_cast<std::size_t>(along));
                    if (inside && std::abs(value) > 1e-12)
                        entries[2 * ((at[1] + y) * cells[0] + at[0] + x) + along] = value;
                }
        return entries;
    };
    const auto modes = [=](std::int64_t number) {
        const Cells at = cell_of_row(cells, number / 2);
        const double x = static_cast<double>(at[0]) - 0.5 * static_cast<double>(cells[0] - 1);
        const double y = static_cast<double>(at[1]) - 0.5 * static_cast<double>(cells[1] - 1);
        return number % 2 == 0 ? std::vector{1.0, 0.0, -y} : std::vector{0.0, 1.0, x};
    };
    return {2 * nodes, row, modes, 2};
}

inline AmgProblem problem_of(const nlohmann::json& p) {
    const Cells cells = p.at("cells");
    const std::string kind = p.at("kind");
    if (kind == "stencil7") return stencil7(cells);
    if (kind == "stencil27") return stencil27(cells);
    if (kind == "stencil5") return stencil5(cells);
    if (kind == "elasticity") return elasticity(cells);
    if (kind == "rotated") return rotated(cells, p.at("epsilon"), p.at("theta"));
    return ball(cells, p.at("contrast"), p.at("boundary") == "periodic", p.at("a"));
}

// MIS-2 and the bound of the eigenvalues with aggregation, extended+i with PMIS: Keel has
// no others.
inline AmgOptions options_of(const nlohmann::json& o) {
    AmgOptions options;
    options.theta = o.at("theta");
    options.max_coarse = o.at("max_coarse");
    if (o.contains("ownership")) options.ownership = *named<Ownership>(o.at("ownership").get<std::string>());
    REQUIRE(o.value("seed", 0) == 0);
    if (o.at("method") == "rs") {
        REQUIRE(o.value("splitting", "pmis") == "pmis");
        REQUIRE(o.value("interpolation", "extended_i") == "extended_i");
        options.coarsening = CoarseningRule::pmis;
        options.truncation = o.at("truncation");
    } else {
        if (o.value("strength", "symmetric") == "classical")
            options.coarsening = CoarseningRule::aggregation_rows;
        REQUIRE(o.value("aggregation", "mis2") == "mis2");
        REQUIRE(o.value("rho", "bound") == "bound");
        if (o.at("sweeps") == 2) options.coarsening = CoarseningRule::aggregation_twice;
    }
    return options;
}

inline GlobalRows rows_of(const AmgProblem& problem, std::int64_t first, std::size_t count) {
    GlobalRows rows;
    for (std::size_t n = 0; n < count; ++n) {
        for (const auto& [column, value] : problem.row(first + static_cast<std::int64_t>(n))) {
            rows.columns.push_back(column);
            rows.values.push_back(value);
        }
        end_row(rows);
    }
    return rows;
}

inline NearNull near_null_of(const AmgProblem& problem, std::int64_t first, std::size_t count) {
    NearNull vectors{.values = std::vector<double>(count, 1.0), .node = problem.node};
    if (!problem.near_null) return vectors;
    vectors.values.clear();
    vectors.vectors = static_cast<int>(problem.near_null(0).size());
    for (std::size_t n = 0; n < count; ++n)
        for (const double value : problem.near_null(first + static_cast<std::int64_t>(n)))
            vectors.values.push_back(value);
    return vectors;
}

// All rows of a matrix, on every rank.
inline std::vector<Row> gathered(const Communicator& comm, const PartRows& A) {
    std::vector<std::int64_t> words;
    for (std::size_t r = 0; r < A.rows.rows(); ++r)
        for (auto [e, end] = entries_of(A.rows, r); e < end; ++e)
            words.insert(words.end(), {A.first() + static_cast<std::int64_t>(r), A.rows.columns[e],
                                       std::bit_cast<std::int64_t>(A.rows.values[e])});
    const std::vector<std::int64_t> all = comm.all_gather(words);
    std::vector<Row> rows(static_cast<std::size_t>(A.partition.rows));
    for (std::size_t n = 0; n < all.size(); n += 3)
        rows[static_cast<std::size_t>(all[n])][all[n + 1]] = std::bit_cast<double>(all[n + 2]);
    return rows;
}

// A problem on all ranks, or those given, with nodes of `per_node` ranks.
struct AmgSetup {
    Communicator comm;
    std::unique_ptr<Backend> backend = chosen_backend(comm.rank());
    Topology topology;
    RowPartition partition;
    GlobalRows rows;
    NearNull near_null;
    Ledger ledger{20};
    SchemeOptions scheme;
    bool overlap;
    SetupContext context;
    SparseMatrix matrix;

    explicit AmgSetup(const AmgProblem& problem, Scheme by = Scheme::standard, int per_node = 2,
                      const Communicator& ranks = Communicator::world(), bool overlaps = false)
        : comm(ranks),
          topology(virtual_topology(comm.size(), std::min(per_node, comm.size()))),
          partition(resized({problem.rows / problem.node, comm.size()}, 1, problem.node)),
          rows(rows_of(problem, partition.first(comm.rank()), partition.size(comm.rank()))),
          near_null(near_null_of(problem, partition.first(comm.rank()), rows.rows())),
          scheme{.scheme = by},
          overlap(overlaps),
          context{comm, topology, *backend, always(scheme)},
          matrix(comm, topology, *backend, partition, rows, sparse(), ledger) {}
    AmgSetup(const AmgSetup&) = delete;

    SparseOptions sparse() const { return {.scheme = scheme, .exchange = {.overlap = overlap}}; }
    PartRows part() const { return {partition, partition, comm.rank(), rows}; }
    AmgHierarchy hierarchy(const AmgOptions& options) {
        return {context,
                matrix,
                rows,
                options,
                sparse(),
                ledger,
                {.watch = {}, .singular = false, .near_null = near_null}};
    }
    // 2 u(1, row) - 1
    Field right_side() {
        const Field f = matrix.make_vector();
        matrix.assign(f, [](std::int64_t row) { return uniform(1, static_cast<std::uint64_t>(row)); });
        return f;
    }
    Report solve(AmgCycle& M, bool by_cg, int most) {
        BottomOptions options;
        options.solver = by_cg ? "cg" : "amg";
        options.scaling = Scaling::none;
        options.tolerance = 1e-8;
        options.max_iterations = most;
        options.max_restarts = 0;
        return make_krylov(matrix, options, M)->solve(matrix.make_vector(), right_side());
    }
};

}  // namespace keel::test
