#pragma once

// The origin of a run: date, command and environment, so that a record is distinct from others, and its run
// be made again.

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace keel {

struct Origin {
    std::string id;     // the date and 32 random bits
    std::string date;   // ISO 8601, UTC
    std::string label;  // run.label
    std::vector<std::string> command;
    // Variables of this process: those of OpenMP, MPI, fabrics and Keel that change times, and the job's
    // number and memory. Variables by which a launcher finds its own ranks are left out.
    std::vector<std::pair<std::string, std::string>> environment;
};
// Now, of this process.
Origin origin_of(std::span<char* const> command, const std::string& label);

}  // namespace keel
