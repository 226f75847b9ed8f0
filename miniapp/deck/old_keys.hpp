#pragma once

// Keys, and values of keys, that a deck could have once. Whoever renames or drops one adds a row.

#include <span>
#include <string>
#include <string_view>

namespace keel {

struct OldKey {
    std::string_view key;     // "section.key"
    std::string_view value;   // only this word of a key that is still there; empty: the key itself is gone
    std::string_view remedy;  // a clause that ends the complaint: "write bottom.spectrum = [0.1, 2]"
};

std::span<const OldKey> old_keys();

// The row of the key, or of the word where `value` is not empty; a null pointer if there is none.
const OldKey* old_key(std::string_view key, std::string_view value = {});

// Whether there was a section of this name.
bool old_section(std::string_view section);

// "is no longer a key; write ...", to stand behind the key or `key = value`.
std::string old_key_text(const OldKey& old);

}  // namespace keel
