// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <filesystem>
#include <fstream>

#include "kernels/backend.h"
#include "kernels/base/error.h"
#include "kernels/cpu/cpu_info.h"

using namespace lorikeet;

namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t gib = kib * kib * kib;

/// A small copy of the files the kernel shows, in a temporary folder.
class FakeRoot {
 public:
  FakeRoot() {
    write("/proc/meminfo", "MemTotal:       16777216 kB\nMemFree:  1 kB\nMemAvailable:    8388608 kB\n");
  }
  void write(const std::string& path, const std::string& text) {
    const std::string full = root() + path;
    std::filesystem::create_directories(std::filesystem::path(full).parent_path());
    std::ofstream(full) << text;
  }
  std::string root() const { return folder_.path().toStdString(); }

 private:
  QTemporaryDir folder_;
};

void set_isa(const char* value) {
  if (value == nullptr) {
    qunsetenv("LORIKEET_ISA");
  } else {
    qputenv("LORIKEET_ISA", value);
  }
}

}  // namespace

class TestCpuInfo : public QObject {
  Q_OBJECT
 private slots:
  void cleanup() { set_isa(nullptr); }

  void without_a_control_group_the_machine_counts() {
    const FakeRoot fake;
    const MemoryState state = memory_state(fake.root());
    QCOMPARE(state.total_bytes, 16 * gib);
    QCOMPARE(state.free_bytes, 8 * gib);
  }

  void a_version_2_group_limits_what_is_free() {
    FakeRoot fake;
    fake.write("/proc/self/cgroup", "0::/user.slice/job\n");
    fake.write("/sys/fs/cgroup/user.slice/job/memory.max", std::to_string(4 * gib) + "\n");
    fake.write("/sys/fs/cgroup/user.slice/job/memory.current", std::to_string(3 * gib) + "\n");
    fake.write("/sys/fs/cgroup/user.slice/job/memory.stat",
               "anon 1\ninactive_file " + std::to_string(gib) + "\n");
    const MemoryState state = memory_state(fake.root());
    QCOMPARE(state.total_bytes, 4 * gib);
    QCOMPARE(state.free_bytes, 2 * gib);
  }

  void the_tightest_of_all_groups_around_counts() {
    FakeRoot fake;
    fake.write("/proc/self/cgroup", "0::/outer/inner\n");
    fake.write("/sys/fs/cgroup/outer/inner/memory.max", "max\n");
    fake.write("/sys/fs/cgroup/outer/memory.max", std::to_string(2 * gib));
    fake.write("/sys/fs/cgroup/outer/memory.current", std::to_string(gib / 2));
    const MemoryState state = memory_state(fake.root());
    QCOMPARE(state.total_bytes, 2 * gib);
    QCOMPARE(state.free_bytes, gib * 3 / 2);
  }

  void inside_a_container_the_mount_itself_is_the_group() {
    FakeRoot fake;
    fake.write("/proc/self/cgroup", "0::/\n");
    fake.write("/sys/fs/cgroup/memory.max", std::to_string(gib));
    fake.write("/sys/fs/cgroup/memory.current", std::to_string(2 * gib));  // above its limit for a moment
    const MemoryState state = memory_state(fake.root());
    QCOMPARE(state.total_bytes, gib);
    QCOMPARE(state.free_bytes, std::uint64_t{0});
  }

  void a_version_1_group_limits_too() {
    FakeRoot fake;
    fake.write("/proc/self/cgroup", "12:cpu,cpuacct:/a\n5:memory:/docker/x\n");
    fake.write("/sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", std::to_string(3 * gib));
    fake.write("/sys/fs/cgroup/memory/docker/x/memory.usage_in_bytes", std::to_string(gib));
    const MemoryState state = memory_state(fake.root());
    QCOMPARE(state.total_bytes, 3 * gib);
    QCOMPARE(state.free_bytes, 2 * gib);
  }

  void broken_files_mean_no_limit() {
    FakeRoot fake;
    fake.write("/proc/self/cgroup", "nonsense\n0::no-slash\n0::/a\n");
    fake.write("/sys/fs/cgroup/a/memory.max", "-5 apples");
    const MemoryState state = memory_state(fake.root());
    QCOMPARE(state.total_bytes, 16 * gib);
    QCOMPARE(state.free_bytes, 8 * gib);
  }

  void the_environment_forces_a_lower_level() {
    set_isa("x86-64-v2");
    QCOMPARE(static_cast<int>(chosen_isa()), static_cast<int>(Isa::x86_64_v2));
    set_isa("");
    QCOMPARE(static_cast<int>(chosen_isa()), static_cast<int>(detected_isa()));
    set_isa(to_string(detected_isa()));
    QCOMPARE(static_cast<int>(chosen_isa()), static_cast<int>(detected_isa()));
  }

  void an_unknown_or_missing_level_is_refused() {
    const auto code = [](const char* value) {
      set_isa(value);
      try {
        chosen_isa();
      } catch (const Error& error) {
        return static_cast<int>(error.code());
      }
      return -1;
    };
    QCOMPARE(code("avx3"), static_cast<int>(ErrorCode::invalid_argument));
    if (detected_isa() != Isa::avx512_bf16)
      QCOMPARE(code("avx512-bf16"), static_cast<int>(ErrorCode::unsupported));
  }

  void the_device_says_what_it_is() {
    const DeviceInfo info = cpu_device_info(detected_isa(), 2);
    QCOMPARE(QString::fromStdString(info.kind), QString("cpu"));
    QVERIFY(!info.name.empty());
    qInfo("instruction set: %s", info.instruction_set.c_str());  // read by run_on_model.sh
    QCOMPARE(info.threads, 2);
    QVERIFY(info.memory_free_bytes > 0 && info.memory_free_bytes <= info.memory_total_bytes);
    QVERIFY(usable_cores() >= 1);
  }

  void devices_are_made_by_name() {
    BackendOptions options;
    options.device = "cpu";
    options.threads = 1;
    QCOMPARE(QString::fromStdString(make_backend(options)->device().kind), QString("cpu"));
    options.device = "tpu";
    QVERIFY_THROWS_EXCEPTION(Error, make_backend(options));
    options.device = "cpu";
    options.threads = -1;
    QVERIFY_THROWS_EXCEPTION(Error, make_backend(options));
    const DeviceReport report = list_devices();
    QVERIFY(!report.devices.empty());
    QCOMPARE(QString::fromStdString(report.devices[0].kind), QString("cpu"));
    QVERIFY(report.devices[0].memory_total_bytes > 0);
    QVERIFY(report.devices[0].threads >= 1);
    QVERIFY(report.devices.size() > 1 || !report.notes.empty());
  }
};

QTEST_GUILESS_MAIN(TestCpuInfo)
#include "test_cpu_info.moc"
