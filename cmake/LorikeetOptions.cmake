# SPDX-License-Identifier: Apache-2.0
# Language level, warnings and sanitizers, as targets: link lorikeet_options PRIVATE.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

option(LORIKEET_STUDIO "Build the studio (needs Qt Widgets and QCustomPlot)" ON)
option(LORIKEET_ASSERTIONS "Keep assert() in optimised builds" OFF)
set(LORIKEET_SANITIZE "" CACHE STRING "Sanitizers, for example address,undefined")

add_library(lorikeet_options INTERFACE)
target_include_directories(lorikeet_options INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
# x86-64-v2 is the lowest processor served; files with faster code add their own flags.
target_compile_options(lorikeet_options INTERFACE
  # GCC 12 sees overlaps that cannot be in "text" + std::string (its bug 105651).
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wno-restrict -march=x86-64-v2 -ffp-contract=off
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
if(LORIKEET_ASSERTIONS)
  target_compile_options(lorikeet_options INTERFACE -UNDEBUG)
endif()
if(LORIKEET_SANITIZE)
  target_compile_options(lorikeet_options INTERFACE -fsanitize=${LORIKEET_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(lorikeet_options INTERFACE -fsanitize=${LORIKEET_SANITIZE})
endif()
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
