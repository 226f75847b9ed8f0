#include "solvers/amg/coarsening.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <utility>

#include "solvers/amg/classical/extended_i.hpp"
#include "solvers/amg/setup/products.hpp"
#include "solvers/amg/setup/prolongation.hpp"
#include "solvers/amg/setup/strength.hpp"

namespace keel {
namespace {

// P and what belongs to it. The partition is the next level's.
struct Prolongation : Roots {
    GlobalRows rows;
    NearNull null;
    double bound = 0;
    std::vector<std::int64_t> aggregates = {};
    CoarseningTraffic of_nodes = {};  // values and rows at ghosts of the matrix of nodes
};

// The work of `count` passes over the entries of A: places and `bytes_of_entry` other bytes of each, and two
// values a row.
Work passes(const PartRows& A, double count, double bytes_of_entry) {
    const auto entries = static_cast<double>(A.places.size());
    const auto rows = static_cast<double>(A.rows.rows());
    return {count * entries,
            count * ((sizeof(std::int32_t) + bytes_of_entry) * entries + 2 * sizeof(double) * rows)};
}

bool coarsens(const RowPartition& next, const PartRows& A) {
    return next.rows > 0 && next.rows < A.partition.rows;
}

// The rows of a level and its near-null vectors, moved from one partition to another. Adds what this rank
// sent.
void move_rows(const SetupContext& context, const RowPartition& from, const RowPartition& to,
               GlobalRows& rows, NearNull& null, Traffic& sent) {
    const int rank = context.comm.rank();
    const auto vectors = static_cast<std::size_t>(null.vectors);
    // A letter holds for each row its length, its values of the vectors, its columns and its entries.
    WordsByRank letters;
    for (std::size_t r = 0; r < rows.rows(); ++r) {
        auto& letter = letters[to.owner(from.first(rank) + static_cast<std::int64_t>(r))];
        const auto [begin, end] = entries_of(rows, r);
        letter.push_back(static_cast<std::int64_t>(end - begin));
        for (std::size_t n = 0; n < vectors; ++n)
            letter.push_back(std::bit_cast<std::int64_t>(null.values[r * vectors + n]));
        for (std::size_t e = begin; e < end; ++e) letter.push_back(rows.columns[e]);
        for (std::size_t e = begin; e < end; ++e)
            letter.push_back(std::bit_cast<std::int64_t>(rows.values[e]));
    }
    WordsByRank came;
    if (auto mine = letters.extract(rank)) came.insert(std::move(mine));
    for (const auto& [other, letter] : letters) {
        const auto bytes = static_cast<std::int64_t>(letter.size() * sizeof(std::int64_t));
        const bool leaves = !context.topology.same_node(rank, other);
        sent += {1, bytes, leaves ? 1 : 0, leaves ? bytes : 0};
    }
    came.merge(context.negotiator->exchange(letters));
    rows = {};
    null.values.clear();
    for (const auto& [other, letter] : came)  // by ascending rows
        for (auto word = letter.begin(); word != letter.end();) {
            const std::int64_t length = *word++;
            for (std::size_t n = 0; n < vectors; ++n) null.values.push_back(std::bit_cast<double>(*word++));
            rows.columns.insert(rows.columns.end(), word, word + length);
            word += length;
            for (std::int64_t e = 0; e < length; ++e) rows.values.push_back(std::bit_cast<double>(*word++));
            end_row(rows);
        }
}

std::optional<Prolongation> by_aggregation(const SetupContext& context, const PartRows& A, const NearNull& B,
                                           GhostValues& ghosts, const AmgOptions& options,
                                           const SchemeOptions& values, Ledger& ledger, int level) {
    constexpr double omega = 4.0 / 3.0;
    // Values at ghosts of nodes have a plan of their own. Dry runs predict its messages with bytes of rows.
    std::optional<PartRows> nodes;
    std::optional<GhostValues> ghost_nodes;
    if (B.node > 1) {
        timed(ledger, Op::strength, level, [&] { nodes.emplace(nodes_of(A, B.node)); });
        timed(ledger, Op::plans, level, [&] { ghost_nodes.emplace(context, *nodes, values); });
    }
    const PartRows& N = nodes ? *nodes : A;
    GhostValues& ghosts_of_N = ghost_nodes ? *ghost_nodes : ghosts;
    const auto strong = timed(ledger, Op::strength, level, [&] {
        const bool by_rows = options.coarsening == CoarseningRule::aggregation_rows;
        ledger.book(Op::strength, level, passes(N, by_rows ? 3 : 1, sizeof(double)));
        return (by_rows ? strong_for_either : strong_connections)(N, ghosts_of_N, options.theta);
    });
    Aggregates aggregates = timed(ledger, Op::aggregation, level, [&] {
        Aggregates found = aggregate_mis2(context.comm, N, strong, ghosts_of_N);
        // Four passes a round; one for the neighbours of roots, and one for all other rows.
        ledger.book(Op::aggregation, level, passes(N, 4 * found.rounds + 2, sizeof(char)));
        return found;
    });
    const RowPartition coarse = resized(aggregates.partition, 1, B.vectors);
    if (!coarsens(coarse, A)) return {};
    const double bound = bound_of_eigenvalues(context.comm, A);
    return timed(ledger, Op::prolongation, level, [&] {
        Tentative T = tentative_prolongation(context, aggregates, A.rank, B);
        Work work;
        GlobalRows rows = smoothed_prolongation(A, coarse, std::move(T.rows), ghosts, options.sweeps(),
                                                omega / bound, work);
        ledger.book(Op::prolongation, level, work);
        for (std::int64_t& root : aggregates.roots) root *= B.node;
        Prolongation made{aggregates, std::move(rows), std::move(T.coarse_null), bound,
                          std::move(aggregates.of_row)};
        made.partition = coarse;
        if (ghost_nodes) {
            made.of_nodes.values = ghost_nodes->sent_values();
            made.of_nodes.smoothing = ghost_nodes->sent_rows();
        }
        return made;
    });
}

std::optional<Prolongation> by_splitting(const SetupContext& context, const PartRows& A, GhostValues& ghosts,
                                         const AmgOptions& options, Ledger& ledger, int level) {
    const Dependence strong = timed(ledger, Op::strength, level, [&] {
        // Two of the three passes look for the rows that depend on a row.
        ledger.book(Op::strength, level, passes(A, 3, sizeof(double)));
        return dependence(A, ghosts, options.theta);
    });
    CoarseRows coarse = timed(ledger, Op::aggregation, level, [&] {
        CoarseRows found = split(context.comm, A, strong, ghosts, options.coarsening,
                                 context.shares ? *context.shares : A.partition);
        ledger.book(Op::aggregation, level, passes(A, 2 * found.rounds + 1, sizeof(char)));
        return found;
    });
    if (!coarsens(coarse.partition, A)) return {};
    GlobalRows rows = timed(ledger, Op::prolongation, level, [&] {
        Work work;
        GlobalRows P = interpolate_extended_i(A, strong, coarse, ghosts, options.truncation, work);
        ledger.book(Op::prolongation, level, work);
        return P;
    });
    NearNull constants{std::vector<double>(coarse.partition.size(A.rank), 1.0)};
    return Prolongation{coarse, std::move(rows), std::move(constants)};
}

}  // namespace

RowPartition condensed_partition(const RowPartition& by_roots, double entries, double entries_of_finest,
                                 int node) {
    const double wanted = std::ceil(entries / (entries_of_finest / by_roots.ranks));
    const int ranks = std::clamp(static_cast<int>(wanted), 1, by_roots.ranks);
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(by_roots.ranks), 0);
    const RowPartition even{by_roots.rows / node, ranks};
    for (int rank = 0; rank < ranks; ++rank)
        sizes[static_cast<std::size_t>(rank)] = node * static_cast<std::int64_t>(even.size(rank));
    return partition_of(sizes);
}

std::optional<Coarsening> coarsen(const SetupContext& context, const PartRows& A, const NearNull& B,
                                  const AmgOptions& options, const SchemeOptions& values, Ledger& ledger,
                                  int level, double entries_of_finest) {
    const std::optional<SchemeOptions> rows_by = candidate_named(options.rows_scheme, values);
    const auto ghosts = timed(ledger, Op::plans, level,
                              [&] { return std::make_unique<GhostValues>(context, A, values, rows_by); });
    auto made = options.aggregates() ? by_aggregation(context, A, B, *ghosts, options, values, ledger, level)
                                     : by_splitting(context, A, *ghosts, options, ledger, level);
    if (!made) return {};
    PartRows P(A.partition, made->partition, A.rank, std::move(made->rows));
    SchemeOptions transfers_by;
    Plan plan;
    ReverseExchange way;
    const auto plan_transfers = [&](AmgMessages what, const std::optional<SchemeOptions>& by) {
        timed(ledger, Op::plans, level, [&] {
            transfers_by = by ? *by : context.scheme_for(what, P.ghosts);
            plan = context.plan(what, P.ghosts, transfers_by);
            way = reverse_exchange(plan, context.topology, A.rank, P.ghosts);
        });
    };
    plan_transfers(AmgMessages::partial_rows, rows_by);
    const SchemeOptions partial_rows_by = transfers_by;
    CoarseningTraffic traffic;
    traffic.smoothing = ghosts->sent_rows();
    GlobalRows coarse = timed(ledger, Op::galerkin, level, [&] {
        Work work;
        GlobalRows product = galerkin(context, A, P, ghosts->rows(P.rows), way, traffic.partial_rows, work);
        ledger.book(Op::galerkin, level, work);
        return product;
    });
    const bool condenses = options.ownership == Ownership::condensed;
    if (condenses) {
        const auto entries = [&](std::size_t mine) { return context.comm.sum(static_cast<double>(mine)); };
        if (entries_of_finest == 0) entries_of_finest = entries(A.places.size());
        const RowPartition condensed = condensed_partition(made->partition, entries(coarse.columns.size()),
                                                           entries_of_finest, made->null.node);
        timed(ledger, Op::galerkin, level,
              [&] { move_rows(context, made->partition, condensed, coarse, made->null, traffic.moved); });
        made->partition = condensed;
        P = PartRows(A.partition, condensed, A.rank, std::move(P.rows));
    }
    // Partial rows then went by a plan of their own.
    if (rows_by || condenses) plan_transfers(AmgMessages::transfers, {});
    traffic.values = ghosts->sent_values();
    traffic.rows = ghosts->sent_rows() - traffic.smoothing;
    traffic.values += made->of_nodes.values;
    traffic.smoothing += made->of_nodes.smoothing;
    PartRows A_coarse(made->partition, made->partition, A.rank, std::move(coarse));
    return Coarsening{{made->bound, made->rounds, ghosts->rows_by(), partial_rows_by, transfers_by, traffic},
                      std::move(made->roots),
                      std::move(made->aggregates),
                      std::move(P),
                      std::move(plan),
                      std::move(way),
                      std::move(A_coarse),
                      std::move(made->null)};
}

}  // namespace keel
