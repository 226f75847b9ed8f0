#pragma once

// Files that list something, one a line, in words: the boxes of a domain, the nodes of ranks. `#` begins a
// comment; empty lines do not count.

#include <string>
#include <vector>

#include "kernels/layout/box.hpp"
#include "miniapp/deck/text/file_text.hpp"

namespace keel {

// problem.shape: a position along x, y and z a line, three integers from 0 on.
struct BoxFile {
    std::vector<Index> positions;
    std::string error;  // why the file is no list, and the remedy; empty if it is one
};
BoxFile parse_box_file(const FileText& file);

// comm.node_map: the node that each rank pretends to run on, and the socket if that is known: NODE or
// NODE:SOCKET, the first line for rank 0.
struct NodeMap {
    std::vector<int> labels;   // by rank; equal numbers for equal words
    std::vector<int> sockets;  // by rank, the same of a node's sockets; empty if the file has none
    std::string error;         // why the file is no map for these ranks, and the remedy; empty if it is one
};
NodeMap parse_node_map(const FileText& file, int ranks);

}  // namespace keel
