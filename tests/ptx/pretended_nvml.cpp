// SPDX-License-Identifier: Apache-2.0
// Stands for NVIDIA's management library. LORIKEET_PRETENDED_NVML is "<free> <total>" in bytes, the memory of
// the card at 0000:01:00.0; without it the library does not start.
#include <cstdlib>
#include <cstring>

namespace {

unsigned long long number(int which) {
  const char* text = std::getenv("LORIKEET_PRETENDED_NVML");
  if (!text) return 0;
  char* rest = nullptr;
  const unsigned long long first = std::strtoull(text, &rest, 10);
  return which == 0 ? first : std::strtoull(rest, nullptr, 10);
}

int started = 0;
int card = 0;

struct Memory {
  unsigned long long total, free, used;
};

}  // namespace

extern "C" {
int nvmlInit_v2() {
  if (!std::getenv("LORIKEET_PRETENDED_NVML")) return 9;  // no driver
  ++started;
  return 0;
}
int nvmlShutdown() {
  return started-- > 0 ? 0 : 1;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  if (started == 0) return 1;
  *device = &card;
  return std::strcmp(id, "0000:01:00.0") == 0 ? 0 : 6;
}
int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  if (started == 0 || device != &card) return 1;
  *memory = {number(1), number(0), number(1) - number(0)};
  return 0;
}
}
