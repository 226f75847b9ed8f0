#pragma once

// One step of set-up: from the matrix of a level to that of the next.

#include <optional>

#include "comm/plans/plan.hpp"
#include "kernels/timing/ledger.hpp"
#include "solvers/amg/setup/prolongation.hpp"

namespace keel {

// What a level exchanges with its plans, and what this rank sent to set up the next.
struct CoarseningTraffic {
    Traffic values;        // of ghosts of A: strength, aggregation, lengths
    Traffic smoothing;     // rows for the strength and for making P
    Traffic rows;          // of P for A P
    Traffic partial_rows;  // of P^T (A P)
    Traffic moved;         // its rows, where levels are condensed: of integers
    // How often values were exchanged, lengths of rows among them, and rows; but for what goes home.
    long value_exchanges = 0;
    long row_exchanges = 0;
};

struct Coarsening {
    std::vector<std::int64_t> roots;  // this rank's rows that became rows of the next level, in their order
    std::vector<std::int64_t>
        aggregates;  // of this rank's rows, -1 where there is none; empty of classical coarsening
    int rounds = 0;  // of the search for roots
    PartRows P;
    Plan plan;                 // by which ghosts of P travel
    ReverseExchange way;       // and what this rank has for their owners
    PartRows A;                // of the next level
    std::vector<double> null;  // near-null vector of the next level
    double bound = 0;          // of the eigenvalues of D^-1 A of this level; 0: not asked for
    // Rows of P for A P, partial rows of P^T (A P), and P e with P^T r.
    SchemeOptions rows_by, partial_rows_by, transfers_by;
    CoarseningTraffic traffic;
};

// The partition of a level of so many entries whose rows lived with their roots: even over the first ceil(entries / (entries of the
// finest level / ranks)) ranks, where levels are condensed.
RowPartition owned_by(Ownership ownership, const RowPartition& by_roots, double entries,
                      double entries_of_finest);

// Nothing where no two rows are put together. A's pattern is symmetric, and its diagonal has no zero; B is its near-null
// vector, and values at its ghosts travel by `values`. The finest level has so many entries; 0: A is the finest. The time is
// booked at `level` of the ledger. Collective.
std::optional<Coarsening> coarsen(const Team& team, const PartRows& A, const std::vector<double>& B,
                                  const AmgOptions& options, const SchemeOptions& values, Ledger& ledger,
                                  int level, double entries_of_finest = 0);

}  // namespace keel
