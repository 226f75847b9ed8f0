#pragma once

// Products of distributed sparse matrices, on their symbolic patterns: entries that cancel stay, so that what
// is an entry does not depend on rounding. Sums run by ascending columns of the left factor.

#include "solvers/amg/setup/ghost_values.hpp"

namespace keel {

// This rank's rows of A P, from its own rows of P and those of A's ghosts; `columns` are those of P. Adds
// what was done, as galerkin() does: entries of A, of the rows of P that they meet, and of the product, each
// moved once.
GlobalRows multiply(const PartRows& A, const RowPartition& columns, const GlobalRows& own,
                    const GlobalRows& of_ghosts, Work& work);

// This rank's rows of P^T (A P): every rank makes the parts that its rows have in rows of the product, and
// sends home those of others. `of_ghosts` are the rows of P of A's ghosts, `way` is that of the ghosts of P.
// Collective.
GlobalRows galerkin(const SetupContext& context, const PartRows& A, const PartRows& P,
                    const GlobalRows& of_ghosts, const ReverseExchange& way, Traffic& sent, Work& work);

}  // namespace keel
