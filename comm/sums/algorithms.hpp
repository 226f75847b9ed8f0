#pragma once

#include <array>

#include "kernels/names.hpp"

namespace keel {

// How sums over all ranks travel. mpi: as MPI has it. The others are made of messages of ours, for where MPI's do not
// overlap: recursive doubling; Rabenseifner's for long sums; sums of nodes first.
enum class AllReduceAlgorithm { mpi, recursive_doubling, rabenseifner, node_aware };
constexpr auto names_of(AllReduceAlgorithm) {
    using Name = Named<AllReduceAlgorithm>;
    return std::array{Name{AllReduceAlgorithm::mpi, "mpi"},
                      Name{AllReduceAlgorithm::recursive_doubling, "recursive_doubling"},
                      Name{AllReduceAlgorithm::rabenseifner, "rabenseifner"},
                      Name{AllReduceAlgorithm::node_aware, "node_aware"}};
}

}  // namespace keel
