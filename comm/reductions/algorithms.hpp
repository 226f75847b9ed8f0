#pragma once

#include <array>
#include <cstddef>
#include <functional>

#include "kernels/names.hpp"

namespace keel {

// How all-reduces are made: by MPI, or of point-to-point messages, for where MPI's do not overlap: recursive
// doubling; Rabenseifner's for long sums; sums of nodes first; or, for each number of words, one of these.
enum class AllReduceAlgorithm { mpi, recursive_doubling, rabenseifner, node_aware, automatic };
constexpr auto names_of(AllReduceAlgorithm) {
    return std::array{"mpi", "recursive_doubling", "rabenseifner", "node_aware", "auto"};
}

// The words of sums: doubles, or numbers of twice the precision, each of two doubles that no message parts.
enum class WordType { fp64, double_double };
constexpr std::size_t words_each(WordType type) {
    return type == WordType::double_double ? 2 : 1;
}

// The algorithm for sums of `words` words, if it is automatic.
using AlgorithmByWords = std::function<AllReduceAlgorithm(std::size_t words)>;

}  // namespace keel
