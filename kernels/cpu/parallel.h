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

/// Rows per chunk so that one chunk has about 16 Ki elements.
inline std::int64_t row_chunk(std::int64_t columns) {
  return std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, columns));
}

}  // namespace lorikeet
