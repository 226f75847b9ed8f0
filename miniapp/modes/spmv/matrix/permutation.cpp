#include "miniapp/modes/spmv/matrix/permutation.hpp"

#include "kernels/hash.hpp"

namespace keel {

namespace {

constexpr std::uint64_t rounds = 4;

}  // namespace

RandomPermutation::RandomPermutation(std::int64_t n, std::uint64_t seed)
    : n_(static_cast<std::uint64_t>(n)), seed_(scramble(seed)) {
    while ((std::uint64_t{1} << (2 * half_bits_)) < n_) ++half_bits_;
}

std::uint64_t RandomPermutation::round(std::uint64_t half, std::uint64_t key) const {
    return scramble(half + scramble(seed_ + key)) & ((std::uint64_t{1} << half_bits_) - 1);
}

std::uint64_t RandomPermutation::forth(std::uint64_t x) const {
    const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
    std::uint64_t left = x >> half_bits_;
    std::uint64_t right = x & mask;
    for (std::uint64_t k = 0; k < rounds; ++k) {
        const std::uint64_t mixed = left ^ round(right, k);
        left = right;
        right = mixed;
    }
    return left << half_bits_ | right;
}

std::uint64_t RandomPermutation::back(std::uint64_t x) const {
    const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
    std::uint64_t left = x >> half_bits_;
    std::uint64_t right = x & mask;
    for (std::uint64_t k = rounds; k-- > 0;) {
        const std::uint64_t mixed = right ^ round(left, k);
        right = left;
        left = mixed;
    }
    return left << half_bits_ | right;
}

std::int64_t RandomPermutation::operator()(std::int64_t i) const {
    std::uint64_t x = static_cast<std::uint64_t>(i);
    do x = forth(x);
    while (x >= n_);
    return static_cast<std::int64_t>(x);
}

std::int64_t RandomPermutation::inverse(std::int64_t i) const {
    std::uint64_t x = static_cast<std::uint64_t>(i);
    do x = back(x);
    while (x >= n_);
    return static_cast<std::int64_t>(x);
}

}  // namespace keel
