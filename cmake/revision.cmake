# Run by every build: writes the revision of SOURCE_DIR into a source file, which changes only if the revision has.
#     cmake -DGIT=... -DSOURCE_DIR=... -DTEMPLATE=... -DRESULT=... -P revision.cmake
set(KEEL_REVISION unknown)
if(GIT)
  # The repository of SOURCE_DIR alone: not one around an unpacked archive, nor one that the environment names, as in a hook.
  execute_process(COMMAND ${GIT} rev-parse --local-env-vars OUTPUT_VARIABLE variables ERROR_QUIET)
  string(REGEX MATCHALL "[A-Z_]+" variables "${variables}")
  foreach(variable IN LISTS variables)
    unset(ENV{${variable}})
  endforeach()
  execute_process(COMMAND ${GIT} --git-dir=${SOURCE_DIR}/.git --work-tree=${SOURCE_DIR} describe --always --dirty
    WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(revision)
    set(KEEL_REVISION ${revision})
  endif()
endif()
configure_file(${TEMPLATE} ${RESULT} @ONLY)
