#pragma once

// Launches are compared without the bytes of padding: with GCC, which nvcc calls, too. With Clang, as for
// HIP, a sequence of launches may go unrecognised.

namespace keel {

#if __has_builtin(__builtin_clear_padding)
constexpr bool clears_padding = true;
template <class T>
void clear_padding(T& value) {
    __builtin_clear_padding(&value);
}
#else
constexpr bool clears_padding = false;
template <class T>
void clear_padding(T&) {}
#endif

}  // namespace keel
