#pragma once

// The communication schemes side by side for the ghost entries of a sparse matrix.

#include <memory>
#include <vector>

#include "comm/ranks/communicator.hpp"
#include "miniapp/modes/spmv/matrix_memory.hpp"
#include "miniapp/schemes/scheme_choice.hpp"
#include "miniapp/schemes/scheme_table.hpp"
#include "solvers/systems/sparse/sparse_matrix.hpp"

namespace keel {

// The tables by negotiated plans, complete on rank 0. `part` is this rank's. Collective.
std::vector<SchemeTable> compare_schemes(const MatrixUse& use, const Resolved& resolved,
                                         const Communicator& comm, const VectorPart& part);

// The tables by plans of all ranks of the partition, which the calling rank makes alone: pure.
std::vector<SchemeTable> plan_all_schemes(const MatrixUse& use, const Resolved& resolved,
                                          const RowPartition& partition, const Pattern& pattern);

// Collective.
std::unique_ptr<Trial> make_matrix_trial(const Resolved& resolved, const Communicator& comm,
                                         const Backend& backend, const VectorPart& part,
                                         const SchemeTable& table);

// The schemes chosen for products and for solves; the deck's scheme for both if none was chosen.
struct MatrixSchemes {
    SchemeOptions products;
    SchemeOptions solves;
};
MatrixSchemes schemes_of_matrix(const SchemeOptions& of_deck, const std::vector<SchemeTable>& tables);

}  // namespace keel
