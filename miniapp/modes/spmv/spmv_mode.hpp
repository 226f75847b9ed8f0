#pragma once

// run.mode = spmv, its deck resolved.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

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

// Collective.
inline std::vector<std::int64_t> ghosts_by_rank(const Communicator& comm, std::size_t mine) {
    const auto ghosts = static_cast<std::int64_t>(mine);
    return comm.all_gather({&ghosts, 1});
}

struct SpmvResults {
    std::int64_t rows = 0;
    bool singular = false;  // constants are in the null space
    double nonzeros = 0;
    int columns = 1;
    // Numbers of the rank with most, and of all together.
    double most_rows = 0, most_nonzeros = 0, most_ghosts = 0, all_ghosts = 0;
    TrafficOverRanks traffic;     // of one product
    std::vector<double> seconds;  // each product of all columns on the slowest rank
    double bytes_moved = 0;       // by one product, all ranks
    std::vector<TimerRow> timers;
    struct Solve {
        Report report;
        double seconds = 0;
        TrafficOverRanks traffic;  // of products and of all-reduces by messages of Keel's own
    };
    std::optional<NamedSolver> solver;  // none: none asked for
    std::vector<Solve> solves;
    std::vector<TimerRow> solve_timers;
    double iterations = 0;            // of a solve
    std::vector<KernelTime> kernels;  // of the method, if there is one
    std::optional<AmgFindings> amg;   // none: not used

    double products_per_second() const;  // nonzeros times columns over the median of the seconds
};

std::string spmv_text(const std::string& matrix, const SpmvResults& spmv, double triad_bytes_per_second);
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
    std::optional<std::string> plan_text(int, const SharedMemory&) const override { return {}; }
    // Makes the matrix unless it exceeds the node's memory: each rank its own rows, or rank 0 those of all
    // virtual ranks.
    DryRun dry_run(const Communicator& comm, const SharedMemory& memory,
                   Progress& progress) const override;                       // spmv_dry_run.cpp
    void run(const RunContext& context, Findings& findings) const override;  // spmv_run.cpp

  private:
    std::vector<Field> multiply(const RunContext& context, SparseMatrix& A, Ledger& ledger, SpmvResults& mine,
                                Findings& findings) const;
    CoarsestVisits repeat_solves(const RunContext& context, Ledger& ledger, const AmgHierarchy* hierarchy,
                                 const std::function<Report()>& solve_once, SpmvResults& mine,
                                 Findings& findings) const;
    // `rows` are those of A, whose exchanges are by `sparse`.
    void solve(const NamedSolver& solver, const RunContext& context, SparseMatrix& A, GlobalRows rows,
               const SparseOptions& sparse, Ledger& ledger, Field f, SpmvResults& mine,
               Findings& findings) const;

    Resolved resolved_;
    MatrixUse use_;
};

}  // namespace keel
