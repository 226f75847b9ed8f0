#include <simgrid/s4u.hpp>

#include "kernels/timing/clock.hpp"

namespace keel {

double now() {
    return simgrid::s4u::Engine::get_clock();
}

bool simulated() {
    return true;
}

std::string simulated_platform() {
    return simgrid::s4u::Engine::get_instance()->get_netzone_root()->get_name();
}

// To SimGrid the rank sleeps: no other rank slows it down, as on cores of its own, and messages travel on.
void let_pass(double seconds) {
    simgrid::s4u::this_actor::sleep_for(seconds);
}

}  // namespace keel
