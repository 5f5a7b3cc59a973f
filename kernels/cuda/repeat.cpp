// SPDX-License-Identifier: Apache-2.0
// Repeated work as CUDA graphs. The first call of a key runs eagerly, so that scratch grows and libraries are
// loaded; the second is recorded by stream capture and launched; later ones are launched. What cannot be
// recorded stays eager, with the reason kept. Where memory runs out, all stay eager.
#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/device_list.h"
#include "kernels/cuda/recordings.h"
#include "kernels/cuda/status.h"

namespace lorikeet::cuda {
namespace {

using Graph = Handle<cudaGraph_t, cudaGraphDestroy>;

std::string failure_of(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return {};
  (void)cudaGetLastError();
  return std::string(call) + " failed: " + cudaGetErrorString(status);
}

/// What was given back while the recording was made, once nothing is recorded any more.
void give_back(Capture& capture) {
  capture.waits.clear();
  capture.transfers.clear();
  for (const auto& transfer : std::exchange(capture.released, {})) {
    if (transfer->used) (void)cudaEventSynchronize(transfer->done.get());
  }
}

}  // namespace

void CudaBackend::Recordings::record(Streams& streams, Entry& entry, const std::function<void()>& work) {
  Capture& capture = streams.capture;
  const std::uint64_t number = capture.number + 1;
  capture = {};
  capture.number = number;
  // Thread-local: what other threads of the program ask of CUDA meanwhile is none of this recording's
  // business.
  const cudaError_t begun = cudaStreamBeginCapture(streams.main.get(), cudaStreamCaptureModeThreadLocal);
  entry.obstacle = failure_of(begun, "cudaStreamBeginCapture");
  if (!entry.obstacle.empty()) return;
  capture.active = true;
  try {
    work();
    if (capture.copies) {  // the branch has to come back
      check_cuda(cudaEventRecord(streams.ready.get(), streams.copy.get()), "repeat");
      check_cuda(cudaStreamWaitEvent(streams.main.get(), streams.ready.get(), 0), "repeat");
    }
  } catch (const std::exception& error) {
    capture.obstacle = error.what();
  }
  capture.active = false;
  Graph graph;
  const std::string failure =
      failure_of(cudaStreamEndCapture(streams.main.get(), graph.put()), "cudaStreamEndCapture");
  if (capture.obstacle.empty()) capture.obstacle = failure;
  if (capture.obstacle.empty()) {
    capture.obstacle =
        failure_of(cudaGraphGetNodes(graph.get(), nullptr, &entry.operations), "cudaGraphGetNodes");
  }
  if (capture.obstacle.empty() && has_room(entry.operations, entry.last_use)) {
    make_room(streams, entry, entry.last_use);
    const cudaError_t status = cudaGraphInstantiate(entry.graph.put(), graph.get(), 0);
    memory_is_short = status == cudaErrorMemoryAllocation;
    capture.obstacle = failure_of(status, "cudaGraphInstantiate");
  }
  entry.obstacle = capture.obstacle;
  if (!entry.obstacle.empty()) entry.graph = GraphExec();
  if (entry.graph) {
    entry.waits = capture.waits;
    entry.transfers = capture.transfers;
  }
  give_back(capture);
}

bool CudaBackend::Recordings::launch(Streams& streams, const Entry& entry) {
  const cudaStream_t main = streams.main.get();
  for (const auto& transfer : entry.waits) {
    if (transfer->used) check_cuda(cudaStreamWaitEvent(main, transfer->done.get(), 0), "repeat");
  }
  const cudaError_t status = cudaGraphLaunch(entry.graph.get(), main);
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    memory_is_short = true;
    return false;
  }
  check_cuda(status, "cudaGraphLaunch");
  for (const auto& transfer : entry.transfers) {
    check_cuda(cudaEventRecord(transfer->done.get(), main), "repeat");
    transfer->used = true;
  }
  return true;
}

bool CudaBackend::Recordings::has_room(std::size_t operations, std::uint64_t since) const {
  std::size_t kept = 0;
  for (const auto& [key, entry] : entries) {
    if (entry.graph && entry.last_use > since) kept += entry.operations;
  }
  return kept + operations <= most_operations;
}

void CudaBackend::Recordings::make_room(Streams& streams, const Entry& entry, std::uint64_t since) {
  for (;;) {
    std::size_t operations = entry.operations;
    Place oldest = entries.end();
    for (Place place = entries.begin(); place != entries.end(); ++place) {
      if (!place->second.graph) continue;
      operations += place->second.operations;
      const std::uint64_t last_use = place->second.last_use;
      if (last_use < since && (oldest == entries.end() || last_use < oldest->second.last_use)) oldest = place;
    }
    if (operations <= most_operations || oldest == entries.end()) return;
    drop(streams, oldest);
  }
}

void CudaBackend::Recordings::add_key(Streams& streams, std::uint64_t key) {
  if (entries.size() >= most_keys) {
    drop(streams, std::min_element(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
           return a.second.last_use < b.second.last_use;
         }));
  }
  entries[key].last_use = ++uses;
}

void CudaBackend::Recordings::drop(Streams& streams, Place place) {
  // No graph may be destroyed while it runs.
  if (place->second.graph) check_cuda(cudaStreamSynchronize(streams.main.get()), "repeat");
  entries.erase(place);
}

void CudaBackend::Recordings::forget(Streams& streams) {
  if (entries.empty()) return;
  (void)cudaStreamSynchronize(streams.main.get());
  entries.clear();
}

void CudaBackend::repeat(std::uint64_t key, const std::function<void()>& work) {
  Capture& capture = streams_->capture;
  Recordings& recordings = *recordings_;
  if (capture.active || recordings.memory_is_short)
    return work();  // part of the recording around it, or of none
  use_device(streams_->ordinal);
  const auto found = recordings.entries.find(key);
  if (found == recordings.entries.end()) {
    work();  // it may forget all keys: this one is known only once it has come to its end
    return recordings.add_key(*streams_, key);
  }
  Recordings::Entry& entry = found->second;
  if (!entry.graph && entry.obstacle.empty() && recordings.has_room(entry.operations, entry.last_use)) {
    recordings.record(*streams_, entry, work);
    for (void* data : std::exchange(capture.freed, {})) streams_->free(data);
    if (capture.forget) {
      recordings.forget(*streams_);
      return work();
    }
  }
  entry.last_use = ++recordings.uses;
  if (entry.graph && recordings.launch(*streams_, entry)) return;
  // What they hold may be the memory that is missing.
  if (recordings.memory_is_short) recordings.forget(*streams_);
  work();
}

void CudaBackend::forget_repeats() {
  recordings_->memory_is_short = false;
  if (!streams_->capture.active) return recordings_->forget(*streams_);
  streams_->capture.obstacle = "recordings were to be forgotten inside repeated work";
  streams_->capture.forget = true;
}

}  // namespace lorikeet::cuda
