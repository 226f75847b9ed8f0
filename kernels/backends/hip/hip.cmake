# HIP's compiler is hipcc: CMake's own language HIP wants files that Debian's ROCm does not have.
# CMAKE_HIP_ARCHITECTURES says for which GPUs.
set(CMAKE_HIP_ARCHITECTURES gfx90a CACHE STRING "GPUs that the HIP backend is compiled for")
set(CMAKE_HIP_FLAGS -O3 CACHE STRING "Options that hipcc is given")
find_program(HIPCC hipcc HINTS /opt/rocm/bin REQUIRED)
find_library(AMDHIP64 amdhip64 HINTS /opt/rocm/lib REQUIRED)
# Ranges for rocprof, where its library is installed.
find_path(ROCTX_INCLUDE roctracer/roctx.h HINTS /opt/rocm/include)
find_library(ROCTX roctx64 HINTS /opt/rocm/lib)
set(roctx_options)
if(ROCTX_INCLUDE AND ROCTX)
  set(roctx_options -DKEEL_ROCTX -I${ROCTX_INCLUDE})
endif()

function(keel_hip_object target path)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/${path}.hip)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${target}${CMAKE_CXX_OUTPUT_EXTENSION})
  list(TRANSFORM CMAKE_HIP_ARCHITECTURES PREPEND --offload-arch= OUTPUT_VARIABLE architectures)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${HIPCC} -x hip -std=c++20 ${CMAKE_HIP_FLAGS} -fPIC -Wall -Wextra $<$<BOOL:${KEEL_WERROR}>:-Werror> ${architectures}
      -I${PROJECT_SOURCE_DIR} ${roctx_options} -MD -MF ${object}.d -c ${source} -o ${object}
    DEPENDS ${source}
    DEPFILE ${object}.d
    COMMENT "Compiling ${target}"
    COMMAND_EXPAND_LISTS VERBATIM)
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)

  add_library(${target} INTERFACE)
  target_sources(${target} INTERFACE ${object})
  target_link_libraries(${target} INTERFACE ${AMDHIP64})
  if(roctx_options)
    target_link_libraries(${target} INTERFACE ${ROCTX})
  endif()
endfunction()
