#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "common/file.h"
#include "dedup/review/review.h"

namespace winnow::dedup {

// A review file open for appending (docs/formats/review.md). Appended lines survive a crash, and no
// partial line remains. Not thread-safe.
class ReviewLog {
 public:
  // Opens or creates the file in an existing folder, and locks it (flock) while this object lives.
  // Removes a last line that a crash cut off.
  // Errors  UsageError: another process has it open, or it is no regular file. FormatError: it is
  //         no review (the file is not changed). SystemError.
  explicit ReviewLog(std::filesystem::path path);

  const std::filesystem::path& path() const noexcept { return path_; }
  // The content of the file when it was opened. If its `cut_off` is set, an incomplete last line
  // was removed.
  const Review& review() const noexcept { return review_; }

  // Append lines to the file; these are on disk when the call returns. After a SystemError the file
  // is as before; if even that was impossible, further appends are refused.
  void append(std::span<const Judgement> judgements);
  void append(const PairSample& sample);

 private:
  void append_lines(std::string_view lines);
  void write_at_end(std::string_view lines);
  bool cut_to_size() noexcept;  // returns false, with errno set, on failure

  std::filesystem::path path_;
  Fd fd_;
  Review review_;
  std::uint64_t size_ = 0;  // bytes of durable lines
  bool broken_ = false;     // whether an incomplete line could not be removed
};

}  // namespace winnow::dedup
