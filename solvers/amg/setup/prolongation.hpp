#pragma once

// Prolongation by smoothed aggregation: Vanek, Mandel, Brezina 1996.

#include "solvers/amg/setup/aggregation.hpp"

namespace keel {

// T: column j is the near-null vector B on aggregate j, of length 1, so that B = T B_c on all rows that have an aggregate.
struct Tentative {
    GlobalRows rows;
    std::vector<double> coarse_null;  // B_c at this rank's aggregates
};
// B has this rank's rows. Collective.
Tentative tentative_prolongation(const Team& team, const Aggregates& aggregates, int rank,
                                 const std::vector<double>& B);

// A bound of the eigenvalues of D^-1 A, max_i SUM_j |a_ij| / |a_ii|: the same on any number of ranks. Collective.
double bound_of_eigenvalues(const Communicator& comm, const PartRows& A);

// An estimate of their largest size, from below, by so many steps of Lanczos' method for |D|^-1/2 A |D|^-1/2, A symmetric, from a vector
// of hashed numbers: but for rounding the same on any number of ranks. Each step takes an exchange of values and two sums. Without
// reorthogonalisation, which so few steps do not need (Saad, "Numerical methods for large eigenvalue problems", section 6.3).
// Collective.
inline constexpr int lanczos_steps = 12;
inline constexpr int sums_of_estimate = 1 + 2 * lanczos_steps;
double estimate_of_eigenvalues(const Communicator& comm, const PartRows& A, GhostValues& ghosts,
                               std::uint64_t seed);

// P = (I - weight D^-1 A)^sweeps T, each sweep with the rows of A's ghosts; `columns` are those of T. Adds what was done. Collective.
GlobalRows smoothed_prolongation(const PartRows& A, const RowPartition& columns, GlobalRows T,
                                 GhostValues& ghosts, int sweeps, double weight, Work& work);

}  // namespace keel
