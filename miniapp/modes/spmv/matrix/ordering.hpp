#pragma once

// Orders of rows: a random one, and reverse Cuthill-McKee.

#include <cstdint>
#include <vector>

#include "solvers/systems/sparse/sparse_matrix.hpp"

namespace keel {

// A bijection of 0 .. n-1 without structure, computed row by row: no rank keeps a list.
//
// A Feistel network of four rounds (Luby, Rackoff, "How to construct pseudorandom permutations from
// pseudorandom functions", SIAM J. Comput. 1988) on the next power of 4, walked until it falls below n
// (Black, Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002).
class RandomPermutation {
  public:
    RandomPermutation(std::int64_t n, std::uint64_t seed);

    std::int64_t operator()(std::int64_t i) const { return moved(i, false); }
    std::int64_t inverse(std::int64_t i) const { return moved(i, true); }

  private:
    std::uint64_t round(std::uint64_t half, std::uint64_t key) const;
    std::int64_t moved(std::int64_t i, bool back) const;

    std::uint64_t n_;
    std::uint64_t seed_;
    int half_bits_ = 1;
};

// The reverse Cuthill-McKee order of a whole matrix' graph, both triangles together: the old number of each
// new row. Components follow each other, each from a pseudo-peripheral row (George, Liu, "An implementation
// of a pseudoperipheral node finder", ACM Trans. Math. Softw. 1979).
std::vector<std::int64_t> reverse_cuthill_mckee(const GlobalRows& A);

}  // namespace keel
