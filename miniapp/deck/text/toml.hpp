#pragma once

// The way to the TOML library that all who read TOML take.

#include <toml++/toml.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace keel {

struct TomlError {
    long line = 1;
    long column = 0;  // 0: not known
    std::string reason;
};
struct Toml {
    toml::table table;  // empty where there is an error
    std::optional<TomlError> error;
};

// Any text is survived.
Toml parse_toml(const std::string& text);

// The value as JSON, with null for dates and times, which JSON has not.
nlohmann::ordered_json value_of(const toml::node& node);

}  // namespace keel
