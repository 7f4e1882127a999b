#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "common/file.h"
#include "dedup/review/review.h"

namespace winnow::dedup {

// A review file that is added to (docs/formats/review.md): what was added is never lost, and no
// line is there in part. Not for several threads at once.
class ReviewLog {
 public:
  // Opens the file, or makes it, durably, in a folder that is there, and locks it (flock) for as
  // long as this lives. A last line that was cut off by a crash is removed. UsageError where
  // another process has it open, or it is no regular file; FormatError, the file as it was, where
  // it is no review; SystemError.
  explicit ReviewLog(std::filesystem::path path);

  const std::filesystem::path& path() const noexcept { return path_; }
  // What it held when it was opened; `cut_off`: a line was removed.
  const Review& review() const noexcept { return review_; }

  // Durable when they return. SystemError: the file is as it was before, or, where even that cannot
  // be had, takes no more.
  void append(std::span<const Judgement> judgements);
  void append(const PairSample& sample);

 private:
  void append_lines(std::string_view lines);
  void write_at_end(std::string_view lines);
  bool cut_to_size() noexcept;  // false, and errno, where the system will not

  std::filesystem::path path_;
  Fd fd_;
  Review review_;
  std::uint64_t size_ = 0;  // of the lines that are durable
  bool broken_ = false;     // there may be part of a line that could not be removed
};

}  // namespace winnow::dedup
