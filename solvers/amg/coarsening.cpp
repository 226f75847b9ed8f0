#include "solvers/amg/coarsening.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <utility>

#include "solvers/amg/classical/interpolation.hpp"
#include "solvers/amg/setup/products.hpp"
#include "solvers/amg/setup/prolongation.hpp"
#include "solvers/amg/setup/strength.hpp"

namespace keel {
namespace {

// How a level is left for the next one.
struct Prolongation {
    RowPartition partition;  // of the next level
    std::vector<std::int64_t> roots;
    std::vector<std::int64_t> aggregates;
    int rounds = 0;
    GlobalRows rows;
    std::vector<double> null;
    double bound = 0;
};

// Of so many passes over the entries of A: places and so many other bytes of each, and two values a row.
Work passes(const PartRows& A, double count, double bytes_of_entry) {
    const auto entries = static_cast<double>(A.places.size());
    const auto rows = static_cast<double>(A.rows.rows());
    return {count * entries,
            count * ((sizeof(std::int32_t) + bytes_of_entry) * entries + 2 * sizeof(double) * rows)};
}

bool coarsens(const RowPartition& next, const PartRows& A) {
    return next.rows > 0 && next.rows < A.partition.rows;
}

// How many entries it has is not known before the product: until then a level that will be condensed lives with its roots.
RowPartition owned_at_first(Ownership ownership, const RowPartition& by_roots) {
    return ownership == Ownership::even ? RowPartition{by_roots.rows, by_roots.ranks} : by_roots;
}

// The rows of a level and its near-null vector, moved from one partition to another. Adds what this rank sent.
void move_rows(const Team& team, const RowPartition& from, const RowPartition& to, GlobalRows& rows,
               std::vector<double>& null, Traffic& sent) {
    const int rank = team.comm.rank();
    // Of each row its length, its value of the vector, its columns and its entries.
    WordsByRank letters;
    for (std::size_t r = 0; r < rows.rows(); ++r) {
        auto& letter = letters[to.owner(from.first(rank) + static_cast<std::int64_t>(r))];
        const auto [begin, end] = entries_of(rows, r);
        letter.push_back(static_cast<std::int64_t>(end - begin));
        letter.push_back(std::bit_cast<std::int64_t>(null[r]));
        for (std::size_t e = begin; e < end; ++e) letter.push_back(rows.columns[e]);
        for (std::size_t e = begin; e < end; ++e)
            letter.push_back(std::bit_cast<std::int64_t>(rows.values[e]));
    }
    WordsByRank came;
    if (auto mine = letters.extract(rank)) came.insert(std::move(mine));
    for (const auto& [other, letter] : letters) {
        const auto bytes = static_cast<std::int64_t>(letter.size() * sizeof(std::int64_t));
        const bool leaves = !team.topology.same_node(rank, other);
        sent += {1, bytes, leaves ? 1 : 0, leaves ? bytes : 0};
    }
    came.merge(team.negotiator->exchange(letters));
    rows = {};
    null.clear();
    for (const auto& [other, letter] : came)  // by ascending rows
        for (auto word = letter.begin(); word != letter.end();) {
            const std::int64_t length = *word++;
            null.push_back(std::bit_cast<double>(*word++));
            rows.columns.insert(rows.columns.end(), word, word + length);
            word += length;
            for (std::int64_t e = 0; e < length; ++e) rows.values.push_back(std::bit_cast<double>(*word++));
            end_row(rows);
        }
}

std::optional<Prolongation> by_aggregation(const Team& team, const PartRows& A, const std::vector<double>& B,
                                           GhostValues& ghosts, const AmgOptions& options, Ledger& ledger,
                                           int level) {
    const auto strong = timed(ledger, Op::strength, level, [&] {
        ledger.book(Op::strength, level,
                    passes(A, options.strength == StrengthRule::symmetric ? 1 : 3, sizeof(double)));
        return strong_connections(A, ghosts, options.strength, options.theta);
    });
    Aggregates aggregates = timed(ledger, Op::aggregation, level, [&] {
        Aggregates found = options.aggregation == AggregationRule::mis2
                               ? aggregate_mis2(team.comm, A, strong, ghosts, options.seed)
                               : aggregate_local(team.comm, A, strong);
        // Four a round, then roots' neighbours and the rest; or three in all.
        const int count = options.aggregation == AggregationRule::mis2 ? 4 * found.rounds + 2 : 3;
        ledger.book(Op::aggregation, level, passes(A, count, sizeof(char)));
        return found;
    });
    if (!coarsens(aggregates.partition, A)) return {};
    aggregates.partition = owned_at_first(options.ownership, aggregates.partition);
    double rho = bound_of_eigenvalues(team.comm, A);
    if (options.rho == RhoRule::estimate)
        rho = timed(ledger, Op::prolongation, level, [&] {
            ledger.book(Op::prolongation, level, passes(A, lanczos_steps, sizeof(double)));
            // No symmetric matrix with ones on its diagonal has a smaller one than 1.
            return std::clamp(estimate_of_eigenvalues(team.comm, A, ghosts, options.seed), 1.0, rho);
        });
    return timed(ledger, Op::prolongation, level, [&] {
        Tentative T = tentative_prolongation(team, aggregates, A.rank, B);
        Work work;
        GlobalRows rows = smoothed_prolongation(A, aggregates.partition, std::move(T.rows), ghosts,
                                                options.sweeps, options.omega / rho, work);
        ledger.book(Op::prolongation, level, work);
        return Prolongation{aggregates.partition,
                            aggregates.roots,
                            aggregates.of_row,
                            aggregates.rounds,
                            std::move(rows),
                            std::move(T.coarse_null),
                            rho};
    });
}

std::optional<Prolongation> by_splitting(const Team& team, const PartRows& A, GhostValues& ghosts,
                                         const AmgOptions& options, Ledger& ledger, int level) {
    const Dependence strong = timed(ledger, Op::strength, level, [&] {
        ledger.book(Op::strength, level,
                    passes(A, 3, sizeof(double)));  // two of them for what depends on a row
        return dependence(A, ghosts, options.theta);
    });
    CoarseRows coarse = timed(ledger, Op::aggregation, level, [&] {
        CoarseRows found = split(team.comm, A, strong, ghosts, options.splitting, options.seed);
        ledger.book(Op::aggregation, level, passes(A, 2 * found.rounds + 1, sizeof(char)));
        return found;
    });
    if (!coarsens(coarse.partition, A)) return {};
    coarse.partition = owned_at_first(options.ownership, coarse.partition);
    GlobalRows rows = timed(ledger, Op::prolongation, level, [&] {
        const bool directly = options.interpolation == ClassicalInterpolation::direct;
        Work work = directly ? passes(A, 2, sizeof(double)) : Work();
        GlobalRows P = directly ? interpolate_directly(A, strong, coarse, options.truncation)
                                : interpolate_extended_i(A, strong, coarse, ghosts, options.truncation, work);
        ledger.book(Op::prolongation, level, work);
        return P;
    });
    std::vector<double> none(coarse.partition.size(A.rank), 1.0);
    return Prolongation{coarse.partition, coarse.roots, {}, coarse.rounds, std::move(rows), std::move(none)};
}

}  // namespace

RowPartition owned_by(Ownership ownership, const RowPartition& by_roots, double entries,
                      double entries_of_finest) {
    if (ownership != Ownership::condensed) return owned_at_first(ownership, by_roots);
    const double wanted = std::ceil(entries / (entries_of_finest / by_roots.ranks));
    const int ranks = std::clamp(static_cast<int>(wanted), 1, by_roots.ranks);
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(by_roots.ranks), 0);
    const RowPartition even{by_roots.rows, ranks};
    for (int rank = 0; rank < ranks; ++rank)
        sizes[static_cast<std::size_t>(rank)] = static_cast<std::int64_t>(even.size(rank));
    return partition_of(sizes);
}

std::optional<Coarsening> coarsen(const Team& team, const PartRows& A, const std::vector<double>& B,
                                  const AmgOptions& options, const SchemeOptions& values, Ledger& ledger,
                                  int level, double entries_of_finest) {
    const std::optional<SchemeOptions> rows_by = candidate_named(options.rows_scheme, values);
    const auto ghosts = timed(ledger, Op::plans, level,
                              [&] { return std::make_unique<GhostValues>(team, A, values, rows_by); });
    auto next = options.coarsening == CoarseningRule::aggregation
                    ? by_aggregation(team, A, B, *ghosts, options, ledger, level)
                    : by_splitting(team, A, *ghosts, options, ledger, level);
    if (!next) return {};
    PartRows P(A.partition, next->partition, A.rank, std::move(next->rows));
    SchemeOptions transfers_by;
    Plan plan;
    ReverseExchange way;
    const auto plan_transfers = [&](const std::optional<SchemeOptions>& by) {
        timed(ledger, Op::plans, level, [&] {
            transfers_by = by ? *by : team.scheme_for(AmgMessages::transfers, P.ghosts);
            plan = team.plan(P.ghosts, transfers_by);
            way = reverse_exchange(plan, team.topology, A.rank, P.ghosts);
        });
    };
    plan_transfers(rows_by);
    const SchemeOptions partial_rows_by = transfers_by;
    CoarseningTraffic traffic;
    traffic.smoothing = ghosts->sent_rows();
    GlobalRows coarse = timed(ledger, Op::galerkin, level, [&] {
        Work work;
        GlobalRows product = galerkin(team, A, P, ghosts->rows(P.rows), way, traffic.partial_rows, work);
        ledger.book(Op::galerkin, level, work);
        return product;
    });
    if (options.ownership == Ownership::condensed) {
        const auto entries = [&](std::size_t mine) { return team.comm.sum(static_cast<double>(mine)); };
        if (entries_of_finest == 0) entries_of_finest = entries(A.places.size());
        const RowPartition condensed =
            owned_by(options.ownership, next->partition, entries(coarse.columns.size()), entries_of_finest);
        timed(ledger, Op::galerkin, level,
              [&] { move_rows(team, next->partition, condensed, coarse, next->null, traffic.moved); });
        next->partition = condensed;
        P = PartRows(A.partition, condensed, A.rank, std::move(P.rows));
    }
    // Partial rows went by a plan of their own then.
    if (rows_by || options.ownership == Ownership::condensed) plan_transfers({});
    traffic.values = ghosts->sent_values();
    traffic.rows = ghosts->sent_rows() - traffic.smoothing;
    traffic.value_exchanges = ghosts->value_exchanges();
    traffic.row_exchanges = ghosts->row_exchanges();
    PartRows A_coarse(next->partition, next->partition, A.rank, std::move(coarse));
    return Coarsening{std::move(next->roots),
                      std::move(next->aggregates),
                      next->rounds,
                      std::move(P),
                      std::move(plan),
                      std::move(way),
                      std::move(A_coarse),
                      std::move(next->null),
                      next->bound,
                      ghosts->rows_by(),
                      partial_rows_by,
                      transfers_by,
                      traffic};
}

}  // namespace keel
