# For 64-bit Arm (Grace, A64FX, Graviton), run by qemu on this processor: scripts/cross aarch64.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
