#pragma once

// A number of 16 bits that is not negative.

#include <bit>
#include <concepts>
#include <cstdint>

namespace keel {

// IEEE's half precision with the sign's bit given to the exponent: 11 binary digits of numbers below 3.99,
// normal from 2^-61 on, so that the faces of all levels need no scale of their own. Its bits are those of a
// float 2^65 times smaller.
class Half {
  public:
    Half() = default;
    // The nearest one, the even one of two.
    template <std::floating_point Real>
    explicit constexpr Half(Real value) {
        const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value) / unit);
        bits_ = static_cast<std::uint16_t>((bits + 0xFFF + ((bits >> 13) & 1)) >> 13);
    }
    constexpr operator float() const {
        return unit * std::bit_cast<float>(static_cast<std::uint32_t>(bits_) << 13);
    }

  private:
    static constexpr float unit = 0x1p65F;

    std::uint16_t bits_;
};

}  // namespace keel
