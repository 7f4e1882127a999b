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
#include "common/checksum.h"
#include "common/file.h"
#include "common/image.h"
#include "common/stop.h"
#include "datasets/source.h"

namespace winnow::datasets {

// The image of an item: encoded bytes or pixels. monostate: it is missing.
using SpooledImage = std::variant<std::monostate, BytesView, ImageView>;

// An input that a caller hands over. Texts and images are borrowed during the call.
struct SpooledItem {
  std::string_view name = {};  // "": named by its number
  Split split = Split::kNone;
  std::vector<std::string> labels = {};  // as written (class_labels.h)
  std::string_view group = {};
  SpooledImage image = {};
};

// Stores inputs that arrive one after the other, and perhaps only once, in a folder of their own
// until they are ingested: the listing of a data set must be complete before the first shard is
// made.
//
// Resume   Continues a spool that is in the folder already. Complete items stay; anything after
//          them is cut off.
// Memory   24 bytes an item.
// Threads  One thread; one process at a time, by a lock (UsageError).
// Errors   UsageError for a folder with other content; StoppedError; SystemError.
class Spool {
 public:
  explicit Spool(std::filesystem::path folder, const StopRequested& stop = {});

  std::uint64_t size() const noexcept { return ends_.size(); }
  // Adds an item. Throws UsageError for a name that is no relative path, and SystemError for a full
  // disk; then the spool must be opened again.
  void append(const SpooledItem& item);
  // Whether the item at `position` equals `item`, byte for byte.
  bool holds(std::uint64_t position, const SpooledItem& item) const;

  // The items as a data set, in order. The spool must not grow while the data set lives.
  // class_names  Names of numeric labels, in order; may be empty (ClassLabels::finish).
  // Errors       UsageError for a label without a name, and for an empty spool.
  std::unique_ptr<Source> open(std::span<const std::string> class_names) const;

  // Removes the folder with its content. No other call may follow.
  void remove();

 private:
  std::filesystem::path file() const { return folder_ / "items"; }

  std::filesystem::path folder_;
  Fd lock_;
  std::optional<AppendFile> out_;
  std::vector<std::uint64_t> ends_;  // offsets in the file
  std::vector<Hash128> hashes_;
};

}  // namespace winnow::datasets
