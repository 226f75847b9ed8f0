#include "solvers/amg/coarsest/krylov.hpp"

#include <algorithm>

#include "solvers/krylov/methods.hpp"
#include "solvers/krylov/sparse_krylov.hpp"

namespace keel {

CoarsestRule coarsest_rule(const AmgOptions& options, std::int64_t rows) {
    return options.coarsest == CoarsestRule::krylov && rows == 1 ? CoarsestRule::replicated
                                                                 : options.coarsest;
}

KrylovCoarsest::KrylovCoarsest(const SetupContext& context, const PartRows& A, SparseOptions sparse,
                               double size, const std::optional<std::vector<double>>& null, Ledger& ledger)
    : owners_(context.comm.split(A.rows.rows() > 0 ? 0 : 1)) {
    method_.solver = "cg";
    method_.tolerance = coarsest_tolerance;
    method_.max_iterations = coarsest_iterations;
    if (A.rows.rows() == 0) return;
    std::vector<int> ranks;
    std::vector<std::int64_t> sizes;
    for (int rank = 0; rank < A.partition.ranks; ++rank) {
        if (A.partition.size(rank) == 0) continue;
        ranks.push_back(rank);
        sizes.push_back(static_cast<std::int64_t>(A.partition.size(rank)));
    }
    sparse.keeps_rows = true;
    const Topology topology = context.topology.among(ranks);
    matrix_ = std::make_unique<SparseMatrix>(owners_, topology, context.backend, partition_of(sizes), A.rows,
                                             sparse, ledger);
    product_ = matrix_->exchange().plan().traffic(owners_.rank(), topology, 1);
    const DiagonalScaling scaling = scaling_of(method_);
    const bool scales = std::ranges::all_of(
        matrix_->diagonal(), [scaling](double diagonal) { return scalable(diagonal, scaling); });
    if (owners_.min(scales ? 1.0 : 0.0) == 0) method_.scaling = Scaling::none;
    krylov_ = make_krylov(*matrix_, owners_, method_);
    if (!null) return;
    system_ = std::make_unique<SparseSystem>(*matrix_, DiagonalScaling::none);
    null_ = system_->make_vector();
    projected_ = system_->make_vector();
    matrix_->assign(null_, [&](std::int64_t row) {
        return (*null)[static_cast<std::size_t>(row - matrix_->first_row())];
    });
    system_->axpby(null_, 1 / system_->norm(null_), null_, 0, null_);
    system_->apply(projected_, null_);
    if (!(system_->norm(projected_) <= slack * size)) system_.reset();  // it is not in the null space
}

void KrylovCoarsest::remove_null(Field x) {
    system_->axpby(x, 1, x, -system_->dot(null_, x), null_);
}

void KrylovCoarsest::solve(Field x, Field b) {
    if (!krylov_) return;
    if (system_) {
        system_->copy(projected_, b);
        remove_null(projected_);
    }
    const Report report = krylov_->solve(x, system_ ? projected_ : b);
    if (system_) remove_null(x);
    ++visits_.visits;
    visits_.iterations += report.iterations;
    visits_.missed += report.met ? 0 : 1;
}

}  // namespace keel
