// SPDX-License-Identifier: Apache-2.0
// Writes what PEFT and transformers are to load: write_peers_export FOLDER makes for the golden run and each
// case of lora_variants FOLDER/<case>/adapter (its ten steps by our trainer), merged (f32; not dora_nf4,
// whose magnitudes fit a base that no merged model has) and logits.f32, our own logits of the ids of the
// golden file.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/publish/export.h"
#include "kernels/base/error.h"
#include "tests/golden_tests/golden_training.h"
#include "tests/support/golden.h"

using namespace lorikeet;

namespace {

void write_adapter_and_merged(golden::Training& run, const std::string& folder, const AdapterNotes& notes,
                              bool merged) {
  while (!run.trainer->finished()) run.trainer->step();
  run.adapter.save(run.model.backend(), folder + "/adapter", notes);
  if (merged) {
    ExportRequest request;
    request.model_path = golden::path("tiny_llama");
    request.adapter_path = folder + "/adapter";
    request.kind = "merged";
    request.type = "f32";
    request.out = folder + "/merged";
    run_export(request);
  }
  const auto ids = golden::read_tensors("lora_10_steps/logits_final.safetensors").at("ids_3").integers();
  std::vector<std::int32_t> every(ids.size());
  for (std::size_t i = 0; i < every.size(); ++i) every[i] = static_cast<std::int32_t>(i);
  const std::vector<float> logits = run.model.logits(&run.adapter, ids, every);
  std::ofstream file(folder + "/logits.f32", std::ios::binary);
  file.write(reinterpret_cast<const char*>(logits.data()),
             static_cast<std::streamsize>(logits.size() * sizeof(float)));
  if (!file.flush()) throw Error(ErrorCode::io, "Cannot write", folder + "/logits.f32");
}

void write(const std::string& folder) {
  AdapterNotes notes;
  notes.base_name = "tiny_llama";
  std::filesystem::create_directories(folder + "/lora");
  golden::Training plain(0);
  write_adapter_and_merged(plain, folder + "/lora", notes, true);
  const auto cases = golden::read_json("lora_variants/run.json").at("cases");
  for (const auto& [name, facts] : cases.items()) {
    std::filesystem::create_directories(folder + "/" + name);
    notes.quantization = facts.at("quantization").get<std::string>();
    notes.init = name == "loftq" ? "loftq" : "";
    golden::Training run(name, 0, 1);
    write_adapter_and_merged(run, folder + "/" + name, notes, name != "dora_nf4");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_peers_export FOLDER\n");
    return 2;
  }
  try {
    write(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
