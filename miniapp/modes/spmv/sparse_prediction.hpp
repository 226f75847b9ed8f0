#pragma once

// The seconds that --dry-run predicts for a solve with a sparse matrix on comm.machine.

#include <string>

#include "miniapp/modes/spmv/amg/virtual_amg.hpp"
#include "miniapp/modes/spmv/sparse_proxy_solve.hpp"
#include "miniapp/prediction/prediction.hpp"

namespace keel {

// Why it does not, with the remedy; empty if it does. It follows "no seconds are predicted". The whole matrix
// is to be solved with in so many bytes on one rank, and within the limit. `amg` is null without algebraic
// multigrid, or where it depends on ranks.
std::string why_not_predicted(const MatrixUse& use, const Resolved& resolved, const MatrixSize& size,
                              double available, const DryRunLimit& limit, const VirtualAmg* amg);

// From its proxy solve and the chosen plans of all its exchanges. `coarsest`: with algebraic multigrid, else
// null.
Prediction predict_sparse(const MatrixUse& use, const Resolved& resolved, const MatrixSize& size,
                          const SparseProxySolve& proxy, const std::vector<ExchangePlan>& plans,
                          const CoarsestRanks* coarsest);

}  // namespace keel
