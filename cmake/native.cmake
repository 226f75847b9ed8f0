# KEEL_NATIVE_FLAG: what this compiler calls the processor of this machine; empty unless KEEL_NATIVE asks for it.
set(KEEL_NATIVE_FLAG)
if(KEEL_NATIVE)
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-march=native KEEL_TAKES_MARCH_NATIVE)
  if(KEEL_TAKES_MARCH_NATIVE)
    set(KEEL_NATIVE_FLAG -march=native)
  else()  # GCC on POWER
    check_cxx_compiler_flag(-mcpu=native KEEL_TAKES_MCPU_NATIVE)
    if(KEEL_TAKES_MCPU_NATIVE)
      set(KEEL_NATIVE_FLAG -mcpu=native)
    else()
      message(STATUS "KEEL_NATIVE: ${CMAKE_CXX_COMPILER} takes neither -march=native nor -mcpu=native; without them")
    endif()
  endif()
endif()

# KEEL_WIDE_VECTORS_FLAG: the processor's widest vectors, which GCC avoids where processors of the past became slower by them.
# Rows of half sweeps take a tenth less time by them (results/speed).
set(KEEL_WIDE_VECTORS_FLAG)
if(KEEL_NATIVE)
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-mprefer-vector-width=512 KEEL_TAKES_VECTOR_WIDTH)
  if(KEEL_TAKES_VECTOR_WIDTH)
    set(KEEL_WIDE_VECTORS_FLAG -mprefer-vector-width=512)
  endif()
endif()
