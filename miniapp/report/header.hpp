#pragma once

// The first and the last lines of a report.

#include <string>
#include <vector>

#include "miniapp/report/findings.hpp"
#include "miniapp/report/records/origin.hpp"

namespace keel {

// The deck as reports name it.
struct DeckFacts {
    std::vector<std::string> non_default;  // "problem.box = 32"
    std::vector<std::string> remarks;      // what the user should know of it
    std::string json;                      // every key's value
    Origin origin;                         // of the run
};

// Remarks on f: a mean that it loses, boundary values, zero; else empty.
std::string right_side_text(const RunFacts& facts);

// A domain that is not the whole box around it: its shape, boxes and faces.
std::string domain_text(const DomainFacts& domain, const Index& around);

// The hardware of a node, and how many nodes have another.
std::string machine_text(const RunFacts& facts);

// Version, build, machine, what the mode built, the deck's non-default keys, remarks and warnings.
std::string header_text(const DeckFacts& deck, const RunFacts& facts);

// Memory, checks, figure of merit, RESULT.
std::string closing_text(const Findings& findings);

}  // namespace keel
