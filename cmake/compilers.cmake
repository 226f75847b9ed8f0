# Refuses compilers and options that Keel does not compile or run right with, before anything is compiled. Also a script:
#     cmake -DCMAKE_CXX_COMPILER_ID=GNU -DCMAKE_CXX_COMPILER_VERSION=10.2.0 -P cmake/compilers.cmake
# The least versions, which docs/how-to/cluster.md and packaging/spack/package.py say, too. CCE (CrayClang, or Clang to older
# CMakes) has the number of the Clang in it; IntelLLVM 2022 has Clang 14 in it.
set(KEEL_LEAST_GNU 11)
set(KEEL_LEAST_Clang 14)
set(KEEL_LEAST_CrayClang 14)
set(KEEL_LEAST_IntelLLVM 2022)
set(keel_compilers "GNU 11, Clang 14, CCE 14 and IntelLLVM 2022, or newer ones")

set(keel_compiler "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
set(keel_least ${KEEL_LEAST_${CMAKE_CXX_COMPILER_ID}})
if(NOT keel_least)
  message(WARNING "${keel_compiler} was never tried with Keel. Known to do: ${keel_compilers}")
elseif(CMAKE_CXX_COMPILER_VERSION VERSION_LESS keel_least)
  message(FATAL_ERROR "${keel_compiler} (${CMAKE_CXX_COMPILER}) does not compile Keel. Choose one of ${keel_compilers}: load its "
    "module (module load gcc/12; on a Cray PrgEnv-gnu), and say -DCMAKE_CXX_COMPILER=NAME in a new folder of a build")
endif()
if(CMAKE_SCRIPT_MODE_FILE)
  return()
endif()

# Without it Intel's compiler reorders sums and assumes that nothing is NaN.
if(CMAKE_CXX_COMPILER_ID STREQUAL IntelLLVM)
  string(PREPEND CMAKE_CXX_FLAGS "-fp-model=precise ")
endif()
# What the preprocessor can tell of the options and of the standard library is in a header, which refuses them in the build, too.
string(TOUPPER "CMAKE_CXX_FLAGS_${CMAKE_BUILD_TYPE}" keel_flags)
set(keel_flags "${CMAKE_CXX_FLAGS} ${${keel_flags}}")
if(keel_flags MATCHES "(^| )(-funsafe-math-optimizations|-fassociative-math)( |$)")  # of which Clang's defines no macro
  message(FATAL_ERROR "Drop ${CMAKE_MATCH_2}: reordered sums break run.deterministic")
endif()
separate_arguments(keel_flags UNIX_COMMAND "${keel_flags}")
execute_process(
  COMMAND ${CMAKE_CXX_COMPILER} ${keel_flags} ${CMAKE_CXX20_STANDARD_COMPILE_OPTION} -E -x c++
    ${PROJECT_SOURCE_DIR}/kernels/backends/strict_math.hpp
  OUTPUT_QUIET ERROR_VARIABLE keel_refusal RESULT_VARIABLE keel_failed)
if(keel_failed AND keel_refusal MATCHES "\"(Keel [^\"]*)\"")
  message(FATAL_ERROR "${CMAKE_MATCH_1}")
endif()
