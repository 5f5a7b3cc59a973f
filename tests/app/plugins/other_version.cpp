// SPDX-License-Identifier: Apache-2.0
// A plug-in of another version of the program: nothing but its number may be asked for.
#include <cstdint>
#include <cstdlib>

extern "C" {
std::uint64_t lorikeet_backend_abi() {
  return 1;
}
bool lorikeet_list_devices(bool, void*, void*) {
  std::abort();
}
void* lorikeet_make_backend(const void*, void*) {
  std::abort();
}
}
