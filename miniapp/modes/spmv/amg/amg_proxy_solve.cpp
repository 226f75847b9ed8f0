// A proxy solve with algebraic multigrid on one rank, and its set-up: what the virtual rank with most does,
// in order and without times.

#include <algorithm>
#include <cmath>

#include "comm/costs/comparison.hpp"
#include "comm/plans/schemes.hpp"
#include "kernels/check.hpp"
#include "miniapp/modes/spmv/amg/virtual_amg.hpp"
#include "miniapp/schemes/amg_schemes.hpp"
#include "solvers/amg/cycle.hpp"
#include "solvers/krylov/sparse_krylov.hpp"

namespace keel {
namespace {

using EntriesFor = VectorEntries::Use;

// The events of setting up a hierarchy, in about their order: exchanges as they were counted, sums as
// coarsen() and AmgHierarchy make them.
class SetupEvents {
  public:
    SetupEvents(const AmgHierarchy& hierarchy, const Ledger& ledger, const VirtualLevels& levels)
        : hierarchy_(hierarchy), ledger_(ledger), levels_(levels), options_(hierarchy.options()) {}

    Trace all() {
        split(0);  // into nodes,
        sparse_alltoallv(0, EntriesFor::amg_values, 0,
                         1);  // and a duplicate of the communicator: once for all plans
        sums(0, 3);           // of the pattern and the diagonal
        gather(0, GatherAmong::all, 1);
        for (std::size_t l = 0; l < hierarchy_.levels(); ++l) {
            const int level = static_cast<int>(l);
            if (l > 0) chosen_plan(level, EntriesFor::amg_values, levels_.facts[l].values_by);
            sums(level, 3);  // entries, those of the rank with most, and faults
            if (l + 1 < hierarchy_.levels())
                coarsening(level, levels_.facts[l]);
            else
                coarsest(level);
        }
        return std::move(trace_);
    }

  private:
    void coarsening(int level, const AmgLevelFacts& facts) {
        negotiation(level, EntriesFor::amg_values, facts.values_by);
        work(level, Op::strength);
        exchange(level, EntriesFor::amg_values, static_cast<double>(facts.setup.value_exchanges));
        work(level, Op::aggregation);
        sums(level, facts.rounds + 1);       // undecided rows
        gather(level, GatherAmong::all, 1);  // coarse rows
        // But for those for A P. The first one that makes P by aggregation is of one entry a row.
        long others = facts.setup.row_exchanges - 1;
        if (options_.aggregates()) {
            sums(level, 1);  // the bound
            tentative(level);
            --others;
            chosen_plan(level, EntriesFor::amg_rows, facts.rows_by);
            exchange(level, EntriesFor::amg_first_rows, 1, 2);
        }
        for (long n = 0; n <= others; ++n) {
            chosen_plan(level, EntriesFor::amg_rows, facts.rows_by);
            exchange(level, EntriesFor::amg_rows, 1);
        }
        work(level, Op::prolongation);
        const bool condenses = options_.ownership == Ownership::condensed;
        chosen_plan(level, EntriesFor::amg_partial_rows, facts.partial_rows_by);
        if (condenses || options_.rows_scheme != as_all_else)
            chosen_plan(level, EntriesFor::amg_transfers, facts.transfers_by);
        work(level, Op::galerkin);
        exchange(level, EntriesFor::amg_lengths, 1);
        exchange(level, EntriesFor::amg_partial_rows, 1);
        sums(level, condenses ? 2 : 1);  // entries of P, of the next level
    }
    // Norms of aggregates, to their owners and back; a barrier ends either.
    void tentative(int level) {
        for (int n = 0; n < 2; ++n) sparse_alltoallv(level, EntriesFor::amg_transfers, 2, 1);
    }
    void coarsest(int level) {
        split(level);
        const auto words = static_cast<std::size_t>(std::ceil(3 * levels_.most.back().entries));
        gather(level, GatherAmong::coarsest, words, Op::coarsest);
        work(level, Op::coarsest);
        sums(level, 1);  // whether it is singular
    }

    // All schemes are planned and compared before, where the model chooses.
    void chosen_plan(int level, EntriesFor use, const SchemeOptions& scheme) {
        if (communication_for(use, levels_.comm, options_).chooser == SchemeChooser::automatic) {
            const std::vector<SchemeOptions> schemes = candidates_without_axes(scheme);
            for (const SchemeOptions& one : schemes) negotiation(level, use, one);
            const TimesByNodes words = words_by_nodes();
            gather(level, GatherAmong::node, schemes.size() * words.on_node);
            trace_.push_back({.kind = Event::Kind::all_reduce,
                              .level = level,
                              .words = schemes.size() * words.agreed,
                              .maximum = true});
        }
        negotiation(level, use, scheme);
    }
    // Nodes agree on a plan: messages between them, four words an item, however long it is, and a barrier
    // behind each round of them. Those of the coarsest level, whose few rows are planned for in no dry run,
    // are left out.
    void negotiation(int level, EntriesFor use, const SchemeOptions& scheme) {
        const bool is_planned = level + 1 < static_cast<int>(hierarchy_.levels());
        const int rounds = planner(scheme.scheme).split ? 3 : 1;
        const auto of_one_word = use == EntriesFor::amg_rows           ? EntriesFor::amg_first_rows
                                 : use == EntriesFor::amg_partial_rows ? EntriesFor::amg_transfers
                                                                       : use;
        sparse_alltoallv(level, of_one_word, is_planned ? 4 : 0, rounds, Event::Kind::agreement);
    }
    void split(int level) { gather(level, GatherAmong::all, 2); }
    void sparse_alltoallv(int level, EntriesFor use, std::size_t fields, int barriers,
                          Event::Kind kind = Event::Kind::sparse_alltoallv) {
        trace_.push_back(
            {.kind = kind, .level = level, .op = Op::plans, .calls = barriers, .use = use, .fields = fields});
    }

    void sums(int level, int count) {
        for (int n = 0; n < count; ++n)
            trace_.push_back({.kind = Event::Kind::all_reduce, .level = level, .words = 1, .maximum = true});
    }
    void gather(int level, GatherAmong whom, std::size_t words, Op op = Op::plans) {
        trace_.push_back({.kind = Event::Kind::gather,
                          .level = level,
                          .op = op,
                          .calls = 1,
                          .words = words,
                          .whom = whom});
    }
    void exchange(int level, EntriesFor use, double count, std::size_t fields = 1) {
        for (; count > 0; --count)
            trace_.push_back({.kind = Event::Kind::exchange, .level = level, .use = use, .fields = fields});
    }
    void work(int level, Op op) {
        const Entry& entry = ledger_.at(op, level);
        trace_.push_back({.kind = Event::Kind::work,
                          .level = level,
                          .op = op,
                          .calls = std::max(entry.calls, 1L),
                          .work = entry.work});
    }

    const AmgHierarchy& hierarchy_;
    const Ledger& ledger_;
    const VirtualLevels levels_;
    const AmgOptions& options_;
    Trace trace_;
};

double share(double most, double all) {
    return all > 0 ? most / all : 0;
}

// Vectors are whole blocks of rows.
double share_of_vectors(double most, double all) {
    const auto blocks = [](double rows) {
        return static_cast<double>(blocks_of(static_cast<std::size_t>(rows)));
    };
    return share(blocks(most), blocks(all));
}

// The work of one rank that has all becomes that of the one that has most: by the entries that are gone
// through, or by vectors.
void scale_levels(Trace& trace, const std::vector<MostOfLevel>& levels) {
    for (Event& event : trace) {
        if (event.kind != Event::Kind::work || event.op == Op::coarsest) continue;
        const MostOfLevel& level = levels[static_cast<std::size_t>(event.level)];
        double part = share_of_vectors(level.rows, level.all_rows);
        switch (event.op) {
            case Op::smooth:
            case Op::residual:
            case Op::bottom_operator:
            case Op::strength:
            case Op::aggregation:
            case Op::prolongation:
            case Op::galerkin:
                part = share(level.entries, level.all_entries);
                break;
            case Op::interpolate:
            case Op::restrict_:
                part = share(level.entries_of_P, level.all_entries_of_P);
                break;
            default:
                break;
        }
        event.work = {event.work.flops * part, event.work.bytes * part};
    }
}

// Before each solve on the coarsest level its right-hand side is gathered.
Trace with_collecting(const Trace& trace, std::size_t words) {
    Trace both;
    for (const Event& event : trace) {
        if (event.kind == Event::Kind::work && event.op == Op::coarsest)
            both.push_back({.kind = Event::Kind::gather,
                            .level = event.level,
                            .op = event.op,
                            .calls = event.calls,
                            .words = words,
                            .whom = GatherAmong::coarsest});
        both.push_back(event);
    }
    return both;
}

}  // namespace

SparseProxySolve proxy_solve(const MatrixUse& use, AmgHierarchy& hierarchy, SparseMatrix& A, Ledger& ledger,
                             const VirtualLevels& levels) {
    const std::vector<MostOfLevel>& most = levels.most;
    check_equal(most.size(), hierarchy.levels(), "what is the most of each level is known");
    Trace setup = SetupEvents(hierarchy, ledger, levels).all();
    ledger.clear();
    Recorder recorder(hierarchy, ledger);
    AmgCycle M(hierarchy);
    const BottomOptions options = proxy_options(*use.solver);
    const auto krylov = make_krylov(A, options, M);
    SparseProxySolve proxy = solve_recorded(A, *krylov, recorder);
    proxy.setup = std::move(setup);
    proxy.solve = with_collecting(proxy.solve, static_cast<std::size_t>(most.back().rows));
    for (Trace* const trace : {&proxy.setup, &proxy.solve}) scale_levels(*trace, most);
    return proxy;
}

}  // namespace keel
