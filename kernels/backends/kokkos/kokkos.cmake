add_library(keel_backend_kokkos OBJECT backends/kokkos/kokkos.cpp)
target_link_libraries(keel_backend_kokkos PRIVATE keel_options Kokkos::kokkos)
target_compile_definitions(keel_backend_kokkos PRIVATE $<$<BOOL:${KEEL_KOKKOS_BY_CELLS}>:KEEL_KOKKOS_BY_CELLS>)
# The inner loops of rows ask to be vectorised, whether Kokkos has OpenMP or not.
target_compile_options(keel_backend_kokkos PRIVATE -fopenmp-simd)
if(CUDA IN_LIST Kokkos_DEVICES AND NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # The bodies of cells are constexpr functions, not marked for the device.
  target_compile_options(keel_backend_kokkos PRIVATE --expt-relaxed-constexpr)
endif()
