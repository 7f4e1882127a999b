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

namespace winnow {
class JsonReader;
}

namespace winnow::dedup {

// A review: what people decided about images, which are identified by the hashes of their files
// (docs/formats/review.md).

// The subject of a judgement.
enum class About : std::uint8_t {
  kDuplicates,  // a judgement on whether several images are one picture
  kImage,       // a judgement on whether to use a single image
};
// The JSON key under which a verdict is stored: "verdict" or "image_verdict".
std::string_view member_of(About about) noexcept;

enum class Verdict : std::uint8_t {
  kDuplicate,  // all images of the judgement are one picture
  kDifferent,  // no two images of the judgement are one picture
  // The image represents its group; if the judgement is about one image: issues do not drop it.
  kKeep,
  kUnsure,  // seen, not decided
  kNone,    // withdraws the earlier judgement about the same images
  kDrop,    // about a single image: remove it
};
std::string_view verdict_name(Verdict verdict) noexcept;  // "duplicate"
// Parses a verdict that is allowed for this subject; nullopt for any other word.
std::optional<Verdict> parse_verdict(About about, std::string_view name) noexcept;
std::string verdict_names(About about);  // list for messages: "keep, drop, unsure and none"

struct Judgement {
  Verdict verdict = Verdict::kNone;
  // XXH3-128 of the bytes of each image file, without repeats. Their number: at least two for
  // kDuplicate and kDifferent; one for kKeep and for any judgement about a single image; else at
  // least one.
  std::vector<Hash128> images;
  // Names of the images, for people only; raw bytes, as in lists.
  std::vector<std::string> names = {};
  std::uint64_t line = 0;    // number of the line in its file, from 1
  std::uint32_t review = 0;  // number of the review that the judgement is from, see last_said()
  About about = About::kDuplicates;

  friend bool operator==(const Judgement&, const Judgement&) = default;
};

// A sample of linked pairs, drawn for people to judge, to estimate the precision of a threshold.
// The population is all pairs that dedup::for_each_pair() visits with these options, except pairs
// of equal files. It is divided into strata; some pairs of each are drawn without replacement.
struct PairSample {
  struct Stratum {
    int distance = 0;  // bits
    // Labels of both images: "same", "other", or "unknown" if at least one has none.
    std::string classes = {};
    std::string splits = {};  // "same", "other"
    std::uint64_t pairs = 0;  // total
    // Drawn pairs, as hashes of their files, the smaller hash first.
    std::vector<std::array<Hash128, 2>> drawn = {};

    friend bool operator==(const Stratum&, const Stratum&) = default;
  };
  std::string hash = {};
  int threshold = 0;
  std::string scope = {};  // as scope_name() returns
  std::uint64_t seed = 0;
  std::uint64_t certain = 0;  // number of pairs of equal files: duplicates, never drawn
  std::optional<double> least_quality = {};  // minimum quality of images; nullopt: as advised
  std::vector<Stratum> strata = {};

  friend bool operator==(const PairSample&, const PairSample&) = default;
};

struct Review {
  std::string file;  // as named in messages
  std::vector<Judgement> judgements;
  std::optional<PairSample> sample;  // the last sample in the file
  // Size in bytes of the complete lines of the file, and their XXH3-128. Writers append there.
  std::uint64_t complete_bytes = 0;
  Hash128 digest;
  bool cut_off = false;  // whether an incomplete last line was ignored
};

// Parses one judgement, as a line of a review file has it; its `line` is 0. Throws FormatError that
// names what the reader reads, for an invalid judgement.
Judgement parse_judgement(const JsonReader& json);

// Parses the text of a review file, strictly. Throws FormatError, naming `file` and line, for an
// invalid judgement and for a missing first line (review_header()).
Review parse_review(std::string_view text, const std::string& file);
Review read_review(const std::filesystem::path& file);  // Throws SystemError if it cannot be read.

// The lines of a review file, each with its "\n": the first line, a judgement, a sample. Throws
// UsageError for a judgement that parse_review() would refuse.
std::string review_header();
std::string review_line(const Judgement& judgement);
std::string review_line(const PairSample& sample);

// The judgements in force, in the order in which they were made: for each subject and set of images
// the last one, unless it is kNone. Judgements are ordered by review, then by line.
std::vector<Judgement> last_said(std::span<const Review> reviews);

}  // namespace winnow::dedup
