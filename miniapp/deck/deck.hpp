#pragma once

// Reading what the user wrote: a TOML file, then `section.key=value` words. Nothing here throws at the user: every
// complaint says where, what came, what is allowed and the nearest valid name, and all are returned together.

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "kernels/box.hpp"
#include "miniapp/deck/parameters.hpp"

namespace keel {

struct Deck {
    Parameters parameters;
    std::map<std::string, std::string> origin;  // of every key: "deck.toml:14", "command line" or "default"
    std::vector<std::string> errors;            // empty: all that was given has been taken
    std::set<std::string> refused;              // keys whose value was given but is among the errors
};

// Reads the file, if there is one, then the overrides, which win over the file. A value of an override is TOML;
// a bare word is taken as a string. Purely local: no MPI.
Deck read_deck(const Table& table, const std::optional<std::filesystem::path>& file,
               std::span<const std::string> overrides);

// What is wrong with the combination of keys on so many ranks; empty if nothing. Leaves out what only follows
// from a key in deck.errors. Reads comm.node_map and a matrix file, and looks whether
// output.json could be written.
std::vector<std::string> validate(const Deck& deck, int ranks);

// Why the deck cannot run here and now, though it may elsewhere: the backend, what the MPI says of devices, a single rank in
// mode network.
std::vector<std::string> validate_for_here(const Deck& deck, int ranks);

// What only that rank looks at of a valid deck: its part of a matrix file's diagonal.
std::vector<std::string> validate_part(const Deck& deck, int ranks, int rank);

// Boxes per direction: problem.boxes, or as cubic as possible from ranks x boxes_per_rank.
Index resolved_boxes(const Parameters& parameters, int ranks);

}  // namespace keel
