// SPDX-License-Identifier: Apache-2.0
#include "core/publish/export_files.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/model/check_model.h"
#include "core/model/gguf.h"
#include "core/model/model_config.h"
#include "core/model/model_files.h"
#include "core/model/weight_source.h"
#include "core/publish/tokenizer_writer.h"
#include "core/text/gguf_tokenizer.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t max_text_bytes = 64u << 20;

void check_target(const std::string& out) {
  std::error_code error;
  if (out.empty()) throw Error(ErrorCode::invalid_argument, "There is no folder to write to", "out");
  if (!fs::exists(out, error)) return;
  if (!fs::is_directory(out, error) || !fs::is_empty(out, error)) {
    throw Error(ErrorCode::invalid_argument, "The folder is there already and is not empty", out,
                "Choose a folder that does not exist yet or is empty");
  }
}

/// Puts the tensors into files of at most `limit` bytes of data, in the model's order; one larger than that
/// has its own.
std::vector<ExportFiles::Shard> lay_out_shards(const ModelSpec& spec, const std::string& dtype,
                                               std::uint64_t limit) {
  const auto width = static_cast<std::uint64_t>(find_safetensors_dtype(dtype)->bits / 8);
  std::vector<std::vector<SafetensorsPlan>> groups(1);
  std::uint64_t filled = 0;
  for (const ExpectedTensor& tensor : expected_tensors(spec)) {
    std::uint64_t bytes = width;
    for (const std::int64_t extent : tensor.shape) bytes *= static_cast<std::uint64_t>(extent);
    if (!groups.back().empty() && filled + bytes > limit) {
      groups.emplace_back();
      filled = 0;
    }
    groups.back().push_back({tensor.name, dtype, tensor.shape});
    filled += bytes;
  }
  std::vector<ExportFiles::Shard> shards;
  for (std::vector<SafetensorsPlan>& group : groups) {
    char name[64] = "model.safetensors";
    if (groups.size() > 1) {
      std::snprintf(name, sizeof name, "model-%05zu-of-%05zu.safetensors", shards.size() + 1, groups.size());
    }
    shards.push_back({name, plan_safetensors(std::move(group))});
  }
  return shards;
}

std::string index_text(const ModelSpec& spec, const std::vector<ExportFiles::Shard>& shards) {
  std::map<std::string, std::string> file_of;
  std::uint64_t total = 0;
  for (const ExportFiles::Shard& shard : shards) {
    for (const SafetensorsEntry& tensor : shard.layout.tensors) {
      file_of[tensor.name] = shard.name;
      total += tensor.bytes();
    }
  }
  Json index;
  index["metadata"] = {{"total_parameters", spec.parameters()}, {"total_size", total}};
  index["weight_map"] = file_of;
  return dump_json(index, 2) + "\n";
}

std::string dtype_of_config(const std::string& type) {
  return type == "bf16" ? "bfloat16" : type == "f16" ? "float16" : "float32";
}

/// The end ids of the base and those the adapter was trained to end with: without the latter the merged model
/// rambles on.
std::string generation_config(const std::string& folder, const ExportFiles& files) {
  Json json = Json::object();
  const std::string path = folder.empty() ? "" : folder + "/generation_config.json";
  if (!path.empty() && fs::exists(path)) json = read_json_file(path, max_text_bytes);
  std::vector<std::int32_t> ids = files.spec.eos_ids;
  for (const std::int32_t id : files.notes.stop_ids) {
    if (id < files.spec.vocab_size && std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  if (!json.contains("bos_token_id") && files.spec.bos_id >= 0) json["bos_token_id"] = files.spec.bos_id;
  if (!ids.empty()) json["eos_token_id"] = ids.size() == 1 ? Json(ids[0]) : Json(ids);
  return dump_json(json, 2) + "\n";
}

std::string merged_card(const ExportFiles& files) {
  const AdapterNotes& notes = files.notes;
  std::string card = "---\nlibrary_name: transformers\npipeline_tag: text-generation\n---\n\n";
  card += "# " + files.spec.name +
          " with a merged LoRA adapter\n\nMade with Lorikeet: base weights plus adapter, rank " +
          std::to_string(files.config.rank) + ".\n\n";
  if (notes.format == "alpaca") card += "Trained on the Alpaca prompt form; ask in the same form.\n";
  if (notes.format == "chat") card += "Trained with the chat template in this folder.\n";
  if (!notes.system.empty()) card += "\nSystem text of the training:\n\n    " + notes.system + "\n";
  return card;
}

void add_base_of_folder(const ModelFiles& base, const std::string& type, ExportFiles& files) {
  const std::string path = base.path + "/config.json";
  const Json config = config_for_export(read_json_file(path, max_text_bytes), files.spec,
                                        dtype_of_config(type), files.notes.rope_linear_factor);
  files.texts.emplace_back("config.json", dump_json(config, 2) + "\n");
  files.texts.emplace_back("generation_config.json", generation_config(base.path, files));
  for (const std::string& name : companion_files(base.path)) {
    const bool written = name == "config.json" || name == "generation_config.json";
    if (!written) files.copies.emplace_back(name, base.path + "/" + name);
  }
  for (const std::string& name : licence_files(base.path))
    files.copies.emplace_back(name, base.path + "/" + name);
}

void add_base_of_gguf(const ModelFiles& base, const std::string& type, ExportFiles& files) {
  const Json config = config_for_export(config_from_spec(files.spec, dtype_of_config(type)), files.spec,
                                        dtype_of_config(type), files.notes.rope_linear_factor);
  files.texts.emplace_back("config.json", dump_json(config, 2) + "\n");
  files.texts.emplace_back("generation_config.json", generation_config("", files));
  const GgufFile file(base.path);
  for (auto& text : tokenizer_files(read_gguf_tokenizer(file), files.spec.context, base.path))
    files.texts.push_back(std::move(text));
  // A GGUF file says its licence in the metadata, as a name or as text.
  std::string licence;
  for (const char* key : {"general.license", "general.license.name", "general.license.link"}) {
    if (file.has(key)) licence += file.text(key) + "\n";
  }
  if (!licence.empty()) files.texts.emplace_back("LICENSE", licence);
}

void add_chat_template(ExportFiles& files) {
  if (files.notes.format != "chat" || files.notes.template_text.empty()) return;
  const auto is_template = [](const auto& file) { return file.first == "chat_template.jinja"; };
  files.copies.erase(std::remove_if(files.copies.begin(), files.copies.end(), is_template),
                     files.copies.end());
  files.texts.emplace_back("chat_template.jinja", files.notes.template_text);
}

void lay_out_merged(const ExportRequest& request, const ModelFiles& base, ExportFiles& files) {
  const std::string dtype = merged_dtype(request.type);
  if (request.shard_bytes == 0)
    throw Error(ErrorCode::invalid_argument, "The shard size is zero", "shard-bytes");
  require_complete_model(files.spec, *open_weight_source(request.model_path));
  files.shards = lay_out_shards(files.spec, dtype, request.shard_bytes);
  if (files.shards.size() > 1) {
    files.texts.emplace_back("model.safetensors.index.json", index_text(files.spec, files.shards));
  }
  if (base.kind == ModelFiles::Kind::folder)
    add_base_of_folder(base, request.type, files);
  else
    add_base_of_gguf(base, request.type, files);
  add_chat_template(files);
  files.texts.emplace_back("README.md", merged_card(files));
}

void lay_out_adapter(const ExportRequest& request, ExportFiles& files) {
  files.texts.emplace_back("adapter_config.json", adapter_config_text(files.config));
  files.copies.emplace_back("adapter_model.safetensors", adapter_weights_path(request.adapter_path));
  for (const char* name : {"README.md", "lorikeet.json"}) {
    const std::string path = request.adapter_path + "/" + name;
    if (fs::exists(path))
      files.copies.emplace_back(name, path);
    else if (std::string_view(name) == "README.md")
      files.texts.emplace_back(name, adapter_card_text(files.config, files.notes));
  }
}

/// A LoRA file of GGUF holds A, B and one alpha, for any base (formats.md §7.5).
void require_plain_lora(const ExportFiles& files, const std::string& adapter) {
  const char* hint = "Export it merged";
  if (files.config.dora)
    throw Error(ErrorCode::unsupported, "The magnitudes of a DoRA adapter have no place in a LoRA GGUF",
                adapter, hint);
  if (files.notes.init == "loftq") {
    throw Error(ErrorCode::unsupported,
                "The adapter was started by LoftQ and fits its base quantised to " +
                    files.notes.quantization + " only, which no GGUF is",
                adapter, hint);
  }
}

}  // namespace

std::uint64_t ExportFiles::bytes() const {
  std::uint64_t total = 0;
  for (const Shard& shard : shards) total += shard.layout.file_bytes;
  for (const auto& [name, content] : texts) total += content.size();
  for (const auto& [name, from] : copies) total += fs::file_size(from);
  return total;
}

std::string merged_dtype(const std::string& type) {
  if (type == "bf16") return "BF16";
  if (type == "f16") return "F16";
  if (type == "f32") return "F32";
  throw Error(ErrorCode::unsupported, "Merged weights of the type \"" + type + "\" cannot be written", "type",
              "Use bf16, f16 or f32");
}

ExportFiles lay_out_export(const ExportRequest& request) {
  check_target(request.out);
  const ModelFiles base = locate_model(request.model_path);
  ExportFiles files;
  files.spec = read_model_spec(request.model_path);
  files.config = read_adapter_config(request.adapter_path);
  files.notes = read_adapter_notes(request.adapter_path);
  adapter_modules(files.spec, files.config);
  if (request.kind == "lora-gguf") require_plain_lora(files, request.adapter_path);
  if (request.kind == "merged")
    lay_out_merged(request, base, files);
  else if (request.kind == "adapter")
    lay_out_adapter(request, files);
  else
    throw Error(ErrorCode::unsupported, "Export as \"" + request.kind + "\" is not built", "as",
                "Use adapter or merged");
  return files;
}

std::vector<PlannedFile> plan_export(const ExportRequest& request) {
  const ExportFiles files = lay_out_export(request);
  std::vector<PlannedFile> planned;
  for (const ExportFiles::Shard& shard : files.shards)
    planned.push_back({shard.name, shard.layout.file_bytes});
  for (const auto& [name, content] : files.texts) planned.push_back({name, content.size()});
  for (const auto& [name, from] : files.copies) planned.push_back({name, fs::file_size(from)});
  std::sort(planned.begin(), planned.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return planned;
}

}  // namespace lorikeet
