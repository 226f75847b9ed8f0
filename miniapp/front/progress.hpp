#pragma once

#include <memory>

#include "miniapp/modes/mode.hpp"

namespace keel {

// On stderr: everything if `verbose`; else, on a terminal, no more than a line a second. Prints nothing on
// other ranks than 0.
std::unique_ptr<Progress> make_progress(bool speaks, bool verbose);

}  // namespace keel
