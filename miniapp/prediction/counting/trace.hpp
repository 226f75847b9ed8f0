#pragma once

// The events of a solve on a rank, in order and without times: work, exchanges, sums. They come from a real
// solve, whose hierarchy is decorated; a machine's costs make times of them (solve_time.hpp).

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "comm/plans/plan.hpp"
#include "comm/reductions/algorithms.hpp"
#include "kernels/timing/ledger.hpp"
#include "miniapp/schemes/scheme_table.hpp"
#include "solvers/amg/hierarchy.hpp"
#include "solvers/multigrid/hierarchy.hpp"
#include "solvers/systems/sparse/sparse_matrix.hpp"

namespace keel {

// The ranks whose words are gathered: all, those of a node, or those that have rows of the coarsest level.
enum class GatherAmong { all, node, coarsest };

struct Event {
    enum class Kind {
        work,
        exchange,
        all_reduce,
        begin_all_reduce,
        progress,
        finish_all_reduce,
        sparse_alltoallv,
        agreement,
        gather
    };
    Kind kind = Kind::work;
    int level = 0;
    // Work: all that was done by one operation between two other events.
    Op op = Op::smooth;
    long calls = 0;
    Work work = {};
    DeviceCounts device = {};
    // An exchange. If one colour is wanted, half of the values travel between boxes of a rank, and in
    // messages that carry it alone.
    ExchangeUse use = GhostCells::Purpose::stencil;
    std::size_t fields = 0;
    std::size_t value_bytes = sizeof(double);
    bool one_colour = false;
    Volume sent = {};  // by this rank, if boxes are merged or come back
    // A sparse_alltoallv has the messages of an exchange of `fields` fields, if any, and `calls` barriers. An
    // agreement on a plan (negotiation.hpp) has these, too, and ranks of a node gather what each needs.
    // `words`: doubles of a sum or maximum, or the most that a rank gives to a gather. `number`: of a sum in
    // flight.
    std::size_t words = 0;
    WordType summands = WordType::fp64;
    bool maximum = false;  // always MPI's
    int number = 0;
    GatherAmong whom = GatherAmong::all;
};
using Trace = std::vector<Event>;

// A trace as a part of a solve.
struct Slice {
    Trace trace;
    double times = 1;  // how often the solve does what the trace did
    // By level: the number of ranks like the trace's that do the work of all; the last one is that of all
    // further levels.
    std::vector<double> ranks{1};

    double ranks_on(int level) const {
        return ranks[std::min(static_cast<std::size_t>(level), ranks.size() - 1)];
    }
};

// Records the exchanges and reductions of all levels of a hierarchy, in either precision, and from the ledger
// the work between them. Solvers have to be made after it. Destroy solvers, hierarchy, ledger and recorder
// together: none may be used after another is gone.
class Recorder {
  public:
    Recorder(Hierarchy& hierarchy, const Ledger& ledger);
    // The same of a sparse matrix, whose level is 0.
    Recorder(SparseMatrix& matrix, const Ledger& ledger);
    // Events that are noted, and work alone.
    explicit Recorder(const Ledger& ledger) : ledger_(ledger), seen_(ledger) {}
    // The same of the levels of algebraic multigrid; on the coarsest one, of visits alone.
    Recorder(AmgHierarchy& hierarchy, const Ledger& ledger);
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    // The events since the last take(), or since the recorder was made.
    Trace take();

    // --- For its decorators
    void note(const Event& event);

  private:
    std::function<std::unique_ptr<Exchange>(std::unique_ptr<Exchange>)> recorded(int level,
                                                                                 VectorEntries::Use use);
    void record(SparseMatrix& matrix, int level, VectorEntries::Use use);
    void note_work();

    const Ledger& ledger_;
    Ledger seen_;
    Trace trace_;
    bool packs_ = false;  // whether the last exchange was of a grid, whose packing the ledger has
    std::optional<std::size_t> move_;  // the last exchange, if it was of boxes that are merged or come back
};

}  // namespace keel
