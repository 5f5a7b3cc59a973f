// SPDX-License-Identifier: Apache-2.0
// Where NVIDIA's cuBLASLt may lie: beside the program, in the CUDA toolkit, in the system's folders, in
// Python's packages. Absolute paths only, so that no library from the working folder or an environment's
// search path is ever loaded.
#include "kernels/cuda/cublas_lt_candidates.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace lorikeet::cuda {
namespace {

namespace fs = std::filesystem;

/// Folders of `parent` whose name begins with `prefix`, the last name first; none where it cannot be read.
std::vector<fs::path> children(const fs::path& parent, const std::string& prefix) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (fs::directory_iterator it(parent, ignored), end; it != end; it.increment(ignored)) {
    if (it->path().filename().string().starts_with(prefix) && it->is_directory(ignored)) {
      found.push_back(it->path());
    }
  }
  std::sort(found.rbegin(), found.rend());
  return found;
}

/// NVIDIA's packages in the Python installations below `root`: lib/python3.X/site-packages/nvidia/NAME/lib.
void add_python(const fs::path& root, std::vector<fs::path>& folders) {
  for (const fs::path& python : children(root / "lib", "python3")) {
    for (const char* packages : {"site-packages", "dist-packages"}) {
      for (const fs::path& package : children(python / packages / "nvidia", "")) {
        folders.push_back(package / "lib");
      }
    }
  }
}

fs::path environment_path(const char* name) {
  const char* value = std::getenv(name);
  const fs::path path = value ? value : "";
  return path.is_absolute() ? path : fs::path();
}

std::vector<fs::path> folders() {
  std::vector<fs::path> all;
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&cublas_lt_candidates), &self) && self.dli_fname) {
    std::error_code ignored;
    all.push_back(fs::canonical(self.dli_fname, ignored).parent_path());
  }
  if (const fs::path toolkit = environment_path("CUDA_PATH"); !toolkit.empty()) {
    all.push_back(toolkit / "lib64");
    all.push_back(toolkit / "lib");
  }
  for (const fs::path& toolkit : children("/usr/local", "cuda")) all.push_back(toolkit / "lib64");
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64", "/lib64",
                             "/usr/local/lib", "/usr/lib", "/lib"}) {
    all.emplace_back(folder);
  }
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const fs::path root = environment_path(name); !root.empty()) add_python(root, all);
  }
  if (const fs::path home = environment_path("HOME"); !home.empty()) add_python(home / ".local", all);
  add_python("/usr/local", all);
  add_python("/usr", all);
  return all;
}

}  // namespace

std::vector<std::string> cublas_lt_candidates() {
  std::vector<std::string> found;
  const std::vector<fs::path> places = folders();
  for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12"}) {
    for (const fs::path& folder : places) {
      std::error_code ignored;
      const fs::path file = folder / name;
      if (file.is_absolute() && fs::exists(file, ignored)) found.push_back(file.string());
    }
  }
  return found;
}

}  // namespace lorikeet::cuda
