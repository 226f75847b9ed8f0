# The GPU source as plain C++.
function(keel_gpu_emulated_object target path)
  add_library(${target} OBJECT ${path}.cpp)
  target_link_libraries(${target} PRIVATE keel_options)
  target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O1>)  # nobody times it
endfunction()
