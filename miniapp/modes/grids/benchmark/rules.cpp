#include "miniapp/modes/grids/benchmark/rules.hpp"

#include <algorithm>

namespace keel::benchmark {
namespace {

constexpr std::array freedoms_of_runs{Freedom{"bottom.", "solver"},
                                      Freedom{"amg.", "solver"},
                                      Freedom{"multigrid.", "solver"},
                                      Freedom{"multigrid.tolerance", fixed_by_rules},
                                      Freedom{"multigrid.bottom_box", fixed_by_rules},
                                      Freedom{"multigrid.precision", "precision"},
                                      Freedom{"multigrid.fused_box", "passes"},
                                      Freedom{"multigrid.fused_half_sweeps", "passes"},
                                      Freedom{"multigrid.reference_path", "passes"},
                                      Freedom{"multigrid.ghost_colours", "passes"},
                                      Freedom{"problem.storage", "passes"},
                                      Freedom{"problem.placement", "scheme"},
                                      Freedom{"comm.", "scheme"},
                                      Freedom{"comm.precision", "precision"},
                                      Freedom{"comm.ranks_per_node", fixed_by_rules},
                                      Freedom{"comm.ranks_per_socket", fixed_by_rules},
                                      Freedom{"comm.node_map", fixed_by_rules},
                                      Freedom{"run.gpu_sync", "passes"},
                                      Freedom{"run.mode", ""},
                                      Freedom{"run.backend", ""},
                                      Freedom{"run.label", ""},
                                      Freedom{"run.time_limit", ""},
                                      Freedom{"run.triad_mb", ""},
                                      Freedom{"output.", ""}};

}  // namespace

std::span<const Freedom> freedoms() {
    return freedoms_of_runs;
}

std::string_view freedom_of(std::string_view key) {
    const std::string_view section = key.substr(0, key.find('.') + 1);
    for (const std::string_view name : {key, section})
        if (const auto found = std::ranges::find(freedoms_of_runs, name, &Freedom::keys);
            found != freedoms_of_runs.end())
            return found->what;
    return fixed_by_rules;
}

}  // namespace keel::benchmark
