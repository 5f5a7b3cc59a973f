// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace lorikeet {

/// Calls body(first, last) for [0, count) cut into chunks of `chunk`, in one OpenMP team of `threads`. The
/// chunks do not depend on the team, so work that is per chunk gives the same bits with any number of
/// threads. A single chunk runs on the caller: waking the team costs more than a small operation. `body` must
/// not throw.
template <typename Body>
void for_chunks(int threads, std::int64_t count, std::int64_t chunk, const Body& body) {
  const std::int64_t chunks = (count + chunk - 1) / chunk;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1 && chunks > 1)
  for (std::int64_t i = 0; i < chunks; ++i) body(i * chunk, std::min(count, (i + 1) * chunk));
}

/// Calls body(i) for [0, count) in the team, each thread taking the next one that is left: for tasks of
/// unequal length whose results do not depend on who runs them. `body` may use omp_get_thread_num() and must
/// not throw.
template <typename Body>
void for_tasks(int threads, std::int64_t count, const Body& body) {
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (threads > 1 && count > 1)
  for (std::int64_t i = 0; i < count; ++i) body(i);
}

/// Rows per chunk so that one chunk has about 16 Ki elements.
inline std::int64_t row_chunk(std::int64_t columns) {
  return std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, columns));
}

}  // namespace lorikeet
