#pragma once

// What the program does with a study whose deck is resolved. Every function is collective; rank 0 speaks.

#include <string>
#include <vector>

#include "comm/ranks/communicator.hpp"
#include "miniapp/front/command_line.hpp"
#include "miniapp/report/header.hpp"
#include "miniapp/studies/study.hpp"

namespace keel {

enum Status { valid = 0, invalid = 1, bad_input = 2, broken = 3, interrupted = 4 };

// Whether any rank complains; rank 0 then tells its own complaints or, if it has none, those of the first that has.
bool refused(const std::vector<std::string>& complaints, const Communicator& comm);

Status print_plan(const PreparedStudy& study, int rank, const Communicator& comm);
Status dry_run(const PreparedStudy& study, const DeckFacts& deck, const OutputOptions& output,
               const Communicator& comm);
Status run_study(const PreparedStudy& study, const DeckFacts& deck, const OutputOptions& output, bool verbose,
                 const Communicator& comm);

}  // namespace keel
