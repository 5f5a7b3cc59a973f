// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/runtime.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

#include "tests/ptx/control.h"

namespace lorikeet::ptx {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text && *text ? std::strtoull(text, nullptr, 0) : otherwise;
}

/// CUDA C++ Programming Guide, "Technical specifications per compute capability". The numbers of
/// multiprocessors are small, and odd ones among them, so that grids do not divide evenly.
Card card_of(int architecture) {
  constexpr int KiB = 1024;
  switch (architecture) {
    case 75:
      return {75, 5, 48 * KiB, 64 * KiB, 64 * KiB, 1024, 16};
    case 80:
      return {80, 8, 48 * KiB, 163 * KiB, 164 * KiB, 2048, 32};
    case 86:
      return {86, 7, 48 * KiB, 99 * KiB, 100 * KiB, 1536, 16};
    case 89:
      return {89, 6, 48 * KiB, 99 * KiB, 100 * KiB, 1536, 24};
    case 90:
      return {90, 13, 48 * KiB, 227 * KiB, 228 * KiB, 2048, 32};
    case 120:
      return {120, 6, 48 * KiB, 99 * KiB, 100 * KiB, 1536, 24};
    default:
      break;
  }
  std::fprintf(stderr, "LORIKEET_PTX_ARCH=%d is not an architecture that can be emulated\n", architecture);
  std::abort();
}

}  // namespace

thread_local int Runtime::current_device = 0;

Runtime& Runtime::get() {
  static Runtime runtime;
  return runtime;
}

Runtime::Runtime()
    : card(card_of(static_cast<int>(number_from("LORIKEET_PTX_ARCH", 80)))),
      memory(number_from("LORIKEET_PTX_MEMORY", std::uint64_t{4} << 30)),
      seed(number_from("LORIKEET_PTX_SEED", 1)),
      has_cublas_lt(number_from("LORIKEET_PTX_CUBLAS_LT", 1) != 0) {
  schedule.set_seed(seed);
  cards = {card.architecture};
}

cudaError_t Runtime::code_status() {
  need_context();
  const auto found = missing_code.find(current_device);
  if (found == missing_code.end()) return cudaSuccess;
  return refuse(found->second, "the program has no code for device " + std::to_string(current_device));
}

Runtime::~Runtime() {
  schedule.finish_all();
  if (complaint_was_seen) return;
  std::fprintf(stderr, "A device error that the program never noticed: %s\n", complaint.c_str());
  std::fflush(nullptr);
  _exit(3);
}

cudaError_t Runtime::refuse(cudaError_t error, const std::string& why) {
  reasons[error] = why;
  return error;
}

void Runtime::fail_device(const std::string& what) {
  if (sticky != cudaSuccess) return;
  sticky = last_error = cudaErrorLaunchFailure;
  complaint = what;
  complaint_was_seen = false;
  reasons[sticky] = what;
}

Stream* Runtime::stream(cudaStream_t handle) {
  if (!handle || handle == cudaStreamLegacy) return &default_stream;
  if (handle == cudaStreamPerThread) return &thread_stream;
  const auto found = streams.find(reinterpret_cast<Stream*>(handle));
  if (found != streams.end()) return found->second.get();
  refuse(cudaErrorInvalidResourceHandle, "the stream does not exist (any more)");
  return nullptr;
}

Event* Runtime::event(cudaEvent_t handle) {
  const auto found = events.find(reinterpret_cast<Event*>(handle));
  if (found != events.end()) return found->second.get();
  refuse(cudaErrorInvalidResourceHandle, "the event does not exist (any more)");
  return nullptr;
}

std::vector<WorkPtr> Runtime::before(Stream& stream) {
  std::vector<WorkPtr> after = {stream.last};
  if (&stream == &default_stream) {
    for (const auto& [other, owner] : streams) {
      if (other->waits_for_default) after.push_back(other->last);
    }
    after.push_back(thread_stream.last);
  } else if (stream.waits_for_default) {
    after.push_back(default_stream.last);
  }
  return after;
}

cudaError_t Runtime::submit(cudaStream_t handle, std::function<void()> run) {
  Stream* to = stream(handle);
  if (!to) return cudaErrorInvalidResourceHandle;
  const auto guarded = [this, run = std::move(run)] {
    if (sticky != cudaSuccess) return;
    try {
      run();
    } catch (const std::exception& error) {
      fail_device(error.what());
    }
  };
  if (to->capture) {
    if (to->capture->invalid) {
      return refuse(cudaErrorStreamCaptureInvalidated, "an earlier call has spoiled the capture");
    }
    std::vector<Graph::Node>& nodes = to->capture->graph.nodes;
    nodes.push_back({guarded, to->frontier});
    to->frontier = {static_cast<int>(nodes.size()) - 1};
    return cudaSuccess;
  }
  if (to == &default_stream) {
    for (const auto& [other, owner] : streams) {
      if (other->capture && other->waits_for_default) {
        other->capture->invalid = true;
        return refuse(cudaErrorStreamCaptureImplicit,
                      "the default stream would wait for a stream under capture");
      }
    }
  }
  to->last = schedule.add(guarded, before(*to));
  return cudaSuccess;
}

cudaError_t Runtime::launch_graph(GraphExec& exec, Stream& to) {
  if (to.capture) return refuse(cudaErrorStreamCaptureUnsupported, "graphs inside graphs are not emulated");
  std::vector<WorkPtr> start = before(to), made, all;
  start.push_back(exec.last);
  for (const Graph::Node& node : exec.graph.nodes) {
    std::vector<WorkPtr> after;
    for (const int earlier : node.after) after.push_back(made[static_cast<std::size_t>(earlier)]);
    made.push_back(schedule.add(node.run, after.empty() ? start : after));
  }
  all = made.empty() ? start : made;
  to.last = exec.last = schedule.add([] {}, all);
  return cudaSuccess;
}

cudaError_t Runtime::check_no_capture(const char* call) {
  for (const auto& [stream, owner] : streams) {
    if (!stream->capture || !stream->capture->forbids_here()) continue;
    stream->capture->invalid = true;
    return refuse(cudaErrorStreamCaptureUnsupported, std::string(call) + " while a stream is captured");
  }
  return cudaSuccess;
}

cudaError_t Runtime::synchronize() {
  if (const cudaError_t status = check_no_capture("waiting for the device"); status != cudaSuccess)
    return status;
  schedule.finish_all();
  return sticky;
}

bool Runtime::allocation_fails() {
  return ++allocations == failing_allocation;
}

bool Runtime::is_pinned(const void* data, std::size_t bytes) const {
  const auto address = reinterpret_cast<std::uint64_t>(data);
  const auto after = pinned.upper_bound(address);
  if (after == pinned.begin()) return false;
  const auto [begin, size] = *std::prev(after);
  return address - begin <= size && bytes <= size - (address - begin);
}

// --- control.h

void restart() {
  Runtime& r = Runtime::get();
  const std::lock_guard<std::recursive_mutex> lock(r.mutex);
  r.schedule.finish_all();
  for (void* data : r.own_pinned) std::free(data);
  r.own_pinned.clear();
  r.pinned.clear();
  r.streams.clear();
  r.events.clear();
  r.graphs.clear();
  r.execs.clear();
  r.default_stream = r.thread_stream = Stream();
  r.memory.release_all();
  r.sticky = r.last_error = cudaSuccess;
  r.complaint.clear();
  r.complaint_was_seen = true;
  r.reasons.clear();
  r.allocations = r.failing_allocation = 0;
  r.failing_product = 0;
  r.traffic = Traffic();
  r.contexts.clear();
  set_seed(r.seed);
}

void set_seed(std::uint64_t seed) {
  Runtime::get().seed = seed;
  Runtime::get().schedule.set_seed(seed);
}

void set_cards(const std::vector<int>& capabilities) {
  Runtime::get().cards = capabilities.empty() ? std::vector<int>{architecture()} : capabilities;
}
void miss_code(int ordinal, cudaError_t status) {
  if (status == cudaSuccess)
    Runtime::get().missing_code.erase(ordinal);
  else
    Runtime::get().missing_code[ordinal] = status;
}
std::vector<int> contexts() {
  return {Runtime::get().contexts.begin(), Runtime::get().contexts.end()};
}

int architecture() {
  return Runtime::get().card.architecture;
}
void set_memory_limit(std::size_t bytes) {
  Runtime::get().memory.set_limit_bytes(bytes);
}
std::size_t memory_used() {
  return Runtime::get().memory.used_bytes();
}
std::uint64_t allocations() {
  return Runtime::get().allocations;
}
void set_cublas_lt(bool installed) {
  Runtime::get().has_cublas_lt = installed;
}

std::size_t page_locked() {
  return Runtime::get().own_pinned.size();
}

void fail_product(int status) {
  Runtime::get().failing_product = status;
}

void fail_allocation(std::uint64_t n) {
  Runtime& r = Runtime::get();
  r.failing_allocation = n == 0 ? 0 : r.allocations + n;
}

std::string complaint() {
  Runtime::get().complaint_was_seen = true;
  return Runtime::get().complaint;
}

void run_everything() {
  Runtime::get().schedule.finish_all();
}
std::vector<LaunchTotals> traffic() {
  return Runtime::get().traffic.totals();
}

void reset_traffic(bool count_bytes) {
  Runtime::get().traffic.clear();
  Runtime::get().traffic.count_bytes = count_bytes;
}

}  // namespace lorikeet::ptx
