# Debian's cross compiler and, in KEEL_SYSROOT of the environment, Debian's libraries for the other processor.
if(NOT keel_debian)
  set(keel_debian ${CMAKE_SYSTEM_PROCESSOR})
endif()
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_CXX_COMPILER ${keel_debian}-linux-gnu-g++)
set(CMAKE_SYSROOT $ENV{KEEL_SYSROOT})
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${CMAKE_SYSTEM_PROCESSOR} -L ${CMAKE_SYSROOT})
set(CMAKE_FIND_ROOT_PATH ${CMAKE_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# CMake finds that this compiler needs no wrapper, as that of a Cray.
set(keel_mpi ${CMAKE_SYSROOT}/usr/lib/${keel_debian}-linux-gnu/openmpi)
set(CMAKE_CXX_FLAGS_INIT "${keel_flags} -Wno-psabi -isystem ${keel_mpi}/include -DOMPI_SKIP_MPICXX")
set(CMAKE_CXX_STANDARD_LIBRARIES_INIT "-L${keel_mpi}/lib -lmpi -Wl,-rpath-link,${CMAKE_SYSROOT}/usr/lib/${keel_debian}-linux-gnu")
