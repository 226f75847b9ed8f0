#pragma once

// Puts one TOML value into the parameters, or says why not: what came, what is allowed, the nearest valid word.

#include <toml++/toml.h>

#include <optional>
#include <span>
#include <string>

#include "miniapp/deck/keys.hpp"

namespace keel {

// What is wrong with the value, or nothing: then the key's parameter has it.
std::optional<std::string> assign(const Key& key, const toml::node& value, Parameters& parameters);

// A value as the user would write it, fit to be shown.
std::string shown_value(const toml::node& value);

std::string quoted(const std::string& text);

bool is_among(std::span<const std::string> names, const std::string& word);
std::string did_you_mean(const std::optional<std::string>& name);  // " (did you mean ...?)", or nothing

// Whether the text is a number to C but, for want of digits on one side of its point, not to TOML; and what to say then.
bool lacks_digits(const std::string& text);
inline constexpr const char* both_sides =
    "; a number has digits on both sides of its point, as 0.3 or 1.0e-8";

}  // namespace keel
