#pragma once

#include <cstdint>

namespace keel {

// A fixed scrambling of the 64-bit integers (the finaliser of SplitMix64; Steele, Lea and Flood 2014):
// numbers that look random but are the same on every rank and machine.
constexpr std::uint64_t scramble(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

// Uniform in [-1, 1) from a counter: the same number for a cell, or a box, on any decomposition.
constexpr double uniform(std::uint64_t seed, std::uint64_t counter) {
    return static_cast<double>(scramble(scramble(seed) + counter) >> 11) * 0x1.0p-52 - 1.0;
}

}  // namespace keel
