#pragma once

// run.mode = spmv, its deck resolved.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "comm/costs/comparison.hpp"
#include "comm/ranks/communicator.hpp"
#include "kernels/timing/ledger.hpp"
#include "miniapp/modes/mode.hpp"
#include "miniapp/modes/spmv/matrix_memory.hpp"
#include "miniapp/report/amg/amg_findings.hpp"
#include "miniapp/report/records/kernel_times.hpp"
#include "miniapp/report/timers.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/systems/sparse/sparse_matrix.hpp"

namespace keel {

// The matrix of the deck, whose size may follow from the ranks.
MatrixChoice matrix_of(const Deck& deck, int ranks);

// Any row of the vectors that are multiplied by, one a column, which have no structure. The solution of
// solves is column 0.
double entry_of_x(std::int64_t row, std::size_t column);

// A number of the rank that has most, and of all ranks.
struct Count {
    double most = 0;
    double all = 0;

    void add(std::size_t one) {
        most = std::max(most, static_cast<double>(one));
        all += static_cast<double>(one);
    }
};
// Collective.
inline Count count_over(const Communicator& comm, std::size_t mine) {
    const auto value = static_cast<double>(mine);
    return {comm.max(value), comm.sum(value)};
}

// The parts of the matrix that ranks have.
struct MatrixCounts {
    Count rows, nonzeros, ghosts;
};
// The same as a table, with what a product sends.
std::string counts_text(const MatrixCounts& counts, const Volume& most_sent, const Volume& all_sent);

struct SpmvResults {
    std::int64_t rows = 0;
    bool singular = false;  // constants are in the null space
    int columns = 1;
    MatrixCounts counts;
    TrafficOverRanks traffic;     // in one product
    std::vector<double> seconds;  // each product of all columns on the slowest rank
    double bytes_moved = 0;       // by one product, all ranks
    std::vector<TimerRow> timers;
    struct Solve {
        Report report;
        double seconds = 0;
        TrafficOverRanks traffic;  // products', and all-reduces' by messages of Keel's own
    };
    std::optional<NamedSolver> solver;  // none: none asked for
    std::vector<Solve> solves;
    std::vector<TimerRow> solve_timers;
    double iterations = 0;            // in a solve
    std::vector<KernelTime> kernels;  // the method's, if there is one
    std::optional<AmgFindings> amg;   // none: not used

    double products_per_second() const;  // nonzeros times columns over the median of the seconds
};

// With the verdicts on a product and on a solve by algebraic multigrid.
std::string spmv_text(const std::string& matrix, const SpmvResults& spmv, double triad_bytes_per_second,
                      const std::string& on_product, const std::string& on_solve);
// "spmv" and the timers; each solve is a record of its own.
std::string spmv_records(const SpmvResults& spmv);
std::string solve_record(const NamedSolver& solver, std::size_t repeat, const SpmvResults::Solve& solve);

class PreparedSpmv : public PreparedMode {
  public:
    PreparedSpmv(const Resolved& resolved, const MatrixUse& use) : resolved_(resolved), use_(use) {}

    const Resolved& resolved() const override { return resolved_; }
    std::string exceeds(const SharedMemory& memory) const override {
        return exceeds_memory(use_, resolved_.ranks, memory).value_or("");
    }
    std::string exceeds_planning(const SharedMemory& memory) const override;  // spmv_dry_run.cpp
    // Rank 0 makes the whole matrix and plans for all ranks, virtual ones too.
    DryRun dry_run(const Communicator& comm, const SharedMemory& memory,
                   Progress& progress) const override;                       // spmv_dry_run.cpp
    void run(const RunContext& context, Findings& findings) const override;  // spmv_run.cpp

  private:
    std::vector<Field> multiply(const RunContext& context, SparseMatrix& A, Ledger& ledger, SpmvResults& mine,
                                Findings& findings) const;
    // `rows` are those of A, whose exchanges are by `sparse`.
    void solve(const RunContext& context, SparseMatrix& A, GlobalRows rows, const SparseOptions& sparse,
               Ledger& ledger, Field f, SpmvResults& mine, Findings& findings) const;

    Resolved resolved_;
    MatrixUse use_;
};

}  // namespace keel
