#include "miniapp/studies/spmv/matrix_schemes.hpp"

#include "comm/plans/negotiation.hpp"
#include "kernels/hash.hpp"
#include "kernels/sparse.hpp"
#include "miniapp/setup/simulation.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

// Their rows by rows_of(schemes).
template <class RowsOf>
std::vector<SchemeTable> tables_of(const Parameters& p, const Layout& vectors, const RowsOf& rows_of) {
    std::vector<SchemeTable> tables;
    const auto add = [&](Purpose purpose, int columns) {
        SchemeOptions options = hierarchy_options(p).scheme;
        options.columns = static_cast<std::size_t>(columns);
        tables.push_back(
            {{0, purpose, vectors, 0}, options.columns, rows_of(candidates_without_axes(options)), {}, {}});
    };
    add(Purpose::product, p.problem.columns);
    if (const int at_once = vectors_at_once(p.bottom); p.run.solve && at_once != p.problem.columns)
        add(Purpose::solve, at_once);
    return tables;
}

}  // namespace

std::vector<SchemeTable> compare_schemes(const Parameters& parameters, const Communicator& comm,
                                         const VectorPart& part, const Topology& topology) {
    return tables_of(parameters, part.layout(), [&](const std::vector<SchemeOptions>& schemes) {
        return compare_parts(parameters, comm, topology, schemes, [&](const SchemeOptions& scheme) {
            return negotiate_plan(comm, topology, part.ghosts, scheme);
        });
    });
}

std::vector<SchemeTable> plan_all_schemes(const Parameters& parameters, const RowPartition& partition,
                                          const Pattern& pattern, const Setup& setup) {
    auto tables = tables_of(
        parameters, VectorPart{partition, 0, {}}.layout(),
        [&](const std::vector<SchemeOptions>& schemes) { return compare(pattern, schemes, setup); });
    for (SchemeTable& table : tables) table.chosen = chosen_before_run(parameters, table.rows);
    return tables;
}

Trial trial_of_matrix(const Parameters& parameters, const Communicator& comm, const Backend& backend,
                      const VectorPart& part, const Topology& topology) {
    return [&](const SchemeTable& table) {
        const HierarchyOptions options = hierarchy_options(parameters);
        const auto exchange = [&](std::size_t row, Operations& operations) {
            return make_exchange(operations, part,
                                 negotiate_plan(comm, topology, part.ghosts, table.rows[row].scheme),
                                 options.exchange, [&](const Itinerary& itinerary) {
                                     return make_point_to_point(comm, topology, itinerary,
                                                                static_cast<int>(row), options.persistent);
                                 });
        };
        const auto value = [&part](std::uint64_t seed, const Index& cell) {
            const std::size_t row = value_at(cell);
            if (row >= part.rows()) return 0.0;
            return static_cast<double>(scramble(seed + static_cast<std::uint64_t>(part.first()) + row) >> 11);
        };
        return attempts_at_ghosts(backend, table, exchange, value);
    };
}

MatrixSchemes schemes_of_matrix(const Parameters& parameters, const std::vector<SchemeTable>& tables) {
    const SchemeOptions of_deck = hierarchy_options(parameters).scheme;
    MatrixSchemes schemes{of_deck, of_deck};
    for (const SchemeTable& table : tables) {
        if (!table.chosen) continue;
        schemes.solves =
            table.rows[*table.chosen].scheme;  // the products' too, unless a table of its own follows
        if (table.use.purpose == Purpose::product) schemes.products = schemes.solves;
    }
    return schemes;
}

}  // namespace keel
