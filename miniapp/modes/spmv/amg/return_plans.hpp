#pragma once

// The reverse exchanges of virtual ranks: the parts that their rows have in P^T r and in P^T (A P) travel to
// the owners of coarse rows, and are added, or merged, between. Pure.

#include <cstdint>
#include <vector>

#include "comm/patterns/row_partition.hpp"
#include "comm/plans/plan.hpp"
#include "solvers/systems/sparse/sparse_matrix.hpp"

namespace keel {

// The columns of rows of P^T (A P) that each rank has a part of and others own, ascending: by rank, and by
// the items that it needs of P in their order.
using PartialColumns = std::vector<std::vector<std::vector<std::int64_t>>>;

// `needed`: ghosts of P by rank. All rows of A and P; those of P are shared out by `rows`.
PartialColumns partial_columns(const GlobalRows& A, const GlobalRows& P, const RowPartition& rows,
                               const std::vector<std::vector<Item>>& needed);

// The messages of all ranks; phases in the order in which they travel.
struct ReturnPlans {
    Plan values;  // P^T r
    Plan rows;    // P^T (A P), a value and a column an entry, lengths apart
};
// Plans that return contributions along the plan `there`, by which all ranks get the items that they need.
// The other arguments are those of reverse_exchange() and reverse_exchange_rows().
ReturnPlans return_plans(const Plan& there, const Topology& topology,
                         const std::vector<std::vector<Item>>& needed, const PartialColumns& parts);

}  // namespace keel
