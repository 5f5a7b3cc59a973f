// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/model/adapter_files.h"
#include "core/model/module_pattern.h"
#include "kernels/base/error.h"
#include "tests/support/golden.h"
#include "tests/support/tiny_model.h"

using namespace lorikeet;
using namespace lorikeet::test;

namespace {

AdapterConfig config_of(const QString& fields) {
  return parse_adapter_config(
      "{\"peft_type\": \"LORA\"" + (fields.isEmpty() ? "" : ", " + fields.toStdString()) + "}", "a.json");
}

/// Modules as "layer:name", in order.
QStringList chosen(const QString& fields) {
  QStringList list;
  for (const AdapterModule& module : adapter_modules(tiny_spec({}), config_of(fields))) {
    list << QString::number(module.layer) + ":" +
                QString::fromStdString(module.name.substr(module.name.rfind('.') + 1));
  }
  return list;
}

}  // namespace

class TestAdapterFiles : public QObject {
  Q_OBJECT

 private slots:
  void targets_are_chosen_as_peft_does_data() {
    QTest::addColumn<QString>("fields");
    QTest::addColumn<QString>("modules");
    const auto row = [](const char* name, const char* fields, const char* modules) {
      QTest::newRow(name) << QString(fields) << QString(modules);
    };
    const char* all =
        "0:q_proj 0:k_proj 0:v_proj 0:o_proj 0:gate_proj 0:up_proj 0:down_proj "
        "1:q_proj 1:k_proj 1:v_proj 1:o_proj 1:gate_proj 1:up_proj 1:down_proj";
    row("nothing said: the family's default", "", "0:q_proj 0:v_proj 1:q_proj 1:v_proj");
    row("all-linear", R"("target_modules": "all-linear")", all);
    row("ALL-Linear", R"("target_modules": "ALL-Linear")", all);
    row("list", R"("target_modules": ["up_proj", "q_proj"])", "0:q_proj 0:up_proj 1:q_proj 1:up_proj");
    row("list with parents", R"("target_modules": ["self_attn.o_proj", "layers.1.mlp.up_proj"])",
        "0:o_proj 1:o_proj 1:up_proj");
    row("a name is no part of a name", R"("target_modules": ["proj", "v_proj"])", "0:v_proj 1:v_proj");
    row("whole path", R"("target_modules": ["model.layers.1.self_attn.k_proj"])", "1:k_proj");
    row("regular expression, the whole path", R"("target_modules": ".*\\.1\\..*(gate|up)_proj")",
        "1:gate_proj 1:up_proj");
    row("Python's group syntax", R"("target_modules": "(?P<a>.*)\\.(?:q|k)_proj")",
        "0:q_proj 0:k_proj 1:q_proj 1:k_proj");
    row("excluded by list",
        R"("target_modules": ["q_proj", "k_proj"], "exclude_modules": ["layers.0.self_attn.q_proj"])",
        "0:k_proj 1:q_proj 1:k_proj");
    row("excluded by pattern", R"("target_modules": ["q_proj", "k_proj"], "exclude_modules": ".*q_proj")",
        "0:k_proj 1:k_proj");
    row("one layer", R"("target_modules": ["q_proj"], "layers_to_transform": 1)", "1:q_proj");
    row("layers", R"("target_modules": ["q_proj"], "layers_to_transform": [0, 7])", "0:q_proj");
    row("no layers", R"("target_modules": ["q_proj"], "layers_to_transform": [])", "0:q_proj 1:q_proj");
    row("layers by pattern",
        R"("target_modules": ["q_proj"], "layers_to_transform": [1], "layers_pattern": "layers")",
        "1:q_proj");
    row("a whole path beats layers",
        R"("target_modules": ["q_proj", "model.layers.0.mlp.up_proj"], "layers_to_transform": [1])",
        "0:up_proj 1:q_proj");
  }
  void targets_are_chosen_as_peft_does() {
    QFETCH(QString, fields);
    QFETCH(QString, modules);
    QCOMPARE(chosen(fields).join(' '), modules);
  }

  void ranks_and_scales_follow_the_patterns() {
    const AdapterConfig config = config_of(
        R"("r": 8, "lora_alpha": 16, "target_modules": ["q_proj", "k_proj"], "rank_pattern": {"k_proj": 2, "self_attn.k_proj": 3},
           "alpha_pattern": {"layers.0.self_attn.q_proj": 4})");
    const auto modules = adapter_modules(tiny_spec({}), config);
    QCOMPARE(modules[0].scale, 0.5);  // 4 / 8
    QCOMPARE(modules[1].rank, 2);     // the first pattern that fits
    QCOMPARE(modules[1].scale, 8.0);  // 16 / 2
    QCOMPARE(modules[2].scale, 2.0);
    const auto stabilised =
        adapter_modules(tiny_spec({}), config_of(R"("r": 64, "lora_alpha": 16, "use_rslora": true)"));
    QCOMPARE(stabilised[0].scale, 2.0);  // 16 / sqrt(64), not 16 / 64
  }

  void modules_and_scales_equal_those_of_peft_data() {
    QTest::addColumn<QString>("adapter");
    const auto meta = golden::read_json("peft_adapters/meta.json");
    for (const auto& item : meta["adapters"].items())
      QTest::newRow(item.key().c_str()) << QString::fromStdString(item.key());
  }
  void modules_and_scales_equal_those_of_peft() {
    QFETCH(QString, adapter);
    const std::string name = adapter.toStdString();
    const auto scaling = golden::read_json("peft_adapters/meta.json")["adapters"][name]["scaling"];
    const auto modules = adapter_modules(read_model_spec(golden::path("tiny_llama")),
                                         read_adapter_config(golden::path("peft_adapters/" + name)));
    QCOMPARE(modules.size(), scaling.size());
    for (const AdapterModule& module : modules) {
      QVERIFY2(scaling.contains(module.path()), module.path().c_str());
      QCOMPARE(module.scale, scaling[module.path()].get<double>());
    }
  }

  void what_cannot_be_honoured_is_refused_by_name_data() {
    QTest::addColumn<QString>("json");
    QTest::addColumn<QString>("said");
    const auto row = [](const char* name, const QString& fields, const char* said) {
      QTest::newRow(name) << "{\"peft_type\": \"LORA\", " + fields + "}" << QString(said);
    };
    QTest::newRow("a list") << "[]"
                            << "not a JSON object";
    QTest::newRow("no kind") << "{}"
                             << "peft_type";
    QTest::newRow("another kind") << R"({"peft_type": "IA3"})"
                                  << "IA3";
    row("another task", R"("task_type": "SEQ_CLS")", "SEQ_CLS");
    row("DoRA a text", R"("use_dora": "yes")", "use_dora");
    row("bias", R"("bias": "lora_only")", "lora_only");
    row("lora_bias", R"("lora_bias": true)", "lora_bias");
    row("fan_in_fan_out", R"("fan_in_fan_out": true)", "fan_in_fan_out");
    row("modules_to_save", R"("modules_to_save": ["lm_head"])", "modules_to_save");
    row("token rows", R"("trainable_token_indices": [5, 6])", "trainable_token_indices");
    row("target_parameters", R"("target_parameters": ["x"])", "target_parameters");
    row("layer_replication", R"("layer_replication": [[0, 4]])", "layer_replication");
    row("QALoRA", R"("use_qalora": true)", "use_qalora");
    row("aLoRA", R"("alora_invocation_tokens": [1])", "alora_invocation_tokens");
    row("an unknown field that is set", R"("kasa_config": {"x": 1})", "kasa_config");
    row("a field of the future", R"("use_spiral": 3)", "use_spiral");
    row("PiSSA", R"("init_lora_weights": "pissa_niter_4")", "pissa");
    row("OLoRA", R"("init_lora_weights": "olora")", "olora");
    row("rank 0", R"("r": 0)", "r");
    row("rank a text", R"("r": "8")", "r");
    row("huge rank", R"("r": 1000000000)", "r");
    row("targets a number", R"("target_modules": 3)", "target_modules");
    row("targets numbers", R"("target_modules": [3])", "target_modules");
    row("layers with a pattern", R"("target_modules": ".*", "layers_to_transform": [1])",
        "layers_to_transform");
    row("negative layer", R"("target_modules": ["q_proj"], "layers_to_transform": [-1])",
        "layers_to_transform");
    row("rank_pattern 0", R"("rank_pattern": {"q_proj": 0})", "rank_pattern");
    row("rank_pattern a list", R"("rank_pattern": [1])", "rank_pattern");
  }
  void what_cannot_be_honoured_is_refused_by_name() {
    QFETCH(QString, json);
    QFETCH(QString, said);
    try {
      parse_adapter_config(json.toStdString(), "adapter_config.json");
      QFAIL("it was accepted");
    } catch (const Error& error) {
      QVERIFY2(QString(error.what()).contains(said), error.what());
      QVERIFY2(QString(error.what()).contains("adapter_config.json"), error.what());
    }
  }

  void unknown_fields_at_rest_are_kept_and_written_back() {
    const AdapterConfig config =
        config_of(R"("eva_config": null, "new_flag": false, "new_list": [], "new_text": "",
        "base_model_name_or_path": "/home/somebody/models/My Base/", "rank_pattern": {"z": 2, "a": 3}, "target_modules": ["v_proj"])");
    const Json written = parse_json(adapter_config_text(config), "written");
    for (const char* key : {"eva_config", "new_flag", "new_list", "new_text"})
      QVERIFY2(written.contains(key), key);
    QCOMPARE(written["base_model_name_or_path"].get<std::string>(), std::string("My Base"));
    QCOMPARE(written["rank_pattern"].begin().key(), std::string("z"));
    QVERIFY(written["inference_mode"].get<bool>());
    std::vector<std::string> keys;
    for (const auto& item : written.items()) keys.push_back(item.key());
    QVERIFY(std::is_sorted(keys.begin(), keys.end()));
  }

  void a_fresh_configuration_has_only_fields_that_old_peft_knows() {
    AdapterConfig config;
    config.rank = 32;
    config.alpha = 32;
    config.targets.names = {"v_proj", "q_proj"};
    config.base_name = "org/model";
    const std::set<std::string> baseline = {"alpha_pattern",
                                            "auto_mapping",
                                            "base_model_name_or_path",
                                            "bias",
                                            "fan_in_fan_out",
                                            "inference_mode",
                                            "init_lora_weights",
                                            "layers_pattern",
                                            "layers_to_transform",
                                            "lora_alpha",
                                            "lora_dropout",
                                            "modules_to_save",
                                            "peft_type",
                                            "r",
                                            "rank_pattern",
                                            "revision",
                                            "target_modules",
                                            "task_type"};
    const Json written = parse_json(adapter_config_text(config), "written");
    QCOMPARE(written.size(), baseline.size());
    for (const auto& item : written.items()) QVERIFY2(baseline.count(item.key()), item.key().c_str());
    QCOMPARE(written["target_modules"], Json({"q_proj", "v_proj"}));
    QVERIFY(written["lora_alpha"].is_number_integer());
    QCOMPARE(written["base_model_name_or_path"].get<std::string>(), std::string("org/model"));
    config.rslora = true;
    QVERIFY(parse_json(adapter_config_text(config), "written")["use_rslora"].get<bool>());
  }

  void notes_are_read_back_as_written() {
    QTemporaryDir folder;
    const std::string place = folder.path().toStdString();
    AdapterNotes notes;
    notes.format = "chat";
    notes.template_text = "{{ \"a\\n\" }} ü";
    notes.template_hash = "h";
    notes.system = "s";
    notes.stop_ids = {2, 3};
    notes.base_id = "b";
    notes.base_name = "/home/me/base";
    notes.run_id = "r";
    notes.quantization = "nf4";
    notes.rope_linear_factor = 2;
    write_text(place + "/lorikeet.json", adapter_notes_text(notes));
    const AdapterNotes read = read_adapter_notes(place);
    QCOMPARE(read.template_text, notes.template_text);
    QCOMPARE(read.stop_ids, notes.stop_ids);
    QCOMPARE(read.rope_linear_factor, 2.0);
    QCOMPARE(read.base_name, std::string("base"));
    QCOMPARE(read.format + read.template_hash + read.system + read.base_id + read.run_id + read.quantization,
             std::string("chathsbrnf4"));
    write_text(place + "/lorikeet.json", R"({"rope": {"factor": -1}})");
    QVERIFY_EXCEPTION_THROWN(read_adapter_notes(place), Error);
    QVERIFY(read_adapter_notes(place + "/absent").format.empty());
  }

  void a_hostile_pattern_ends_with_an_error() {
    const ModulePattern pattern("(a+)+$", "here");
    QVERIFY_EXCEPTION_THROWN(pattern.matches(std::string(5000, 'a') + "b"), Error);
    QVERIFY_EXCEPTION_THROWN(ModulePattern("(", "here"), Error);
    QVERIFY_EXCEPTION_THROWN(ModulePattern(std::string(1 << 20, 'a'), "here"), Error);
    QVERIFY(ModulePattern("a|ab", "here").matches("ab"));
  }

  void the_published_configurations_are_read_or_refused_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("refused");
    const auto row = [](const char* file, const char* refused) {
      QTest::newRow(file) << QString(file) << QString(refused);
    };
    row("configs_only/llama-2-13b_r32_all-linear.adapter_config.json", "");
    row("configs_only/llama-2-7b-chat_alpha64.adapter_config.json", "");
    row("configs_only/llama-3.2-1b_all-linear.adapter_config.json", "");
    row("configs_only/llama-3.2-1b_r64.adapter_config.json", "");
    row("configs_only/llama-3.2-3b_mlp-only.adapter_config.json", "");
    row("configs_only/llama-3.2-3b_rslora.adapter_config.json", "");
    row("configs_only/smollm2-1.7b_r16_all-linear.adapter_config.json", "");
    row("configs_only/qwen2.5-3b_modules_to_save.adapter_config.json", "modules_to_save");
    row("configs_only/seq-cls_with-score-head.adapter_config.json", "SEQ_CLS");
    row("tinyllama_r4_qv/adapter_config.json", "");
  }
  void the_published_configurations_are_read_or_refused() {
    const QString data = qEnvironmentVariable("LORIKEET_TEST_DATA");
    if (data.isEmpty())
      QSKIP("LORIKEET_TEST_DATA is not set: published adapter configurations were not read");
    QFETCH(QString, file);
    QFETCH(QString, refused);
    try {
      const std::string path = (data + "/adapters/" + file).toStdString();
      const AdapterConfig config = parse_adapter_config(read_file(path), path);
      QVERIFY(!adapter_modules(tiny_spec({}), config).empty());
      QVERIFY(refused.isEmpty());
    } catch (const Error& error) {
      QVERIFY2(!refused.isEmpty() && QString(error.what()).contains(refused), error.what());
    }
  }
};

QTEST_GUILESS_MAIN(TestAdapterFiles)
#include "test_adapter_files.moc"
