// NAP-3: all that a node needs of another crosses in one message. The ranks of a node share these messages
// out by size: those it gets from the first rank up, those it sends from the last rank down. (Bienz, Gropp,
// Olson 2020, section 3; Lockhart 2023, Alg. 3.1, line 18.) Where sockets are known, a rank on the socket
// that most of the message comes from or goes to is preferred. (Lockhart 2023, section 5.4.)

#include "comm/plans/inter_node_traffic.hpp"
#include "comm/plans/schemes.hpp"

namespace keel {

Planner three_step() {
    const auto never = [](const SchemeOptions&) -> MessageSplit {
        return {[](std::span<const std::size_t>, int) { return std::optional<std::size_t>(); }};
    };
    return {.scheme = Scheme::three_step,
            .word = "three_step",
            .meaning = "all that a node needs of another in one message, gathered and passed on",
            .source = "Bienz, Gropp, Olson 2020, section 3 (NAP-3)",
            .candidates = {{.scheme = Scheme::three_step}},
            .split = never};
}

}  // namespace keel
