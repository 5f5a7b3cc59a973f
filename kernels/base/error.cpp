// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/error.h"

#include <cerrno>
#include <cstring>
#include <utility>

namespace lorikeet {

const char* to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::io:
      return "io";
    case ErrorCode::disk_full:
      return "disk_full";
    case ErrorCode::bad_format:
      return "bad_format";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::locked:
      return "locked";
    case ErrorCode::numeric:
      return "numeric";
    case ErrorCode::device:
      return "device";
    case ErrorCode::cancelled:
      return "cancelled";
  }
  return "unknown";
}

Error::Error(ErrorCode code, std::string what, std::string where, std::string hint)
    : code_(code), message_(std::move(what)), where_(std::move(where)), hint_(std::move(hint)) {
  full_ = message_;
  if (!where_.empty()) full_ += ": " + where_;
  if (!hint_.empty()) full_ += ". " + hint_;
}

Error system_error(const std::string& action, const std::string& path, int errno_value) {
  ErrorCode code = ErrorCode::io;
  std::string hint;
  if (errno_value == ENOSPC || errno_value == EDQUOT) {
    code = ErrorCode::disk_full;
    hint = "Free some space on this disk and try again";
  } else if (errno_value == ENOENT) {
    code = ErrorCode::not_found;
    hint = "Check the path";
  } else if (errno_value == EACCES || errno_value == EPERM || errno_value == EROFS) {
    hint = "Check the permissions of the file and its folder";
  }
  return Error(code, action + ", " + std::strerror(errno_value), path, hint);
}

}  // namespace lorikeet
