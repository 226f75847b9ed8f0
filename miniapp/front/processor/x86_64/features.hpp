#pragma once

// Extensions of x86-64 that a compiler uses by itself: the macro that tells of each, and whether this
// processor and its system have it. Each is looked up anew, since nothing was run before.

#define KEEL_X86(F, macro, name) F(macro, name, (__builtin_cpu_init(), __builtin_cpu_supports(name)))

#define KEEL_FEATURES(F)                      \
    KEEL_X86(F, __SSE3__, "sse3")             \
    KEEL_X86(F, __SSSE3__, "ssse3")           \
    KEEL_X86(F, __SSE4_1__, "sse4.1")         \
    KEEL_X86(F, __SSE4_2__, "sse4.2")         \
    KEEL_X86(F, __POPCNT__, "popcnt")         \
    KEEL_X86(F, __AVX__, "avx")               \
    KEEL_X86(F, __AVX2__, "avx2")             \
    KEEL_X86(F, __FMA__, "fma")               \
    KEEL_X86(F, __FMA4__, "fma4")             \
    KEEL_X86(F, __XOP__, "xop")               \
    KEEL_X86(F, __BMI__, "bmi")               \
    KEEL_X86(F, __BMI2__, "bmi2")             \
    KEEL_X86(F, __AVX512F__, "avx512f")       \
    KEEL_X86(F, __AVX512CD__, "avx512cd")     \
    KEEL_X86(F, __AVX512BW__, "avx512bw")     \
    KEEL_X86(F, __AVX512DQ__, "avx512dq")     \
    KEEL_X86(F, __AVX512VL__, "avx512vl")     \
    KEEL_X86(F, __AVX512IFMA__, "avx512ifma") \
    KEEL_X86(F, __AVX512VBMI__, "avx512vbmi") \
    KEEL_X86(F, __AVX512VNNI__, "avx512vnni")
