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

// A review: what people decided about images, identified by content (docs/formats/review.md).

// The subject of a judgement.
enum class About : std::uint8_t {
  kDuplicates,  // whether images are one picture
  kImage,       // a single image: whether to use it
};
// The JSON key of the verdict: "verdict", "image_verdict".
std::string_view member_of(About about) noexcept;

enum class Verdict : std::uint8_t {
  kDuplicate,  // all of these are one picture
  kDifferent,  // no two of these are one picture
  kKeep,       // this one represents its group; for an image: issues do not drop it
  kUnsure,     // seen, not decided
  kNone,       // withdraws what was said about exactly these
  kDrop,       // for an image: remove it
};
std::string_view verdict_name(Verdict verdict) noexcept;  // "duplicate"
// Parses a verdict that is allowed for the subject; nullopt for another word.
std::optional<Verdict> parse_verdict(About about, std::string_view name) noexcept;
std::string verdict_names(About about);  // "keep, drop, unsure and none"

struct Judgement {
  Verdict verdict = Verdict::kNone;
  // XXH3-128 of the files' bytes, without repeats. Number: two or more for kDuplicate and
  // kDifferent; one for kKeep and for any judgement of an image; else one or more.
  std::vector<Hash128> images;
  std::vector<std::string> names = {};  // for people only; raw bytes, as in the lists
  std::uint64_t line = 0;               // line in its file, from 1
  std::uint32_t review = 0;             // the review it belongs to, see last_said()
  About about = About::kDuplicates;

  friend bool operator==(const Judgement&, const Judgement&) = default;
};

// Pairs drawn for judgement, to estimate a precision.
// The population is all pairs of dedup::for_each_pair() with these options, except those of one
// file. It is divided into strata; some pairs of each are drawn without replacement.
struct PairSample {
  struct Stratum {
    int distance = 0;          // bits
    std::string classes = {};  // "same", "other", "unknown": at least one has no label
    std::string splits = {};   // "same", "other"
    std::uint64_t pairs = 0;   // total
    std::vector<std::array<Hash128, 2>> drawn = {};  // pairs of files, the smaller hash first

    friend bool operator==(const Stratum&, const Stratum&) = default;
  };
  std::string hash = {};
  int threshold = 0;
  std::string scope = {};  // as scope_name() returns
  std::uint64_t seed = 0;
  std::uint64_t certain = 0;                 // pairs of one file: duplicates, never drawn
  std::optional<double> least_quality = {};  // for the images of pairs, if given
  std::vector<Stratum> strata = {};

  friend bool operator==(const PairSample&, const PairSample&) = default;
};

struct Review {
  std::string file;  // as named in messages
  std::vector<Judgement> judgements;
  std::optional<PairSample> sample;  // the last one in the file
  // Size of its complete lines, and their XXH3-128. Writers continue there.
  std::uint64_t complete_bytes = 0;
  Hash128 digest;
  bool cut_off = false;  // an incomplete last line was ignored
};

// Strict. FormatError, naming `file` and line, for an invalid judgement and for a missing first
// line (review_header()).
Review parse_review(std::string_view text, const std::string& file);
Review read_review(const std::filesystem::path& file);  // SystemError if it cannot be read

// The first line of a review, and the lines of a judgement and of a sample. Each ends in "\n".
// UsageError for a judgement that parse_review() would refuse.
std::string review_header();
std::string review_line(const Judgement& judgement);
std::string review_line(const PairSample& sample);

// The judgements in force: the last one for each subject and set of images, with reviews and lines
// in order. Without kNone. In the order in which they were made.
std::vector<Judgement> last_said(std::span<const Review> reviews);

}  // namespace winnow::dedup
