#pragma once

// comm.node_map: a file that says which node each rank pretends to run on. One label (a word) a line, the first for rank
// 0; `#` begins a comment, empty lines do not count.

#include <string>
#include <vector>

#include "miniapp/deck/text/file_text.hpp"

namespace keel {

struct NodeMap {
    std::vector<int> labels;  // by rank; equal numbers for equal words
    std::string error;        // why the file is no map for so many ranks, and the remedy; empty if it is one
};

NodeMap parse_node_map(const FileText& file, int ranks);

}  // namespace keel
