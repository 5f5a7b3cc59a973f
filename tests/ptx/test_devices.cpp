// SPDX-License-Identifier: Apache-2.0
// Which device is taken, what is known of it before it is used, and what that costs it.
#include <QtTest>
#include <algorithm>

#include "core/model/compute_choice.h"
#include "core/train/run_record.h"
#include "kernels/base/error.h"
#include "kernels/cuda/built_code.h"
#include "kernels/cuda/device_list.h"
#include "tests/ptx/control.h"

using namespace lorikeet;

class TestDevices : public QObject {
  Q_OBJECT
  using Ordinals = std::vector<int>;
  using Record = std::vector<std::pair<std::string, std::string>>;
  static constexpr std::uint64_t gib = std::uint64_t{1} << 30;

  static void pretend_memory(std::uint64_t free, std::uint64_t total) {
    qputenv("LORIKEET_PRETENDED_NVML",
            QByteArray::number(quint64{free}) + ' ' + QByteArray::number(quint64{total}));
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  static std::string notes(const DeviceReport& report) {
    std::string all;
    for (const std::string& note : report.notes) all += note + "\n";
    return all;
  }
  static std::string said(const std::string& key, const Record& machine) {
    for (const auto& [name, value] : machine) {
      if (name == key) return value;
    }
    return "nothing";
  }

 private slots:
  void init() {
    ptx::restart();
    ptx::set_cards({});
    ptx::set_cublas_lt(true);
    ptx::set_memory_limit(4 * gib);
    for (const int ordinal : {0, 1}) ptx::miss_code(ordinal, cudaSuccess);
    qunsetenv("LORIKEET_PRETENDED_NVML");
  }

  void a_listing_takes_no_memory_on_any_card() {
    pretend_memory(3 * gib, 4 * gib);
    ptx::set_cards({80, 80});
    const DeviceReport report = list_devices();
    QCOMPARE(report.devices.size(), std::size_t{3});
    QVERIFY(ptx::contexts().empty());
    QCOMPARE(report.devices[1].memory_free_bytes, 3 * gib);
    QVERIFY(report.devices[1].memory_free_known);
    QVERIFY(!report.devices[2].memory_free_known);  // the library does not know that card
    QCOMPARE(report.devices[1].driver, cuda::version_text(CUDART_VERSION));
    QCOMPARE(report.devices[1].runtime, cuda::version_text(CUDART_VERSION));
  }

  void what_the_library_says_is_checked_data() {
    QTest::addColumn<quint64>("free");
    QTest::addColumn<quint64>("total");
    QTest::newRow("does not start") << quint64{0} << quint64{0};
    QTest::newRow("more free than there is") << quint64{5 * gib} << quint64{4 * gib};
    QTest::newRow("a card of which the device is a part") << quint64{3 * gib} << quint64{8 * gib};
    QTest::newRow("nothing at all") << quint64{1} << quint64{0};
  }
  void what_the_library_says_is_checked() {
    QFETCH(quint64, free);
    QFETCH(quint64, total);
    if (free > 0) pretend_memory(free, total);
    const DeviceInfo device = list_devices().devices[1];
    QVERIFY(!device.memory_free_known);
    QCOMPARE(device.memory_free_bytes, 4 * gib);
    QVERIFY(ptx::contexts().empty());
  }

  void only_the_card_that_is_used_is_started() {
    ptx::set_cards({61, 80, 80});
    const DeviceReport report = list_devices(true);
    QCOMPARE(ptx::contexts(), Ordinals{1});
    QCOMPARE(report.devices.size(), std::size_t{3});
    QVERIFY2(has(notes(report), "compute 6.1, 7.5 or newer is needed"), notes(report).c_str());
    const auto backend = make_backend({.device = "auto"});
    QCOMPARE(backend->device().kind, std::string("cuda"));
    QCOMPARE(ptx::contexts(), Ordinals{1});
  }

  void free_memory_is_read_after_the_context_was_made() {
    pretend_memory(4 * gib, 4 * gib);
    void* taken = nullptr;
    QCOMPARE(cudaMalloc(&taken, gib), cudaSuccess);
    const DeviceInfo device = list_devices(true).devices[1];
    QVERIFY(device.memory_free_bytes <= 3 * gib && device.memory_free_bytes > 3 * gib - gib / 100);
    QCOMPARE(cudaFree(taken), cudaSuccess);
  }

  void a_card_without_code_is_passed_over_data() {
    QTest::addColumn<int>("status");
    QTest::newRow("no kernel image") << int(cudaErrorNoKernelImageForDevice);
    QTest::newRow("newer PTX than the driver knows") << int(cudaErrorUnsupportedPtxVersion);
    QTest::newRow("no compiler for PTX") << int(cudaErrorJitCompilerNotFound);
  }
  void a_card_without_code_is_passed_over() {
    QFETCH(int, status);
    ptx::miss_code(0, static_cast<cudaError_t>(status));
    const DeviceReport report = list_devices(true);
    QCOMPARE(report.devices.size(), std::size_t{1});
    const std::string why =
        "Emulated card of compute capability 8.0: this build has no code for compute capability 8.0";
    QVERIFY2(has(notes(report), "CUDA is not used: " + why), notes(report).c_str());
    QVERIFY(has(notes(report), "CMAKE_CUDA_ARCHITECTURES=80"));
    QVERIFY(ptx::contexts().empty());
    QCOMPARE(make_backend({.device = "auto"})->device().kind, std::string("cpu"));
    try {
      make_backend({.device = "cuda"});
      QFAIL("it was made");
    } catch (const Error& error) {
      QCOMPARE(error.code(), ErrorCode::unsupported);
      QVERIFY2(has(error.message(), why), error.what());
    }
    QVERIFY(ptx::contexts().empty());
    Settings settings;
    settings.device = "auto";
    const auto backend = make_backend_for(settings);
    QVERIFY(has(said("cuda", describe_machine(*backend, DType::f32, settings)), why));
  }

  void the_next_card_takes_over_from_one_without_code() {
    ptx::set_cards({80, 80});
    ptx::miss_code(0, cudaErrorNoKernelImageForDevice);
    const auto backend = make_backend({.device = "cuda"});
    QCOMPARE(ptx::contexts(), Ordinals{1});
    const Tensor x = backend->allocate({7}, DType::f32);
    backend->fill_zero(x.view());
    std::vector<float> values(7, 1.0f);
    backend->download(values.data(), x.view());
    QVERIFY(std::all_of(values.begin(), values.end(), [](float v) { return v == 0; }));
  }

  void a_card_that_is_taken_is_passed_over() {
    ptx::miss_code(0, cudaErrorDevicesUnavailable);
    QVERIFY(has(notes(list_devices(true)), "is taken by another program"));
    QCOMPARE(make_backend({.device = "auto"})->device().kind, std::string("cpu"));
    QVERIFY_THROWS_EXCEPTION(Error, make_backend({.device = "cuda"}));
  }

  void a_card_that_has_code_and_cannot_be_had_is_an_error() {
    ptx::miss_code(0, cudaErrorMemoryAllocation);
    QCOMPARE(list_devices().devices.size(), std::size_t{2});
    for (const char* device : {"cuda", "auto"})
      QVERIFY_THROWS_EXCEPTION(Error, make_backend({.device = device}));
  }

  void what_the_build_has_code_for_is_known_without_asking_the_card() {
    const CudaReport report = cuda::find_devices("75-real,90");
    QVERIFY(report.devices.empty());
    QVERIFY2(has(report.reason, "no code for compute capability 8.0, only for 7.5, 9.0"),
             report.reason.c_str());
    QVERIFY_THROWS_EXCEPTION(Error, cuda::first_device("75-real,90"));
    QVERIFY(ptx::contexts().empty());
    QCOMPARE(cuda::find_devices("80-real").devices.size(), std::size_t{1});
  }

  void a_memory_limit_above_what_the_card_has_is_cut() {
    Settings settings;
    settings.device = "cuda";
    settings.memory_limit_bytes = 100 * gib;
    const auto backend = make_backend_for(settings);
    QVERIFY(backend->budget().limit_bytes() <= 4 * gib && backend->budget().limit_bytes() > 3 * gib);
    const PlanDevice device = plan_device(*backend, DType::f32);
    QVERIFY(device.is_cuda && device.host_free_bytes > 0);
  }

  void the_record_names_driver_and_libraries() {
    Settings settings;
    settings.device = "cuda";
    const Record machine = describe_machine(*make_backend_for(settings), DType::f32, settings);
    QVERIFY(has(said("driver", machine), "for CUDA " + cuda::version_text(CUDART_VERSION)));
    QCOMPARE(said("cuda_runtime", machine), cuda::version_text(CUDART_VERSION));
    QVERIFY2(said("products", machine).starts_with("cuBLASLt 1"), said("products", machine).c_str());
    ptx::set_cublas_lt(false);
    const Record other = describe_machine(*make_backend_for(settings), DType::f32, settings);
    QCOMPARE(said("products", other), std::string("own products"));
    QVERIFY(!same_machine(machine, other));
    Record older = machine;  // recorded by a version that wrote less
    std::erase_if(older, [](const auto& entry) { return entry.first == "products"; });
    QVERIFY(same_machine(older, machine));
  }
};

QTEST_GUILESS_MAIN(TestDevices)
#include "test_devices.moc"
