// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <QtTest>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/data/packing.h"
#include "core/model/check_model.h"
#include "core/model/storage.h"
#include "core/model/transformer.h"
#include "core/model/weight_source.h"
#include "core/publish/export.h"
#include "core/text/tokenizer.h"
#include "core/train/process_memory.h"
#include "kernels/base/error.h"
#include "kernels/base/half.h"
#include "kernels/base/random.h"
#include "tests/support/golden.h"
#include "tests/support/tiny_model.h"

using namespace lorikeet;
using namespace lorikeet::test;
namespace fs = std::filesystem;

namespace {

/// A random adapter of rank 3 on q_proj, v_proj and down_proj as PEFT would have saved it.
std::vector<TinyTensor> write_adapter(const std::string& folder, const TinyModel& model, float size = 0.1f) {
  std::vector<TinyTensor> tensors;
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    for (const LinearModule& module : linear_modules(tiny_spec(model))) {
      if (module.name != "self_attn.q_proj" && module.name != "self_attn.v_proj" &&
          module.name != "mlp.down_proj")
        continue;
      const std::string stem = "base_model.model.model.layers." + std::to_string(layer) + "." + module.name;
      for (const bool a : {true, false}) {
        TinyTensor tensor{
            stem + (a ? ".lora_A.weight" : ".lora_B.weight"), {a ? 3 : module.out, a ? module.in : 3}, {}};
        RandomStream random({.seed = 9, .row = tensors.size()});
        for (std::int64_t i = 0; i < tensor.shape[0] * tensor.shape[1]; ++i) {
          tensor.values.push_back((a ? 0.1f : size) * static_cast<float>(random.next_normal()));
        }
        tensors.push_back(std::move(tensor));
      }
    }
  }
  write_text(folder + "/adapter_config.json",
             R"({"peft_type": "LORA", "r": 3, "lora_alpha": 6, "task_type": "CAUSAL_LM",
      "base_model_name_or_path": "/home/somebody/tiny", "target_modules": ["q_proj", "v_proj", "down_proj"], "eva_config": null})");
  write_text(folder + "/adapter_model.safetensors", safetensors_image(tensors, "F32"));
  return tensors;
}

/// The merged weights in double precision.
std::vector<TinyTensor> merged(const TinyModel& model, const std::vector<TinyTensor>& adapter) {
  std::vector<TinyTensor> tensors = tiny_weights(model);
  for (TinyTensor& tensor : tensors) {
    const std::string stem = "base_model.model." + tensor.name.substr(0, tensor.name.size() - 7);
    for (std::size_t i = 0; i + 1 < adapter.size(); ++i) {
      if (adapter[i].name != stem + ".lora_A.weight") continue;
      const TinyTensor &a = adapter[i], &b = adapter[i + 1];
      for (std::int64_t row = 0; row < tensor.shape[0]; ++row) {
        for (std::int64_t k = 0; k < tensor.shape[1]; ++k) {
          double delta = 0;
          for (std::int64_t r = 0; r < 3; ++r) {
            delta += static_cast<double>(b.values[static_cast<std::size_t>(row * 3 + r)]) *
                     static_cast<double>(a.values[static_cast<std::size_t>(r * tensor.shape[1] + k)]);
          }
          float& value = tensor.values[static_cast<std::size_t>(row * tensor.shape[1] + k)];
          value = static_cast<float>(value + 2 * delta);
        }
      }
    }
  }
  return tensors;
}

float rounded(float value, const QString& type) {
  return type == "bf16"  ? bf16_to_f32(f32_to_bf16(value))
         : type == "f16" ? f16_to_f32(f32_to_f16(value))
                         : value;
}

std::vector<float> values_of(const SourceTensor& tensor) {
  std::vector<float> values(static_cast<std::size_t>(tensor.elements()));
  read_elements(tensor, 0, values);
  return values;
}

}  // namespace

class TestExport : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string path(const std::string& name) const { return folder_.path().toStdString() + "/" + name; }

  ExportRequest request(const std::string& model, const std::string& adapter, const std::string& out) const {
    ExportRequest request;
    request.model_path = model;
    request.adapter_path = adapter;
    request.kind = "merged";
    request.type = "f32";
    request.out = out;
    return request;
  }

  std::vector<std::string> names(const std::string& folder) const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder)) all.push_back(entry.path().filename().string());
    std::sort(all.begin(), all.end());
    return all;
  }

  int temporary_folders() const {
    int count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path().toStdString())) {
      count += entry.path().filename().string().find(".tmp-") != std::string::npos;
    }
    return count;
  }

  std::string refusal(const ExportRequest& request) const {
    try {
      run_export(request);
      return "exported";
    } catch (const Error& error) {
      return error.what();
    }
  }

 private slots:
  void merged_weights_are_the_base_plus_the_scaled_product_data() {
    QTest::addColumn<QString>("stored");
    QTest::addColumn<QString>("type");
    QTest::addColumn<bool>("gguf");
    QTest::addColumn<bool>("tied");
    QTest::newRow("folder F32 to f32, tied") << "F32"
                                             << "f32" << false << true;
    QTest::newRow("folder BF16 to bf16, own head") << "BF16"
                                                   << "bf16" << false << false;
    QTest::newRow("folder F16 to f16") << "F16"
                                       << "f16" << false << true;
    QTest::newRow("GGUF F32 to f32, tied") << "F32"
                                           << "f32" << true << true;
    QTest::newRow("GGUF BF16 to bf16, own head") << "BF16"
                                                 << "bf16" << true << false;
  }
  void merged_weights_are_the_base_plus_the_scaled_product() {
    QFETCH(QString, stored);
    QFETCH(QString, type);
    QFETCH(bool, gguf);
    QFETCH(bool, tied);
    TinyModel model;
    model.dtype = stored.toStdString();
    model.tied_head = tied;
    model.shards = 2;
    const std::string name = QTest::currentDataTag(), base = path(name) + (gguf ? ".gguf" : "-base"),
                      out = path(name) + "-out";
    if (gguf)
      write_tiny_gguf(base, model);
    else
      write_tiny_folder(base, model);
    const auto adapter = write_adapter(path(name) + "-adapter", model);
    ExportRequest wanted = request(base, path(name) + "-adapter", out);
    wanted.type = type.toStdString();
    wanted.shard_bytes = 20'000;
    const std::vector<PlannedFile> plan = plan_export(wanted);
    std::int64_t done = 0, total = 0;
    run_export(wanted, {}, [&](std::int64_t at, std::int64_t of) {
      QVERIFY(at == done + 1);
      done = at;
      total = of;
    });
    QCOMPARE(done, total);
    for (const PlannedFile& file : plan) QCOMPARE(fs::file_size(out + "/" + file.name), file.bytes);
    QCOMPARE(plan.size(), names(out).size());
    QVERIFY(plan.size() > 8);  // several shards
    const ModelSpec spec = read_model_spec(out);
    QCOMPARE(spec.tied_head, tied);
    const auto source = open_weight_source(out);
    QVERIFY(check_model(spec, *source).empty());
    for (const TinyTensor& tensor : merged(model, adapter)) {
      const std::vector<float> written = values_of(require_tensor(*source, tensor.name, tensor.shape));
      for (std::size_t i = 0; i < written.size(); ++i) {
        const float exact = rounded(tensor.values[i], type);
        // The sum is made in f32; where that falls beside a rounding edge the next value of the type comes
        // out.
        const float slack = type == "f32" ? 1e-6f : std::abs(exact) * (type == "bf16" ? 0.008f : 0.001f);
        QVERIFY2(std::abs(written[i] - exact) <= slack, tensor.name.c_str());
      }
    }
    QCOMPARE(load_tokenizer(out)->encode("the cat"), load_tokenizer(base)->encode("the cat"));
    QCOMPARE(temporary_folders(), 0);
  }

  void a_merged_model_of_peft_gives_pefts_logits_data() {
    QTest::addColumn<QString>("adapter");
    for (const char* name : {"plain", "rslora", "patterns", "bf16"}) QTest::newRow(name) << QString(name);
  }
  void a_merged_model_of_peft_gives_pefts_logits() {
    QFETCH(QString, adapter);
    const std::string name = adapter.toStdString(), out = path("logits-" + name);
    run_export(request(golden::path("tiny_llama"), golden::path("peft_adapters/" + name), out));
    const auto tensors = golden::read_tensors("peft_adapters/logits.safetensors");
    BackendOptions options;
    options.device = "cpu";
    options.threads = 1;
    const auto backend = make_backend(options);
    const ModelSpec spec = read_model_spec(out);
    BaseModel model =
        BaseModel::load(*backend, spec, *open_weight_source(out), WeightFormat::f32, WeightFormat::f32);
    model.prepare_positions(spec.context);
    TokenBatch batch;
    batch.ids = tensors.at("ids").integers();
    const auto length = static_cast<std::int32_t>(batch.ids.size());
    batch.targets.assign(batch.ids.size(), -1);
    for (std::int32_t i = 0; i < length; ++i) batch.positions.push_back(i);
    batch.cu_seqlens = {0, length};
    batch.rows = {0};
    batch.longest = length;
    Transformer::Options sizes;
    sizes.max_tokens = length;
    sizes.keep.assign(static_cast<std::size_t>(spec.layers), true);
    const std::vector<float> logits = Transformer(model, nullptr, sizes).logits(batch);
    const std::vector<float> wanted = tensors.at("logits_" + name).floats();
    double worst = 0;
    const std::vector<std::int32_t> positions = tensors.at("positions").integers();
    for (std::size_t p = 0; p < positions.size(); ++p) {
      for (std::size_t v = 0; v < 320; ++v) {
        const double difference =
            static_cast<double>(logits[static_cast<std::size_t>(positions[p]) * 320 + v]) -
            static_cast<double>(wanted[p * 320 + v]);
        worst = std::max(worst, std::abs(difference));
      }
    }
    QVERIFY2(worst <= 1e-4, std::to_string(worst).c_str());
  }

  void companions_are_carried_over_and_the_configuration_is_kept() {
    TinyModel model;
    const std::string base = path("carry"), out = path("carry-out");
    write_tiny_folder(base, model);
    write_adapter(path("carry-adapter"), model);
    Json config = read_json_file(base + "/config.json");
    config["my_field"] = {1, 2};
    config["_name_or_path"] = "/home/somebody/base";
    write_text(base + "/config.json", dump_json(config));
    for (const char* name :
         {"LICENSE", "NOTICE.txt", "USE_POLICY.md", "README.md", "notes.txt", "special_tokens_map.json"}) {
      write_text(base + "/" + name, "{}");
    }
    write_text(
        path("carry-adapter/lorikeet.json"),
        R"({"format": "chat", "template": "{{ 1 }}", "stop_ids": [2, 7, 999999], "rope": {"type": "linear", "factor": 2}})");
    ExportRequest wanted = request(base, path("carry-adapter"), out);
    wanted.type = "bf16";
    run_export(wanted);
    QCOMPARE(names(out), (std::vector<std::string>{
                             "LICENSE", "NOTICE.txt", "README.md", "USE_POLICY.md", "chat_template.jinja",
                             "config.json", "generation_config.json", "model.safetensors",
                             "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json"}));
    const Json written = read_json_file(out + "/config.json");
    QCOMPARE(written["my_field"], Json({1, 2}));
    QCOMPARE(written["torch_dtype"].get<std::string>(), std::string("bfloat16"));
    QVERIFY(!written.contains("_name_or_path") && !written.contains("dtype"));
    QCOMPARE(written["rope_scaling"]["factor"].get<double>(), 2.0);
    QCOMPARE(written["max_position_embeddings"].get<int>(), 256);
    QCOMPARE(read_json_file(out + "/generation_config.json")["eos_token_id"], Json({2, 7}));
    QCOMPARE(read_file(out + "/chat_template.jinja"), std::string("{{ 1 }}"));
  }

  void an_adapter_is_exported_without_paths_of_this_machine() {
    TinyModel model;
    write_tiny_folder(path("plain"), model);
    write_adapter(path("plain-adapter"), model);
    ExportRequest wanted = request(path("plain"), path("plain-adapter"), path("plain-out"));
    wanted.kind = "adapter";
    const std::vector<PlannedFile> plan = plan_export(wanted);
    fs::create_directories(path("plain-out"));  // an empty folder is fine
    run_export(wanted);
    QCOMPARE(names(path("plain-out")),
             (std::vector<std::string>{"README.md", "adapter_config.json", "adapter_model.safetensors"}));
    for (const PlannedFile& file : plan) QCOMPARE(fs::file_size(path("plain-out/" + file.name)), file.bytes);
    QCOMPARE(read_file(path("plain-out/adapter_model.safetensors")),
             read_file(path("plain-adapter/adapter_model.safetensors")));
    const Json config = read_json_file(path("plain-out/adapter_config.json"));
    QCOMPARE(config["base_model_name_or_path"].get<std::string>(), std::string("tiny"));
    QVERIFY(config.contains("eva_config"));
  }

  void a_stopped_export_leaves_nothing() {
    TinyModel model;
    write_tiny_folder(path("stop"), model);
    write_adapter(path("stop-adapter"), model);
    std::stop_source stop;
    try {
      run_export(request(path("stop"), path("stop-adapter"), path("stop-out")), stop.get_token(),
                 [&](std::int64_t done, std::int64_t) {
                   if (done == 5) stop.request_stop();
                 });
      QFAIL("it went on");
    } catch (const Error& error) {
      QCOMPARE(error.code(), ErrorCode::cancelled);
    }
    QVERIFY(!fs::exists(path("stop-out")));
    QCOMPARE(temporary_folders(), 0);
  }

  void M09_a_merge_streams_says_how_far_it_is_and_can_be_stopped() {
    TinyModel model;
    model.hidden_size = 512;
    model.intermediate_size = 1024;
    model.layers = 6;
    model.heads = model.kv_heads = 8;
    model.head_dim = 64;
    const std::string base = path("wide"), adapter = path("wide-adapter");
    write_tiny_folder(base, model);
    write_adapter(adapter, model);
    constexpr std::int64_t largest_tensor = 4 * 512 * 1024,
                           whole_model = 6 * 4 * (4 * 512 * 512 + 3 * 512 * 1024);
    const std::int64_t before = anonymous_bytes();
    std::int64_t peak = 0, last = 0, total = 0;
    run_export(request(base, adapter, path("wide-merged")), {}, [&](std::int64_t done, std::int64_t all) {
      QVERIFY(done > last && done <= all);
      last = done;
      total = all;
      peak = std::max(peak, anonymous_bytes() - before);
    });
    QCOMPARE(last, total);
    QCOMPARE(total, std::int64_t{6 * 9 + 2});
    // Far from the model's size: blocks of rows, the module's pair, and what the reader needs.
    QVERIFY2(peak <= 2 * largest_tensor + (8 << 20) && peak < whole_model / 2,
             qPrintable(QString("%1 of %2").arg(peak).arg(whole_model)));
    std::stop_source source;
    try {
      run_export(request(base, adapter, path("wide-stopped")), source.get_token(),
                 [&](std::int64_t done, std::int64_t) {
                   if (done == 10) source.request_stop();
                 });
      QFAIL("it was not stopped");
    } catch (const Error& error) {
      QCOMPARE(error.code(), ErrorCode::cancelled);
    }
    QVERIFY(!fs::exists(path("wide-stopped")));
    QCOMPARE(temporary_folders(), 0);
  }

  void an_export_clears_what_a_killed_one_of_its_name_left() {
    const std::string base = path("killed"), adapter = path("killed-adapter"), out = path("killed-out");
    TinyModel model;
    write_tiny_folder(base, model);
    write_adapter(adapter, model);
    const std::string left = out + ".tmp-999999-0", other = out + ".tmp-notes", living = out + ".tmp-1-2";
    write_text(left + "/model.safetensors", "half");
    write_text(other + "/kept", "a name of somebody else");
    write_text(living + "/kept", "of an export that goes on");
    const OwnedDescriptor held(::open(living.c_str(), O_RDONLY | O_DIRECTORY));
    QVERIFY(hold_temporary(held));
    run_export(request(base, adapter, out));
    QVERIFY(!fs::exists(left));
    QVERIFY(fs::exists(other + "/kept"));
    QVERIFY(fs::exists(living + "/kept"));
    fs::remove_all(other);
    fs::remove_all(living);
  }

  void what_cannot_be_exported_is_refused_with_why_data() {
    QTest::addColumn<QString>("change");
    QTest::addColumn<QString>("said");
    QTest::newRow("a full folder") << "full"
                                   << "not empty";
    QTest::newRow("a file") << "file"
                            << "not empty";
    QTest::newRow("no such type") << "type"
                                  << "q8_0";
    QTest::newRow("no such kind") << "kind"
                                  << "gguf";
    QTest::newRow("another base") << "base"
                                  << "this base model";
    QTest::newRow("an adapter that changes nothing") << "zero"
                                                     << "changes nothing";
    QTest::newRow("values too large for f16") << "huge"
                                              << "too large";
    QTest::newRow("no adapter") << "missing"
                                << "no adapter";
    QTest::newRow("an incomplete base") << "incomplete"
                                        << "lacks a tensor";
    QTest::newRow("shards of nothing") << "shards"
                                       << "zero";
    QTest::newRow("linear on llama3") << "llama3"
                                      << "on top of another scaling";
  }
  void what_cannot_be_exported_is_refused_with_why() {
    QFETCH(QString, change);
    QFETCH(QString, said);
    TinyModel model, other;
    const std::string name = path("bad-" + change.toStdString());
    other.hidden_size = 64;
    if (change == "llama3") {
      model.rope_json = R"({"rope_type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4,
                            "original_max_position_embeddings": 64})";
    }
    write_tiny_folder(name, change == "base" ? other : model);
    write_adapter(name + "-adapter", model, change == "zero" ? 0.0f : change == "huge" ? 1e8f : 0.1f);
    ExportRequest wanted = request(name, name + "-adapter", name + "-out");
    if (change == "full") write_text(wanted.out + "/x", "kept");
    if (change == "file") write_text(wanted.out, "kept");
    if (change == "type") wanted.type = "q8_0";
    if (change == "huge") wanted.type = "f16";
    if (change == "kind") wanted.kind = "gguf";
    if (change == "missing") fs::remove_all(wanted.adapter_path);
    if (change == "shards") wanted.shard_bytes = 0;
    if (change == "incomplete") {
      TinyModel longer;
      longer.layers = 3;
      write_text(name + "/config.json", tiny_config(longer));
    }
    if (change == "llama3") write_text(name + "-adapter/lorikeet.json", R"({"rope": {"factor": 2}})");
    const std::string message = refusal(wanted);
    QVERIFY2(message.find(said.toStdString()) != std::string::npos, message.c_str());
    if (change == "full")
      QCOMPARE(read_file(wanted.out + "/x"), std::string("kept"));
    else if (change == "file")
      QCOMPARE(read_file(wanted.out), std::string("kept"));
    else
      QVERIFY(!fs::exists(wanted.out));
    QCOMPARE(temporary_folders(), 0);
  }
};

QTEST_GUILESS_MAIN(TestExport)
#include "test_export.moc"
