#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/checksum.h"

namespace winnow::dedup {

// A review: what people said of images, by content (docs/formats/review.md).

// What a judgement is about.
enum class About : std::uint8_t {
  kDuplicates,  // which images are one picture
  kImage,       // one image by itself: whether it is fit to be used
};
// The member of a line that has its verdict: "verdict", "image_verdict".
std::string_view member_of(About about) noexcept;

enum class Verdict : std::uint8_t {
  kDuplicate,  // all of these are one picture
  kDifferent,  // no two of these are
  kKeep,       // this one stands for its group; of an image: no issue drops it
  kUnsure,     // seen, not decided
  kNone,       // takes back what was said of exactly these
  kDrop,       // of an image: it goes
};
std::string_view verdict_name(Verdict verdict) noexcept;  // "duplicate"
// Those that can be said of it; nothing for another word.
std::optional<Verdict> parse_verdict(About about, std::string_view name) noexcept;
std::string verdict_names(About about);  // "keep, drop, unsure and none"

struct Judgement {
  Verdict verdict = Verdict::kNone;
  // XXH3-128 of the files' bytes, each once. kDuplicate, kDifferent: two or more; kKeep, and all
  // about an image: one; else one or more.
  std::vector<Hash128> images;
  std::vector<std::string> names = {};  // for people only; bytes, as the lists have them
  std::uint64_t line = 0;               // of its file, from 1
  std::uint32_t review = 0;             // which of several reviews it is of, see last_said()
  About about = About::kDuplicates;

  friend bool operator==(const Judgement&, const Judgement&) = default;
};

// Pairs drawn to be judged, so that a precision can be told: all pairs of dedup::for_each_pair() by
// these options, but for those of one file, in strata. Of each stratum some, without replacement.
struct PairSample {
  struct Stratum {
    int distance = 0;          // bits
    std::string classes = {};  // "same", "other", "unknown": one of both has no label
    std::string splits = {};   // "same", "other"
    std::uint64_t pairs = 0;   // in all
    std::vector<std::array<Hash128, 2>> drawn = {};  // files, the smaller hash first

    friend bool operator==(const Stratum&, const Stratum&) = default;
  };
  std::string hash = {};
  int threshold = 0;
  std::string scope = {};  // as scope_name() has it
  std::uint64_t seed = 0;
  std::uint64_t certain = 0;                 // pairs of one file: duplicates, never drawn
  std::optional<double> least_quality = {};  // of the images of pairs, where it was said
  std::vector<Stratum> strata = {};

  friend bool operator==(const PairSample&, const PairSample&) = default;
};

struct Review {
  std::string file;  // as messages call it
  std::vector<Judgement> judgements;
  std::optional<PairSample> sample;  // the last that it has
  // Its lines up to the last "\n", and their XXH3-128. What writes on begins there.
  std::uint64_t complete_bytes = 0;
  Hash128 digest;
  bool cut_off = false;  // a line after that has no end, and was left out
};

// Strict. FormatError naming `file` and line for what is no judgement, and for what does not begin
// with the line that review_header() gives.
Review parse_review(std::string_view text, const std::string& file);
Review read_review(const std::filesystem::path& file);  // SystemError where it cannot be read

// The first line, that of a judgement and that of a sample; each ends in "\n". UsageError for a
// judgement that parse_review would refuse.
std::string review_header();
std::string review_line(const Judgement& judgement);
std::string review_line(const PairSample& sample);

// What is in force: of judgements about the same, of one set of images, the last, reviews and lines
// being in order. Without kNone. In the order in which they were said.
std::vector<Judgement> last_said(std::span<const Review> reviews);

}  // namespace winnow::dedup
