#pragma once

// A bijection of 0 .. n-1 without structure, computed row by row: no rank keeps a list.

#include <cstdint>

namespace keel {

// A Feistel network of four rounds (Luby, Rackoff, "How to construct pseudorandom permutations from
// pseudorandom functions", SIAM J. Comput. 1988) on the next power of 4, walked until it falls below n
// (Black, Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002).
class RandomPermutation {
  public:
    RandomPermutation(std::int64_t n, std::uint64_t seed);

    std::int64_t operator()(std::int64_t i) const;
    std::int64_t inverse(std::int64_t i) const;

  private:
    std::uint64_t round(std::uint64_t half, std::uint64_t key) const;
    std::uint64_t forth(std::uint64_t x) const;
    std::uint64_t back(std::uint64_t x) const;

    std::uint64_t n_;
    std::uint64_t seed_;
    int half_bits_ = 1;
};

}  // namespace keel
