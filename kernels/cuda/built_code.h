// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lorikeet::cuda {

/// Why code that nvcc made for `architectures` cannot run on a device of this compute capability (86
/// for 8.6), empty when it can. Read from the list alone, so that asking takes no memory on the device.
/// `architectures` is CMake's list with commas: "75-real,80,90a-virtual"; where it is empty or names none
/// ("native") nothing is known and nothing said. Machine code runs on later devices of its own major number;
/// PTX on all later ones, if the driver is as new as the toolkit. Versions as CUDA counts them, 13000
/// for 13.0. Source: CUDA C++ Programming Guide, "Binary Compatibility", "PTX Compatibility".
std::string code_obstacle(const std::string& architectures, int compute_capability, int driver_version,
                          int toolkit_version);

/// "8.6" of 86.
std::string capability_text(int compute_capability);

/// "13.0" of 13000; empty of 0.
std::string version_text(int version);

}  // namespace lorikeet::cuda
