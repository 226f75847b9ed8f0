# Tests of what no optimisation changes: plans, what is read, whole runs with a fault.

# Plans for virtual ranks, which nobody sends, and models of them: on one rank.
keel_test_executable(plans comm Catch2::Catch2WithMain -O0
  comm/test_patterns.cpp
  comm/test_plans.cpp
  comm/test_rounds.cpp
  comm/costs/test_collective_time.cpp
  comm/costs/test_comparison.cpp
  comm/costs/test_network_fit.cpp
  comm/costs/test_plan_time.cpp
  comm/costs/test_representatives.cpp)
# It looks at every message of thousands of plans.
set_source_files_properties(comm/test_plans.cpp PROPERTIES COMPILE_OPTIONS -O1 SKIP_PRECOMPILE_HEADERS ON)

keel_test_executable(miniapp miniapp keel_test_main -O0
  miniapp/test_counted_grid.cpp
  miniapp/test_deck.cpp
  miniapp/test_grid_matrix.cpp
  miniapp/test_virtual_amg.cpp
  miniapp/test_matrices.cpp
  miniapp/test_mode.cpp
  miniapp/test_numpy_header.cpp
  miniapp/test_machine_file.cpp
  miniapp/test_processors.cpp
  miniapp/test_solve_time.cpp
  miniapp/test_simulation.cpp
  miniapp/test_table.cpp
  miniapp/test_verdict.cpp)

# Whole runs, in which something breaks.
keel_test_executable(faults miniapp keel_test_main -O0
  faults/faults.cpp
  faults/test_faults.cpp)
target_link_libraries(test_faults PRIVATE MPI::MPI_CXX)

# What anyone may write, decks, machines, node maps, matrices, fed with what nobody would. With KEEL_FUZZ (Clang) libFuzzer makes
# the inputs (scripts/fuzz); every other build reads those that are kept, in corpus/, and the files of inputs/.
foreach(topic deck machine node_map matrix)
  set(target fuzz_${topic})
  add_executable(${target} fuzz/${target}.cpp)
  target_link_libraries(${target} PRIVATE keel_options keel_miniapp)
  if(KEEL_FUZZ)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${target} PRIVATE fuzz/replay.cpp)
    keel_add_test(miniapp.corpus.${topic}
      $<TARGET_FILE:${target}> ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${topic} ${PROJECT_SOURCE_DIR}/inputs)
    set_tests_properties(miniapp.corpus.${topic} PROPERTIES
      ENVIRONMENT "${alone_environment}" LABELS "miniapp;corpus")
  endif()
endforeach()
