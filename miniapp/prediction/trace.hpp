#pragma once

// What a solve does on a rank, in order and without times: work, exchanges, sums. From a real solve, whose hierarchy is
// decorated; a machine's costs make times of it (solve_time.hpp).

#include <cstddef>
#include <vector>

#include "comm/sums/algorithms.hpp"
#include "kernels/timing/ledger.hpp"
#include "miniapp/schemes/scheme_table.hpp"
#include "solvers/multigrid/hierarchy.hpp"
#include "solvers/systems/sparse/sparse_matrix.hpp"

namespace keel {

struct Event {
    enum class Kind { work, exchange, sum, begin_sum, push_sums, finish_sum };
    Kind kind = Kind::work;
    int level = 0;
    // Of work: all that was done by one operation between two other events.
    Op op = Op::smooth;
    long calls = 0;
    Work work = {};
    // Of an exchange.
    GhostCells::Purpose purpose = GhostCells::Purpose::stencil;
    std::size_t fields = 0;
    std::size_t value_bytes = sizeof(double);
    // Of sums and maxima: doubles that travel. Those that are begun have a number until they are finished.
    std::size_t words = 0;
    Summands summands = Summands::words;
    bool maximum = false;  // which is always MPI's
    int number = 0;
};
using Trace = std::vector<Event>;

// Takes the exchanges and reductions of a hierarchy into its care, all levels of it in either precision, and writes down what they are asked for
// and, from the ledger, what was computed before. Solvers have to be made after it; they, the hierarchy and the ledger must
// neither outlive the recorder nor go before it.
class Recorder {
  public:
    Recorder(Hierarchy& hierarchy, const Ledger& ledger);
    // The same of a sparse matrix, whose level is 0.
    Recorder(SparseMatrix& matrix, const Ledger& ledger);
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    // What has happened since the last take(), or since the recorder was made.
    Trace take();

    // --- For its decorators
    void note(const Event& event);

  private:
    void note_work();

    const Ledger& ledger_;
    Ledger seen_;
    Trace trace_;
};

}  // namespace keel
