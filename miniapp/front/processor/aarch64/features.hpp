#pragma once

// Extensions of 64-bit Arm that a compiler uses by itself: the macro that tells of each, and whether the
// system reports it of this processor, by the bit of Linux's lists, which older headers do not name.

#include <sys/auxv.h>

#define KEEL_ARM(F, macro, name, list, bit) F(macro, name, ((getauxval(list) >> (bit)) & 1) != 0)

#define KEEL_FEATURES(F)                                                    \
    KEEL_ARM(F, __ARM_FEATURE_CRC32, "crc32", AT_HWCAP, 7)                  \
    KEEL_ARM(F, __ARM_FEATURE_ATOMICS, "lse", AT_HWCAP, 8)                  \
    KEEL_ARM(F, __ARM_FEATURE_FP16_VECTOR_ARITHMETIC, "fp16", AT_HWCAP, 10) \
    KEEL_ARM(F, __ARM_FEATURE_QRDMX, "rdm", AT_HWCAP, 12)                   \
    KEEL_ARM(F, __ARM_FEATURE_COMPLEX, "complex", AT_HWCAP, 14)             \
    KEEL_ARM(F, __ARM_FEATURE_DOTPROD, "dotprod", AT_HWCAP, 20)             \
    KEEL_ARM(F, __ARM_FEATURE_SVE, "sve", AT_HWCAP, 22)                     \
    KEEL_ARM(F, __ARM_FEATURE_SVE2, "sve2", AT_HWCAP2, 1)                   \
    KEEL_ARM(F, __ARM_FEATURE_MATMUL_INT8, "i8mm", AT_HWCAP2, 13)           \
    KEEL_ARM(F, __ARM_FEATURE_BF16, "bf16", AT_HWCAP2, 14)
