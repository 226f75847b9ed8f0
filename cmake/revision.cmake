# Run by every build: writes the revision of SOURCE_DIR into a source file, which changes only if the revision has.
#     cmake -DGIT=... -DSOURCE_DIR=... -DTEMPLATE=... -DRESULT=... -P revision.cmake
set(KEEL_REVISION unknown)
if(GIT)
  execute_process(COMMAND ${GIT} describe --always --dirty
    WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(revision)
    set(KEEL_REVISION ${revision})
  endif()
endif()
configure_file(${TEMPLATE} ${RESULT} @ONLY)
