#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/bytes.h"
#include "common/expected.h"
#include "common/image.h"
#include "datasets/listing.h"

namespace winnow::datasets {

// The content of an input: encoded bytes of any format, or pixels if the format stores raw pixels.
using Payload = std::variant<Bytes, Image>;

struct ReadError {
  // kCorrupt: the bytes exist but are invalid; retrying does not help.
  enum class Kind { kMissing, kEmpty, kIo, kCorrupt };
  Kind kind;
  std::string detail;
};

// Number of things besides the inputs that were skipped for one reason. A skipped folder counts
// once.
struct Skipped {
  std::string reason;
  std::uint64_t count = 0;
};

// A data set as the user has it. Immutable once opened; thread-safe.
// The listing is canonical: it depends only on names and bytes of the source, never on directory
// order. It includes unreadable inputs. A sample's id is its position in it.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::string_view format() const noexcept = 0;  // its row in formats.h
  virtual const Listing& entries() const noexcept = 0;
  virtual std::span<const std::string> class_names() const noexcept = 0;  // empty: unlabelled
  // One sentence about how the layout was understood: "image folder: 2 splits, 10 classes".
  virtual std::string description() const = 0;
  // The skipped things by reason, sorted. The description also mentions them.
  virtual std::vector<Skipped> skipped() const { return {}; }
  // Reads the input at `position` of entries(). An ordinary failure of one input is a ReadError.
  virtual Expected<Payload, ReadError> read(std::size_t position) const = 0;
  // The path of an input that is a separate file below the source's root, whether or not it exists;
  // nullopt for one in an archive.
  virtual std::optional<std::filesystem::path> file_of(std::size_t /*position*/) const {
    return std::nullopt;
  }
};

enum class LabelsFrom { kAuto, kFolder, kNone };

struct OpenOptions {
  std::string format = "auto";            // a name of formats()
  LabelsFrom labels = LabelsFrom::kAuto;  // for image folders: class from the folder, or unlabelled
  bool allow_empty_classes = false;       // else a class folder without images is an error
  // For image folders and tar archives. `exclude` has globs (fnmatch, '*' also matches '/') for
  // names and whole relative paths; a folder is excluded with its content.
  bool hidden = false;       // take names that begin with a dot
  bool system = false;       // take files added by a NAS or an operating system (skips.h)
  bool follow_links = true;  // follow symbolic links in folders; skipped otherwise
  std::vector<std::string> exclude = {};
};

}  // namespace winnow::datasets
