#pragma once

// Large pages for large arrays. A stencil streams many arrays at once, and with pages of 4 kB the processor
// spends time on finding them. Linux gives pages of 2 MB to programs that ask, unless its administrator has
// said never.

#include <cstddef>
#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace keel {

// Asks for large pages in the part of an array that is whole pages; only those of 2 MB that lie within it
// become such, so it takes no more memory. Call it before the array is first touched. It is a wish: nothing
// depends on whether it is granted.
inline void prefer_large_pages([[maybe_unused]] void* array, [[maybe_unused]] std::size_t bytes) {
#if defined(MADV_HUGEPAGE)
    constexpr std::size_t worthwhile = std::size_t{4} << 20;
    if (bytes < worthwhile) return;
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t skipped = (page - reinterpret_cast<std::uintptr_t>(array) % page) % page;
    madvise(static_cast<char*>(array) + skipped, (bytes - skipped) / page * page, MADV_HUGEPAGE);
#endif
}

}  // namespace keel
