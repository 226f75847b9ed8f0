#pragma once

// problem.shape: a file that lists the boxes of a domain. Each line has three integers from 0 on, a position
// along x, y and z; `#` begins a comment, empty lines do not count.

#include <string>
#include <vector>

#include "kernels/layout/box.hpp"
#include "miniapp/deck/text/file_text.hpp"

namespace keel {

struct BoxFile {
    std::vector<Index> positions;
    std::string error;  // why the file is no list, and the remedy; empty if it is one
};

BoxFile parse_box_file(const FileText& file);

}  // namespace keel
