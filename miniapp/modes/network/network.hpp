#pragma once

#include <memory>

#include "miniapp/modes/mode.hpp"

namespace keel {

std::unique_ptr<Mode> make_network_mode();

}  // namespace keel
