# For POWER9, run by qemu on this processor: scripts/cross ppc64le.
set(CMAKE_SYSTEM_PROCESSOR ppc64le)
set(keel_debian powerpc64le)
set(keel_flags -mcpu=power9)
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
