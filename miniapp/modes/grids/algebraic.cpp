#include "miniapp/modes/grids/algebraic.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "solvers/multigrid/algebraic/algebraic_cycle.hpp"

namespace keel {

AlgebraicSchemes AlgebraicChoices::schemes() {
    return [this](const Communicator& comm, const Topology& topology, const SchemeOptions& finest) {
        choices_.push_back(std::make_unique<AmgSchemeChoice>(resolved_, comm, topology, backend_, finest));
        return choices_.back()->scheme_for();
    };
}

std::vector<Check> AlgebraicChoices::checks() const {
    std::vector<Check> all;
    for (const auto& choice : choices_)
        for (const Check& one : choice->checks()) {
            if (all.empty()) all.push_back(one);
            all.front().passed = all.front().passed && one.passed;
            all.front().value = std::max(all.front().value, one.value);
        }
    return all;
}

std::optional<AmgFindings> algebraic_findings(Multigrid& multigrid, int solves) {
    const AlgebraicCycle* const cycle = multigrid.algebraic();
    if (!cycle) return {};
    const Communicator& comm = cycle->comm();
    AmgFindings amg = findings_of(comm, cycle->hierarchy());
    amg.setup_seconds = comm.max(cycle->setup_seconds());
    amg.setup = gather_timers(comm, cycle->setup(), cycle->setup_seconds(), 1, false);
    // Seconds of a cycle that no clock sees are among the other seconds of all levels.
    amg.solves = gather_timers(comm, cycle->cycles(), 0, solves, false);
    std::erase_if(amg.solves, [](const TimerRow& row) { return row.op == "other"; });
    count_visits(amg, comm, cycle->visits(), solves);
    return amg;
}

void forget_cycles(Multigrid& multigrid) {
    if (AlgebraicCycle* const cycle = multigrid.algebraic()) cycle->forget_cycles();
}

std::string algebraic_text(const std::optional<AmgFindings>& amg, const std::string& solver,
                           int bottom_level) {
    if (!amg) return "";
    return fmt::format("\nUnder level {}, whose solver is {}; its level 0 is that level.\n", bottom_level,
                       solver) +
           amg_text(*amg);
}

std::string algebraic_records(const std::optional<AmgFindings>& amg, const std::string& solver,
                              bool several) {
    if (!amg) return "";
    const std::string before = several ? solver + ": " : "";
    return amg_records(*amg, solver, before + "amg.setup", before + "amg.cycles");
}

}  // namespace keel
