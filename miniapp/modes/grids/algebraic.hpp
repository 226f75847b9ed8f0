#pragma once

// Algebraic multigrid on the coarsest level of a hierarchy: its schemes, and what modes of grids report of
// it.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "miniapp/report/amg/amg_findings.hpp"
#include "miniapp/schemes/amg_schemes.hpp"
#include "solvers/multigrid/multigrid.hpp"

namespace keel {

// The schemes of its messages, wherever it is set up.
class AlgebraicChoices {
  public:
    // Both must outlive this object.
    AlgebraicChoices(const Resolved& resolved, const Backend& backend)
        : resolved_(resolved), backend_(backend) {}

    // Refers to this object.
    AlgebraicSchemes schemes();
    // The checks of the trials of all of them; none where none were tried.
    std::vector<Check> checks() const;

  private:
    const Resolved& resolved_;
    const Backend& backend_;
    std::vector<std::unique_ptr<AmgSchemeChoice>> choices_;
};

// The findings of the measured solves since the cycles were forgotten. Nothing on ranks that have no part of
// it. Collective over those that have; complete on the first of them, which is the first of all.
std::optional<AmgFindings> algebraic_findings(Multigrid& multigrid, int solves);

// Forgets the cycles of warm-ups.
void forget_cycles(Multigrid& multigrid);

// Text, and records of the named bottom solver, whose timers are called "amg.setup" and "amg.cycles", behind
// its name where there are `several`; both empty without findings.
std::string algebraic_text(const std::optional<AmgFindings>& amg, const std::string& solver,
                           int bottom_level);
std::string algebraic_records(const std::optional<AmgFindings>& amg, const std::string& solver,
                              bool several = false);

}  // namespace keel
