#pragma once

// Prolongation by smoothed aggregation: Vanek, Mandel, Brezina 1996.

#include "solvers/amg/setup/aggregation.hpp"

namespace keel {

// T: column j is the near-null vector B on aggregate j, of length 1, so that B = T B_c on all rows that have
// an aggregate.
struct Tentative {
    GlobalRows rows;
    std::vector<double> coarse_null;  // B_c at this rank's aggregates
};
// B has this rank's rows. Collective.
Tentative tentative_prolongation(const SetupContext& context, const Aggregates& aggregates, int rank,
                                 const std::vector<double>& B);

// A bound of the eigenvalues of D^-1 A: the maximum over the rows i of SUM_j |a_ij| / |a_ii|. Collective.
double bound_of_eigenvalues(const Communicator& comm, const PartRows& A);

// P = (I - weight D^-1 A)^sweeps T, each sweep with the rows of A's ghosts; `columns` are those of T. Adds
// what was done. Collective.
GlobalRows smoothed_prolongation(const PartRows& A, const RowPartition& columns, GlobalRows T,
                                 GhostValues& ghosts, int sweeps, double weight, Work& work);

}  // namespace keel
