#pragma once

// The files that a deck names. Rank 0 reads each once and sends it to the others.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "comm/ranks/communicator.hpp"
#include "miniapp/deck/deck.hpp"

namespace keel {

// The text of the file on all ranks, of at most `most_bytes` bytes; nothing where none is named. A file that
// is not there is looked for in the folders. Collective.
std::optional<FileText> read_once(const std::optional<std::filesystem::path>& file,
                                  const std::vector<std::filesystem::path>& folders, const Communicator& comm,
                                  std::size_t most_bytes = most_deck_bytes);

// problem.data of side 2 d + (0 low, 1 high) of direction d: {side} becomes x_low, x_high, y_low, ...
std::string file_of_side(std::string name, int side);

struct NamedFiles {
    std::optional<FileText> machine;   // comm.machine
    std::optional<FileText> node_map;  // comm.node_map
    std::optional<FileText> boxes;     // problem.shape
};
// problem.shape gets the positions of its file; the paths of arrays, which ranks read by parts, are those
// that rank 0 finds.
NamedFiles read_named_files(Deck& deck, const Communicator& comm);  // collective

}  // namespace keel
