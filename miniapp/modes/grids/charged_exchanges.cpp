#include "miniapp/modes/grids/charged_exchanges.hpp"

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kernels/check.hpp"
#include "kernels/timing/clock.hpp"
#include "miniapp/schemes/scheme_choice.hpp"

namespace keel {
namespace {

class ChargedExchange : public Exchange {
  public:
    ChargedExchange(std::unique_ptr<Exchange> inner, double seconds, Ledger& ledger)
        : inner_(std::move(inner)), seconds_(seconds), ledger_(ledger) {}

    void begin(std::span<const Field> u, std::optional<Colour> colour) override {
        check_equal(u.size(), std::size_t{1}, "exchanges above the bottom carry one field");
        inner_->begin(u, colour);
    }
    void finish() override {
        inner_->finish();
        timed(ledger_, Op::charged, 0, [&] { let_pass(seconds_); });
    }
    void reserve(std::size_t fields) override { inner_->reserve(fields); }
    long count() const override { return inner_->count(); }
    bool overlaps() const override { return inner_->overlaps(); }
    const Plan& plan() const override { return inner_->plan(); }

  private:
    std::unique_ptr<Exchange> inner_;
    double seconds_;
    Ledger& ledger_;
};

// Seconds that the plans take for one exchange of the operator's ghosts on each of the levels, one after the other. Each rank
// plans its part.
double seconds_of(const std::vector<SchemeUse>& uses, std::size_t value_bytes, const Resolved& resolved,
                  const Communicator& comm) {
    double seconds = 0;
    for (const SchemeUse& use : uses) {
        const Setup setup{resolved.topology, resolved.model(), value_bytes};
        SchemeOptions options = resolved.comm.scheme;
        options.columns = use.columns;
        const bool by_model = resolved.comm.chooser == SchemeChooser::automatic;
        const std::vector<SchemeOptions> schemes = by_model ? candidates(options) : std::vector{options};
        const std::vector<SchemeRow> rows =
            compare_parts(comm, setup, schemes, [&](const SchemeOptions& scheme) {
                return plan_of(use, setup.topology, scheme, use.layout.rank());
            });
        // Only rank 0 has times.
        if (comm.rank() == 0) seconds += (by_model ? fastest(rows) : rows.front()).seconds();
    }
    return comm.max(seconds);
}

}  // namespace

void charge_exchanges(Hierarchy& hierarchy, const Resolved& resolved, const GridSetup& grids,
                      const Communicator& comm, Ledger& ledger) {
    if (!resolved.simulation || !resolved.simulation->surrogate) return;
    const Surrogate& surrogate = *resolved.simulation->surrogate;
    GridSetup wide = grids;
    wide.problem.box = surrogate.box;
    std::vector<SchemeUse> uses = scheme_uses(wide, wide.finest());
    std::erase_if(uses, [&](const SchemeUse& use) {
        return use.level >= surrogate.levels_above() || !use.is(GhostCells::Purpose::stencil);
    });
    const auto charge = [&](Level& level, Precision precision) {
        check(!level.all_ghosts && !level.deep_ghosts,
              "the finest level of a surrogate has ghosts of one kind");
        level.ghosts = std::make_unique<ChargedExchange>(
            std::move(level.ghosts), seconds_of(uses, bytes_of_value(precision), resolved, comm), ledger);
    };
    charge(hierarchy.level(0), Precision::fp64);
    if (hierarchy.mixed()) charge(hierarchy.cycled(0), Precision::fp32);
}

}  // namespace keel
