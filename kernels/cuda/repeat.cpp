// SPDX-License-Identifier: Apache-2.0
// Repeated work as CUDA graphs. The first call of a key runs eagerly, so that scratch grows and libraries are
// loaded; the second is recorded by stream capture and launched; later ones are launched. What cannot be
// recorded stays eager, with the reason kept.
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
        failure_of(cudaGraphInstantiate(entry.graph.put(), graph.get(), 0), "cudaGraphInstantiate");
  }
  entry.obstacle = capture.obstacle;
  if (!entry.obstacle.empty()) {
    entry.graph = GraphExec();
    return;
  }
  entry.waits = capture.waits;
  entry.transfers = capture.transfers;
}

void CudaBackend::Recordings::launch(Streams& streams, const Entry& entry) {
  const cudaStream_t main = streams.main.get();
  for (const auto& transfer : entry.waits) {
    if (transfer->used) check_cuda(cudaStreamWaitEvent(main, transfer->done.get(), 0), "repeat");
  }
  check_cuda(cudaGraphLaunch(entry.graph.get(), main), "cudaGraphLaunch");
  for (const auto& transfer : entry.transfers) {
    check_cuda(cudaEventRecord(transfer->done.get(), main), "repeat");
    transfer->used = true;
  }
}

void CudaBackend::Recordings::make_room(Streams& streams) {
  if (entries.size() < most) return;
  const auto oldest = std::min_element(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return a.second.last_use < b.second.last_use;
  });
  // No graph may be destroyed while it runs.
  if (oldest->second.graph) check_cuda(cudaStreamSynchronize(streams.main.get()), "repeat");
  entries.erase(oldest);
}

void CudaBackend::Recordings::forget(Streams& streams) {
  if (entries.empty()) return;
  (void)cudaStreamSynchronize(streams.main.get());
  entries.clear();
}

void CudaBackend::repeat(std::uint64_t key, const std::function<void()>& work) {
  Capture& capture = streams_->capture;
  if (capture.active) return work();  // part of the recording around it
  use_device(streams_->ordinal);
  const auto found = recordings_->entries.find(key);
  if (found == recordings_->entries.end()) {
    work();  // it may forget all keys: this one is known only once it has come to its end
    recordings_->make_room(*streams_);
    recordings_->entries[key].last_use = ++recordings_->uses;
    return;
  }
  Recordings::Entry& entry = found->second;
  entry.last_use = ++recordings_->uses;
  if (!entry.graph && entry.obstacle.empty()) {
    Recordings::record(*streams_, entry, work);
    for (void* data : std::exchange(capture.freed, {})) streams_->free(data);
    if (capture.forget) {
      recordings_->forget(*streams_);
      return work();
    }
  }
  if (entry.graph) return Recordings::launch(*streams_, entry);
  work();
}

void CudaBackend::forget_repeats() {
  if (!streams_->capture.active) return recordings_->forget(*streams_);
  streams_->capture.obstacle = "recordings were to be forgotten inside repeated work";
  streams_->capture.forget = true;
}

}  // namespace lorikeet::cuda
