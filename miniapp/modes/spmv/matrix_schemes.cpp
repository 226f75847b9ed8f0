#include "miniapp/modes/spmv/matrix_schemes.hpp"

#include <map>
#include <utility>

#include "comm/plans/negotiation.hpp"
#include "kernels/bodies/sparse.hpp"
#include "kernels/hash.hpp"
#include "solvers/krylov/methods.hpp"

namespace keel {
namespace {

// A table for products and, where solves carry another number of vectors, one for these; their rows by
// rows_of(schemes).
template <class RowsOf>
std::vector<SchemeTable> tables_of(const MatrixUse& use, const SchemeOptions& of_deck, const Layout& vectors,
                                   const RowsOf& rows_of) {
    std::vector<SchemeTable> tables;
    const auto add = [&](VectorEntries::Use what, int columns) {
        SchemeOptions options = of_deck;
        options.columns = static_cast<std::size_t>(columns);
        tables.push_back({.use = {0, vectors, VectorEntries{what}, options.columns},
                          .rows = rows_of(candidates_without_axes(options))});
    };
    add(VectorEntries::Use::product, use.columns);
    if (!use.solver) return tables;
    if (const int at_once = vectors_at_once(use.solver->options); at_once != use.columns)
        add(VectorEntries::Use::solve, at_once);
    return tables;
}

// The messages of a plan by pairs of ranks.
std::vector<SentToRank> pairs_of(const Plan& plan, std::size_t columns) {
    std::map<std::pair<int, int>, SentToRank> pairs;
    plan.for_each_phase([&](const PhaseMessages& phase) {
        for (const Message& message : phase.messages) {
            SentToRank& pair = pairs[{message.source, message.target}];
            pair = {message.source, message.target, pair.messages + 1,
                    pair.bytes + static_cast<double>(message.values() * columns * sizeof(double))};
        }
    });
    std::vector<SentToRank> list;
    for (const auto& [ranks, pair] : pairs) list.push_back(pair);
    return list;
}

}  // namespace

std::vector<SchemeTable> compare_schemes(const MatrixUse& use, const Resolved& resolved,
                                         const Communicator& comm, const VectorPart& part) {
    Negotiator negotiator(comm, resolved.topology);
    const Setup setup{resolved.topology, resolved.model()};
    return tables_of(use, resolved.comm.scheme, part.layout(),
                     [&](const std::vector<SchemeOptions>& schemes) {
                         return compare_parts(comm, setup, schemes, [&](const SchemeOptions& scheme) {
                             return negotiator.plan(part.ghosts, scheme);
                         });
                     });
}

std::vector<SchemeTable> plan_all_schemes(const MatrixUse& use, const Resolved& resolved,
                                          const RowPartition& partition, const Pattern& pattern) {
    const Setup setup{resolved.topology, resolved.model()};
    auto tables = tables_of(
        use, resolved.comm.scheme, VectorPart{partition, 0, {}}.layout(),
        [&](const std::vector<SchemeOptions>& schemes) { return compare(pattern, schemes, setup); });
    for (SchemeTable& table : tables) {
        table.chosen = chosen_before_run(resolved.comm, table.rows);
        if (!resolved.details) continue;
        for (const SchemeRow& row : table.rows)
            table.pairs.push_back(
                pairs_of(make_plan(pattern, resolved.topology, row.scheme, {}), row.scheme.columns));
    }
    return tables;
}

std::unique_ptr<Trial> make_matrix_trial(const Resolved& resolved, const Communicator& comm,
                                         const Backend& backend, const VectorPart& part,
                                         const SchemeTable& table) {
    const auto exchange = [&](std::size_t row, Operations& operations) {
        return make_exchange(operations, part,
                             Negotiator(comm, resolved.topology).plan(part.ghosts, table.rows[row].scheme),
                             resolved.comm.exchange, {comm, resolved.topology, static_cast<int>(row)});
    };
    const auto value = [&part](std::uint64_t seed, const Index& cell) {
        const std::size_t row = value_at(cell);
        if (row >= part.rows()) return 0.0;
        return static_cast<double>(scramble(seed + static_cast<std::uint64_t>(part.first()) + row) >> 11);
    };
    return make_ghost_trial(backend, table, 0, exchange, value);
}

MatrixSchemes schemes_of_matrix(const SchemeOptions& of_deck, const std::vector<SchemeTable>& tables) {
    MatrixSchemes schemes{of_deck, of_deck};
    for (const SchemeTable& table : tables) {
        if (!table.chosen) continue;
        // The products' too, unless a table of its own follows.
        schemes.solves = table.rows[*table.chosen].scheme;
        if (table.use.entries()->use == VectorEntries::Use::product) schemes.products = schemes.solves;
    }
    return schemes;
}

}  // namespace keel
