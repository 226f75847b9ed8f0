# The CUDA backend. CMAKE_CUDA_ARCHITECTURES says for which GPUs.
if(NOT CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80 90)
endif()
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)

add_library(keel_backend_cuda OBJECT backends/cuda/cuda.cu)
target_include_directories(keel_backend_cuda PRIVATE ${PROJECT_SOURCE_DIR})
# CMake 3.25 knows no C++20 for CUDA and would silently leave the standard out. The bodies of kernels are constexpr.
set_target_properties(keel_backend_cuda PROPERTIES CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED OFF)
target_compile_options(keel_backend_cuda PRIVATE
  -std=c++20 --expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra $<$<BOOL:${KEEL_WERROR}>:-Werror=all-warnings>)
target_link_libraries(keel_kernels PRIVATE keel_backend_cuda CUDA::cudart_static)
