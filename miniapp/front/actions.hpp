#pragma once

// The actions of the program on a mode whose deck is resolved. Every function is collective; rank 0 prints.

#include <string>
#include <vector>

#include "comm/ranks/communicator.hpp"
#include "miniapp/front/command_line.hpp"
#include "miniapp/modes/mode.hpp"
#include "miniapp/report/header.hpp"

namespace keel {

enum Status { valid = 0, invalid = 1, bad_input = 2, broken = 3, interrupted = 4 };

// The start of the process, on its own clock.
struct Start {
    double begun = 0;        // before anything was done
    double mpi_seconds = 0;  // MPI's start alone
};

// Whether any rank complains; rank 0 then prints its own complaints or, if it has none, those of the first
// that has.
bool refused(const std::vector<std::string>& complaints, const Communicator& comm);

// `records`: the name of their file, empty for none.
Status dry_run(const PreparedMode& mode, const DeckFacts& deck, const std::string& records, bool verbose,
               const Communicator& comm);
Status run_mode(const PreparedMode& mode, const DeckFacts& deck, const std::string& records, bool verbose,
                double time_limit, const Start& start, const Communicator& comm);

}  // namespace keel
