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

// The content of an input: encoded bytes in any image format, or pixels if the data set stores raw
// pixels.
using Payload = std::variant<Bytes, Image>;

struct ReadError {
  // kCorrupt: the bytes exist but are invalid, so retrying does not help.
  enum class Kind { kMissing, kEmpty, kIo, kCorrupt };
  Kind kind;
  std::string detail;
};

// How many files and folders of a data set were skipped for one reason. A skipped folder counts
// once.
struct Skipped {
  std::string reason;
  std::uint64_t count = 0;
};

// A data set as the user has it: a folder, an archive, a table. Immutable once opened; thread-safe.
// Its listing depends only on names and bytes, never on directory order. It includes unreadable
// inputs. The position of an input in it is a part of its sample id.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::string_view format() const noexcept = 0;  // name of its format in formats.h
  virtual const Listing& entries() const noexcept = 0;
  virtual std::span<const std::string> class_names() const noexcept = 0;  // empty: unlabelled
  // How the layout was understood, in one sentence: "image folder: 2 splits, 10 classes".
  virtual std::string description() const = 0;
  // Numbers of skipped files and folders by reason, sorted. The description mentions them, too.
  virtual std::vector<Skipped> skipped() const { return {}; }
  // Reads the input at `position` of entries(). If only this input cannot be read, returns a
  // ReadError.
  virtual Expected<Payload, ReadError> read(std::size_t position) const = 0;
  // The path of the input's own file below the data set's root, whether or not it exists; nullopt
  // for an input in an archive.
  virtual std::optional<std::filesystem::path> file_of(std::size_t /*position*/) const {
    return std::nullopt;
  }
};

enum class LabelsFrom { kAuto, kFolder, kNone };

struct OpenOptions {
  std::string format = "auto";  // a name of formats()
  // For image folders: whether class folders give the labels.
  LabelsFrom labels = LabelsFrom::kAuto;
  bool allow_empty_classes = false;  // whether a class folder without images is no error
  // Which files of image folders and tar archives are read. `exclude` has globs (fnmatch, '*' also
  // matches '/') for names and whole relative paths; a folder is excluded with its content.
  bool hidden = false;       // read files and folders whose names begin with a dot
  bool system = false;       // read files that a NAS or an operating system adds (skips.h)
  bool follow_links = true;  // follow symbolic links in folders; false: skip them
  std::vector<std::string> exclude = {};
};

}  // namespace winnow::datasets
