// SPDX-License-Identifier: Apache-2.0
// Bugs of the host's side: order of streams, memory of the host, recorded graphs.
#include <algorithm>

#include "tests/ptx/planted/device_array.h"
#include "tests/ptx/planted/planted.h"

namespace lorikeet::planted {
namespace {

constexpr std::size_t count = 64, bytes = count * sizeof(float);

__global__ void scaled(const float* x, float* y, float scale) {
  y[threadIdx.x] = scale * x[threadIdx.x];
}
__global__ void scaled_by_number(const float* x, float* y, const float* scale) {
  y[threadIdx.x] = *scale * x[threadIdx.x];
}

std::vector<float> times(std::vector<float> values, float scale) {
  for (float& v : values) v *= scale;
  return values;
}

struct Streams {
  cudaStream_t first = nullptr, second = nullptr;
  cudaEvent_t event = nullptr;
  Streams() {
    (void)cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    (void)cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    (void)cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  }
  /// Work given to the second stream from here on waits for the first one's.
  void order() const {
    (void)cudaEventRecord(event, first);
    (void)cudaStreamWaitEvent(second, event, 0);
  }
};

/// Two steps on two streams; the bug: the second does not wait for the first.
bool two_streams(bool planted) {
  const Streams s;
  const std::vector<float> x = counted(count);
  const DeviceArray<float> in(x), middle(std::vector<float>(count, 1.0f)), out(count);
  scaled<<<1, count, 0, s.first>>>(in, middle, 2);
  if (!planted) s.order();
  scaled<<<1, count, 0, s.second>>>(middle, out, 3);
  return out.holds(times(x, 6));
}

/// Input of the next step is uploaded beside the computing; the bug: over the one that is still read.
bool upload_beside(bool planted) {
  const Streams s;
  const std::vector<float> x = counted(count);
  const DeviceArray<float> in(x), out(count);
  float* next = nullptr;
  (void)cudaMallocHost(&next, bytes);
  std::fill(next, next + count, 5.0f);
  scaled<<<1, count, 0, s.first>>>(in, out, 2);
  if (!planted) s.order();
  (void)cudaMemcpyAsync(in.data(), next, bytes, cudaMemcpyHostToDevice, s.second);
  return out.holds(times(x, 2));
}

/// Two uploads through one page-locked buffer; the bug: it is filled again before the first copy has run.
bool buffer_twice(bool planted) {
  const Streams s;
  const std::vector<float> x = counted(count);
  float* buffer = nullptr;
  (void)cudaMallocHost(&buffer, bytes);
  const DeviceArray<float> first(count), second(count);
  std::copy(x.begin(), x.end(), buffer);
  (void)cudaMemcpyAsync(first.data(), buffer, bytes, cudaMemcpyHostToDevice, s.first);
  (void)cudaEventRecord(s.event, s.first);
  if (!planted) (void)cudaEventSynchronize(s.event);
  std::fill(buffer, buffer + count, -1.0f);
  (void)cudaMemcpyAsync(second.data(), buffer, bytes, cudaMemcpyHostToDevice, s.first);
  return first.holds(x);
}

/// A result is read from a page-locked buffer; the bug: without waiting for the copy.
bool read_too_early(bool planted) {
  const Streams s;
  const std::vector<float> x = counted(count);
  const DeviceArray<float> in(x), out(count);
  float* buffer = nullptr;
  (void)cudaMallocHost(&buffer, bytes);
  scaled<<<1, count, 0, s.first>>>(in, out, 2);
  (void)cudaMemcpyAsync(buffer, out.data(), bytes, cudaMemcpyDeviceToHost, s.first);
  if (!planted) (void)cudaStreamSynchronize(s.first);
  const bool right = std::vector<float>(buffer, buffer + count) == times(x, 2);
  return cudaDeviceSynchronize() == cudaSuccess && right;
}

/// A recorded step is given again with another learning rate; the bug: the rate is an argument, so the old
/// one stays.
bool number_in_a_graph(bool planted) {
  const Streams s;
  const std::vector<float> x = counted(count);
  const DeviceArray<float> in(x), out(count), scale(std::vector<float>{2});
  float rate = 2;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  (void)cudaStreamBeginCapture(s.first, cudaStreamCaptureModeThreadLocal);
  if (planted) {
    scaled<<<1, count, 0, s.first>>>(in, out, rate);
  } else {
    scaled_by_number<<<1, count, 0, s.first>>>(in, out, scale);
  }
  (void)cudaStreamEndCapture(s.first, &graph);
  (void)cudaGraphInstantiate(&exec, graph, 0);
  (void)cudaGraphLaunch(exec, s.first);
  (void)cudaStreamSynchronize(s.first);
  rate = 3;
  (void)cudaMemcpy(scale.data(), &rate, sizeof(rate), cudaMemcpyHostToDevice);
  (void)cudaGraphLaunch(exec, s.first);
  return out.holds(times(x, 3));
}

/// Work memory grows; the bug: a graph that names the old memory is kept.
bool memory_in_a_graph(bool planted) {
  const Streams s;
  const std::vector<float> x = counted(count);
  const DeviceArray<float> in(x), out(count);
  void* work = nullptr;
  const auto record = [&] {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    (void)cudaStreamBeginCapture(s.first, cudaStreamCaptureModeThreadLocal);
    scaled<<<1, count, 0, s.first>>>(in, static_cast<float*>(work), 2);
    scaled<<<1, count, 0, s.first>>>(static_cast<float*>(work), out, 3);
    (void)cudaStreamEndCapture(s.first, &graph);
    (void)cudaGraphInstantiate(&exec, graph, 0);
    return exec;
  };
  (void)cudaMalloc(&work, bytes);
  cudaGraphExec_t exec = record();
  (void)cudaGraphLaunch(exec, s.first);
  (void)cudaStreamSynchronize(s.first);
  (void)cudaFree(work);
  (void)cudaMalloc(&work, 2 * bytes);
  if (!planted) exec = record();
  (void)cudaGraphLaunch(exec, s.first);
  return out.holds(times(x, 6));
}

/// Memory is given back in the order of a stream; the bug: another stream may still read it.
bool freed_too_early(bool planted) {
  const Streams s;
  const std::vector<float> x = counted(count);
  const DeviceArray<float> in(x), out(count);
  void* work = nullptr;
  (void)cudaMallocAsync(&work, bytes, s.first);
  scaled<<<1, count, 0, s.first>>>(in, static_cast<float*>(work), 2);
  s.order();
  scaled<<<1, count, 0, s.second>>>(static_cast<float*>(work), out, 3);
  if (!planted) {
    (void)cudaEventRecord(s.event, s.second);
    (void)cudaStreamWaitEvent(s.first, s.event, 0);
  }
  (void)cudaFreeAsync(work, s.first);
  return out.holds(times(x, 6));
}

}  // namespace

std::vector<Case> stream_cases() {
  return {
      {"a stream that does not wait for another", "wrong result", two_streams},
      {"an upload over what is still read", "wrong result", upload_beside},
      {"a host buffer filled again too early", "wrong result", buffer_twice},
      {"a host buffer read too early", "wrong result", read_too_early},
      {"a number frozen in a graph", "wrong result", number_in_a_graph},
      {"a graph that names freed memory", "in no live allocation", memory_in_a_graph},
      {"memory freed while another stream reads it", "in no live allocation", freed_too_early},
  };
}

}  // namespace lorikeet::planted
