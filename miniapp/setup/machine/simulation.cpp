#include "miniapp/setup/machine/simulation.hpp"

#include "kernels/timing/clock.hpp"

namespace keel {

std::optional<Simulation> simulation_on(const Machine& machine) {
    if (!simulated()) return {};
    if (!machine.compute) throw MissingParameter(machine.name, {"[compute]"}, "");
    return Simulation{simulated_platform(), machine.name, *machine.compute};
}

Price price_of(const std::optional<Simulation>& simulation) {
    if (!simulation) return {};
    return [compute = simulation->compute](const Work& work) { return compute.time(1, work); };
}

}  // namespace keel
