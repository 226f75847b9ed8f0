#pragma once

#include <string>
#include <string_view>

namespace keel {

// SHA-256 of the text (FIPS 180-4), in hexadecimal digits, as sha256sum prints it.
std::string sha256(std::string_view text);

}  // namespace keel
