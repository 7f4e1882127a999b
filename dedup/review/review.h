#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/checksum.h"

namespace winnow::dedup {

// A review: what people said of images, by content (docs/formats/review.md).

enum class Verdict : std::uint8_t {
  kDuplicate,  // all of these are one picture
  kDifferent,  // no two of these are
  kKeep,       // this one stands for its group
  kUnsure,     // seen, not decided
  kNone,       // takes back what was said of exactly these
};
std::string_view verdict_name(Verdict verdict) noexcept;  // "duplicate"

struct Judgement {
  Verdict verdict = Verdict::kNone;
  // XXH3-128 of the files' bytes, each once. kDuplicate, kDifferent: two or more; kKeep: one;
  // else one or more.
  std::vector<Hash128> images;
  std::vector<std::string> names = {};  // for people only; bytes, as the lists have them
  std::uint64_t line = 0;               // of its file, from 1
  std::uint32_t review = 0;             // which of several reviews it is of, see last_said()

  friend bool operator==(const Judgement&, const Judgement&) = default;
};

struct Review {
  std::string file;  // as messages call it
  std::vector<Judgement> judgements;
  // Its lines up to the last "\n", and their XXH3-128. What writes on begins there.
  std::uint64_t complete_bytes = 0;
  Hash128 digest;
  bool cut_off = false;  // a line after that has no end, and was left out
};

// Strict. FormatError naming `file` and line for what is no judgement, and for what does not begin
// with the line that review_header() gives.
Review parse_review(std::string_view text, const std::string& file);
Review read_review(const std::filesystem::path& file);  // SystemError where it cannot be read

// The first line, and that of a judgement; both end in "\n". UsageError for a judgement that
// parse_review would refuse.
std::string review_header();
std::string review_line(const Judgement& judgement);

// What is in force: of judgements of one set of images the last, reviews and lines being in order.
// Without kNone. In the order in which they were said.
std::vector<Judgement> last_said(std::span<const Review> reviews);

}  // namespace winnow::dedup
