// The plan of one rank for reading: --print-plan.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "comm/costs/comparison.hpp"
#include "miniapp/deck/text/text.hpp"
#include "miniapp/schemes/scheme_table.hpp"

namespace keel {
namespace {

// The number in the run of a rank that takes part in the use.
int in_run(const SchemeUse& use, int rank) {
    return use.ranks.empty() ? rank : use.ranks[static_cast<std::size_t>(rank)];
}

// "12 items of rank 3, 4 of rank 5".
std::string owners_text(const Message& message, const SchemeUse& use) {
    std::map<int, int> owners;
    for (const Item& item : message.items) ++owners[in_run(use, item.owner)];
    std::vector<std::string> parts;
    for (const auto& [owner, items] : owners)
        parts.push_back(fmt::format("{}{} of rank {}", items,
                                    !parts.empty() ? ""
                                    : items == 1   ? " item"
                                                   : " items",
                                    owner));
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string phase_text(const PhaseMessages& phase, const SchemeUse& use, const Topology& topology) {
    std::string text = fmt::format("  {}\n", name(phase.phase));
    if (phase.messages.empty()) return fmt::format("  {}: nothing\n", name(phase.phase));
    for (const bool sent : {true, false})
        for (const Message& message : phase.messages) {
            if ((sent ? message.source : message.target) != use.layout.rank()) continue;
            const int peer = in_run(use, sent ? message.target : message.source);
            text += fmt::format("    {} rank {} on node {}: {} bytes, {}{}\n", sent ? "to  " : "from", peer,
                                topology.node(peer), message.values() * use.value_bytes,
                                owners_text(message, use),
                                message.sequence == 0 ? "" : fmt::format(" (part {})", message.sequence + 1));
        }
    return text;
}

}  // namespace

std::string plan_text(const GridSetup& grids, const Resolved& resolved, int rank,
                      const SharedMemory& memory) {
    const Topology& topology = resolved.topology;
    std::string text =
        fmt::format("rank {} of {}, on node {} with ranks {}\n", rank, topology.ranks(), topology.node(rank),
                    fmt::join(topology.ranks_on(topology.node(rank)), ", "));
    GridSetup of_rank = grids;
    of_rank.rank = rank;
    const Layout finest = of_rank.finest();
    std::vector<SchemeTable> modelled;  // only a model needs the plans of all ranks
    if (resolved.comm.chooser == SchemeChooser::automatic)
        modelled = plan_all_schemes(grids, finest, resolved.comm, {topology, resolved.model()},
                                    {true, memory.limit()});
    const std::vector<SchemeUse> uses = scheme_uses(grids, finest);
    for (std::size_t n = 0; n < uses.size(); ++n) {
        const SchemeUse& use = uses[n];
        const SchemeOptions scheme = modelled.empty() ? scheme_needed(resolved.comm, use)
                                                      : modelled[n].rows[*modelled[n].chosen].scheme;
        std::string what = "all cells back from there";
        if (use.layout.rank() < 0) continue;  // on other ranks
        if (const GhostCells* ghosts = use.ghosts())
            what = fmt::format("{} from {} neighbours for the {}", counted(ghosts->depth, "layer"),
                               number_of(ghosts->neighbours, use.layout.dimensions()), purpose_of(use));
        else if (use.moves()->way == Way::there)
            what = use.moves()->agglomeration.merges() ? "all cells to where boxes are merged"
                                                       : "all cells to where they are solved on";
        text += fmt::format("level {}, boxes of {}^{}, {}: {}\n", use.level, use.layout.width(),
                            use.layout.dimensions(), what, name(scheme));
        const Plan plan = plan_of(use, use.among(topology), scheme, use.layout.rank());
        plan.for_each_phase([&](const PhaseMessages& phase) { text += phase_text(phase, use, topology); });
    }
    return text + "bytes: of one field; an item is a part of a box that travels as a whole\n";
}

}  // namespace keel
