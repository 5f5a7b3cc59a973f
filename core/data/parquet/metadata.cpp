// SPDX-License-Identifier: Apache-2.0
// The footer of a Parquet file: parquet.thrift, FileMetaData and what it holds.
#include "core/data/parquet/metadata.h"

#include <algorithm>
#include <cstring>

#include "core/data/parquet/thrift.h"
#include "kernels/base/error.h"

namespace lorikeet::parquet {
namespace {

using Type = ThriftReader::Type;

constexpr std::size_t tail_bytes = 8;  // length of the footer and PAR1
constexpr std::size_t most_nodes = 10'000;
constexpr int deepest_schema = 32;

struct Element {
  Node node;
  std::int64_t children = 0;
};

Error damaged(const std::string& what) {
  return Error(ErrorCode::bad_format, "The Parquet file is damaged: " + what);
}

Element read_element(ThriftReader& reader) {
  Element element;
  reader.structure([&](int id, Type type) {
    const bool number = type == Type::i32;
    if (id == 1 && number) {
      const std::int64_t physical = reader.integer();
      if (physical < 0 || physical > 7) throw damaged("a column has an unknown type");
      element.node.type = static_cast<Physical>(physical);
    } else if (id == 2 && number) {
      element.node.type_length = reader.integer();
    } else if (id == 3 && number) {
      const std::int64_t repetition = reader.integer();
      if (repetition < 0 || repetition > 2) throw damaged("a column has an unknown repetition");
      element.node.repetition = static_cast<Repetition>(repetition);
    } else if (id == 4 && type == Type::binary) {
      element.node.name = reader.binary();
    } else if (id == 5 && number) {
      element.children = reader.integer();
    } else if (id == 6 && number) {
      const std::int64_t converted = reader.integer();
      element.node.is_list = element.node.is_list || converted == 3;
      element.node.is_unsigned = converted >= 11 && converted <= 14;
    } else if (id == 10 && type == Type::structure) {
      reader.structure([&](int kind, Type) {
        element.node.is_list = element.node.is_list || kind == 3;
        return false;
      });
    } else {
      return false;
    }
    return true;
  });
  return element;
}

/// Builds the tree out of the elements, which come parents first.
class SchemaBuilder {
 public:
  SchemaBuilder(std::vector<Element>& elements, int& leaves) : elements_(elements), leaves_(leaves) {}

  Node build(int depth, int definition, int repetitions) {
    if (next_ >= elements_.size()) throw damaged("its schema breaks off");
    if (depth > deepest_schema) throw damaged("its schema is nested too deep");
    Element& element = elements_[next_++];
    Node node = std::move(element.node);
    if (depth > 0 && node.repetition != Repetition::required) ++definition;
    if (depth > 0 && node.repetition == Repetition::repeated) ++repetitions;
    node.definition = definition;
    node.repetitions = repetitions;
    node.first_leaf = leaves_;
    if (element.children == 0 && depth > 0) {
      node.leaf = leaves_++;
    } else if (element.children < 0 ||
               element.children > static_cast<std::int64_t>(elements_.size() - next_)) {
      throw damaged("its schema breaks off");
    }
    for (std::int64_t i = 0; i < element.children; ++i)
      node.children.push_back(build(depth + 1, definition, repetitions));
    node.leaf_count = leaves_ - node.first_leaf;
    if (depth > 0 && node.leaf_count == 0) throw damaged("a group has no columns");
    return node;
  }
  bool done() const { return next_ == elements_.size(); }

 private:
  std::vector<Element>& elements_;
  int& leaves_;
  std::size_t next_ = 0;
};

Chunk read_column_metadata(ThriftReader& reader, std::uint64_t file_bytes) {
  Chunk chunk;
  std::int64_t size = 0, data = -1, dictionary = 0;
  reader.structure([&](int id, Type type) {
    if (type != Type::i32 && type != Type::i64) return false;
    if (id == 4) {
      chunk.codec = reader.integer();
    } else if (id == 5) {
      chunk.values = reader.integer();
    } else if (id == 7) {
      size = reader.integer();
    } else if (id == 9) {
      data = reader.integer();
    } else if (id == 11) {
      dictionary = reader.integer();
    } else {
      return false;
    }
    return true;
  });
  const std::int64_t begin = dictionary > 0 && dictionary < data ? dictionary : data;
  if (chunk.values == 0) return chunk;  // an empty column need not lie anywhere
  if (begin < 4 || size < 0 || chunk.values < 0 || static_cast<std::uint64_t>(begin) > file_bytes ||
      static_cast<std::uint64_t>(size) > file_bytes - static_cast<std::uint64_t>(begin)) {
    throw damaged("a column lies outside the file");
  }
  chunk.begin = static_cast<std::uint64_t>(begin);
  chunk.size = static_cast<std::uint64_t>(size);
  return chunk;
}

Chunk read_chunk(ThriftReader& reader, std::uint64_t file_bytes) {
  Chunk chunk;
  bool described = false;
  reader.structure([&](int id, Type type) {
    if (id == 1 && type == Type::binary) {
      if (!reader.binary().empty())
        throw Error(ErrorCode::unsupported, "The Parquet file keeps its columns in other files");
      return true;
    }
    if (id == 8) throw Error(ErrorCode::unsupported, "The Parquet file is encrypted");
    if (id != 3 || type != Type::structure) return false;
    chunk = read_column_metadata(reader, file_bytes);
    return described = true;
  });
  if (!described) throw damaged("a column is not described");
  return chunk;
}

RowGroup read_group(ThriftReader& reader, std::uint64_t file_bytes) {
  RowGroup group;
  reader.structure([&](int id, Type type) {
    if (id == 1 && type == Type::list) {
      reader.list([&](Type) { group.chunks.push_back(read_chunk(reader, file_bytes)); });
    } else if (id == 3 && type == Type::i64) {
      group.rows = reader.integer();
    } else {
      return false;
    }
    return true;
  });
  if (group.rows < 0) throw damaged("a row group has a negative number of rows");
  return group;
}

Metadata parse(std::string_view footer, std::uint64_t data_bytes) {
  Metadata metadata;
  std::vector<Element> elements;
  ThriftReader reader(footer);
  reader.structure([&](int id, Type type) {
    if (id == 2 && type == Type::list) {
      reader.list([&](Type) {
        if (elements.size() == most_nodes) throw damaged("its schema has too many columns");
        elements.push_back(read_element(reader));
      });
    } else if (id == 3 && type == Type::i64) {
      metadata.rows = reader.integer();
    } else if (id == 4 && type == Type::list) {
      reader.list([&](Type) { metadata.groups.push_back(read_group(reader, data_bytes)); });
    } else if (id == 8) {
      throw Error(ErrorCode::unsupported, "The Parquet file is encrypted");
    } else {
      return false;
    }
    return true;
  });
  int leaves = 0;
  SchemaBuilder builder(elements, leaves);
  metadata.root = builder.build(0, 0, 0);
  if (!builder.done()) throw damaged("its schema has columns that belong nowhere");
  for (const RowGroup& group : metadata.groups) {
    if (std::ssize(group.chunks) != leaves)
      throw damaged("a row group has another number of columns than the schema");
  }
  return metadata;
}

}  // namespace

bool is_parquet(std::string_view first_bytes) {
  return first_bytes.starts_with("PAR1") || first_bytes.starts_with("PARE");
}

Metadata read_metadata(std::string_view file, const std::string& path) {
  const auto located = [&](const Error& error) {
    return Error(error.code(), error.message(), path, "Write the data again, or convert them to JSONL");
  };
  try {
    const std::string_view tail = file.substr(file.size() - std::min(file.size(), tail_bytes));
    if (file.starts_with("PARE") || tail.ends_with("PARE"))
      throw Error(ErrorCode::unsupported, "The Parquet file is encrypted");
    if (file.size() < tail_bytes + 4 || !tail.ends_with("PAR1"))
      throw damaged("it does not end as one does, so it was not written or copied to its end");
    std::uint32_t footer = 0;
    std::memcpy(&footer, tail.data(), sizeof footer);
    const std::size_t data_bytes = file.size() - tail_bytes;
    if (footer > data_bytes - 4) throw damaged("its footer is longer than the file");
    Metadata metadata = parse(file.substr(data_bytes - footer, footer), data_bytes - footer);
    return metadata;
  } catch (const Error& error) {
    throw located(error);
  }
}

}  // namespace lorikeet::parquet
