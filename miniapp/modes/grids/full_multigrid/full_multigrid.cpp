#include "miniapp/modes/grids/full_multigrid/full_multigrid.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace keel {
namespace {

class FullMultigridMode : public GridMode {
  public:
    std::string name() const override { return "full_multigrid"; }
    std::string meaning() const override { return "one full multigrid cycle, to the discretisation error"; }
    KeyUses keys() const override {
        std::vector<KeyUse> uses = keys_of_grids();
        const std::string known =
            "run.mode = full_multigrid knows its solution, rhs = manufactured; leave it out";
        uses.insert(uses.begin(), {{"problem.rhs", {}, known},
                                   {"problem.data", {}, known},
                                   {"multigrid.cycle", {}, "full multigrid is an F-cycle; leave it out"},
                                   {"multigrid.accelerator", {}, "the cycle is not repeated; leave it out"}});
        uses.push_back({"multigrid."});
        return {uses, "plays no part in run.mode = full_multigrid; leave it out"};
    }
    void check(Rules& rules, int ranks) const override {
        GridMode::check(rules, ranks);
        const Parameters& p = rules.parameters();
        const int widest_bottom = p.problem.box >> judged_levels;
        rules.require(
            p.multigrid.bottom_box <= widest_bottom, {"multigrid.bottom_box", "problem.box", "run.mode"},
            fmt::format(
                "multigrid.bottom_box = {}: a full multigrid cycle is judged on grids of spacing h, 2h "
                "and 4h, each with a coarser one below; choose {}problem.box from {}",
                p.multigrid.bottom_box,
                widest_bottom > 0 ? fmt::format("at most {}, or ", widest_bottom) : "",
                std::int64_t{p.multigrid.bottom_box} << judged_levels));
        rules.require(
            p.multigrid.tolerance <= loosest_exact, {"multigrid.tolerance", "run.mode"},
            fmt::format("multigrid.tolerance = {:g}: is too loose for the exact discrete solutions that "
                        "the cycle is compared with; choose at most {:g}",
                        p.multigrid.tolerance, loosest_exact));
    }

  protected:
    GridUse use(const Deck& deck) const override {
        return {.solvers = solvers(deck), .full_multigrid = true, .predicted = false};
    }
    std::unique_ptr<PreparedMode> prepare(const Resolved& resolved, const GridSetup& grids) const override {
        GridSetup manufactured = grids;
        manufactured.problem.rhs = Rhs::manufactured;
        manufactured.multigrid.cycle = Cycle::f;
        return std::make_unique<PreparedFullMultigrid>(resolved, manufactured);
    }
};

}  // namespace

std::unique_ptr<Mode> make_full_multigrid_mode() {
    return std::make_unique<FullMultigridMode>();
}

}  // namespace keel
