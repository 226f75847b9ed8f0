#pragma once

// The rules that hold for every mode.

#include "miniapp/deck/rules.hpp"
#include "miniapp/files/named_files.hpp"

namespace keel {

// Nodes, machine, backend, files. Looks whether output.json could be written.
void check_common(Rules& rules, const NamedFiles& files, int started);

// Gives virtual ranks what the deck leaves open: the nodes of comm.machine and, if problem.ranks is on the
// command line, one box each where the deck's file has fewer boxes. Returns remarks.
std::vector<std::string> fit_virtual_ranks(Deck& deck, const NamedFiles& files, int started);

// Why the deck cannot run here and now, though it may elsewhere: the backend, devices that the MPI does not
// know, virtual ranks.
void check_run(Rules& rules, int started);

// The rules on all-reduces.
void check_sums(Rules& rules);

}  // namespace keel
