#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "common/file.h"
#include "dedup/review/review.h"

namespace winnow::dedup {

// A review file opened for appending (docs/formats/review.md). What was appended is never lost, and
// no partial line remains. Not thread-safe.
class ReviewLog {
 public:
  // Opens or creates the file, durably, in an existing folder, and locks it (flock) while this
  // object lives. A last line that a crash cut off is removed.
  // Errors  UsageError: another process has it open, or it is no regular file. FormatError: it is
  //         no review (the file is not changed). SystemError.
  explicit ReviewLog(std::filesystem::path path);

  const std::filesystem::path& path() const noexcept { return path_; }
  // The content when opened. `cut_off`: an incomplete line was removed.
  const Review& review() const noexcept { return review_; }

  // Durable when they return. After a SystemError the file is as before; if even that is
  // impossible, it refuses further appends.
  void append(std::span<const Judgement> judgements);
  void append(const PairSample& sample);

 private:
  void append_lines(std::string_view lines);
  void write_at_end(std::string_view lines);
  bool cut_to_size() noexcept;  // false, with errno, on failure

  std::filesystem::path path_;
  Fd fd_;
  Review review_;
  std::uint64_t size_ = 0;  // bytes of durable lines
  bool broken_ = false;     // an incomplete line could not be removed
};

}  // namespace winnow::dedup
