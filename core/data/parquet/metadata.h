// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lorikeet::parquet {

enum class Physical : std::uint8_t { boolean, int32, int64, int96, real32, real64, bytes, fixed_bytes };
enum class Repetition : std::uint8_t { required, optional, repeated };

/// A node of the schema, with how often and how deep it repeats (Dremel's levels).
struct Node {
  std::string name;
  Repetition repetition = Repetition::required;
  Physical type = Physical::bytes;  ///< of a leaf
  std::int64_t type_length = 0;     ///< of fixed_bytes
  bool is_list = false;             ///< annotated LIST
  bool is_unsigned = false;
  int definition = 0, repetitions = 0;  ///< levels at which a value of this node is there
  int leaf = -1;                        ///< index of the column chunk, -1 for a group
  int first_leaf = 0, leaf_count = 0;   ///< the leaves below (or the node itself)
  std::vector<Node> children;
};

/// Where one column of one row group lies.
struct Chunk {
  std::int64_t codec = 0, values = 0;
  std::uint64_t begin = 0, size = 0;  ///< bytes in the file, checked against it
};

struct RowGroup {
  std::int64_t rows = 0;
  std::vector<Chunk> chunks;  ///< by leaf
};

struct Metadata {
  Node root;
  std::int64_t rows = 0;
  std::vector<RowGroup> groups;
};

/// Reads the description at the end of a Parquet file and checks every number in it against the file. Throws
/// Error(bad_format | unsupported) naming `path`.
Metadata read_metadata(std::string_view file, const std::string& path);

/// Whether bytes begin as a Parquet file does.
bool is_parquet(std::string_view first_bytes);

}  // namespace lorikeet::parquet
