#include "miniapp/setup/machine/simulation.hpp"

#include <fmt/format.h>

#include <cmath>

#include "kernels/timing/clock.hpp"

namespace keel {
namespace {

// Ghosts have as many cells as faces, but for those at edges and corners of boxes, of which deep ones have more.
bool on_surface(Op op) {
    return op == Op::boundary || is_exchange(op);
}

}  // namespace

int Surrogate::levels_above() const {
    int levels = 0;
    for (int width = computed; width < box; width *= 2) ++levels;
    return levels;
}

double Surrogate::more_cells() const {
    return std::pow(static_cast<double>(box) / computed, static_cast<double>(dimensions));
}

double Surrogate::more_surface() const {
    return std::pow(static_cast<double>(box) / computed, static_cast<double>(dimensions - 1));
}

std::string Surrogate::text() const {
    return fmt::format("boxes of {}^{} are charged, {}^{} computed", box, dimensions, computed, dimensions);
}

std::optional<Simulation> simulation_on(const Machine& machine) {
    if (!simulated()) return {};
    if (!machine.compute) throw MissingParameter(machine.name, {"[compute]"}, "");
    return Simulation{simulated_platform(), machine.name, *machine.compute};
}

Price price_of(const std::optional<Simulation>& simulation) {
    if (!simulation) return {};
    return [compute = simulation->compute, surrogate = simulation->surrogate](Op op, int level,
                                                                              const Work& work) {
        double seconds = compute.time(1, work);
        if (!surrogate || level > 0) return seconds;
        for (Surrogate of_level = *surrogate; of_level.box > of_level.computed; of_level.box /= 2) {
            const double more = on_surface(op) ? of_level.more_surface() : of_level.more_cells();
            seconds += compute.time(1, {more * work.flops, more * work.bytes});
        }
        return seconds;
    };
}

}  // namespace keel
