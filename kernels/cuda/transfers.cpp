// SPDX-License-Identifier: Apache-2.0
// Copies on a stream of their own. `ready` brings the copy stream behind the work given so far; each buffer
// has an event for its last transfer, which the main stream or the host can wait for.
//
// In a recording the copy stream is a branch of it. An event recorded there means nothing outside, so a
// recording keeps the buffers it touches: before each launch the main stream waits for their earlier
// transfers, after it their events are recorded again.
#include <algorithm>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/device_list.h"
#include "kernels/cuda/status.h"
#include "kernels/cuda/streams.h"

namespace lorikeet::cuda {
namespace {

class PinnedBuffer final : public HostBuffer {
 public:
  PinnedBuffer(std::size_t bytes, std::shared_ptr<Capture> capture)
      : transfer_(std::make_shared<Transfer>()), capture_(std::move(capture)), bytes_(bytes) {
    transfer_->done = make_event();
    transfer_->inside = make_event();
    transfer_->memory = make_pinned(bytes);
  }
  ~PinnedBuffer() override {
    if (capture_->active) {  // to wait or to free would spoil the recording
      capture_->obstacle = "a host buffer was given back inside repeated work";
      capture_->released.push_back(std::move(transfer_));
    } else if (transfer_->used) {
      (void)cudaEventSynchronize(transfer_->done.get());
    }
  }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;

  void* data() override { return transfer_->memory.get(); }
  std::size_t bytes() const override { return bytes_; }
  const std::shared_ptr<Transfer>& transfer() const { return transfer_; }

 private:
  std::shared_ptr<Transfer> transfer_;
  std::shared_ptr<Capture> capture_;
  std::size_t bytes_;
};

const std::shared_ptr<Transfer>& transfer_of(const HostBuffer& buffer) {
  const auto* pinned = dynamic_cast<const PinnedBuffer*>(&buffer);
  if (!pinned) throw Error(ErrorCode::invalid_argument, "This host buffer belongs to another device");
  return pinned->transfer();
}

void remember(std::vector<std::shared_ptr<Transfer>>& list, const std::shared_ptr<Transfer>& transfer) {
  if (std::find(list.begin(), list.end(), transfer) == list.end()) list.push_back(transfer);
}

void check_operands(const HostBuffer& buffer, const TensorView& view) {
  if (view.bytes() > buffer.bytes())
    throw Error(ErrorCode::invalid_argument, "A transfer is larger than its host buffer");
  if (!view.contiguous()) throw Error(ErrorCode::invalid_argument, "A transfer of rows with gaps");
}

/// One copy on the copy stream, after the work given so far and the buffer's transfers before it.
void copy_beside(cudaStream_t main, cudaStream_t copy, Event& ready, Capture& capture,
                 const std::shared_ptr<Transfer>& transfer, void* to, const void* from, std::size_t bytes,
                 cudaMemcpyKind kind) {
  const char* name = kind == cudaMemcpyDeviceToHost ? "download_later" : "upload_later";
  check_cuda(cudaEventRecord(ready.get(), main), name);
  check_cuda(cudaStreamWaitEvent(copy, ready.get(), 0), name);
  if (capture.active) {
    capture.copies = true;
    remember(capture.waits, transfer);
    remember(capture.transfers, transfer);
  }
  check_cuda(cudaMemcpyAsync(to, from, bytes, kind, copy), name);
  check_cuda(cudaEventRecord(capture.active ? transfer->inside.get() : transfer->done.get(), copy), name);
  transfer->recording = capture.active ? capture.number : 0;
  if (!capture.active) transfer->used = true;
}

}  // namespace

std::unique_ptr<HostBuffer> CudaBackend::allocate_host(std::size_t bytes) {
  streams_->refuse_in_recording("allocate_host");
  use_device(streams_->ordinal);
  return std::make_unique<PinnedBuffer>(bytes, streams_->shared_capture);
}

void CudaBackend::download_later(HostBuffer& to, TensorView from) {
  check_operands(to, from);
  if (from.bytes() == 0) return;
  copy_beside(stream(), streams_->copy.get(), streams_->ready, streams_->capture, transfer_of(to), to.data(),
              from.data, from.bytes(), cudaMemcpyDeviceToHost);
}

void CudaBackend::upload_later(TensorView to, HostBuffer& from) {
  check_operands(from, to);
  if (to.bytes() == 0) return;
  copy_beside(stream(), streams_->copy.get(), streams_->ready, streams_->capture, transfer_of(from), to.data,
              from.data(), to.bytes(), cudaMemcpyHostToDevice);
}

void CudaBackend::order_after(HostBuffer& buffer) {
  const std::shared_ptr<Transfer>& transfer = transfer_of(buffer);
  Capture& capture = streams_->capture;
  if (capture.active && transfer->recording == capture.number) {
    check_cuda(cudaStreamWaitEvent(stream(), transfer->inside.get(), 0), "order_after");
  } else if (capture.active) {
    remember(capture.waits, transfer);
  } else if (transfer->used) {
    check_cuda(cudaStreamWaitEvent(stream(), transfer->done.get(), 0), "order_after");
  }
}

bool CudaBackend::arrived(HostBuffer& buffer) {
  streams_->refuse_in_recording("arrived");
  const std::shared_ptr<Transfer>& transfer = transfer_of(buffer);
  if (!transfer->used) return true;
  const cudaError_t status = cudaEventQuery(transfer->done.get());
  if (status == cudaErrorNotReady) {
    (void)cudaGetLastError();  // no error, and not to be found by the next launch
    return false;
  }
  check_cuda(status, "arrived");
  return true;
}

void CudaBackend::wait(HostBuffer& buffer) {
  streams_->refuse_in_recording("wait");
  const std::shared_ptr<Transfer>& transfer = transfer_of(buffer);
  if (transfer->used) check_cuda(cudaEventSynchronize(transfer->done.get()), "wait");
}

}  // namespace lorikeet::cuda
