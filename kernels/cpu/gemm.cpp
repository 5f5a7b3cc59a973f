// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/gemm.h"

#include <omp.h>

#include <list>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/base/error.h"

namespace lorikeet {

namespace {

constexpr std::size_t cached_products = 256;  // 55 kB each, mostly generated code

struct ShapeHash {
  std::size_t operator()(const GemmShape& s) const {
    std::size_t hash = static_cast<std::size_t>(s.input) * 8 + (s.a_transposed ? 4U : 0U) +
                       (s.b_transposed ? 2U : 0U) + (s.accumulate ? 1U : 0U);
    for (const std::int64_t value : {s.m, s.n, s.k, s.lda, s.ldb, s.ldc}) {
      hash = (hash ^ static_cast<std::size_t>(value)) * 0x9e3779b97f4a7c15ULL;
      hash ^= hash >> 29;
    }
    return hash;
  }
};

/// While it lives, oneDNN sees a team of one.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  const int before_;
};

void limit_instructions(Isa isa) {
  static std::once_flag once;
  std::call_once(once, [isa] {
    dnnl::cpu_isa limit = dnnl::cpu_isa::avx512_core_bf16;
    if (isa == Isa::x86_64_v2) limit = dnnl::cpu_isa::sse41;
    if (isa == Isa::avx2) limit = dnnl::cpu_isa::avx2;
    if (isa == Isa::avx512) limit = dnnl::cpu_isa::avx512_core;
    static_cast<void>(dnnl_set_max_cpu_isa(static_cast<dnnl_cpu_isa_t>(limit)));
    // Products are kept here; oneDNN would keep a thousand more of them, which no plan counts.
    static_cast<void>(dnnl_set_primitive_cache_capacity(0));
  });
}

dnnl::memory::desc matrix(std::int64_t rows, std::int64_t columns, std::int64_t leading, bool transposed,
                          DType dtype) {
  const auto type = dtype == DType::bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
  const dnnl::memory::dims strides =
      transposed ? dnnl::memory::dims{1, leading} : dnnl::memory::dims{leading, 1};
  return {{rows, columns}, type, strides};
}

}  // namespace

struct Gemm::Product {
  dnnl::matmul primitive;
  struct Operands {
    dnnl::memory a, b, c, scratch;
  };
  std::vector<Operands> operands;  // one a thread
};

struct Gemm::State {
  State(Backend& backend, int threads)
      : engine(dnnl::engine::kind::cpu, 0), scratch(backend), streams(static_cast<std::size_t>(threads)) {
    for (auto& stream : streams) stream = dnnl::stream(engine);
  }

  Handle make(const GemmShape& shape) {
    const OneThread one_thread;
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    if (shape.accumulate) {
      dnnl::post_ops sum;
      sum.append_sum();
      attributes.set_post_ops(sum);
    }
    const auto a = matrix(shape.m, shape.k, shape.lda, shape.a_transposed, shape.input);
    const auto b = matrix(shape.k, shape.n, shape.ldb, shape.b_transposed, shape.input);
    const auto c = matrix(shape.m, shape.n, shape.ldc, false, DType::f32);
    const dnnl::matmul::primitive_desc description(dnnl::matmul::desc(a, b, c), attributes, engine);
    auto product = std::make_shared<Product>();
    product->primitive = dnnl::matmul(description);
    const auto scratch_description = description.scratchpad_desc();
    scratch_bytes = std::max(scratch_bytes, (scratch_description.get_size() + 63) / 64 * 64);
    for (std::size_t i = 0; i < streams.size(); ++i) {
      product->operands.push_back({{a, engine, nullptr},
                                   {b, engine, nullptr},
                                   {c, engine, nullptr},
                                   {scratch_description, engine, nullptr}});
    }
    scratch.get(static_cast<std::int64_t>(scratch_bytes * streams.size()));
    return product;
  }

  dnnl::engine engine;
  Scratch scratch;
  std::size_t scratch_bytes = 64;  // of one thread
  std::vector<dnnl::stream> streams;
  using Entry = std::pair<GemmShape, Handle>;
  std::list<Entry> recent;  // most recently used first
  std::unordered_map<GemmShape, std::list<Entry>::iterator, ShapeHash> products;
};

Gemm::Gemm(Backend& backend, Isa isa, int threads) {
  limit_instructions(isa);
  state_ = std::make_unique<State>(backend, threads);
}

Gemm::~Gemm() = default;

Gemm::Handle Gemm::prepare(const GemmShape& shape) {
  State& state = *state_;
  if (const auto found = state.products.find(shape); found != state.products.end()) {
    state.recent.splice(state.recent.begin(), state.recent, found->second);
    return found->second->second;
  }
  try {
    state.recent.emplace_front(shape, state.make(shape));
  } catch (const dnnl::error& error) {
    throw Error(ErrorCode::device, std::string("oneDNN cannot make a product: ") + error.what(),
                std::to_string(shape.m) + " x " + std::to_string(shape.n) + " x " + std::to_string(shape.k));
  }
  state.products[shape] = state.recent.begin();
  if (state.recent.size() > cached_products) {
    state.products.erase(state.recent.back().first);
    state.recent.pop_back();
  }
  return state.recent.front().second;
}

void Gemm::run(Product& product, int thread, const void* a, const void* b, float* c) noexcept {
  const auto index = static_cast<std::size_t>(thread);
  Product::Operands& operands = product.operands[index];
  char* scratch = static_cast<char*>(state_->scratch.get(0)) + state_->scratch_bytes * index;
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, operands.a.get()},
                                       {DNNL_ARG_WEIGHTS, operands.b.get()},
                                       {DNNL_ARG_DST, operands.c.get()},
                                       {DNNL_ARG_SCRATCHPAD, operands.scratch.get()}};
  void* const handles[] = {const_cast<void*>(a), const_cast<void*>(b), c, scratch};
  dnnl_status_t status = dnnl_success;
  for (int i = 0; i < 4 && status == dnnl_success; ++i) {
    status = dnnl_memory_set_data_handle(arguments[i].memory, handles[i]);
  }
  if (status == dnnl_success) {
    status = dnnl_primitive_execute(product.primitive.get(), state_->streams[index].get(), 4, arguments);
  }
  if (status != dnnl_success) failure_.store(static_cast<int>(status), std::memory_order_relaxed);
}

void Gemm::check() {
  const int status = failure_.exchange(0, std::memory_order_relaxed);
  if (status != 0) throw Error(ErrorCode::device, "oneDNN failed with status " + std::to_string(status));
}

}  // namespace lorikeet
