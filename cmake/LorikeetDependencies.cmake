# SPDX-License-Identifier: Apache-2.0
# Every library the project uses, from packages (see packaging/dependencies.txt).
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(SQLite3 REQUIRED)
find_package(SQLiteCpp REQUIRED)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)

function(lorikeet_import target header library)
  find_path(${target}_INCLUDE ${header} REQUIRED)
  find_library(${target}_LIBRARY ${library} REQUIRED)
  add_library(${target} INTERFACE IMPORTED)
  target_include_directories(${target} INTERFACE ${${target}_INCLUDE})
  target_link_libraries(${target} INTERFACE ${${target}_LIBRARY})
endfunction()
lorikeet_import(utf8proc utf8proc.h utf8proc)
# Not find_package(Snappy): older Debian packages have no CMake files.
lorikeet_import(snappy snappy-c.h snappy)
# Not through pkg-config: it would link sentencepiece's trainer too.
lorikeet_import(sentencepiece sentencepiece_processor.h sentencepiece)
# Not find_package(dnnl): Debian's config asks for OpenCL's development files.
lorikeet_import(dnnl oneapi/dnnl/dnnl.hpp dnnl)

set(LORIKEET_QT_COMPONENTS Core)
if(BUILD_TESTING OR NOT DEFINED BUILD_TESTING)
  list(APPEND LORIKEET_QT_COMPONENTS Test)
endif()
if(LORIKEET_STUDIO)
  list(APPEND LORIKEET_QT_COMPONENTS Widgets Svg PrintSupport DBus LinguistTools)
  find_package(QCustomPlotQt6 REQUIRED)
endif()
find_package(Qt6 6.4 REQUIRED COMPONENTS ${LORIKEET_QT_COMPONENTS})
