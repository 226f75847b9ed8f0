#pragma once

// Shared by the entry points of libFuzzer.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

// The name and signature that libFuzzer asks for.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace keel {

inline std::string text_of(const std::uint8_t* data, std::size_t size) {
    return {data, data + size};
}

// Ends the process, in every build, so that libFuzzer keeps the input.
inline void require(bool holds, const char* promise) {
    if (holds) return;
    std::fprintf(stderr, "broken promise: %s\n", promise);
    std::abort();
}

}  // namespace keel
