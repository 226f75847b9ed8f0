#pragma once

// The files that a deck names. Rank 0 reads each once and tells the others.

#include <filesystem>
#include <optional>

#include "comm/ranks/communicator.hpp"
#include "miniapp/deck/deck.hpp"

namespace keel {

// The file's text on all ranks; nothing where there is none. Collective.
std::optional<FileText> read_once(const std::optional<std::filesystem::path>& file, const Communicator& comm);

struct NamedFiles {
    std::optional<FileText> machine;   // comm.machine
    std::optional<FileText> node_map;  // comm.node_map
};
NamedFiles read_named_files(const Deck& deck, const Communicator& comm);  // collective

}  // namespace keel
