#pragma once

// What one rank needs from others and owes to them. Pure data: no MPI, any imaginary number of ranks.

#include <vector>

#include "kernels/box.hpp"

namespace keel {

// Cells `source` of global box `from` fill the cells `target` (ghosts) of global box `to`.
struct Need {
    int from;
    Region source;
    int to;
    Region target;
    int owner;     // rank of `from`
    int receiver;  // rank of `to`

    friend bool operator==(const Need&, const Need&) = default;
};

// All needs that touch one rank, in an order that both sides of a message agree on.
struct Pattern {
    int rank = 0;
    std::vector<Need> receives;  // receiver = rank, owner elsewhere
    std::vector<Need> sends;     // owner = rank, receiver elsewhere
    std::vector<Need> copies;    // both are this rank
};

}  // namespace keel
