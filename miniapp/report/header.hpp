#pragma once

// The first and the last lines of a report.

#include <string>
#include <vector>

#include "miniapp/report/findings.hpp"

namespace keel {

// The deck as reports name it.
struct DeckFacts {
    std::vector<std::string> non_default;  // "problem.box = 32"
    std::vector<std::string> remarks;      // what the user should know of it
    std::string json;                      // every key's value
};

// Version, build, machine, what the study built, the deck's non-default keys, remarks and warnings.
std::string header_text(const DeckFacts& deck, const RunFacts& facts);

// Memory, checks, figure of merit, RESULT.
std::string closing_text(const Findings& findings);

}  // namespace keel
