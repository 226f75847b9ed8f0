#pragma once

// The rules that tie keys of a deck to each other.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "miniapp/deck/deck.hpp"

namespace keel {

// Collects the rules that do not hold. A rule names the keys that it judges together, the likeliest culprit
// first: the complaint points to the first that the user set, and is left out if one of them was refused
// already.
class Rules {
  public:
    explicit Rules(const Deck& deck, bool of_dry_run = false) : deck_(deck), of_dry_run_(of_dry_run) {}

    void require(bool holds, const std::vector<std::string>& keys, const std::string& otherwise) {
        if (holds || std::ranges::any_of(keys, [&](auto& key) { return deck_.refused.contains(key); }))
            return;
        const auto culprit = std::ranges::find_if(keys, [&](auto& key) { return is_set(key); });
        errors_.push_back(
            fmt::format("{}: {}", culprit == keys.end() ? "default" : deck_.origin.at(*culprit), otherwise));
    }

    // The same; the complaint begins with the first key and its value: "problem.box = 3: ...".
    void allow(bool holds, const std::vector<std::string>& keys, const std::string& otherwise) {
        if (holds) return;
        const DeckValue value = deck_.table->find(keys.front())->value(parameters());
        constexpr std::size_t longest_path = 300;
        require(false, keys,
                fmt::format("{} = {}: {}", keys.front(), shown_value(value, longest_path), otherwise));
    }

    bool is_set(const std::string& key) const { return deck_.is_set(key); }
    // Whether the deck is to be planned, not run.
    bool of_dry_run() const { return of_dry_run_; }
    const Deck& deck() const { return deck_; }
    const Parameters& parameters() const { return deck_.parameters; }

    bool hold() const { return errors_.empty(); }
    std::vector<std::string> errors() && { return std::move(errors_); }

  private:
    const Deck& deck_;
    bool of_dry_run_;
    std::vector<std::string> errors_;
};

}  // namespace keel
