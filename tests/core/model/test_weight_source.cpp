// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cstring>
#include <filesystem>

#include "core/base/files.h"
#include "core/model/check_model.h"
#include "core/model/model_files.h"
#include "core/model/storage.h"
#include "core/model/weight_source.h"
#include "kernels/base/error.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/tiny_model.h"

using namespace lorikeet;
using namespace lorikeet::test;
namespace fs = std::filesystem;

namespace {

/// Values of a tensor in Hugging Face's row order.
std::vector<float> values_of(const SourceTensor& tensor) {
  std::vector<float> stored(static_cast<std::size_t>(tensor.elements()));
  read_elements(tensor.type, tensor.bytes, 0, stored);
  if (tensor.permuted_heads == 0) return stored;
  const std::size_t rows = static_cast<std::size_t>(tensor.shape[0]), columns = stored.size() / rows;
  const std::size_t half = rows / static_cast<std::size_t>(tensor.permuted_heads) / 2;
  std::vector<float> out(stored.size());
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t head = row / (2 * half), inside = row % (2 * half);
    const std::size_t to = head * 2 * half + inside % 2 * half + inside / 2;
    std::memcpy(&out[to * columns], &stored[row * columns], columns * sizeof(float));
  }
  return out;
}

std::string refusal(const std::string& path) {
  try {
    open_weight_source(path);
    read_model_spec(path);
    return "accepted";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

class TestWeightSource : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string path(const std::string& name) const { return folder_.path().toStdString() + "/" + name; }

 private slots:
  void a_folder_and_a_gguf_file_give_the_same_tensors_data() {
    QTest::addColumn<QString>("dtype");
    QTest::addColumn<int>("shards");
    QTest::addColumn<bool>("tied");
    QTest::addColumn<bool>("bias");
    QTest::newRow("F32, one file, tied") << "F32" << 1 << true << false;
    QTest::newRow("BF16, three files, own head") << "BF16" << 3 << false << false;
    QTest::newRow("F16, two files, biases") << "F16" << 2 << false << true;
  }
  void a_folder_and_a_gguf_file_give_the_same_tensors() {
    QFETCH(QString, dtype);
    QFETCH(int, shards);
    QFETCH(bool, tied);
    QFETCH(bool, bias);
    TinyModel model;
    model.dtype = dtype.toStdString();
    model.shards = shards;
    model.tied_head = tied;
    model.attention_bias = bias;
    const std::string name = QTest::currentDataTag();
    write_tiny_folder(path(name), model);
    write_tiny_gguf(path(name + ".gguf"), model);
    for (const std::string& place : {path(name), path(name + ".gguf")}) {
      const ModelSpec spec = read_model_spec(place);
      QCOMPARE(spec.heads, model.heads);
      QCOMPARE(spec.head_dim, model.head_dim);
      QCOMPARE(spec.tied_head, tied);
      QCOMPARE(spec.qkv_bias, bias);
      QCOMPARE(spec.norm_epsilon, 1e-5);
      QCOMPARE(spec.eos_ids, std::vector<std::int32_t>{2});
      const auto source = open_weight_source(place);
      QVERIFY(check_model(spec, *source).empty());
      require_complete_model(spec, *source);
      for (const TinyTensor& tensor : tiny_weights(model)) {
        const SourceTensor& stored = require_tensor(*source, tensor.name, tensor.shape);
        QVERIFY2(values_of(stored) == tensor.values, tensor.name.c_str());
        source->forget(stored);
        QVERIFY2(values_of(stored) == tensor.values, "after forget");
      }
    }
  }

  void the_names_of_models_are_no_paths_of_this_machine() {
    QCOMPARE(model_name("/x/hub/models--org--some-model/snapshots/0123abc"), std::string("org/some-model"));
    QCOMPARE(model_name("/x/hub/models--org--some--model/snapshots/0123abc/"),
             std::string("org/some--model"));
    QCOMPARE(model_name("/x/My Model/"), std::string("My Model"));
    QCOMPARE(model_name("/x/smol-q4_1.gguf"), std::string("smol-q4_1"));
  }

  void with_an_index_only_its_files_are_read() {
    TinyModel model;
    model.shards = 2;
    write_tiny_folder(path("stray"), model);
    write_text(path("stray") + "/model.safetensors", "a stray second copy");
    QVERIFY(check_model(read_model_spec(path("stray")), *open_weight_source(path("stray"))).empty());
    QCOMPARE(locate_model(path("stray")).ignored, std::vector<std::string>{"model.safetensors"});
  }

  void wrong_folders_are_refused_with_what_to_do_data() {
    QTest::addColumn<QString>("change");
    QTest::addColumn<QString>("said");
    QTest::newRow("shard missing") << "remove model-00002-of-00002.safetensors"
                                   << "model-00002-of-00002.safetensors";
    QTest::newRow("index missing") << "remove model.safetensors.index.json"
                                   << "needs its index";
    QTest::newRow("config missing") << "remove config.json"
                                    << "config.json";
    QTest::newRow("index names a file outside") << "index ../model.safetensors"
                                                << "not the name";
    QTest::newRow("index names an absolute file") << "index /etc/passwd"
                                                  << "not the name";
    QTest::newRow("index names a folder") << "index sub/model.safetensors"
                                          << "not the name";
    QTest::newRow("index names a pickle") << "index pytorch_model.bin"
                                          << "not the name";
    QTest::newRow("index lacks a tensor") << "index-less"
                                          << "the index lacks";
    QTest::newRow("index has one too many") << "index-more"
                                            << "its file lacks";
    QTest::newRow("index is no object") << "index-list"
                                        << "weight_map";
  }
  void wrong_folders_are_refused_with_what_to_do() {
    QFETCH(QString, change);
    QFETCH(QString, said);
    TinyModel model;
    model.shards = 2;
    model.layers = 1;
    const std::string folder = path(QTest::currentDataTag()),
                      index = folder + "/model.safetensors.index.json";
    write_tiny_folder(folder, model);
    std::string text = read_file(index);
    const std::string shard = "model-00001-of-00002.safetensors";
    const auto replace = [&](const std::string& from, const std::string& to) {
      write_text(index, text.replace(text.find(from), from.size(), to));
    };
    if (change.startsWith("remove ")) fs::remove(folder + "/" + change.mid(7).toStdString());
    if (change.startsWith("index ")) replace(shard, change.mid(6).toStdString());
    if (change == "index-less") replace("\"model.embed_tokens.weight\": \"" + shard + "\",", "");
    if (change == "index-more") replace("\"weight_map\": {", "\"weight_map\": {\"x\": \"" + shard + "\",");
    if (change == "index-list") write_text(index, "[]");
    const std::string message = refusal(folder);
    QVERIFY2(message.find(said.toStdString()) != std::string::npos, message.c_str());
  }

  void what_is_no_model_is_refused_with_what_it_is() {
    QVERIFY(refusal(path("absent")).find("no such model") != std::string::npos);
    fs::create_directories(path("empty"));
    QVERIFY(refusal(path("empty")).find("no model weights") != std::string::npos);
    write_text(path("adapter/adapter_config.json"), "{}");
    QVERIFY(refusal(path("adapter")).find("an adapter") != std::string::npos);
    write_text(path("pickle/config.json"), tiny_config({}));
    write_text(path("pickle/pytorch_model.bin"), "PK");
    QVERIFY(refusal(path("pickle")).find("pickle") != std::string::npos);
    write_text(path("renamed/model.safetensors"), std::string("PK\x03\x04 archive/data.pkl", 21));
    QVERIFY(refusal(path("renamed")).find("pickle") != std::string::npos);
    write_text(path("renamed.gguf"), std::string("PK\x03\x04 archive/data.pkl", 21));
    QVERIFY(refusal(path("renamed.gguf")).find("pickle") != std::string::npos);
    write_text(path("notes.txt"), "hello");
    QVERIFY(refusal(path("notes.txt")).find("not a GGUF") != std::string::npos);
    write_tiny_folder(path("whole"), {});
    QVERIFY(refusal(path("whole/model.safetensors")).find("folder that holds it") != std::string::npos);
  }

  void a_folder_with_one_gguf_file_stands_for_it() {
    write_tiny_gguf(path("gguf/only.gguf"), {});
    QCOMPARE(locate_model(path("gguf")).path, path("gguf/only.gguf"));
    write_tiny_gguf(path("gguf/second.gguf"), {});
    QVERIFY(refusal(path("gguf")).find("2 GGUF files") != std::string::npos);
  }

  void paths_with_any_letters_work() {
    for (const char* name : {"Модель с пробелом", "Žižka", "模型\u3000一", "a'b\"c"}) {
      write_tiny_folder(path(name), {});
      write_tiny_gguf(path(std::string(name) + ".gguf"), {});
      QCOMPARE(refusal(path(name)), std::string("accepted"));
      QCOMPARE(refusal(path(std::string(name) + ".gguf")), std::string("accepted"));
    }
    fs::create_directory_symlink(path("Žižka"), path("link"));
    QCOMPARE(refusal(path("link")), std::string("accepted"));
  }

  void missing_and_wrong_tensors_are_listed_before_loading() {
    TinyModel model, other;
    other.intermediate_size = 64;
    other.layers = 1;
    write_tiny_folder(path("mixed"), other);
    write_text(path("mixed/config.json"), tiny_config(model));
    const ModelSpec spec = read_model_spec(path("mixed"));
    const auto source = open_weight_source(path("mixed"));
    const std::vector<ModelFinding> findings = check_model(spec, *source);
    const auto count = [&](const char* what) {
      return std::count_if(findings.begin(), findings.end(),
                           [&](auto& f) { return f.what.find(what) != std::string::npos; });
    };
    QCOMPARE(count("64 x 32, the configuration asks for 48 x 32"), std::ptrdiff_t{2});
    QCOMPARE(count("lacks a tensor"), std::ptrdiff_t{9});
    try {
      require_complete_model(spec, *source);
      QFAIL("accepted");
    } catch (const Error& error) {
      QVERIFY2(error.hint().find("11 more") != std::string::npos, error.what());
    }
  }

  void a_type_that_cannot_be_read_is_refused_by_name_when_used() {
    const SafetensorsLike file{{"model.embed_tokens.weight", "I64"}};
    write_text(path("odd/config.json"), tiny_config({}));
    write_text(path("odd/model.safetensors"), file.image());
    const auto source = open_weight_source(path("odd"));
    QCOMPARE(source->tensors()[0].dtype, std::string("I64"));
    try {
      require_tensor(*source, "model.embed_tokens.weight", {2});
      QFAIL("accepted");
    } catch (const Error& error) {
      QCOMPARE(error.code(), ErrorCode::unsupported);
      QVERIFY(error.message().find("I64") != std::string::npos);
    }
  }

  void rope_divisors_of_a_gguf_file_reach_the_spec() {
    TinyModel model;
    model.divisors = {1, 1.5f, 4, 8};
    write_tiny_gguf(path("divisors.gguf"), model);
    QCOMPARE(read_model_spec(path("divisors.gguf")).rope.divisors, model.divisors);
    model.divisors = {1, 2};
    write_tiny_gguf(path("short.gguf"), model);
    QVERIFY(refusal(path("short.gguf")).find("divisors") != std::string::npos);
    model.divisors = {1, 2, 0, 4};
    write_tiny_gguf(path("zero.gguf"), model);
    QVERIFY(refusal(path("zero.gguf")).find("divisor") != std::string::npos);
  }

  void wrong_gguf_metadata_is_refused_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("said");
    QTest::newRow("another architecture") << "general.architecture"
                                          << "mamba";
    QTest::newRow("an adapter") << "general.type"
                                << "adapter";
    QTest::newRow("experts") << "llama.expert_count"
                             << "experts";
    QTest::newRow("a scaling nobody knows") << "llama.rope.scaling.type"
                                            << "spiral";
    QTest::newRow("split") << "split.count"
                           << "parts";
    QTest::newRow("no embedding") << "nothing"
                                  << "lacks a value";
  }
  void wrong_gguf_metadata_is_refused() {
    QFETCH(QString, key);
    QFETCH(QString, said);
    GgufBuilder file;
    if (key != "general.architecture") file.add_text("general.architecture", "llama");
    if (key == "general.architecture") file.add_text("general.architecture", "mamba");
    if (key == "general.type") file.add_text("general.type", "adapter");
    if (key == "llama.expert_count") file.add_u32("llama.expert_count", 8);
    if (key == "split.count") file.add_u32("split.count", 3);
    if (key == "llama.rope.scaling.type") {
      for (const char* name : {"embedding_length", "feed_forward_length", "block_count", "context_length",
                               "attention.head_count"}) {
        file.add_u32(std::string("llama.") + name, 2);
      }
      file.add_u32("llama.attention.key_length", 2).add_f32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
      file.add_text("llama.rope.scaling.type", "spiral")
          .add_tensor("token_embd.weight", {4, 2}, 0, std::string(32, '\0'));
    }
    write_text(path("metadata.gguf"), file.build());
    const std::string message = refusal(path("metadata.gguf"));
    QVERIFY2(message.find(said.toStdString()) != std::string::npos, message.c_str());
  }

  void a_real_gguf_model_is_complete() {
    const QString data = qEnvironmentVariable("LORIKEET_TEST_DATA");
    if (data.isEmpty()) QSKIP("LORIKEET_TEST_DATA is not set: the real GGUF model was not read");
    const std::string model = (data + "/weights/llama-2-tiny-random/llama-2-tiny-random.gguf").toStdString();
    const ModelSpec spec = read_model_spec(model);
    QCOMPARE(spec.vocab_size, 32000);
    for (const ModelFinding& finding : check_model(spec, *open_weight_source(model))) {
      QVERIFY2(!finding.fatal, (finding.what + ": " + finding.where).c_str());
    }
  }

  void the_golden_models_are_complete() {
    const std::string golden = QFINDTESTDATA("../../golden").toStdString();
    for (const char* name : {"tiny_llama", "tiny_llama_llama3"}) {
      const std::string model = golden + "/" + name;
      QVERIFY(check_model(read_model_spec(model), *open_weight_source(model)).empty());
    }
    QCOMPARE(read_model_spec(golden + "/tiny_llama_llama3").eos_ids, (std::vector<std::int32_t>{2, 3}));
  }

 private:
  /// A safetensors file with one tensor of two 8-byte numbers.
  struct SafetensorsLike {
    struct Entry {
      std::string name, dtype;
    } entry;
    std::string image() const {
      const std::string header = "{\"" + entry.name + "\":{\"dtype\":\"" + entry.dtype +
                                 "\",\"shape\":[2],\"data_offsets\":[0,16]}}";
      return raw_bytes<std::uint64_t>(header.size()) + header + std::string(16, '\0');
    }
  };
};

QTEST_GUILESS_MAIN(TestWeightSource)
#include "test_weight_source.moc"
