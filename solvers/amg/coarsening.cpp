#include "solvers/amg/coarsening.hpp"

#include <memory>
#include <utility>

#include "comm/plans/negotiation.hpp"
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

bool coarsens(const RowPartition& next, const PartRows& A) {
    return next.rows > 0 && next.rows < A.partition.rows;
}

RowPartition owned_by(Ownership ownership, const RowPartition& by_roots) {
    return ownership == Ownership::root ? by_roots : RowPartition{by_roots.rows, by_roots.ranks};
}

std::optional<Prolongation> by_aggregation(const Team& team, const PartRows& A, const std::vector<double>& B,
                                           GhostValues& ghosts, const AmgOptions& options, Ledger& ledger,
                                           int level) {
    const auto strong = timed(ledger, Op::strength, level,
                              [&] { return strong_connections(A, ghosts, options.strength, options.theta); });
    Aggregates aggregates = timed(ledger, Op::aggregation, level, [&] {
        return options.aggregation == AggregationRule::mis2
                   ? aggregate_mis2(team.comm, A, strong, ghosts, options.seed)
                   : aggregate_local(team.comm, A, strong);
    });
    if (!coarsens(aggregates.partition, A)) return {};
    aggregates.partition = owned_by(options.ownership, aggregates.partition);
    const double bound = bound_of_eigenvalues(team.comm, A);
    return timed(ledger, Op::prolongation, level, [&] {
        Tentative T = tentative_prolongation(team.comm, aggregates, A.rank, B);
        GlobalRows rows = smoothed_prolongation(A, aggregates.partition, std::move(T.rows), ghosts,
                                                options.sweeps, options.omega / bound);
        return Prolongation{aggregates.partition,
                            aggregates.roots,
                            aggregates.of_row,
                            aggregates.rounds,
                            std::move(rows),
                            std::move(T.coarse_null),
                            bound};
    });
}

std::optional<Prolongation> by_splitting(const Team& team, const PartRows& A, GhostValues& ghosts,
                                         const AmgOptions& options, Ledger& ledger, int level) {
    const Dependence strong =
        timed(ledger, Op::strength, level, [&] { return dependence(A, ghosts, options.theta); });
    CoarseRows coarse = timed(ledger, Op::aggregation, level, [&] {
        return split(team.comm, A, strong, ghosts, options.splitting, options.seed);
    });
    if (!coarsens(coarse.partition, A)) return {};
    coarse.partition = owned_by(options.ownership, coarse.partition);
    GlobalRows rows = timed(ledger, Op::prolongation, level, [&] {
        return options.interpolation == ClassicalInterpolation::direct
                   ? interpolate_directly(A, strong, coarse, options.truncation)
                   : interpolate_extended_i(A, strong, coarse, ghosts, options.truncation);
    });
    std::vector<double> none(coarse.partition.size(A.rank), 1.0);
    return Prolongation{coarse.partition, coarse.roots, {}, coarse.rounds, std::move(rows), std::move(none)};
}

}  // namespace

std::optional<Coarsening> coarsen(const Team& team, const PartRows& A, const std::vector<double>& B,
                                  const AmgOptions& options, const SchemeOptions& values, Ledger& ledger,
                                  int level) {
    const auto ghosts =
        timed(ledger, Op::plans, level, [&] { return std::make_unique<GhostValues>(team, A, values); });
    auto next = options.coarsening == CoarseningRule::aggregation
                    ? by_aggregation(team, A, B, *ghosts, options, ledger, level)
                    : by_splitting(team, A, *ghosts, options, ledger, level);
    if (!next) return {};
    PartRows P(A.partition, next->partition, A.rank, std::move(next->rows));
    SchemeOptions transfers_by;
    Plan plan;
    Homeward way;
    timed(ledger, Op::plans, level, [&] {
        transfers_by = team.scheme_for(AmgMessages::transfers, P.ghosts);
        plan = negotiate_plan(team.comm, team.topology, P.ghosts, transfers_by);
        way = homeward(plan, team.topology, A.rank, P.ghosts);
    });
    CoarseningTraffic traffic;
    traffic.smoothing = ghosts->sent_rows();
    GlobalRows coarse = timed(ledger, Op::galerkin, level, [&] {
        return galerkin(team, A, P, ghosts->rows(P.rows), way, traffic.partial_rows);
    });
    traffic.values = ghosts->sent_values();
    traffic.rows = ghosts->sent_rows() - traffic.smoothing;
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
                      transfers_by,
                      traffic};
}

}  // namespace keel
