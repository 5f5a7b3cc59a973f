// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

namespace lorikeet {

/// What kind of thing went wrong; callers may branch on it, people read Error::what().
enum class ErrorCode {
  invalid_argument,  ///< a value given by the caller is outside its range
  not_found,         ///< a file, tensor, setting or name does not exist
  io,                ///< the operating system refused to read or write
  disk_full,         ///< no space left for what was to be written
  bad_format,        ///< a file is broken or is not what it claims to be
  unsupported,       ///< well formed, but not built here; the message names it
  out_of_memory,     ///< an arena refused against its limit
  locked,            ///< another process holds the run folder or the library
  numeric,           ///< a value became infinite or not a number
  device,            ///< the compute device failed
  cancelled,         ///< the caller asked to stop
};

/// Lower-case name of a code as written into events.jsonl, for example "disk_full".
const char* to_string(ErrorCode code);

/// The one exception of the project: thrown for what ends an operation.
/// `what` says what happened in one English sentence without a full stop, `where` names the file, row, tensor
/// or field, `hint` says what to do next. `where` and `hint` may be empty.
class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string what, std::string where = {}, std::string hint = {});

  ErrorCode code() const noexcept { return code_; }
  /// "what: where. hint" in one line, for stderr and logs.
  const char* what() const noexcept override { return full_.c_str(); }
  const std::string& message() const noexcept { return message_; }
  const std::string& where() const noexcept { return where_; }
  const std::string& hint() const noexcept { return hint_; }

 private:
  ErrorCode code_;
  std::string message_;
  std::string where_;
  std::string hint_;
  std::string full_;
};

/// Error for a failed system call: code from errno value (ENOSPC and EDQUOT become disk_full, ENOENT
/// not_found). `action` reads like "Cannot write", `path` names the file.
Error system_error(const std::string& action, const std::string& path, int errno_value);

}  // namespace lorikeet
