// SPDX-License-Identifier: Apache-2.0
// The emulated CUDA run-time library behind cudart_*.cpp and cublas_lt.cpp, for those files; tests use
// control.h.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/ptx/device_memory.h"
#include "tests/ptx/schedule.h"
#include "tests/ptx/traffic.h"

namespace lorikeet::ptx {

struct Stream;

/// A captured graph: work in the order in which it was given; each node names the earlier ones it waits for.
struct Graph {
  struct Node {
    std::function<void()> run;
    std::vector<int> after;
  };
  std::vector<Node> nodes;
};

struct Capture {
  Graph graph;
  Stream* origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  bool invalid = false;
  /// Whether a call of this thread that would wait or allocate spoils it.
  bool forbids_here() const {
    return mode == cudaStreamCaptureModeGlobal ||
           (mode == cudaStreamCaptureModeThreadLocal && thread == std::this_thread::get_id());
  }
};

struct Stream {
  bool waits_for_default = true;  ///< not made with cudaStreamNonBlocking
  WorkPtr last;
  std::shared_ptr<Capture> capture;
  std::vector<int> frontier;  ///< captured nodes the next one waits for
};

struct Event {
  bool timing = true;
  WorkPtr recorded;                  ///< null before the first record
  std::uint64_t time = 0;            ///< when its work was done
  std::shared_ptr<Capture> capture;  ///< the last record was inside it
  std::vector<int> nodes;
};

struct GraphExec {
  Graph graph;
  WorkPtr last;  ///< launches of one executable graph do not overlap
};

/// What the emulated card is, from the environment (see control.h).
struct Card {
  int architecture = 80;
  int multiprocessors = 8;
  int shared_per_block = 48 * 1024, shared_per_block_most = 163 * 1024,
      shared_per_multiprocessor = 164 * 1024;
  int threads_per_multiprocessor = 2048, blocks_per_multiprocessor = 32;
};

/// Whether this thread has called cudaSetDevice.
bool& has_chosen_device();

class Runtime {
 public:
  static Runtime& get();

  // --- Errors. A device error stays, as in CUDA; other errors are the last one until asked for.
  cudaError_t refuse(cudaError_t error, const std::string& why);  ///< gives back `error`
  void fail_device(const std::string& complaint);
  cudaError_t sticky = cudaSuccess, last_error = cudaSuccess;
  std::string complaint;  ///< of the first device error
  bool complaint_was_seen = true;
  std::map<cudaError_t, std::string> reasons;

  // --- Work
  /// Gives work to a stream: runs later, or becomes a node of the stream's capture.
  cudaError_t submit(cudaStream_t stream, std::function<void()> run);
  cudaError_t launch_graph(GraphExec& exec, Stream& stream);
  Stream* stream(cudaStream_t handle);  ///< nullptr for a handle that is none; refuse() has been called
  Event* event(cudaEvent_t handle);
  /// cudaSuccess, or the refusal of a call that may not happen while any stream is captured.
  cudaError_t check_no_capture(const char* call);
  cudaError_t synchronize();
  std::vector<WorkPtr> before(Stream& stream);  ///< what new work of the stream comes after

  // --- Memory
  bool allocation_fails();  ///< counts; true for the one that a test wants to fail
  bool is_pinned(const void* data, std::size_t bytes) const;

  // --- Devices
  /// Notes that this thread's current device has a context from here on.
  void need_context() { contexts.insert(current_device); }
  /// What a kernel of the program is on this thread's current device.
  cudaError_t code_status();
  static thread_local int current_device;
  std::vector<int> cards;  ///< compute capabilities by ordinal; all compute as `card`
  std::set<int> contexts;
  std::map<int, cudaError_t> missing_code;  ///< by ordinal

  std::recursive_mutex mutex;
  Card card;
  DeviceMemory memory;
  Schedule schedule;
  Traffic traffic;
  std::uint64_t seed = 1;
  std::uint64_t allocations = 0, failing_allocation = 0;
  bool has_cublas_lt = true;
  int failing_product = 0;  ///< status of the next cublasLtMatmul
  std::string lt_reason;    ///< why cublasLt refused last
  std::map<std::uint64_t, std::size_t> pinned;
  std::set<void*> own_pinned;  ///< those of cudaMallocHost
  Stream default_stream, thread_stream;
  std::map<Stream*, std::unique_ptr<Stream>> streams;
  std::map<Event*, std::unique_ptr<Event>> events;
  std::map<Graph*, std::unique_ptr<Graph>> graphs;
  std::map<GraphExec*, std::unique_ptr<GraphExec>> execs;
  std::uint64_t clock = 0;

 private:
  Runtime();
  ~Runtime();
};

/// Body of an entry point: one thread at a time, nothing after a device error, the error kept for
/// cudaGetLastError.
template <typename Body>
cudaError_t entry(const Body& body) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard<std::recursive_mutex> lock(runtime.mutex);
  if (runtime.sticky != cudaSuccess) return runtime.sticky;
  const cudaError_t status = body(runtime);
  if (status != cudaSuccess && status != cudaErrorNotReady) runtime.last_error = status;
  return status;
}

}  // namespace lorikeet::ptx
