#include "miniapp/files/digest.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>

namespace keel {
namespace {

using Bits = std::uint32_t;
using State = std::array<Bits, 8>;
using Constants = std::array<Bits, 64>;

// The first 32 bits behind the point.
Bits fraction(double root) {
    return static_cast<Bits>(std::ldexp(root - std::floor(root), 32));
}

// The standard's constants: fractions of the square and cube roots of the first primes.
void set_constants(State& state, Constants& constants) {
    std::size_t n = 0;
    for (int candidate = 2; n < constants.size(); ++candidate) {
        bool prime = true;
        for (int divisor = 2; divisor * divisor <= candidate; ++divisor)
            prime = prime && candidate % divisor != 0;
        if (!prime) continue;
        if (n < state.size()) state[n] = fraction(std::sqrt(candidate));
        constants[n++] = fraction(std::cbrt(candidate));
    }
}

// Adds a block of 64 bytes.
void compress(State& state, const Constants& constants, std::string_view block) {
    Constants w{};
    for (std::size_t i = 0; i < block.size(); ++i)
        w[i / 4] = w[i / 4] << 8 | static_cast<unsigned char>(block[i]);
    for (std::size_t i = 16; i < w.size(); ++i) {
        const Bits s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
        const Bits s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < w.size(); ++i) {
        const Bits s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
        const Bits s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
        const Bits t1 = h + s1 + ((e & f) ^ (~e & g)) + constants[i] + w[i];
        const Bits t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    const State added{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state.size(); ++i) state[i] += added[i];
}

}  // namespace

std::string sha256(std::string_view text) {
    State state{};
    Constants constants{};
    set_constants(state, constants);
    std::string padded(text);
    padded += '\x80';
    padded.append((119 - text.size() % 64) % 64, '\0');
    for (int shift = 56; shift >= 0; shift -= 8) padded += static_cast<char>(8 * text.size() >> shift);
    for (std::size_t at = 0; at < padded.size(); at += 64)
        compress(state, constants, std::string_view(padded).substr(at, 64));
    std::string digits;
    for (const Bits word : state) digits += fmt::format("{:08x}", word);
    return digits;
}

}  // namespace keel
