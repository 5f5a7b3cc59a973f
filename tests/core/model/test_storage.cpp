// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cstring>
#include <set>

#include "core/model/gguf.h"
#include "core/model/safetensors.h"
#include "core/model/storage.h"
#include "kernels/base/error.h"
#include "kernels/base/random.h"

using namespace lorikeet;

class TestStorage : public QObject {
  Q_OBJECT
  const std::string golden_ = QFINDTESTDATA("../../golden/gguf").toStdString();

  std::vector<float> expected(const SafetensorsFile& file, const std::string& name) const {
    const SafetensorsEntry* entry = file.find(name);
    if (!entry) return {};
    std::vector<float> values(entry->bytes() / sizeof(float));
    std::memcpy(values.data(), file.bytes(*entry).data(), entry->bytes());
    return values;
  }

 private slots:
  void every_type_gives_the_numbers_of_the_gguf_package() {
    const GgufFile file(golden_ + "/blocks.gguf");
    const SafetensorsFile golden(golden_ + "/expected.safetensors");
    std::set<StorageType> seen;
    for (const GgufTensor& tensor : file.tensors()) {
      const std::vector<float> wanted = expected(golden, tensor.name);
      std::vector<float> values(wanted.size(), -77.0f);
      read_elements(tensor.type, file.bytes(tensor), 0, values);
      QVERIFY(!values.empty());
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (std::memcmp(&values[i], &wanted[i], sizeof(float)) == 0) continue;
        // Zero has two signs; which one comes out differs between the package's vector code and the formula.
        QVERIFY2(values[i] == 0 && wanted[i] == 0,
                 (tensor.name + " at " + std::to_string(i) + ": " + std::to_string(values[i]) +
                  " instead of " + std::to_string(wanted[i]))
                     .c_str());
      }
      seen.insert(tensor.type);
    }
    QCOMPARE(seen.size(), std::size_t{11});
  }

  void any_range_of_a_tensor_equals_that_part_of_the_whole() {
    const GgufFile file(golden_ + "/blocks.gguf");
    RandomStream random({.seed = 5});
    for (const GgufTensor& tensor : file.tensors()) {
      const auto count = static_cast<std::uint64_t>(tensor.shape[0] * tensor.shape[1]);
      std::vector<float> whole(count);
      read_elements(tensor.type, file.bytes(tensor), 0, whole);
      for (int round = 0; round < 50; ++round) {
        const std::uint64_t first = random.next_below(count);
        std::vector<float> part(random.next_below(count - first) + 1);
        read_elements(tensor.type, file.bytes(tensor), static_cast<std::int64_t>(first), part);
        QCOMPARE(std::memcmp(part.data(), &whole[first], part.size() * sizeof(float)), 0);
      }
      read_elements(tensor.type, file.bytes(tensor), static_cast<std::int64_t>(count), {});
    }
  }

  void a_range_outside_the_tensor_is_refused() {
    const std::vector<std::byte> block(34);
    std::vector<float> out(32);
    read_elements(StorageType::q8_0, block, 0, out);
    QVERIFY_EXCEPTION_THROWN(read_elements(StorageType::q8_0, block, 1, out), Error);
    QVERIFY_EXCEPTION_THROWN(read_elements(StorageType::q8_0, block, -1, out), Error);
    QVERIFY_EXCEPTION_THROWN(read_elements(StorageType::q8_0, block, INT64_MAX, out), Error);
    QVERIFY_EXCEPTION_THROWN(read_elements(StorageType::q8_0, std::span(block).first(33), 0, out), Error);
    QVERIFY_EXCEPTION_THROWN(
        read_elements(StorageType::f32, std::span(block).first(7), 1, std::span(out).first(1)), Error);
    QVERIFY_EXCEPTION_THROWN(read_elements(StorageType::other, block, 0, std::span(out).first(1)), Error);
  }
};

QTEST_GUILESS_MAIN(TestStorage)
#include "test_storage.moc"
