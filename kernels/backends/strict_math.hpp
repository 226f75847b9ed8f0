#pragma once

// Options that reorder sums, which breaks run.deterministic, or assume NaN away, which lets NaN of an input
// file pass, are refused here. So is a standard library that is too old for C++20.

#include <cstddef>

#if defined(__FAST_MATH__)
#error "Keel needs the arithmetic of IEEE 754: drop -ffast-math (-Ofast and -fp-model=fast imply it)"
#elif defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "Keel needs the arithmetic of IEEE 754, with NaN: drop -ffinite-math-only"
#elif defined(__ASSOCIATIVE_MATH__)
#error "Keel needs sums in their order: drop -funsafe-math-optimizations, or its -fassociative-math"
#elif defined(_GLIBCXX_RELEASE) && _GLIBCXX_RELEASE < 11
#error "Keel needs the standard library of GNU 11 or newer: give Clang --gcc-toolchain=FOLDER of one"
#endif
