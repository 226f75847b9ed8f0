#pragma once

// Numbers with units that fit them.

#include <string>

#include "miniapp/deck/text.hpp"

namespace keel {

std::string bytes_text(double bytes);      // "14.5 MB"
std::string seconds_text(double seconds);  // "3.37 ms", in 4 digits

}  // namespace keel
