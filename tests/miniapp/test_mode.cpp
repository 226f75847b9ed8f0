// A mode on grids built as CONTRIBUTING says: it is valid only if it has measured and checked something.

#include <catch2/catch.hpp>

#include "miniapp/front/actions.hpp"
#include "miniapp/modes/grids/grid_mode.hpp"
#include "miniapp/modes/mode.hpp"
#include "miniapp/modes/repeat.hpp"
#include "solvers/multigrid/hierarchy.hpp"

namespace {

using namespace keel;

struct Deeds {
    bool measures = false;
    bool checks = false;
};

// Exchanges the ghosts of the finest level; no Krylov method takes part.
class GhostMode : public HierarchyMode {
  public:
    explicit GhostMode(Deeds deeds) : deeds_(deeds) {}
    std::string name() const override { return "ghosts"; }
    std::string meaning() const override { return "ghosts of the finest level"; }
    KeyUses keys() const override { return {keys_of_grids(), "plays no part"}; }
    std::vector<NamedSolver> solvers(const Deck&) const override { return {}; }

  protected:
    GridUse use(const Deck&) const override { return {.coarsens = false, .krylov = KrylovLevel::none}; }
    void measure(const Setting& setting, Findings& findings) const override {
        Level& finest = setting.hierarchy.level(0);
        const auto one = [&](int) { finest.ghosts->run(finest.f); };
        if (deeds_.measures) repeat(setting.context, {"exchanges", 0, 2}, findings, one);
        if (deeds_.checks) findings.checks.push_back({"finite", finest.reduction->max(0) == 0, 0, "0"});
    }

  private:
    Deeds deeds_;
};

Status status_of(Deeds deeds) {
    static const Table table = make_table();
    const std::vector<std::string> words{"problem.box=4", "problem.boxes=[2,2,1]", "run.triad_mb=1"};
    const Deck deck = read_deck(table, std::nullopt, words);
    REQUIRE(deck.errors.empty());
    const Communicator comm = Communicator::world();
    const Resolved resolved = resolve(deck, {}, comm);
    const GhostMode mode(deeds);
    return run_mode(*mode.prepare(deck, resolved), {{}, {}, "{}", {}}, "", false, 0, {now(), 0}, comm);
}

}  // namespace

TEST_CASE("a mode is valid only if it has measured and checked something") {
    CHECK(status_of({.measures = false, .checks = true}) == invalid);
    CHECK(status_of({.measures = true, .checks = false}) == invalid);
    CHECK(status_of({.measures = false, .checks = false}) == invalid);
    CHECK(status_of({.measures = true, .checks = true}) == valid);
}
