// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/model/model_config.h"
#include "core/model/rope.h"
#include "kernels/base/error.h"
#include "tests/support/tiny_model.h"

using namespace lorikeet;
using namespace lorikeet::test;

namespace {

/// The divisors a converter would store for llama3 scaling.
std::vector<float> divisors_of(RopeSpec rope) {
  const std::vector<float> scaled = rope_inverse_frequencies(rope, 128);
  rope.kind = RopeSpec::Kind::plain;
  std::vector<float> divisors = rope_inverse_frequencies(rope, 128);
  for (std::size_t i = 0; i < divisors.size(); ++i) divisors[i] /= scaled[i];
  return divisors;
}

}  // namespace

class TestConfigWriter : public QObject {
  Q_OBJECT

 private slots:
  void a_written_configuration_is_read_back_as_the_same_spec() {
    TinyModel model;
    model.tied_head = false;
    model.attention_bias = true;
    ModelSpec spec = tiny_spec(model);
    spec.eos_ids = {2, 5};
    spec.pad_id = 3;
    spec.rope.kind = RopeSpec::Kind::linear;
    spec.rope.factor = 2.5;
    spec.rope.theta = 500000;
    const ModelSpec read = spec_from_config(config_from_spec(spec, "bfloat16"), "config.json");
    QCOMPARE(read.vocab_size, spec.vocab_size);
    QCOMPARE(read.hidden_size, spec.hidden_size);
    QCOMPARE(read.intermediate_size, spec.intermediate_size);
    QCOMPARE(read.layers, spec.layers);
    QCOMPARE(read.heads, spec.heads);
    QCOMPARE(read.kv_heads, spec.kv_heads);
    QCOMPARE(read.head_dim, spec.head_dim);
    QCOMPARE(read.context, spec.context);
    QCOMPARE(read.norm_epsilon, spec.norm_epsilon);
    QCOMPARE(read.tied_head, spec.tied_head);
    QCOMPARE(read.qkv_bias, spec.qkv_bias);
    QCOMPARE(read.eos_ids, spec.eos_ids);
    QCOMPARE(read.bos_id, spec.bos_id);
    QCOMPARE(read.pad_id, spec.pad_id);
    QCOMPARE(read.rope.factor, 2.5);
    QCOMPARE(read.rope.theta, 500000.0);
  }

  void llama3_scaling_is_found_again_from_the_divisors_of_gguf_data() {
    QTest::addColumn<double>("factor");
    QTest::addColumn<double>("low");
    QTest::addColumn<double>("high");
    QTest::addColumn<int>("original");
    QTest::addColumn<int>("head_dim");
    QTest::addColumn<double>("theta");
    QTest::newRow("Llama 3.1 8B") << 8.0 << 1.0 << 4.0 << 8192 << 128 << 500000.0;
    QTest::newRow("Llama 3.2 1B") << 32.0 << 1.0 << 4.0 << 8192 << 64 << 500000.0;
    QTest::newRow("other bands") << 4.0 << 1.0 << 3.0 << 2048 << 64 << 10000.0;
    QTest::newRow("low factor not 1") << 8.0 << 2.0 << 8.0 << 8192 << 128 << 500000.0;
    QTest::newRow("few pairs") << 8.0 << 1.0 << 4.0 << 8192 << 8 << 500000.0;
  }
  void llama3_scaling_is_found_again_from_the_divisors_of_gguf() {
    QFETCH(double, factor);
    QFETCH(double, low);
    QFETCH(double, high);
    QFETCH(int, original);
    QFETCH(int, head_dim);
    QFETCH(double, theta);
    ModelSpec spec = tiny_spec({});
    spec.head_dim = spec.rope.rotary_dim = head_dim;
    spec.context = 131072;
    spec.rope = {RopeSpec::Kind::llama3, theta, head_dim, factor, low, high, original, {}};
    const std::vector<float> wanted = rope_inverse_frequencies(spec.rope, 128);
    spec.rope.divisors = divisors_of(spec.rope);
    spec.rope.kind = RopeSpec::Kind::plain;
    const ModelSpec read = spec_from_config(config_from_spec(spec, "float32"), "config.json");
    QCOMPARE(static_cast<int>(read.rope.kind), static_cast<int>(RopeSpec::Kind::llama3));
    const std::vector<float> frequencies = rope_inverse_frequencies(read.rope, 128);
    for (std::size_t i = 0; i < wanted.size(); ++i) QVERIFY(std::abs(frequencies[i] / wanted[i] - 1) < 1e-4f);
    if (low == 1) QCOMPARE(read.rope.original_context, std::int64_t{original});
  }

  void divisors_of_no_known_rule_are_refused() {
    ModelSpec spec = tiny_spec({});
    spec.rope.divisors = {3, 1, 7, 2};
    QVERIFY_EXCEPTION_THROWN(config_from_spec(spec, "float32"), Error);
  }

  void the_fields_of_the_file_are_used_for_what_changes() {
    const ModelSpec spec = tiny_spec({});
    const auto config = [](const char* text) { return parse_json(text, "config.json"); };
    const Json old = config_for_export(config(R"({"torch_dtype": "float32", "quantization_config": {}})"),
                                       spec, "bfloat16", 2);
    QCOMPARE(old["torch_dtype"].get<std::string>(), std::string("bfloat16"));
    QVERIFY(!old.contains("quantization_config") && !old.contains("dtype"));
    QCOMPARE(old["rope_scaling"]["type"].get<std::string>(), std::string("linear"));
    const Json fresh = config_for_export(
        config(R"({"dtype": "float32", "rope_parameters": {"rope_theta": 7, "rope_type": "default"}})"), spec,
        "float16", 2);
    QCOMPARE(fresh["dtype"].get<std::string>(), std::string("float16"));
    QVERIFY(!fresh.contains("torch_dtype") && !fresh.contains("rope_scaling"));
    QCOMPARE(fresh["rope_parameters"]["rope_theta"].get<int>(), 7);
    QCOMPARE(fresh["rope_parameters"]["factor"].get<double>(), 2.0);
    ModelSpec wide = spec;
    wide.head_dim = 16;
    QCOMPARE(config_for_export(config("{}"), wide, "float32", 1)["head_dim"].get<int>(), 16);
  }
};

QTEST_GUILESS_MAIN(TestConfigWriter)
#include "test_config_writer.moc"
