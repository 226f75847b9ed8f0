#pragma once

// The time and memory of a dry run, estimated before any of it is done: from sizes alone and never by the
// clock, so that the machine does not decide what is refused. The coefficients were fitted to processor
// seconds and peak memory of dry runs of 0.2 to 40 s each (preset ci of 2096aab, one rank, x86 at about 2.5
// GHz); estimates are within a factor of 3, more often above than below.

#include <algorithm>
#include <limits>
#include <string>

namespace keel {

struct DryRunCost {
    double seconds = 0;  // one processor's
    double bytes = 0;    // at the peak

    // Work that follows: its time adds up, the memory is taken again.
    DryRunCost& operator+=(const DryRunCost& next);
};

// Owners of boxes, and passes over all boxes to see whether nodes tile them, for `uses` uses of levels.
DryRunCost cost_of_boxes(double boxes, double uses);
// Boxes of problem.shape = "tags" that are chosen among `positions`.
DryRunCost cost_of_tags(double positions);
// Requests of items by ranks, planned by one scheme, and boxes that are looked at for them.
DryRunCost cost_of_requests(double requests, double boxes = 0);
// Entries of a matrix that are made, shared out among ranks and searched for requests.
DryRunCost cost_of_entries(double rows, double entries, double ranks);

// A solve of grids that is made here in place of one on virtual ranks.
struct SolveSize {
    double dimensions = 3;
    double cells = 0;  // on the finest level
    double bytes = 0;  // all fields'
    double cycles = 1;
    double krylov_cells = 0;   // on the level that Krylov methods work on
    double krylov_across = 0;  // the most of these in a row
    double iterations = 0;     // of these methods in all cycles
    double applications = 1;   // of the operator in each iteration
};
DryRunCost cost_of_solve(const SolveSize& size);
// Iterations of a Krylov method for a part of the residual as small as the tolerance: they grow with the
// cells in a row.
double iterations_at_most(double cells_across, double tolerance, double applications, double limit);
// Set-up of algebraic multigrid on virtual ranks, and a solve with it.
DryRunCost cost_of_amg(double entries);
// A solve with a matrix.
DryRunCost cost_of_sparse_solve(double rows, double entries, double iterations, double bytes);

// The limits of a dry run: a minute of one processor and 2 GB, or run.dry_run_limit times as much; but no
// more than half of a rank's share of the memory here, since others need some, too.
struct DryRunLimit {
    double factor = 1;
    double bytes_here = std::numeric_limits<double>::infinity();

    double seconds() const { return 60 * factor; }
    double bytes() const { return std::min(2e9 * factor, bytes_here); }
    // Bytes of text, after decompression, in a file that is read twice at 15 ns a byte: 2 GB of empty lines
    // take 27 s.
    double file_bytes() const { return seconds() / (2 * 15e-9); }
    bool allows(const DryRunCost& cost) const { return cost.seconds <= seconds() && cost.bytes <= bytes(); }
    // "a dry run takes about 300 s of a processor and 3 GB, and may take 60 s and 2 GB: choose REMEDY, or
    // run.dry_run_limit = 5"; empty where the cost is allowed.
    std::string exceeded_by(const DryRunCost& cost, const std::string& remedy) const;
};

}  // namespace keel
