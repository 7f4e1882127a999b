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

// Nothing: an item whose image is missing.
using SpooledImage = std::variant<std::monostate, BytesView, ImageView>;

// An input that somebody hands over. Views last for the call they are given to.
struct SpooledItem {
  std::string_view name = {};  // "": its number
  Split split = Split::kNone;
  std::vector<std::string> labels = {};  // as they are written (class_labels.h)
  std::string_view group = {};
  SpooledImage image = {};
};

// Inputs that come one after the other, and perhaps never again, in a folder of their own until
// they are ingested: a listing must be whole before the first shard is cut.
//
// Resume     What is there is gone on with: items that are whole stay, others behind them go.
// Memory     24 bytes an item.
// Ranks and threads: one process at a time (UsageError), which it is locked for; one thread.
// Errors     UsageError for a folder with other things in it, StoppedError, SystemError.
class Spool {
 public:
  explicit Spool(std::filesystem::path folder, const StopRequested& stop = {});

  std::uint64_t size() const noexcept { return ends_.size(); }
  // Adds an item. UsageError for a name that is no relative path, SystemError for a full disk;
  // after that the spool is to be opened again.
  void append(const SpooledItem& item);
  // Whether `item` is the one at `position`, byte for byte.
  bool holds(std::uint64_t position, const SpooledItem& item) const;

  // The items as a data set, in their order. `class_names`: of labels that are numbers, in their
  // order, or none (ClassLabels::finish). UsageError for a label that has no name, and for no
  // items. The spool must not grow as long as the result lives.
  std::unique_ptr<Source> open(std::span<const std::string> class_names) const;

  // Removes the folder with all that is in it. Nothing else may be called then.
  void remove();

 private:
  std::filesystem::path file() const { return folder_ / "items"; }

  std::filesystem::path folder_;
  Fd lock_;
  std::optional<AppendFile> out_;
  std::vector<std::uint64_t> ends_;  // in the file
  std::vector<Hash128> hashes_;
};

}  // namespace winnow::datasets
