#pragma once

// comm.node_map: a file with the node that each rank pretends to run on, and the socket if that is known. One
// label a line, the first for rank 0: NODE or NODE:SOCKET, words; `#` begins a comment, empty lines do not
// count.

#include <string>
#include <vector>

#include "miniapp/deck/text/file_text.hpp"

namespace keel {

struct NodeMap {
    std::vector<int> labels;   // by rank; equal numbers for equal words
    std::vector<int> sockets;  // by rank, the same of a node's sockets; empty if the file has none
    std::string error;         // why the file is no map for so many ranks, and the remedy; empty if it is one
};

NodeMap parse_node_map(const FileText& file, int ranks);

}  // namespace keel
