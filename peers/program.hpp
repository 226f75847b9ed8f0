#pragma once

// The common part of programs that put Keel's problems to another code: command line, decks, refusals, the
// file of records. They know the options of keel, and refuse what the other code cannot do.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/ranks/communicator.hpp"
#include "miniapp/front/actions.hpp"
#include "miniapp/front/record_file.hpp"
#include "miniapp/setup/resolved.hpp"

namespace keel {

struct PeerProgram {
    std::string name;
    std::string usage;
    std::string about;
    std::vector<std::string> methods;  // words of --method, the default first; none: there is no such option
    // Returns which settings of a deck that is valid for keel have no meaning here, with the remedy.
    std::vector<std::string> (*not_for_peers)(const Deck& deck, int ranks);
};

// A deck that was read and found good, on all ranks.
struct PeerRun {
    std::string method;  // by --method
    Deck deck;
    Resolved resolved;
    std::unique_ptr<RecordFile> file;  // open on rank 0
};

// Reads words and deck, runs, and makes of both an exit status. Collective; rank 0 speaks.
Status run_peer(const PeerProgram& program, std::span<char* const> words,
                const std::function<Status(const PeerRun& run, const Communicator& comm)>& run);

}  // namespace keel
