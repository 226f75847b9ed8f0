#pragma once

// One step of set-up: from the matrix of a level to that of the next.

#include <optional>

#include "comm/plans/plan.hpp"
#include "kernels/timing/ledger.hpp"
#include "solvers/amg/options.hpp"
#include "solvers/amg/setup/prolongation.hpp"

namespace keel {

// The messages of this rank that set up the next level.
struct CoarseningTraffic {
    Traffic values;        // ghosts of A: strength, aggregation, lengths
    Traffic smoothing;     // rows for the strength and for making P
    Traffic rows;          // of P for A P
    Traffic partial_rows;  // of P^T (A P)
    Traffic moved;         // rows of condensed levels, as integers
};

// The facts of a step, for reports.
struct CoarseningFacts {
    double bound = 0;  // bound of the eigenvalues of D^-1 A of this level; 0 with classical coarsening
    int rounds = 0;    // rounds of the search for roots
    // The schemes for rows of P in A P, for partial rows of P^T (A P), and for P e and P^T r.
    SchemeOptions rows_by, partial_rows_by, transfers_by;
    CoarseningTraffic setup;
};

struct Coarsening : CoarseningFacts {
    // This rank's rows that became rows of the next level, in their order; of nodes the first rows.
    std::vector<std::int64_t> roots;
    // The aggregate of each of this rank's nodes, -1 where there is none; empty with classical coarsening.
    std::vector<std::int64_t> aggregates;
    PartRows P;
    Plan plan;            // for the ghosts of P
    ReverseExchange way;  // from this rank to the owners of the ghosts of P
    PartRows A;           // of the next level
    NearNull null;        // of the next level
};

// Equal parts of the first ceil(entries / (entries of the finest level / ranks)) ranks for a level of
// `entries` entries, whose rows, `node` a node, lived with their roots.
RowPartition condensed_partition(const RowPartition& by_roots, double entries, double entries_of_finest,
                                 int node);

// The next level; nothing if no two rows come together. A's pattern is symmetric, and its diagonal has no
// zero. B are near-null vectors. Values at ghosts of A travel by the scheme `values`. `entries_of_finest` is
// 0 if A is the finest level. The time is booked at `level` of the ledger. Collective.
std::optional<Coarsening> coarsen(const SetupContext& context, const PartRows& A, const NearNull& B,
                                  const AmgOptions& options, const SchemeOptions& values, Ledger& ledger,
                                  int level, double entries_of_finest = 0);

}  // namespace keel
