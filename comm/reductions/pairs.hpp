#pragma once

// Numbers of twice a double's precision as words of sums: high and low parts by turns.

#include <span>

#include "kernels/check.hpp"
#include "kernels/double_double.hpp"

namespace keel {

inline DoubleDouble pair_at(std::span<const double> words, std::size_t n) {
    return {words[2 * n], words[2 * n + 1]};
}
inline void put_pair(std::span<double> words, std::size_t n, const DoubleDouble& value) {
    words[2 * n] = value.high;
    words[2 * n + 1] = value.low;
}

// ours += theirs, number by number
inline void add_pairs(std::span<double> ours, std::span<const double> theirs) {
    check_equal(ours.size(), theirs.size(), "pairs of equally many words are added");
    for (std::size_t n = 0; n < ours.size() / 2; ++n)
        put_pair(ours, n, pair_at(ours, n) + pair_at(theirs, n));
}

}  // namespace keel
