// SPDX-License-Identifier: Apache-2.0
// Streams, events and graphs of the emulated CUDA run-time library.
#include <algorithm>
#include <string>
#include <utility>

#include "tests/ptx/runtime.h"

namespace lorikeet::ptx {
namespace {

cudaError_t spoiled_by(Runtime& r, Capture& capture, const char* call) {
  capture.invalid = true;
  return r.refuse(cudaErrorStreamCaptureUnsupported, std::string(call) + " while the stream is captured");
}

void add_missing(std::vector<int>& to, const std::vector<int>& from) {
  for (const int node : from) {
    if (std::find(to.begin(), to.end(), node) == to.end()) to.push_back(node);
  }
}

/// Whether every node of `nodes` is one of `ends` or comes before one of them.
bool reaches(const Graph& graph, std::vector<int> ends, const std::vector<int>& nodes) {
  std::vector<bool> seen(graph.nodes.size());
  while (!ends.empty()) {
    const auto node = static_cast<std::size_t>(ends.back());
    ends.pop_back();
    if (seen[node]) continue;
    seen[node] = true;
    const std::vector<int>& after = graph.nodes[node].after;
    ends.insert(ends.end(), after.begin(), after.end());
  }
  return std::all_of(nodes.begin(), nodes.end(),
                     [&](int node) { return seen[static_cast<std::size_t>(node)]; });
}

/// All streams that take part in the capture, which leave it.
bool leave_capture(Runtime& r, const std::shared_ptr<Capture>& capture) {
  bool joined = true;
  const std::vector<int> ends = capture->origin->frontier;
  for (const auto& [stream, owner] : r.streams) {
    if (stream->capture != capture) continue;
    joined = joined && reaches(capture->graph, ends, stream->frontier);
    stream->capture.reset();
    stream->frontier.clear();
  }
  return joined;
}

cudaError_t new_stream(Runtime& r, cudaStream_t* handle, unsigned flags) {
  r.need_context();
  auto stream = std::make_unique<Stream>();
  stream->waits_for_default = !(flags & cudaStreamNonBlocking);
  *handle = reinterpret_cast<cudaStream_t>(stream.get());
  r.streams[stream.get()] = std::move(stream);
  return cudaSuccess;
}

cudaError_t new_event(Runtime& r, cudaEvent_t* handle, unsigned flags) {
  auto event = std::make_unique<Event>();
  event->timing = !(flags & cudaEventDisableTiming);
  *handle = reinterpret_cast<cudaEvent_t>(event.get());
  r.events[event.get()] = std::move(event);
  return cudaSuccess;
}

cudaError_t record(Runtime& r, cudaEvent_t event_handle, cudaStream_t stream_handle) {
  Event* event = r.event(event_handle);
  Stream* stream = r.stream(stream_handle);
  if (!event || !stream) return cudaErrorInvalidResourceHandle;
  event->capture = stream->capture;
  event->nodes = stream->frontier;
  if (stream->capture) return cudaSuccess;
  const cudaError_t status = r.submit(stream_handle, [&r, event_handle] {
    if (Event* live = r.event(event_handle)) live->time = ++r.clock;
  });
  event->recorded = stream->last;
  return status;
}

cudaError_t wait_for_event(Runtime& r, cudaStream_t stream_handle, cudaEvent_t event_handle) {
  Event* event = r.event(event_handle);
  Stream* stream = r.stream(stream_handle);
  if (!event || !stream) return cudaErrorInvalidResourceHandle;
  if (!event->capture) {
    if (stream->capture) {
      stream->capture->invalid = true;
      return r.refuse(cudaErrorStreamCaptureIsolation,
                      "a captured stream waits for an event from outside the capture");
    }
    if (event->recorded) {
      std::vector<WorkPtr> after = r.before(*stream);
      after.push_back(event->recorded);
      stream->last = r.schedule.add([] {}, after);
    }
    return cudaSuccess;
  }
  if (event->capture->origin == nullptr) {
    return r.refuse(cudaErrorCapturedEvent, "the event was last recorded inside a capture that has ended");
  }
  if (stream->capture && stream->capture != event->capture) {
    return r.refuse(cudaErrorStreamCaptureMerge, "two captures would become one");
  }
  if (!stream->capture && (stream == &r.default_stream || stream == &r.thread_stream)) {
    return r.refuse(cudaErrorStreamCaptureImplicit, "the default stream cannot join a capture");
  }
  stream->capture = event->capture;
  add_missing(stream->frontier, event->nodes);
  return cudaSuccess;
}

cudaError_t end_capture(Runtime& r, cudaStream_t handle, cudaGraph_t* graph) {
  Stream* stream = r.stream(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  *graph = nullptr;
  const std::shared_ptr<Capture> capture = stream->capture;
  if (!capture) return r.refuse(cudaErrorIllegalState, "the stream is not captured");
  if (capture->origin != stream)
    return r.refuse(cudaErrorStreamCaptureUnmatched, "another stream began the capture");
  const bool joined = leave_capture(r, capture);
  capture->origin = nullptr;
  if (capture->invalid)
    return r.refuse(cudaErrorStreamCaptureInvalidated, "a call inside the capture has spoiled it");
  if (!joined) return r.refuse(cudaErrorStreamCaptureUnjoined, "work of another stream was not waited for");
  auto made = std::make_unique<Graph>(std::move(capture->graph));
  *graph = reinterpret_cast<cudaGraph_t>(made.get());
  r.graphs[made.get()] = std::move(made);
  return cudaSuccess;
}

Graph* find(Runtime& r, cudaGraph_t handle) {
  const auto found = r.graphs.find(reinterpret_cast<Graph*>(handle));
  return found == r.graphs.end() ? nullptr : found->second.get();
}
GraphExec* find(Runtime& r, cudaGraphExec_t handle) {
  const auto found = r.execs.find(reinterpret_cast<GraphExec*>(handle));
  return found == r.execs.end() ? nullptr : found->second.get();
}

cudaError_t no_graph(Runtime& r) {
  return r.refuse(cudaErrorInvalidValue, "the graph does not exist (any more)");
}

/// The answer to a question; until it is asked again some work goes on.
cudaError_t query(Runtime& r, const WorkPtr& work) {
  if (!work || work->done) return cudaSuccess;
  for (int i = 0; i < 3; ++i) r.schedule.step();
  return r.sticky != cudaSuccess ? r.sticky : cudaErrorNotReady;
}

}  // namespace
}  // namespace lorikeet::ptx

using namespace lorikeet::ptx;

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return entry([&](Runtime& r) { return new_stream(r, stream, 0); });
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return entry([&](Runtime& r) { return new_stream(r, stream, flags); });
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return entry([&](Runtime& r) { return new_stream(r, stream, flags); });
}
cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return entry([&](Runtime& r) {
    Stream* stream = r.stream(handle);
    if (!stream || !handle) return cudaErrorInvalidResourceHandle;
    if (stream->capture) return r.refuse(cudaErrorStreamCaptureUnsupported, "the stream is captured");
    r.schedule.finish(stream->last);
    r.streams.erase(stream);
    return cudaSuccess;
  });
}
cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return entry([&](Runtime& r) {
    Stream* stream = r.stream(handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (stream->capture) return spoiled_by(r, *stream->capture, "cudaStreamSynchronize");
    r.schedule.finish(stream->last);
    return r.sticky;
  });
}
cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return entry([&](Runtime& r) {
    Stream* stream = r.stream(handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (stream->capture) return spoiled_by(r, *stream->capture, "cudaStreamQuery");
    return query(r, stream->last);
  });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return entry([&](Runtime& r) { return wait_for_event(r, stream, event); });
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return entry([&](Runtime& r) { return r.submit(stream, [=] { function(data); }); });
}
cudaError_t cudaDeviceSynchronize() {
  return entry([](Runtime& r) { return r.synchronize(); });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return entry([&](Runtime& r) { return new_event(r, event, 0); });
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return entry([&](Runtime& r) { return new_event(r, event, flags); });
}
cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  return entry([&](Runtime& r) {
    Event* event = r.event(handle);
    if (!event) return cudaErrorInvalidResourceHandle;
    r.events.erase(event);
    return cudaSuccess;
  });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return entry([&](Runtime& r) { return record(r, event, stream); });
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return entry([&](Runtime& r) { return record(r, event, stream); });
}
cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return entry([&](Runtime& r) {
    Event* event = r.event(handle);
    if (!event) return cudaErrorInvalidResourceHandle;
    if (event->capture)
      return r.refuse(cudaErrorCapturedEvent, "the event was last recorded inside a capture");
    r.schedule.finish(event->recorded);
    return r.sticky;
  });
}
cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return entry([&](Runtime& r) {
    Event* event = r.event(handle);
    if (!event) return cudaErrorInvalidResourceHandle;
    if (event->capture)
      return r.refuse(cudaErrorCapturedEvent, "the event was last recorded inside a capture");
    return query(r, event->recorded);
  });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t first, cudaEvent_t second) {
  return entry([&](Runtime& r) {
    const Event* from = r.event(first);
    const Event* to = r.event(second);
    if (!from || !to) return cudaErrorInvalidResourceHandle;
    if (!from->timing || !to->timing || !from->recorded || !to->recorded) {
      return r.refuse(cudaErrorInvalidResourceHandle, "an event without time");
    }
    if (!from->recorded->done || !to->recorded->done) return cudaErrorNotReady;
    *milliseconds = static_cast<float>(to->time) - static_cast<float>(from->time);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  return entry([&](Runtime& r) {
    Stream* stream = r.stream(handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (stream == &r.default_stream)
      return r.refuse(cudaErrorStreamCaptureUnsupported, "capture of the default stream");
    if (stream->capture) return r.refuse(cudaErrorIllegalState, "the stream is captured already");
    stream->capture = std::make_shared<Capture>();
    stream->capture->origin = stream;
    stream->capture->mode = mode;
    stream->capture->thread = std::this_thread::get_id();
    stream->frontier.clear();
    return cudaSuccess;
  });
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return entry([&](Runtime& r) { return end_capture(r, stream, graph); });
}
cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  return entry([&](Runtime& r) {
    const Stream* stream = r.stream(handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    *status = !stream->capture           ? cudaStreamCaptureStatusNone
              : stream->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                         : cudaStreamCaptureStatusActive;
    return cudaSuccess;
  });
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) {
  return entry([](Runtime&) { return cudaSuccess; });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* handle, cudaGraph_t graph, unsigned long long) {
  return entry([&](Runtime& r) {
    const Graph* from = find(r, graph);
    if (!from) return no_graph(r);
    if (r.allocation_fails()) return r.refuse(cudaErrorMemoryAllocation, "cudaGraphInstantiate");
    auto made = std::make_unique<GraphExec>(GraphExec{*from, nullptr});
    *handle = reinterpret_cast<cudaGraphExec_t>(made.get());
    r.execs[made.get()] = std::move(made);
    return cudaSuccess;
  });
}
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t) {
  return entry([&](Runtime& r) { return find(r, exec) ? cudaSuccess : no_graph(r); });
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream_handle) {
  return entry([&](Runtime& r) {
    GraphExec* exec = find(r, handle);
    Stream* stream = r.stream(stream_handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (!exec) return no_graph(r);
    // The first launch brings the graph onto the device.
    if (!exec->last && r.allocation_fails()) return r.refuse(cudaErrorMemoryAllocation, "cudaGraphLaunch");
    return r.launch_graph(*exec, *stream);
  });
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return entry([&](Runtime& r) {
    const Graph* found = find(r, graph);
    if (!found) return no_graph(r);
    if (nodes) return r.refuse(cudaErrorNotSupported, "only the number of nodes is emulated");
    *count = found->nodes.size();
    return cudaSuccess;
  });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return entry([&](Runtime& r) {
    return r.graphs.erase(reinterpret_cast<Graph*>(graph)) ? cudaSuccess : no_graph(r);
  });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return entry([&](Runtime& r) {
    return r.execs.erase(reinterpret_cast<GraphExec*>(exec)) ? cudaSuccess : no_graph(r);
  });
}

}  // extern "C"
