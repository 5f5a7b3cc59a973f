// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/staging.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "kernels/base/error.h"
#include "kernels/cuda/status.h"

namespace lorikeet::cuda {
namespace {

constexpr std::size_t alignment = 64;

std::size_t padded(std::size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

Event make_event() {
  Event event;
  check_cuda(cudaEventCreateWithFlags(event.put(), cudaEventDisableTiming), "cudaEventCreate");
  return event;
}

PinnedMemory make_pinned(std::size_t bytes) {
  PinnedMemory memory;
  if (bytes == 0) return memory;
  const cudaError_t status = cudaHostAlloc(memory.put(), bytes, cudaHostAllocDefault);
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    throw Error(ErrorCode::out_of_memory,
                "The system refused " + std::to_string(bytes) + " bytes of page-locked memory",
                "memory of the host", "Close other programs, or raise the limit for locked memory");
  }
  check_cuda(status, "cudaHostAlloc");
  return memory;
}

void Staging::retire_oldest(bool wait) {
  if (wait) check_cuda(cudaEventSynchronize(under_way_.front().done.get()), "upload");
  spare_.push_back(std::move(under_way_.front().done));
  under_way_.pop_front();
}

std::size_t Staging::take(std::size_t bytes) {
  if (!ring_) ring_ = make_pinned(ring_bytes);
  while (!under_way_.empty()) {
    const cudaError_t status = cudaEventQuery(under_way_.front().done.get());
    if (status == cudaErrorNotReady) break;
    check_cuda(status, "upload");
    retire_oldest(false);
  }
  (void)cudaGetLastError();  // "not ready" is no error, and must not be found by the next launch
  const std::size_t begin = next_ + bytes > ring_bytes ? 0 : next_;
  const auto overlaps = [&](const Piece& piece) { return piece.begin < begin + bytes && begin < piece.end; };
  while (std::any_of(under_way_.begin(), under_way_.end(), overlaps)) retire_oldest(true);
  return begin;
}

void Staging::upload(cudaStream_t stream, void* to, const void* from, std::size_t bytes) {
  for (std::size_t first = 0; first < bytes; first += piece_bytes) {
    const std::size_t count = std::min(piece_bytes, bytes - first);
    const std::size_t begin = take(padded(count));
    char* piece = static_cast<char*>(ring_.get()) + begin;
    std::memcpy(piece, static_cast<const char*>(from) + first, count);
    Event done;
    if (spare_.empty()) {
      done = make_event();
    } else {
      done = std::move(spare_.back());
      spare_.pop_back();
    }
    check_cuda(cudaMemcpyAsync(static_cast<char*>(to) + first, piece, count, cudaMemcpyHostToDevice, stream),
               "upload");
    check_cuda(cudaEventRecord(done.get(), stream), "upload");
    under_way_.push_back({begin, begin + padded(count), std::move(done)});
    next_ = begin + padded(count);
  }
}

void Staging::download(cudaStream_t stream, void* to, const void* from, std::size_t bytes) {
  if (!back_) {
    for (Event& event : back_done_) event = make_event();
    back_ = make_pinned(2 * piece_bytes);
  }
  const std::size_t pieces = (bytes + piece_bytes - 1) / piece_bytes;
  const auto place = [&](std::size_t i) { return static_cast<char*>(back_.get()) + i % 2 * piece_bytes; };
  const auto size = [&](std::size_t i) { return std::min(piece_bytes, bytes - i * piece_bytes); };
  const auto start = [&](std::size_t i) {
    check_cuda(cudaMemcpyAsync(place(i), static_cast<const char*>(from) + i * piece_bytes, size(i),
                               cudaMemcpyDeviceToHost, stream),
               "download");
    check_cuda(cudaEventRecord(back_done_[i % 2].get(), stream), "download");
  };
  if (pieces > 0) start(0);
  for (std::size_t i = 0; i < pieces; ++i) {
    if (i + 1 < pieces) start(i + 1);
    check_cuda(cudaEventSynchronize(back_done_[i % 2].get()), "download");
    std::memcpy(static_cast<char*>(to) + i * piece_bytes, place(i), size(i));
  }
}

}  // namespace lorikeet::cuda
