// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/model/model_config.h"
#include "kernels/base/error.h"

using namespace lorikeet;

namespace {

ModelSpec read(const QString& json) {
  return spec_from_config(parse_json(json.toStdString(), "config.json"), "config.json");
}

}  // namespace

class TestModelConfig : public QObject {
  Q_OBJECT

 private slots:
  void absent_fields_take_the_familys_defaults() {
    const ModelSpec llama = read(R"({"model_type": "llama"})");
    QCOMPARE(llama.vocab_size, 32000);
    QCOMPARE(llama.hidden_size, 4096);
    QCOMPARE(llama.intermediate_size, 11008);
    QCOMPARE(llama.layers, 32);
    QCOMPARE(llama.heads, 32);
    QCOMPARE(llama.kv_heads, 32);
    QCOMPARE(llama.head_dim, 128);
    QCOMPARE(llama.context, 2048);
    QCOMPARE(llama.sliding_window, 0);
    QCOMPARE(llama.norm_epsilon, 1e-6);
    QVERIFY(!llama.tied_head && !llama.qkv_bias && !llama.mlp_bias);
    QCOMPARE(llama.rope.theta, 10000.0);
    QCOMPARE(llama.rope.rotary_dim, 128);
    QCOMPARE(llama.bos_id, 1);
    QCOMPARE(llama.eos_ids, std::vector<std::int32_t>{2});
    QCOMPARE(llama.pad_id, -1);
    const ModelSpec mistral = read(R"({"model_type": "mistral"})");
    QCOMPARE(mistral.intermediate_size, 14336);
    QCOMPARE(mistral.kv_heads, 8);
    QCOMPARE(mistral.context, 131072);
    QCOMPARE(mistral.sliding_window, 4096);
    QCOMPARE(read(R"({"model_type": "mistral", "sliding_window": null})").sliding_window, 0);
    QCOMPARE(read(R"({"model_type": "mistral", "num_key_value_heads": null})").kv_heads, 32);
  }

  void what_sets_a_family_apart_is_read() {
    const ModelSpec qwen2 =
        read(R"({"model_type": "qwen2", "sliding_window": 32768, "use_sliding_window": false})");
    QVERIFY(qwen2.qkv_bias && !qwen2.o_bias && !qwen2.mlp_bias && !qwen2.qk_norm);
    QCOMPARE(qwen2.sliding_window, 0);
    QCOMPARE(qwen2.eos_ids, std::vector<std::int32_t>{});
    const ModelSpec slides = read(
        R"({"model_type": "qwen2", "use_sliding_window": true, "sliding_window": 512, "max_window_layers": 2})");
    QCOMPARE(slides.window_of(1), 0);
    QCOMPARE(slides.window_of(2), 512);
    const ModelSpec qwen3 = read(R"({"model_type": "qwen3"})");
    QVERIFY(qwen3.qk_norm && !qwen3.qkv_bias);
    QCOMPARE(qwen3.head_dim, 128);
    const ModelSpec phi = read(R"({"model_type": "phi", "hidden_size": 2560, "partial_rotary_factor": 0.4})");
    QVERIFY(phi.block == BlockKind::parallel && phi.norm == NormKind::layer && phi.mlp == MlpKind::gelu);
    QVERIFY(phi.qkv_bias && phi.o_bias && phi.mlp_bias && phi.head_bias);
    QCOMPARE(phi.rope.rotary_dim, 32);
    QCOMPARE(phi.norm_epsilon, 1e-5);
    QCOMPARE(linear_modules(phi).back().name, std::string("mlp.fc2"));
    const ModelSpec phi3 = read(R"({"model_type": "phi3", "max_position_embeddings": 131072,
        "original_max_position_embeddings": 4096, "hidden_size": 64, "num_attention_heads": 8,
        "rope_scaling": {"type": "su", "short_factor": [1, 1, 1, 1], "long_factor": [1, 2, 3, 4]}})");
    QVERIFY(phi3.fused_qkv && phi3.fused_gate_up && phi3.rope.kind == RopeSpec::Kind::longrope);
    QCOMPARE(phi3.rope.original_context, 4096);
    QVERIFY(std::abs(phi3.rope.attention_factor - 1.190238) < 1e-6);
    QCOMPARE(phi3.eos_ids, std::vector<std::int32_t>{32000});
    const ModelSpec gemma = read(R"({"model_type": "gemma", "hidden_act": "gelu"})");
    QVERIFY(gemma.norm == NormKind::rms_one_plus && gemma.mlp == MlpKind::gelu_gated && gemma.tied_head);
    QCOMPARE(gemma.embedding_scale, std::sqrt(3072.0));
    const ModelSpec gemma2 = read(R"({"model_type": "gemma2"})");
    QVERIFY(gemma2.block == BlockKind::sandwich);
    QCOMPARE(gemma2.attention_soft_cap, 50.0);
    QCOMPARE(gemma2.logit_soft_cap, 30.0);
    QCOMPARE(gemma2.attention_scale(), 1.0f / 16.0f);
    QCOMPARE(gemma2.window_of(0), 4096);
    QCOMPARE(gemma2.window_of(1), 0);
  }

  void both_ways_of_writing_rope_are_read_data() {
    QTest::addColumn<QString>("fields");
    QTest::addColumn<int>("kind");
    QTest::addColumn<double>("theta");
    QTest::addColumn<double>("factor");
    using Kind = RopeSpec::Kind;
    const int plain = static_cast<int>(Kind::plain), linear = static_cast<int>(Kind::linear),
              llama3 = static_cast<int>(Kind::llama3);
    QTest::newRow("nothing") << R"("x": 1)" << plain << 10000.0 << 1.0;
    QTest::newRow("4.x base") << R"("rope_theta": 500000, "rope_scaling": null)" << plain << 500000.0 << 1.0;
    QTest::newRow("4.x linear, old key")
        << R"("rope_scaling": {"type": "linear", "factor": 2})" << linear << 10000.0 << 2.0;
    QTest::newRow("4.x llama3")
        << R"("rope_theta": 5e5, "rope_scaling": {"rope_type": "llama3", "factor": 8.0,
        "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192})"
        << llama3 << 5e5 << 8.0;
    QTest::newRow("5.x default") << R"("rope_parameters": {"rope_theta": 1e6, "rope_type": "default"})"
                                 << plain << 1e6 << 1.0;
    QTest::newRow("5.x llama3")
        << R"("rope_parameters": {"rope_theta": 5e5, "rope_type": "llama3", "factor": 32,
        "low_freq_factor": 1, "high_freq_factor": 4, "original_max_position_embeddings": 8192})"
        << llama3 << 5e5 << 32.0;
    QTest::newRow("5.x wins over 4.x")
        << R"("rope_theta": 7, "rope_parameters": {"rope_theta": 9, "rope_type": "default"},
        "rope_scaling": {"type": "linear", "factor": 2})"
        << plain << 9.0 << 1.0;
    QTest::newRow("base beside 5.x dictionary")
        << R"("rope_theta": 7, "rope_parameters": {"rope_type": "linear", "factor": 3})" << linear << 7.0
        << 3.0;
  }
  void both_ways_of_writing_rope_are_read() {
    QFETCH(QString, fields);
    QFETCH(int, kind);
    QFETCH(double, theta);
    QFETCH(double, factor);
    const ModelSpec spec = read("{\"model_type\": \"llama\", " + fields + "}");
    QCOMPARE(static_cast<int>(spec.rope.kind), kind);
    QCOMPARE(spec.rope.theta, theta);
    QCOMPARE(spec.rope.factor, factor);
    if (spec.rope.kind == RopeSpec::Kind::llama3) {
      QCOMPARE(spec.rope.low_freq_factor, 1.0);
      QCOMPARE(spec.rope.high_freq_factor, 4.0);
      QCOMPARE(spec.rope.original_context, 8192);
    }
  }

  void end_ids_come_from_both_files_without_repeats() {
    ModelSpec spec =
        read(R"({"model_type": "llama", "vocab_size": 200000, "eos_token_id": [128001, 128008]})");
    add_generation_end_ids(parse_json(R"({"eos_token_id": [128001, 128009]})", "g"), "g", spec);
    QCOMPARE(spec.eos_ids, (std::vector<std::int32_t>{128001, 128008, 128009}));
    QCOMPARE(read(R"({"model_type": "llama", "eos_token_id": null})").eos_ids, std::vector<std::int32_t>{});
    QCOMPARE(read(R"({"model_type": "llama", "bos_token_id": null})").bos_id, -1);
    QCOMPARE(read(R"({"model_type": "llama", "pad_token_id": 32000})").pad_id, -1);
  }

  void a_wrong_configuration_is_refused_by_field_data() {
    QTest::addColumn<QString>("json");
    QTest::addColumn<int>("code");
    QTest::addColumn<QString>("said");
    const int bad = static_cast<int>(ErrorCode::bad_format),
              not_built = static_cast<int>(ErrorCode::unsupported);
    const auto row = [](const char* name, const QString& fields, int code, const char* said) {
      QTest::newRow(name) << "{\"model_type\": \"llama\", " + fields + "}" << code << QString(said);
    };
    QTest::newRow("a list") << "[]" << bad << "not a JSON object";
    QTest::newRow("no model_type") << "{}" << bad << "model_type";
    QTest::newRow("another family") << R"({"model_type": "gpt2"})" << not_built << "\"gpt2\"";
    QTest::newRow("model_type a number") << R"({"model_type": 1})" << bad << "model_type";
    row("another head", R"("architectures": ["LlamaForSequenceClassification"])", not_built, "architectures");
    row("bitsandbytes", R"("quantization_config": {"quant_method": "bitsandbytes"})", not_built,
        "bitsandbytes");
    row("another activation", R"("hidden_act": "gelu")", not_built, "gelu");
    row("zero layers", R"("num_hidden_layers": 0)", bad, "num_hidden_layers");
    row("negative hidden", R"("hidden_size": -1)", bad, "hidden_size");
    row("huge vocabulary", R"("vocab_size": 1e15)", bad, "vocab_size");
    row("vocabulary beyond 64 bits", R"("vocab_size": 99999999999999999999)", bad, "vocab_size");
    row("fractional heads", R"("num_attention_heads": 2.5)", bad, "num_attention_heads");
    row("heads as text", R"("num_attention_heads": "32")", bad, "num_attention_heads");
    row("heads do not divide", R"("num_attention_heads": 33)", bad, "num_attention_heads");
    row("kv heads do not divide", R"("num_key_value_heads": 5)", bad, "divide");
    row("more kv heads than heads", R"("num_key_value_heads": 64)", bad, "key-value");
    row("odd head_dim", R"("head_dim": 127)", bad, "rotary");
    row("zero epsilon", R"("rms_norm_eps": 0)", bad, "epsilon");
    row("end id outside", R"("eos_token_id": 32000)", bad, "end token");
    row("end id a text", R"("eos_token_id": "</s>")", bad, "eos_token_id");
    row("begin id outside", R"("bos_token_id": 99999)", bad, "begin token");
    row("rope is a list", R"("rope_scaling": [])", bad, "rope_scaling");
    row("yarn with bounds turned",
        R"("rope_scaling": {"type": "yarn", "factor": 4, "beta_fast": 1, "beta_slow": 32})", bad, "betas");
    row("dynamic without factor", R"("rope_scaling": {"rope_type": "dynamic"})", bad, "factor");
    row("dynamic that shrinks", R"("rope_scaling": {"rope_type": "dynamic", "factor": 0.5})", bad, "factor");
    row("longrope without factors", R"("rope_parameters": {"rope_type": "longrope"})", bad, "short_factor");
    row("longrope of another width", R"("rope_parameters": {"rope_type": "longrope", "short_factor": [1, 2],
        "long_factor": [1, 2]})",
        bad, "short factors");
    row("made up", R"("rope_parameters": {"rope_type": "spiral"})", not_built, "spiral");
    row("by layer kind", R"("rope_parameters": {"full_attention": {"rope_theta": 1e6},
        "sliding_attention": {"rope_theta": 1e4}})",
        not_built, "by kind of layer");
    row("linear without factor", R"("rope_scaling": {"type": "linear"})", bad, "factor");
    row("negative factor", R"("rope_scaling": {"type": "linear", "factor": -2})", bad, "factor");
    row("llama3 without band", R"("rope_scaling": {"rope_type": "llama3", "factor": 8})", bad,
        "low_freq_factor");
    row("llama3 bands turned", R"("rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 4,
        "high_freq_factor": 1, "original_max_position_embeddings": 8192})",
        bad, "low below high");
    row("rope theta 0", R"("rope_theta": 0)", bad, "theta");
    row("nothing rotated", R"("partial_rotary_factor": 0)", bad, "rotary part");
    QTest::newRow("normed queries of Phi")
        << R"({"model_type": "phi", "qk_layernorm": true})" << not_built << "qk_layernorm";
    QTest::newRow("layer types too few")
        << R"({"model_type": "gemma2", "layer_types": ["full_attention"]})" << bad << "as many layer types";
    QTest::newRow("a layer of a kind of its own")
        << R"({"model_type": "qwen3", "num_hidden_layers": 1, "use_sliding_window": true, "layer_types": ["linear"]})"
        << not_built << "linear";
    row("tied as text", R"("tie_word_embeddings": "yes")", bad, "tie_word_embeddings");
  }
  void a_wrong_configuration_is_refused_by_field() {
    QFETCH(QString, json);
    QFETCH(int, code);
    QFETCH(QString, said);
    try {
      read(json);
      QFAIL("it was accepted");
    } catch (const Error& error) {
      QCOMPARE(static_cast<int>(error.code()), code);
      QVERIFY2(QString(error.what()).contains(said), error.what());
      QVERIFY2(error.where().rfind("config.json", 0) == 0, error.what());
    }
  }

  void parameters_are_those_of_the_published_models_data() {
    QTest::addColumn<QString>("folder");
    QTest::addColumn<qint64>("parameters");
    QTest::newRow("SmolLM2-135M") << "SmolLM2-135M" << qint64{134'515'008};
    QTest::newRow("TinyLlama") << "TinyLlama-1.1B-Chat-v1.0" << qint64{1'100'048'384};
    QTest::newRow("Llama-2-7b") << "Llama-2-7b-hf" << qint64{6'738'415'616};
    QTest::newRow("Llama-3.1-8B") << "Llama-3.1-8B-Instruct" << qint64{8'030'261'248};
    QTest::newRow("Mistral-7B") << "Mistral-7B-v0.2" << qint64{7'241'732'096};
    QTest::newRow("Qwen2.5-0.5B") << "Qwen2.5-0.5B-Instruct" << qint64{494'032'768};
    QTest::newRow("Qwen2.5-3B") << "Qwen2.5-3B-Instruct" << qint64{3'085'938'688};
    QTest::newRow("Qwen3-0.6B") << "Qwen3-0.6B" << qint64{596'049'920};
    QTest::newRow("Phi-2") << "phi-2" << qint64{2'779'683'840};
    QTest::newRow("Gemma-7B") << "gemma-7b" << qint64{8'537'680'896};
  }
  void parameters_are_those_of_the_published_models() {
    QFETCH(QString, folder);
    QFETCH(qint64, parameters);
    const QString data = qEnvironmentVariable("LORIKEET_TEST_DATA");
    if (data.isEmpty()) QSKIP("LORIKEET_TEST_DATA is not set: published configurations were not read");
    const std::string path = (data + "/configs/" + folder + "/config.json").toStdString();
    QCOMPARE(qint64{spec_from_config(read_json_file(path), path).parameters()}, parameters);
  }
};

QTEST_GUILESS_MAIN(TestModelConfig)
#include "test_model_config.moc"
