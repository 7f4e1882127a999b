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

// What an input holds: encoded bytes of any format, or pixels where the format has bare pixels.
using Payload = std::variant<Bytes, Image>;

struct ReadError {
  // kCorrupt: the bytes are there and are not what they should be; trying again would not help.
  enum class Kind { kMissing, kEmpty, kIo, kCorrupt };
  Kind kind;
  std::string detail;
};

// So many things beside the inputs were passed over for one reason, each counted once, whatever
// lies below it.
struct Skipped {
  std::string reason;
  std::uint64_t count = 0;
};

// A data set as the user has it. The listing is canonical: it depends only on the names and bytes
// of the source, never on directory order, and includes inputs that cannot be read; a sample's id
// is its position here. Immutable once opened; all calls are safe from many threads.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::string_view format() const noexcept = 0;  // its row in formats.h
  virtual const Listing& entries() const noexcept = 0;
  virtual std::span<const std::string> class_names() const noexcept = 0;  // empty: unlabelled
  // One sentence on how the layout was understood, e.g. "image folder: 2 splits, 10 classes".
  virtual std::string description() const = 0;
  // What was passed over, sorted by reason; the description says it in words.
  virtual std::vector<Skipped> skipped() const { return {}; }
  // The input at `position` of entries(). An ordinary failure of one input is a ReadError.
  virtual Expected<Payload, ReadError> read(std::size_t position) const = 0;
  // Where that input lies, if it is a file of its own below the source's root; nothing for what
  // lies in an archive. It need not be there.
  virtual std::optional<std::filesystem::path> file_of(std::size_t /*position*/) const {
    return std::nullopt;
  }
};

enum class LabelsFrom { kAuto, kFolder, kNone };

struct OpenOptions {
  std::string format = "auto";            // a name of formats()
  LabelsFrom labels = LabelsFrom::kAuto;  // image folders: class from the folder, or unlabelled
  bool allow_empty_classes = false;       // a class folder without images is an error otherwise
  // Of image folders and tar archives. Excluded are names and whole relative paths that fit a glob
  // (fnmatch, '*' takes '/' too), of folders with all that is in them.
  bool hidden = false;       // take names that begin with a dot
  bool system = false;       // take what a NAS or an operating system adds (skips.h)
  bool follow_links = true;  // symbolic links in folders; passed over otherwise
  std::vector<std::string> exclude = {};
};

}  // namespace winnow::datasets
