# Executables, inputs, and the scripts with their commands in PATH; with Python also pages, man pages and completion. The folders
# in share/keel are those of the sources, so that scripts find all of it as they do there; setup.py copies the same ones.
if(KEEL_SIMULATED)  # beside a keel for real machines
  install(TARGETS keel keel_platform RUNTIME DESTINATION libexec/keel LIBRARY DESTINATION libexec/keel)
else()
  install(TARGETS keel)
endif()
set(data ${CMAKE_INSTALL_DATADIR}/keel)
install(DIRECTORY inputs DESTINATION ${data}
  PATTERN smoke EXCLUDE PATTERN CMakeLists.txt EXCLUDE PATTERN platform.cpp EXCLUDE)
install(DIRECTORY scripts/studies scripts/namespaces DESTINATION ${data}/scripts PATTERN __pycache__ EXCLUDE)
set(commands study report simulate hosts)
list(TRANSFORM commands PREPEND scripts/ OUTPUT_VARIABLE scripts)
install(PROGRAMS ${scripts} DESTINATION ${data}/scripts)
install(FILES scripts/mpi_environment DESTINATION ${data}/scripts)
install(FILES LICENSE CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(made ${PROJECT_BINARY_DIR}/installed)
file(MAKE_DIRECTORY ${made}/bin)
foreach(command IN LISTS commands)
  file(CREATE_LINK ${KEEL_DATA_FROM_BIN}/scripts/${command} ${made}/bin/keel-${command} SYMBOLIC)
endforeach()
install(DIRECTORY ${made}/bin/ DESTINATION ${CMAKE_INSTALL_BINDIR})

find_package(Python3 3.11 QUIET COMPONENTS Interpreter)
if(NOT Python3_FOUND OR KEEL_SIMULATED)
  message(STATUS "Installing will leave out pages, man pages and completion, which want Python 3.11 and a keel that starts here")
  return()
endif()
install(CODE "
  execute_process(RESULT_VARIABLE status COMMAND \"${Python3_EXECUTABLE}\" -B \"${PROJECT_SOURCE_DIR}/packaging/installed.py\"
    \"$<TARGET_FILE:keel>\" \"${made}/texts\")
  if(status)
    message(WARNING \"Pages, man pages or completion are missing: see above\")
  endif()")
install(DIRECTORY ${made}/texts/doc/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${made}/texts/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL)
install(DIRECTORY ${made}/texts/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions OPTIONAL)
install(DIRECTORY ${made}/texts/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions OPTIONAL)
