#include "solvers/amg/hierarchy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "solvers/amg/coarsest/dense.hpp"
#include "solvers/amg/coarsest/krylov.hpp"

namespace keel {
namespace {

// The weights of Jacobi's smoother over the diagonal D: W = 2/3 D^-1, but at most 9/5 over a row's sum of
// |a_ij| (l1-Jacobi: Baker, Falgout, Kolev and Yang 2011). The eigenvalues of W A are then at most 9/5, below
// the 2 from which on it diverges, where those of D^-1 A reach 3 and more: elasticity, biharmonic operators.
// Rows of the usual discretisations of diffusion keep 2/3; their sum is about 2 D.
std::vector<double> jacobi_weights(const PartRows& A) {
    std::vector<double> weights = diagonal_of(A);
    for (std::size_t r = 0; r < weights.size(); ++r) {
        const auto [first, end] = entries_of(A.rows, r);
        double sum = 0;
        for (std::size_t e = first; e < end; ++e) sum += std::abs(A.rows.values[e]);
        const double diagonal = weights[r];
        weights[r] = std::copysign(std::min(2.0 / 3.0 / std::abs(diagonal), 9.0 / 5.0 / sum), diagonal);
    }
    return weights;
}

}  // namespace

bool rows_cancel(const Communicator& comm, const GlobalRows& rows) {
    bool cancel = true;
    for (std::size_t r = 0; r < rows.rows() && cancel; ++r) {
        const auto [first, end] = entries_of(rows, r);
        double sum = 0, size = 0;
        for (std::size_t e = first; e < end; ++e) {
            sum += rows.values[e];
            size += std::abs(rows.values[e]);
        }
        const double rounding = static_cast<double>(end - first) * std::numeric_limits<double>::epsilon();
        cancel = std::abs(sum) <= rounding * size;
    }
    return comm.min(cancel ? 1.0 : 0.0) > 0;
}

AmgHierarchy::AmgHierarchy(const SetupContext& context, SparseMatrix& finest, GlobalRows rows,
                           const AmgOptions& options, const SparseOptions& sparse, Ledger& ledger,
                           const AmgSetting& setting)
    : context_(context), options_(options), ledger_(ledger) {
    const int rank = context.comm.rank();
    auto A = std::make_unique<PartRows>(finest.partition(), finest.partition(), rank, std::move(rows));
    NearNull null{std::vector<double>(A->rows.rows(), 1.0)};
    if (setting.near_null && options.takes_near_null()) null = *setting.near_null;
    near_null_vectors_ = null.vectors;
    add_level(*A, &finest, sparse);
    outcome_ = fault_of(*A);
    double largest = 0;  // on the diagonal
    for (const double value : finest.diagonal()) largest = std::max(largest, std::abs(value));
    largest = context.comm.max(largest);
    if (outcome_ == AmgOutcome::ready && !has_symmetric_pattern(context.comm, *A))
        outcome_ = AmgOutcome::unsymmetric_pattern;
    while (outcome_ == AmgOutcome::ready && A->partition.rows > options.max_coarse &&
           static_cast<int>(levels_.size()) < most_amg_levels) {
        const int at = last_level();
        std::optional<Coarsening> next =
            coarsen(context, *A, null, options, facts_.back().values_by, ledger, at, facts_.front().entries);
        if (!next) {
            stalled_ = true;
            break;
        }
        if (setting.watch) setting.watch(*A, &*next);
        A = std::make_unique<PartRows>(std::move(next->A));
        null = std::move(next->null);
        AmgLevelFacts& facts = facts_.back();
        facts.entries_of_P = context.comm.sum(static_cast<double>(next->P.places.size()));
        static_cast<CoarseningFacts&>(facts) = *next;
        facts.interpolate = next->plan.traffic(rank, context.topology, 1);
        facts.restrict_ = next->way.traffic(rank, context.topology);
        add_level(*A, nullptr, sparse);
        AmgLevel& fine = levels_[levels_.size() - 2];
        fine.transfer =
            std::make_unique<LevelTransfer>(context, next->P, next->plan, next->way, fine.A->untimed(),
                                            levels_.back().A->untimed(), sparse.exchange, ledger, at);
        // A single row of a singular matrix holds nothing but rounding.
        if (!setting.singular || A->partition.rows > 1) outcome_ = fault_of(*A);
    }
    if (setting.watch) setting.watch(*A, nullptr);
    if (outcome_ != AmgOutcome::ready) return;
    coarsest_ = timed(ledger, Op::coarsest, last_level(), [&] {
        return make_coarsest(*A, sparse, largest,
                             setting.singular ? std::optional(null.values) : std::nullopt);
    });
    if (coarsest_ && coarsest_->singular()) outcome_ = AmgOutcome::singular;
}

std::unique_ptr<Coarsest> AmgHierarchy::make_coarsest(const PartRows& A, const SparseOptions& sparse,
                                                      double size,
                                                      const std::optional<std::vector<double>>& null) {
    const CoarsestRule rule = coarsest_rule(options_, A.partition.rows);
    if (rule == CoarsestRule::krylov) {
        SparseOptions options = sparse;
        options.scheme = facts_.back().values_by;
        options.level = last_level();
        auto solver = std::make_unique<KrylovCoarsest>(context_, A, options, size, null, ledger_);
        facts_.back().product = solver->product();
        return solver;
    }
    if (A.partition.rows > options_.max_dense) {
        outcome_ = AmgOutcome::too_large;
        return nullptr;
    }
    const DenseCoarsest::Place place{rule == CoarsestRule::gathered, last_level()};
    return std::make_unique<DenseCoarsest>(context_.comm, A, *levels_.back().A, size, null, place, ledger_);
}

void AmgHierarchy::add_level(const PartRows& A, SparseMatrix* finest, const SparseOptions& sparse) {
    AmgLevel& level = levels_.emplace_back();
    const int number = last_level();
    level.A = finest;
    SparseOptions options = sparse;
    options.scheme.columns = 1;  // also for set-up on the finest level
    if (!finest) {
        timed(ledger_, Op::plans, number, [&] {
            options.scheme = context_.scheme_for(AmgMessages::products, A.ghosts);
            options.plan = context_.plan(AmgMessages::products, A.ghosts, options.scheme);
        });
        options.level = number;
        options.keeps_rows = false;
        level.owned = std::make_unique<SparseMatrix>(context_.comm, context_.topology, context_.backend,
                                                     A.partition, A.rows, options, ledger_);
        level.A = level.owned.get();
        level.x = level.A->make_vector();
        level.b = level.A->make_vector();
    }
    level.operations =
        std::make_unique<TimedOperations>(level.A->untimed(), ledger_, number, Caller::multigrid);
    level.residual = level.A->make_vector();
    if (options_.smoother != AmgSmoother::gauss_seidel) {
        const std::vector<double> weights = jacobi_weights(A);
        level.scale = level.A->make_vector();
        level.A->assign(level.scale,
                        [&](std::int64_t row) { return weights[static_cast<std::size_t>(row - A.first())]; });
    }
    const auto mine = static_cast<double>(A.rows.columns.size());
    AmgLevelFacts& facts = facts_.emplace_back();
    facts.rows = A.partition.rows;
    facts.values_by = options.scheme;
    facts.entries = context_.comm.sum(mine);
    facts.most_entries = context_.comm.max(mine);
    for (int rank = 0; rank < A.partition.ranks; ++rank) facts.ranks_with_rows += A.partition.size(rank) > 0;
    facts.product = level.A->exchange().plan().traffic(context_.comm.rank(), context_.topology, 1);
}

AmgOutcome AmgHierarchy::fault_of(const PartRows& A) const {
    const bool finite = std::ranges::all_of(A.rows.values, [](double value) { return std::isfinite(value); });
    const std::vector<double> diagonal = diagonal_of(A);
    const bool zero = std::ranges::find(diagonal, 0.0) != diagonal.end();
    // An entry that is not finite outranks a zero.
    const double worst = context_.comm.max(!finite ? 2.0 : zero ? 1.0 : 0.0);
    return worst > 1 ? AmgOutcome::not_finite : worst > 0 ? AmgOutcome::zero_diagonal : AmgOutcome::ready;
}

std::string AmgHierarchy::missing() const {
    const std::string last = " of level " + std::to_string(last_level());
    switch (outcome_) {
        case AmgOutcome::ready:
            break;
        case AmgOutcome::not_finite:
            return "finiteness of an entry" + last;
        case AmgOutcome::zero_diagonal:
            return "diagonal entry" + last;
        case AmgOutcome::unsymmetric_pattern:
            return "symmetry of the pattern";
        case AmgOutcome::too_large:
            return "strong connection on the coarsest level, whose " + std::to_string(facts_.back().rows) +
                   " rows are too many to factorise";
        case AmgOutcome::singular:
            return "pivot of the coarsest level, of " + std::to_string(facts_.back().rows) + " rows";
    }
    return "";
}

double AmgHierarchy::operator_complexity() const {
    double entries = 0;
    for (const AmgLevelFacts& level : facts_) entries += level.entries;
    return entries / facts_.front().entries;
}

double AmgHierarchy::grid_complexity() const {
    double rows = 0;
    for (const AmgLevelFacts& level : facts_) rows += static_cast<double>(level.rows);
    return rows / static_cast<double>(facts_.front().rows);
}

}  // namespace keel
