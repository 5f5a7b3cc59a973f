// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/model/lora_adapter.h"
#include "core/model/safetensors.h"
#include "core/train/settings.h"
#include "kernels/backend.h"
#include "kernels/base/error.h"
#include "tests/support/golden.h"
#include "tests/support/tiny_model.h"

using namespace lorikeet;
using namespace lorikeet::test;
namespace fs = std::filesystem;

namespace {

std::vector<float> values_of(Backend& backend, TensorView view) {
  std::vector<float> values(static_cast<std::size_t>(view.elements()));
  backend.download(values.data(), view);
  return values;
}

}  // namespace

class TestLoraAdapter : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::unique_ptr<Backend> backend_;
  std::string path(const std::string& name) const { return folder_.path().toStdString() + "/" + name; }

  std::string refusal(const ModelSpec& spec, const std::string& folder) {
    try {
      LoraAdapter::load(*backend_, spec, folder);
      return "accepted";
    } catch (const Error& error) {
      return error.what();
    }
  }

 private slots:
  void initTestCase() {
    BackendOptions options;
    options.device = "cpu";
    options.threads = 1;
    backend_ = make_backend(options);
  }

  void a_fresh_adapter_starts_as_pefts_does() {
    const ModelSpec spec = tiny_spec({});
    Settings settings;
    settings.rank = 4;
    settings.alpha = 8;
    const LoraAdapter adapter = LoraAdapter::create(*backend_, spec, settings);
    QCOMPARE(adapter.modules().size(), std::size_t{14});
    QCOMPARE(adapter.find(1, "mlp.down_proj")->in, spec.intermediate_size);
    QVERIFY(!adapter.find(2, "mlp.down_proj") && !adapter.find(0, "down_proj"));
    std::int64_t count = 0;
    for (const LoraModule& module : adapter.modules()) {
      QCOMPARE(module.scale, 2.0);
      const float bound = static_cast<float>(1 / std::sqrt(static_cast<double>(module.in)));
      double sum = 0, squares = 0;
      const std::vector<float> a = values_of(*backend_, module.a);
      for (const float value : a) {
        QVERIFY(std::abs(value) <= bound);
        sum += value;
        squares += static_cast<double>(value) * value;
      }
      // Uniform in (-b, b): mean 0, variance b^2 / 3; 128 values lie within these bounds but in one of
      // millions.
      QVERIFY(std::abs(sum / static_cast<double>(a.size())) < 0.25 * bound);
      QVERIFY(std::abs(squares / static_cast<double>(a.size()) / (bound * bound / 3) - 1) < 0.4);
      for (const float value : values_of(*backend_, module.b)) QCOMPARE(value, 0.0f);
      count += module.rank * (module.in + module.out);
    }
    QCOMPARE(adapter.parameter_count(), count);
    QCOMPARE(adapter.modules()[0].a.as<float>(), adapter.parameters().as<float>());
    QVERIFY(values_of(*backend_, adapter.modules()[0].a) != values_of(*backend_, adapter.modules()[7].a));
    const LoraAdapter same = LoraAdapter::create(*backend_, spec, settings);
    QCOMPARE(values_of(*backend_, same.parameters()), values_of(*backend_, adapter.parameters()));
    settings.seed += 1;
    const LoraAdapter other = LoraAdapter::create(*backend_, spec, settings);
    QVERIFY(values_of(*backend_, other.parameters()) != values_of(*backend_, adapter.parameters()));
  }

  void an_adapter_of_peft_is_loaded_with_its_numbers_data() {
    QTest::addColumn<QString>("adapter");
    for (const char* name :
         {"plain", "f16", "bf16", "patterns_rslora", "regex_targets", "one_layer", "odd_rank"}) {
      QTest::newRow(name) << QString(name);
    }
  }
  void an_adapter_of_peft_is_loaded_with_its_numbers() {
    QFETCH(QString, adapter);
    const std::string name = "peft_adapters/" + adapter.toStdString();
    const LoraAdapter loaded =
        LoraAdapter::load(*backend_, read_model_spec(golden::path("tiny_llama")), golden::path(name));
    const auto tensors = golden::read_tensors(name + "/adapter_model.safetensors");
    QCOMPARE(loaded.modules().size() * 2, tensors.size());
    for (const LoraModule& module : loaded.modules()) {
      const std::string stem =
          "base_model.model.model.layers." + std::to_string(module.layer) + "." + module.name + ".lora_";
      QCOMPARE(values_of(*backend_, module.a), tensors.at(stem + "A.weight").floats());
      QCOMPARE(values_of(*backend_, module.b), tensors.at(stem + "B.weight").floats());
    }
  }

  void what_is_saved_is_loaded_again_and_replaces_what_was_there() {
    const ModelSpec spec = read_model_spec(golden::path("tiny_llama"));
    const LoraAdapter adapter =
        LoraAdapter::load(*backend_, spec, golden::path("peft_adapters/patterns_rslora"));
    AdapterNotes notes;
    notes.format = "alpaca";
    adapter.save(*backend_, path("saved"), {});
    adapter.save(*backend_, path("saved"), notes);
    const LoraAdapter again = LoraAdapter::load(*backend_, spec, path("saved"));
    QCOMPARE(again.notes().format, std::string("alpaca"));
    QCOMPARE(values_of(*backend_, again.parameters()), values_of(*backend_, adapter.parameters()));
    for (std::size_t i = 0; i < adapter.modules().size(); ++i)
      QCOMPARE(again.modules()[i].scale, adapter.modules()[i].scale);
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path("saved")))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    QCOMPARE(names, (std::vector<std::string>{"README.md", "adapter_config.json", "adapter_model.safetensors",
                                              "lorikeet.json"}));
    // The file is as large as its numbers: nothing is missing.
    QVERIFY(fs::file_size(path("saved/adapter_model.safetensors")) >
            static_cast<std::uintmax_t>(4 * adapter.parameter_count()));
    QVERIFY(read_file(path("saved/README.md")).find("base_model: \"tiny_llama\"") != std::string::npos);
    int left = 0;
    for (const auto& entry : fs::directory_iterator(folder_.path().toStdString())) {
      left += entry.path().filename().string().find(".tmp-") != std::string::npos;
    }
    QCOMPARE(left, 0);
  }

  void a_folder_that_does_not_fit_is_refused_with_why_data() {
    QTest::addColumn<QString>("change");
    QTest::addColumn<QString>("said");
    QTest::newRow("another base") << "base"
                                  << "this base model and rank need";
    QTest::newRow("fewer layers") << "layers"
                                  << "lacks";
    QTest::newRow("another rank") << "rank"
                                  << "this base model and rank need";
    QTest::newRow("more targets than tensors") << "targets"
                                               << "lacks a tensor";
    QTest::newRow("fewer targets than tensors") << "fewer"
                                                << "lacks";
    QTest::newRow("no weights") << "no weights"
                                << "no weights";
    QTest::newRow("pickle weights") << "pickle"
                                    << "pickle";
    QTest::newRow("renamed pickle") << "renamed"
                                    << "pickle";
    QTest::newRow("a DoRA vector") << "x.lora_magnitude_vector"
                                   << "DoRA";
    QTest::newRow("a whole head") << "base_model.model.lm_head.weight"
                                  << "trained as a whole";
    QTest::newRow("an embedding") << "base_model.model.model.embed_tokens.lora_embedding_A"
                                  << "embedding";
    QTest::newRow("a base layer is skipped") << "base_model.model.lm_head.base_layer.weight"
                                             << "accepted";
    QTest::newRow("not finite") << "nan"
                                << "not finite";
  }
  void a_folder_that_does_not_fit_is_refused_with_why() {
    QFETCH(QString, change);
    QFETCH(QString, said);
    const std::string folder = path(QTest::currentDataTag()), config = folder + "/adapter_config.json";
    const std::string weights = folder + "/adapter_model.safetensors";
    fs::copy(golden::path("peft_adapters/qv"), folder);
    ModelSpec spec = read_model_spec(golden::path("tiny_llama"));
    Json json = read_json_file(config);
    std::vector<TinyTensor> tensors;
    for (const auto& [name, tensor] : golden::read_tensors("peft_adapters/qv/adapter_model.safetensors")) {
      tensors.push_back({name, tensor.shape, tensor.floats()});
    }
    if (change == "base")
      spec.hidden_size *= 2;
    else if (change == "layers")
      spec.layers = 1;
    else if (change == "rank")
      json["r"] = 5;
    else if (change == "targets")
      json["target_modules"].push_back("up_proj");
    else if (change == "fewer")
      json["target_modules"] = {"q_proj"};
    else if (change == "nan")
      tensors[0].values[3] = NAN;
    else if (change == "renamed" || change == "pickle" || change == "no weights")
      tensors.clear();
    else
      tensors.push_back({change.toStdString(), {1}, {1.0f}});
    write_text(config, dump_json(json));
    write_text(weights,
               change == "renamed" ? std::string("\x80\x02}q\x00.", 6) : safetensors_image(tensors, "F32"));
    if (change == "pickle" || change == "no weights") fs::remove(weights);
    if (change == "pickle") write_text(folder + "/adapter_model.bin", "PK");
    const std::string message = refusal(spec, folder);
    QVERIFY2(message.find(said.toStdString()) != std::string::npos, message.c_str());
  }

  void a_failed_save_leaves_the_old_adapter() {
    const ModelSpec spec = read_model_spec(golden::path("tiny_llama"));
    const LoraAdapter adapter = LoraAdapter::load(*backend_, spec, golden::path("peft_adapters/qv"));
    write_text(path("file"), "not a folder");
    QVERIFY_EXCEPTION_THROWN(adapter.save(*backend_, path("file/adapter"), {}), Error);
    QCOMPARE(read_file(path("file")), std::string("not a folder"));
  }

  void a_real_adapter_is_loaded() {
    const QString data = qEnvironmentVariable("LORIKEET_TEST_DATA");
    if (data.isEmpty()) QSKIP("LORIKEET_TEST_DATA is not set: the real TinyLlama adapter was not read");
    ModelSpec spec = tiny_spec({});
    spec.layers = 22;
    spec.hidden_size = 2048;
    spec.intermediate_size = 5632;
    spec.heads = 32;
    spec.kv_heads = 4;
    spec.head_dim = 64;
    const LoraAdapter adapter =
        LoraAdapter::load(*backend_, spec, (data + "/adapters/tinyllama_r4_qv").toStdString());
    QCOMPARE(adapter.modules().size(), std::size_t{44});
    QCOMPARE(adapter.modules()[0].scale, 2.0);
    QCOMPARE(adapter.parameter_count(), std::int64_t{22 * 4 * (2048 + 2048 + 2048 + 256)});
  }
};

QTEST_GUILESS_MAIN(TestLoraAdapter)
#include "test_lora_adapter.moc"
