# The libraries that Keel is compiled with: as CMake finds them, by CMAKE_PREFIX_PATH, modules or Spack; with KEEL_FETCH those
# that are not found are fetched, in the releases of Debian 12 or the next ones. SHA256 of fmt, json, toml++ and Catch2 were
# computed from their repositories (git archive TAG | gzip -cn), that of Eigen is the one in Spack's recipe of July 2026.
option(KEEL_FETCH "Fetch what is not found of Eigen, fmt, nlohmann_json, toml++ and, for tests, Catch2" OFF)
set(KEEL_FETCH_FROM "" CACHE STRING
  "Folder, or address, with what KEEL_FETCH would fetch, under the names that it has there, for machines without the net")

include(FetchContent)
if(POLICY CMP0135)
  cmake_policy(SET CMP0135 NEW)  # what is unpacked is as old as the unpacking
endif()

# A package of at least a version, or of a later major version, which most packages count as another one. Spack's recipe and
# docs/how-to/cluster.md say the same versions.
set(keel_missing)
set(keel_wanted)
macro(keel_find package least)
  foreach(version ${least} ${ARGN})
    if(NOT ${package}_FOUND)
      find_package(${package} ${version} QUIET)
    endif()
  endforeach()
  if(NOT ${package}_FOUND)
    list(APPEND keel_missing ${package})
    list(APPEND keel_wanted "${package} ${least}")
    foreach(version IN LISTS ${package}_CONSIDERED_VERSIONS)
      string(APPEND keel_wanted " (not ${version})")
    endforeach()
  endif()
endmacro()

# Sets keel_url to a file of this machine. FetchContent itself would try again for minutes where there is no net, and name no remedy.
function(keel_download url hash archive)
  set(remedy "Where there is no net, copy the archives whose addresses are in cmake/libraries.cmake into a folder and give "
    "-DKEEL_FETCH_FROM=FOLDER, or install the libraries")
  if(NOT url MATCHES "^[a-z]+://")
    if(NOT EXISTS ${url})
      message(FATAL_ERROR "KEEL_FETCH: no file ${url}. " ${remedy})
    endif()
    return()
  endif()
  set(found)
  if(EXISTS ${archive})
    file(SHA256 ${archive} found)
  endif()
  if(NOT found STREQUAL hash)
    file(DOWNLOAD ${url} ${archive} STATUS status INACTIVITY_TIMEOUT 20)
    list(GET status 0 failed)
    if(failed)
      file(REMOVE ${archive})
      list(GET status 1 reason)
      message(FATAL_ERROR "KEEL_FETCH: ${url}: ${reason}. " ${remedy})
    endif()
  endif()
  set(keel_url ${archive} PARENT_SCOPE)
endfunction()

# Sets <name>_SOURCE_DIR. None of their own build scripts runs: what Keel needs of them is a folder of headers, and fmt's sources.
macro(keel_fetch name url hash)
  set(keel_url ${url})
  get_filename_component(keel_archive ${url} NAME)
  if(KEEL_FETCH_FROM)
    set(keel_url ${KEEL_FETCH_FROM}/${keel_archive})
  endif()
  message(STATUS "KEEL_FETCH: ${name} from ${keel_url}")
  string(TOUPPER FETCHCONTENT_SOURCE_DIR_${name} keel_unpacked)
  if(NOT ${keel_unpacked})
    keel_download(${keel_url} ${hash} ${PROJECT_BINARY_DIR}/archives/${keel_archive})
  endif()
  FetchContent_Declare(${name} URL ${keel_url} URL_HASH SHA256=${hash} SOURCE_SUBDIR none-of-it)
  FetchContent_MakeAvailable(${name})
endmacro()

# Its headers are those of a system, whose warnings are not ours.
function(keel_headers target folder)
  add_library(keel_fetched_${target} INTERFACE)
  target_include_directories(keel_fetched_${target} SYSTEM INTERFACE ${folder})
endfunction()

keel_find(Eigen3 3.4 5)
keel_find(fmt 9)
keel_find(nlohmann_json 3.11)
keel_find(tomlplusplus 3.3)
keel_find(ZLIB 1.2)
if(KEEL_TESTS)
  keel_find(Catch2 2.13 3)
endif()

if(ZLIB IN_LIST keel_missing AND KEEL_FETCH)
  message(FATAL_ERROR "Not found: ZLIB, which KEEL_FETCH does not fetch. Install it (Debian: zlib1g-dev), or say where it is "
    "(-DZLIB_ROOT=FOLDER)")
endif()
if(keel_missing AND NOT KEEL_FETCH)
  list(JOIN keel_wanted ", " keel_wanted)
  message(FATAL_ERROR "Not found: ${keel_wanted}, or newer. Install or load them (docs/how-to/cluster.md names the packages), say where they are "
    "(-DCMAKE_PREFIX_PATH=\"FOLDER;FOLDER\"), or have them fetched (-DKEEL_FETCH=ON)")
endif()

if(Eigen3 IN_LIST keel_missing)
  keel_fetch(eigen3 https://gitlab.com/libeigen/eigen/-/archive/3.4.0/eigen-3.4.0.tar.gz
    8586084f71f9bde545ee7fa6d00288b264a2b7ac3607b974e54d13e7162c1c72)
  keel_headers(eigen3 ${eigen3_SOURCE_DIR})
  add_library(Eigen3::Eigen ALIAS keel_fetched_eigen3)
endif()
if(fmt IN_LIST keel_missing)
  keel_fetch(fmt https://github.com/fmtlib/fmt/archive/refs/tags/9.1.0.tar.gz
    5dea48d1fcddc3ec571ce2058e13910a0d4a6bab4cc09a809d8b1dd1c88ae6f2)
  add_library(keel_fetched_fmt STATIC ${fmt_SOURCE_DIR}/src/format.cc ${fmt_SOURCE_DIR}/src/os.cc)
  target_include_directories(keel_fetched_fmt SYSTEM PUBLIC ${fmt_SOURCE_DIR}/include)
  add_library(fmt::fmt ALIAS keel_fetched_fmt)
endif()
if(nlohmann_json IN_LIST keel_missing)
  keel_fetch(nlohmann_json https://github.com/nlohmann/json/archive/v3.11.2.tar.gz
    d69f9deb6a75e2580465c6c4c5111b89c4dc2fa94e3a85fcd2ffcd9a143d9273)
  keel_headers(nlohmann_json ${nlohmann_json_SOURCE_DIR}/include)
  add_library(nlohmann_json::nlohmann_json ALIAS keel_fetched_nlohmann_json)
endif()
if(tomlplusplus IN_LIST keel_missing)
  keel_fetch(tomlplusplus https://github.com/marzer/tomlplusplus/archive/refs/tags/v3.4.0.tar.gz
    8517f65938a4faae9ccf8ebb36631a38c1cadfb5efa85d9a72e15b9e97d25155)
  keel_headers(tomlplusplus ${tomlplusplus_SOURCE_DIR}/include)
  add_library(tomlplusplus::tomlplusplus ALIAS keel_fetched_tomlplusplus)
endif()
if(Catch2 IN_LIST keel_missing)
  keel_fetch(catch2 https://github.com/catchorg/Catch2/archive/refs/tags/v2.13.10.tar.gz
    d54a712b7b1d7708bc7a819a8e6e47b2fde9536f487b89ccbca295072a7d9943)
  set(Catch2_VERSION 2.13.10)
  keel_headers(catch2 ${catch2_SOURCE_DIR}/single_include)
  add_library(Catch2::Catch2 ALIAS keel_fetched_catch2)
  add_library(keel_fetched_catch2_main STATIC EXCLUDE_FROM_ALL ${catch2_SOURCE_DIR}/src/catch_with_main.cpp)
  target_link_libraries(keel_fetched_catch2_main PUBLIC keel_fetched_catch2)
  add_library(Catch2::Catch2WithMain ALIAS keel_fetched_catch2_main)
endif()
