# CUDA's compiler. CMAKE_CUDA_ARCHITECTURES says for which GPUs.
if(NOT CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80 90)
endif()
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake before 3.30 does not know that nvcc speaks C++20
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
endif()

function(keel_cuda_object target path)
  add_library(${target} OBJECT ${path}.cu)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  # The bodies of kernels are constexpr functions.
  target_compile_options(${target} PRIVATE
    --expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra $<$<BOOL:${KEEL_WERROR}>:-Werror=all-warnings>)
  target_link_libraries(${target} PUBLIC CUDA::cudart_static ${CMAKE_DL_LIBS})
endfunction()
