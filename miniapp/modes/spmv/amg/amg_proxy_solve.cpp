// A proxy solve with algebraic multigrid on one rank, and its set-up: what the virtual rank with most does,
// in order and without times.

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

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

// By kind of messages: the entries that they carry. Values in set-up travel by the scheme of products.
constexpr std::array carried{EntriesFor::product,       EntriesFor::amg_values,
                             EntriesFor::amg_rows,      EntriesFor::amg_partial_rows,
                             EntriesFor::amg_transfers, EntriesFor::amg_transfers};

// Ranks agree on a plan: nodes exchange messages, four words an item, however long it is, and a barrier
// follows each round. Messages of the coarsest level, whose few rows are planned for in no dry run, are left
// out. Where the model chooses the scheme, all are planned and compared before.
void agree(Trace& trace, Event event, const std::vector<AmgLevelFacts>& facts, const Communication& comm,
           const AmgOptions& options) {
    const auto level = static_cast<std::size_t>(event.level);
    const auto what = std::get<EntriesFor>(event.use);
    const EntriesFor use = what == EntriesFor::product ? EntriesFor::amg_values : what;
    event.use = use == EntriesFor::amg_rows           ? EntriesFor::amg_first_rows
                : use == EntriesFor::amg_partial_rows ? EntriesFor::amg_transfers
                                                      : use;
    event.fields = level + 1 < facts.size() ? 4 : 0;
    const auto plan = [&](const SchemeOptions& scheme) {
        event.calls = planner(scheme.scheme).split ? 3 : 1;
        trace.push_back(event);
    };
    const SchemeOptions& chosen = facts[level].*scheme_of(use);
    if (what != EntriesFor::amg_values &&
        communication_for(use, comm, options).chooser == SchemeChooser::automatic) {
        const std::vector<SchemeOptions> schemes = candidates_without_axes(chosen);
        for (const SchemeOptions& scheme : schemes) plan(scheme);
        trace.push_back({.kind = Event::Kind::gather,
                         .level = event.level,
                         .op = Op::plans,
                         .calls = 1,
                         .words = schemes.size() * words_on_node,
                         .whom = GatherAmong::node});
        trace.push_back({.kind = Event::Kind::all_reduce,
                         .level = event.level,
                         .words = schemes.size() * words_agreed,
                         .maximum = true});
    }
    plan(chosen);
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

void SetupRecorder::note(Collective what, std::size_t words) {
    Event event{.kind = Event::Kind::gather, .level = level_, .op = Op::plans, .calls = 1, .words = words};
    if (what == Collective::reduction) {
        event.kind = Event::Kind::all_reduce;
        event.maximum = true;
    } else if (what == Collective::duplicate) {
        event.kind = Event::Kind::sparse_alltoallv;  // a barrier
    }
    recorder_.note(event);
}

void SetupRecorder::note(AmgStep step, AmgMessages what) {
    Event event{.kind = Event::Kind::exchange,
                .level = level_,
                .op = Op::plans,
                .calls = 1,
                .use = carried[static_cast<std::size_t>(what)],
                .fields = 1};
    if (step == AmgStep::plan) {
        event.kind = Event::Kind::agreement;
    } else if (what == AmgMessages::norms) {
        event.kind = Event::Kind::sparse_alltoallv;
        event.fields = 1 + vectors_ * (vectors_ + 1) / 2;  // an aggregate and its Gram matrix
    } else if (what == AmgMessages::rows && options_.aggregates() && std::exchange(first_rows_, false)) {
        event.use = EntriesFor::amg_first_rows;
        event.fields = 2 * vectors_;
    } else if (what == AmgMessages::partial_rows) {
        recorder_.note(event);
        event.use = EntriesFor::amg_lengths;
    }
    recorder_.note(event);
}

Trace SetupRecorder::take(const std::vector<AmgLevelFacts>& facts, const std::vector<MostOfLevel>& most,
                          const Communication& comm) {
    Trace trace;
    for (const Event& event : recorder_.take())
        if (event.kind == Event::Kind::agreement)
            agree(trace, event, facts, comm, options_);
        else if (event.kind != Event::Kind::work || event.op != Op::plans)
            trace.push_back(event);
    trace = with_collecting(trace, static_cast<std::size_t>(std::ceil(3 * most.back().entries)));
    scale_levels(trace, most);
    return trace;
}

SparseProxySolve proxy_solve(const MatrixUse& use, AmgHierarchy& hierarchy, SparseMatrix& A, Ledger& ledger,
                             const std::vector<MostOfLevel>& most) {
    check_equal(most.size(), hierarchy.levels(), "what is the most of each level is known");
    ledger.clear();
    Recorder recorder(hierarchy, ledger);
    AmgCycle M(hierarchy);
    const BottomOptions options = proxy_options(*use.solver);
    const auto krylov = make_krylov(A, options, M);
    SparseProxySolve proxy = solve_recorded(A, *krylov, recorder);
    proxy.solve = with_collecting(proxy.solve, static_cast<std::size_t>(most.back().rows));
    scale_levels(proxy.solve, most);
    return proxy;
}

}  // namespace keel
