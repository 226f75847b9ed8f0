#pragma once

// Prolongation by smoothed aggregation: Vanek, Mandel, Brezina 1996.

#include "solvers/amg/setup/aggregation.hpp"

namespace keel {

// T: B = T B_c on all rows that have an aggregate, where T has orthonormal columns on each aggregate, one for
// each near-null vector, and B_c is upper triangular: a QR factorisation.
struct Tentative {
    GlobalRows rows;
    NearNull coarse_null;  // B_c: at this rank's aggregates, which are nodes with a row for each vector
};
// B has this rank's rows; aggregates are of its nodes. Gram matrices are summed over ranks and factorised by
// Cholesky, twice where there are several vectors: that squares no condition but the first (Yamamoto et al.
// 2015, CholeskyQR2). A vector that hangs on those before it in an aggregate has a column of zeros there.
// Collective.
Tentative tentative_prolongation(const SetupContext& context, const Aggregates& aggregates, int rank,
                                 const NearNull& B);

// A bound of the eigenvalues of D^-1 A: the maximum over the rows i of SUM_j |a_ij| / |a_ii|. Collective.
double bound_of_eigenvalues(const Communicator& comm, const PartRows& A);

// P = (I - weight D^-1 A)^sweeps T, each sweep with the rows of A's ghosts; `columns` are those of T. Adds
// what was done. Collective.
GlobalRows smoothed_prolongation(const PartRows& A, const RowPartition& columns, GlobalRows T,
                                 GhostValues& ghosts, int sweeps, double weight, Work& work);

}  // namespace keel
