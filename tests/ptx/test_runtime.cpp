// SPDX-License-Identifier: Apache-2.0
// The emulated CUDA run-time library alone: what is right always works, what is wrong shows.
#include <cuda_runtime_api.h>

#include <QtTest>
#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "tests/ptx/control.h"

using namespace lorikeet;

namespace {

constexpr std::size_t count = 64, bytes = count * sizeof(float);

/// Two streams, an event, device memory and a page-locked buffer; all given back by ptx::restart().
struct Bench {
  cudaStream_t first = nullptr, second = nullptr;
  cudaEvent_t event = nullptr;
  float *a = nullptr, *b = nullptr, *pinned = nullptr, *result = nullptr;

  explicit Bench(std::uint64_t seed = 1) {
    ptx::restart();
    ptx::set_seed(seed);
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    a = device();
    b = device();
    cudaMallocHost(reinterpret_cast<void**>(&pinned), bytes);
    cudaMallocHost(reinterpret_cast<void**>(&result), bytes);
  }
  static float* device() {
    float* data = nullptr;
    cudaMalloc(reinterpret_cast<void**>(&data), bytes);
    return data;
  }
  void fill(float value) const { std::fill(pinned, pinned + count, value); }
  bool result_is(float value) const {
    return std::all_of(result, result + count, [&](float got) { return got == value; });
  }
};

/// Number of seeds of 40 for which `work` gives true.
int seeds_with(const std::function<bool(std::uint64_t)>& work) {
  int seeds = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) seeds += work(seed) ? 1 : 0;
  return seeds;
}

/// Upload on one stream, download on the other; they meet by the event, or not.
bool crosses_streams(std::uint64_t seed, bool waits) {
  const Bench bench(seed);
  cudaMemsetAsync(bench.a, 0, bytes, bench.first);
  cudaStreamSynchronize(bench.first);
  bench.fill(3);
  cudaMemcpyAsync(bench.a, bench.pinned, bytes, cudaMemcpyHostToDevice, bench.first);
  cudaMemcpyAsync(bench.b, bench.a, bytes, cudaMemcpyDeviceToDevice, bench.first);
  cudaEventRecord(bench.event, bench.first);
  if (waits) cudaStreamWaitEvent(bench.second, bench.event, 0);
  cudaMemcpyAsync(bench.result, bench.b, bytes, cudaMemcpyDeviceToHost, bench.second);
  return cudaDeviceSynchronize() == cudaSuccess && bench.result_is(3);
}

/// Uploads twice from one page-locked buffer; the second time before or after the first copy is done.
bool reuses_buffer(std::uint64_t seed, bool waits) {
  const Bench bench(seed);
  bench.fill(1);
  cudaMemcpyAsync(bench.a, bench.pinned, bytes, cudaMemcpyHostToDevice, bench.first);
  cudaEventRecord(bench.event, bench.first);
  if (waits) cudaEventSynchronize(bench.event);
  bench.fill(2);
  cudaMemcpyAsync(bench.b, bench.pinned, bytes, cudaMemcpyHostToDevice, bench.first);
  cudaMemcpyAsync(bench.result, bench.a, bytes, cudaMemcpyDeviceToHost, bench.first);
  return cudaDeviceSynchronize() == cudaSuccess && bench.result_is(1);
}

/// a = pinned; then on the second stream b = a; then back on the first result = b.
void fork_and_join(const Bench& bench) {
  cudaMemcpyAsync(bench.a, bench.pinned, bytes, cudaMemcpyHostToDevice, bench.first);
  cudaEventRecord(bench.event, bench.first);
  cudaStreamWaitEvent(bench.second, bench.event, 0);
  cudaMemcpyAsync(bench.b, bench.a, bytes, cudaMemcpyDeviceToDevice, bench.second);
  cudaEventRecord(bench.event, bench.second);
  cudaStreamWaitEvent(bench.first, bench.event, 0);
  cudaMemcpyAsync(bench.result, bench.b, bytes, cudaMemcpyDeviceToHost, bench.first);
}

}  // namespace

class TestRuntime : public QObject {
  Q_OBJECT
 private slots:
  void cleanup() {
    (void)ptx::complaint();
    ptx::restart();
  }

  void an_event_orders_two_streams() {
    QCOMPARE(seeds_with([](std::uint64_t seed) { return crosses_streams(seed, true); }), 40);
  }
  void a_missing_wait_shows_in_most_orders() {
    const int wrong = seeds_with([](std::uint64_t seed) { return !crosses_streams(seed, false); });
    QVERIFY2(wrong > 20, qPrintable(QString::number(wrong)));
  }
  void a_buffer_used_again_too_early_shows() {
    QCOMPARE(seeds_with([](std::uint64_t seed) { return reuses_buffer(seed, true); }), 40);
    QCOMPARE(seeds_with([](std::uint64_t seed) { return reuses_buffer(seed, false); }), 0);
  }
  void pageable_memory_is_read_at_the_call() {
    const Bench bench;
    std::vector<float> values(count, 5.0f);
    cudaMemcpyAsync(bench.a, values.data(), bytes, cudaMemcpyHostToDevice, bench.first);
    std::fill(values.begin(), values.end(), 6.0f);
    cudaMemcpyAsync(bench.result, bench.a, bytes, cudaMemcpyDeviceToHost, bench.first);
    QCOMPARE(cudaStreamSynchronize(bench.first), cudaSuccess);
    QVERIFY(bench.result_is(5));
  }
  void nothing_runs_before_the_host_waits() {
    const Bench bench;
    bench.fill(1);
    std::fill(bench.result, bench.result + count, 9.0f);
    cudaMemcpyAsync(bench.a, bench.pinned, bytes, cudaMemcpyHostToDevice, bench.first);
    cudaMemcpyAsync(bench.result, bench.a, bytes, cudaMemcpyDeviceToHost, bench.first);
    QVERIFY(bench.result_is(9));
    QCOMPARE(cudaStreamQuery(bench.first), cudaErrorNotReady);
    QCOMPARE(cudaStreamSynchronize(bench.first), cudaSuccess);
    QVERIFY(bench.result_is(1));
    QCOMPARE(cudaStreamQuery(bench.first), cudaSuccess);
  }
  void a_stream_keeps_its_order() {
    QCOMPARE(seeds_with([](std::uint64_t seed) {
               const Bench bench(seed);
               for (int i = 0; i < 9; ++i) cudaMemsetAsync(bench.a, i, bytes, bench.first);
               cudaMemcpyAsync(bench.result, bench.a, bytes, cudaMemcpyDeviceToHost, bench.first);
               cudaDeviceSynchronize();
               unsigned char last = 0;
               std::memcpy(&last, bench.result, 1);
               return last == 8;
             }),
             40);
  }
  void the_default_stream_waits_for_streams_that_ask_for_it() {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const Bench bench(seed);
      cudaStream_t blocking = nullptr;
      cudaStreamCreate(&blocking);
      cudaMemsetAsync(bench.a, 1, bytes, blocking);
      cudaMemsetAsync(bench.a, 2, bytes, nullptr);
      cudaMemcpyAsync(bench.result, bench.a, bytes, cudaMemcpyDeviceToHost, blocking);
      QCOMPARE(cudaDeviceSynchronize(), cudaSuccess);
      int first = 0;
      std::memcpy(&first, bench.result, 4);
      QCOMPARE(first, 0x02020202);
    }
  }

  void a_graph_does_the_same_as_its_calls() {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const Bench bench(seed);
      bench.fill(1);
      fork_and_join(bench);
      QCOMPARE(cudaDeviceSynchronize(), cudaSuccess);
      QVERIFY(bench.result_is(1));
      QCOMPARE(cudaStreamBeginCapture(bench.first, cudaStreamCaptureModeThreadLocal), cudaSuccess);
      fork_and_join(bench);
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t exec = nullptr;
      std::size_t nodes = 0;
      QCOMPARE(cudaStreamEndCapture(bench.first, &graph), cudaSuccess);
      QCOMPARE(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
      QCOMPARE(nodes, std::size_t{3});
      QCOMPARE(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
      for (const float value : {2.0f, 3.0f}) {
        bench.fill(value);
        QCOMPARE(cudaGraphLaunch(exec, bench.first), cudaSuccess);
        QCOMPARE(cudaStreamSynchronize(bench.first), cudaSuccess);
        QVERIFY(bench.result_is(value));
      }
    }
  }
  void what_may_not_happen_in_a_capture_is_refused_data() {
    QTest::addColumn<int>("call");
    QTest::addColumn<int>("status");
    QTest::addColumn<int>("end");
    const int spoiled = cudaErrorStreamCaptureInvalidated;
    QTest::newRow("waiting") << 0 << int{cudaErrorStreamCaptureUnsupported} << spoiled;
    QTest::newRow("allocating") << 1 << int{cudaErrorStreamCaptureUnsupported} << spoiled;
    QTest::newRow("a branch that does not come back")
        << 2 << int{cudaSuccess} << int{cudaErrorStreamCaptureUnjoined};
    QTest::newRow("an event from outside") << 3 << int{cudaErrorStreamCaptureIsolation} << spoiled;
    QTest::newRow("pageable memory") << 4 << int{cudaErrorStreamCaptureUnsupported} << int{cudaSuccess};
  }
  void what_may_not_happen_in_a_capture_is_refused() {
    QFETCH(int, call);
    QFETCH(int, status);
    QFETCH(int, end);
    const Bench bench;
    cudaEventRecord(bench.event, bench.second);
    cudaStreamBeginCapture(bench.first, cudaStreamCaptureModeThreadLocal);
    float values[count] = {};
    void* data = nullptr;
    cudaError_t got = cudaSuccess;
    if (call == 0) got = cudaStreamSynchronize(bench.first);
    if (call == 1) got = cudaMalloc(&data, bytes);
    if (call == 2) {
      cudaEventRecord(bench.event, bench.first);
      cudaStreamWaitEvent(bench.second, bench.event, 0);
      got = cudaMemsetAsync(bench.a, 0, bytes, bench.second);
    }
    if (call == 3) got = cudaStreamWaitEvent(bench.first, bench.event, 0);
    if (call == 4) got = cudaMemcpyAsync(bench.a, values, bytes, cudaMemcpyHostToDevice, bench.first);
    QCOMPARE(int{got}, status);
    cudaGraph_t graph = nullptr;
    QCOMPARE(int{cudaStreamEndCapture(bench.first, &graph)}, end);
  }

  void memory_freed_in_a_stream_is_gone_for_other_streams() {
    const auto wrong = [](bool waits) {
      return seeds_with([&](std::uint64_t seed) {
        const Bench bench(seed);
        void* data = nullptr;
        cudaMallocAsync(&data, bytes, bench.first);
        cudaMemsetAsync(data, 1, bytes, bench.first);
        cudaEventRecord(bench.event, bench.first);
        cudaStreamWaitEvent(bench.second, bench.event, 0);
        cudaMemcpyAsync(bench.result, data, bytes, cudaMemcpyDeviceToHost, bench.second);
        cudaEventRecord(bench.event, bench.second);
        if (waits) cudaStreamWaitEvent(bench.first, bench.event, 0);
        cudaFreeAsync(data, bench.first);
        return cudaDeviceSynchronize() != cudaSuccess && !ptx::complaint().empty();
      });
    };
    QCOMPARE(wrong(true), 0);
    QVERIFY(wrong(false) > 8);
  }
  void memory_beyond_the_card_is_refused_and_said_once() {
    const Bench bench;
    const std::size_t used = ptx::memory_used();
    ptx::set_memory_limit(used + 1000);
    void *data = nullptr, *more = nullptr;
    QCOMPARE(cudaMalloc(&data, 1001), cudaErrorMemoryAllocation);
    QVERIFY(!data);
    QVERIFY(QString(cudaGetErrorString(cudaErrorMemoryAllocation)).contains("1001"));
    QCOMPARE(cudaGetLastError(), cudaErrorMemoryAllocation);
    QCOMPARE(cudaGetLastError(), cudaSuccess);
    QCOMPARE(cudaMalloc(&data, 1000), cudaSuccess);
    std::size_t free_bytes = 1, total = 0;
    QCOMPARE(cudaMemGetInfo(&free_bytes, &total), cudaSuccess);
    QCOMPARE(free_bytes, std::size_t{0});
    QCOMPARE(total, used + 1000);
    QCOMPARE(cudaFree(data), cudaSuccess);
    QCOMPARE(cudaFree(data), cudaErrorInvalidValue);
    ptx::set_memory_limit(std::size_t{4} << 30);
    ptx::fail_allocation(2);
    QCOMPARE(cudaMalloc(&data, 8), cudaSuccess);
    QCOMPARE(cudaMalloc(&more, 8), cudaErrorMemoryAllocation);
    QCOMPARE(cudaMalloc(&more, 8), cudaSuccess);
  }

  void a_device_error_stays() {
    const Bench bench;
    float values[count] = {};
    QCOMPARE(cudaMemcpy(values, bench.a, bytes, cudaMemcpyDeviceToHost), cudaErrorLaunchFailure);
    QVERIFY(QString::fromStdString(ptx::complaint()).contains("never written"));
    QCOMPARE(cudaGetLastError(), cudaErrorLaunchFailure);
    QCOMPARE(cudaGetLastError(), cudaErrorLaunchFailure);
    void* data = nullptr;
    QCOMPARE(cudaMalloc(&data, 8), cudaErrorLaunchFailure);
    QCOMPARE(cudaMemsetAsync(bench.a, 0, bytes, bench.first), cudaErrorLaunchFailure);
    QVERIFY(QString(cudaGetErrorString(cudaErrorLaunchFailure)).contains("never written"));
  }
  void wrong_ends_of_a_copy_are_refused() {
    const Bench bench;
    float values[count] = {};
    const auto copy = [](void* to, const void* from, std::size_t size, cudaMemcpyKind kind) {
      return cudaMemcpy(to, from, size, kind);
    };
    QCOMPARE(copy(bench.a, values, bytes + 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    QCOMPARE(copy(bench.a + 1, values, bytes, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    QCOMPARE(copy(bench.a - 1, values, bytes, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    QCOMPARE(copy(values, values, bytes, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    QCOMPARE(copy(bench.a, values, bytes, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
    QCOMPARE(copy(bench.a, values, bytes, cudaMemcpyDefault), cudaSuccess);
  }
  void handles_that_are_gone_are_refused() {
    const Bench bench;
    QCOMPARE(cudaStreamDestroy(bench.second), cudaSuccess);
    QCOMPARE(cudaStreamSynchronize(bench.second), cudaErrorInvalidResourceHandle);
    QCOMPARE(cudaEventDestroy(bench.event), cudaSuccess);
    QCOMPARE(cudaEventRecord(bench.event, bench.first), cudaErrorInvalidResourceHandle);
  }

  void launches_are_counted() {
    const Bench bench;
    ptx::reset_traffic();
    for (int i = 0; i < 3; ++i) cudaMemsetAsync(bench.a, 0, bytes, bench.first);
    cudaMemcpyAsync(bench.b, bench.a, bytes, cudaMemcpyDeviceToDevice, bench.first);
    cudaDeviceSynchronize();
    const std::vector<ptx::LaunchTotals> totals = ptx::traffic();
    QCOMPARE(totals.size(), std::size_t{2});
    QCOMPARE(totals[0].launches, std::uint64_t{3});
    QCOMPARE(totals[0].bytes(), std::uint64_t{3 * bytes});
    QCOMPARE(totals[1].bytes(), std::uint64_t{2 * bytes});
    QCOMPARE(ptx::readable_kernel_name("_ZN8lorikeet4cuda12_GLOBAL__N_13addIfEEvPT_i"),
             std::string("add<float>"));
  }
};

QTEST_GUILESS_MAIN(TestRuntime)
#include "test_runtime.moc"
