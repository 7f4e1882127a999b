#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/file.h"
#include "common/sample.h"
#include "dedup/table/selection.h"

namespace winnow::pipeline {

// The outcome for one input of an ingest. Every input has exactly one; the counts sum to the number
// of inputs.
enum class Fate : std::uint8_t {
  kOk = 0,
  kTruncated,    // the file ends early
  kCorrupt,      // the decoder found damage
  kUnsupported,  // the format cannot be read here
  kTooLarge,     // the image is over the pixel limit
  kEmpty,        // the file has no bytes
  kMissing,      // the file is listed, but does not exist
  kUnreadable,   // the file system could not deliver the file
  kDuplicate,    // the image was read, but left out because a duplicate of it is kept
};
inline constexpr int kFateCount = 9;
std::string_view fate_name(Fate fate) noexcept;  // "ok", "truncated", ...

struct LedgerRow {
  SampleId id = 0;
  std::string name;  // name of the input in the source's listing
  Split split = Split::kNone;
  Fate fate = Fate::kOk;
  // Why the input cannot be used, or a warning; empty for kOk without a warning.
  std::string reason;
  // Size of an unreadable input by the listing; older ledgers lack it.
  std::optional<std::uint64_t> bytes{};
};

// The text of a ledger: one JSON object per line, in id order (docs/formats/ledger.md). Equal
// ledgers give equal text. Names may be any bytes.
std::string to_json_lines(const std::vector<LedgerRow>& rows);
std::vector<LedgerRow> parse_ledger(const std::string& text,
                                    const std::string& where);  // throws FormatError
// Calls `take` for the rows of a ledger file in order. Throws FormatError.
void for_each_row(const InputFile& ledger, const std::function<void(const LedgerRow&)>& take);
// Calls `take` for the rows of a ledger file that are not kOk, or have a reason. Fast, because
// other rows are not parsed. Throws FormatError.
void for_each_remark(const InputFile& ledger, const std::function<void(const LedgerRow&)>& take);

// The ledger row of a sample that `selection` removes (in its row `decision`): outcome `duplicate`,
// with the sample that represents it, distance, rule, and its earlier reason. `kept_name` is the
// representing sample's name in the source.
LedgerRow left_out(LedgerRow row, const dedup::Selection& selection, std::size_t decision,
                   const std::string& kept_name);

using FateCounts = std::array<std::uint64_t, kFateCount>;  // number of inputs with each Fate
FateCounts count_fates(const std::vector<LedgerRow>& rows);
// Counts of all outcomes by name. `duplicate`, which was added later, only if it occurs, so that
// older manifests do not change.
std::map<std::string, std::uint64_t> by_name(const FateCounts& counts);

// Looks up names of inputs in the ledger on request. Needs a few bytes of memory per input.
// Thread-safe.
class LedgerNames {
 public:
  explicit LedgerNames(InputFile ledger);  // reads the ledger once; throws FormatError
  // The name of an input. Throws Error for an unknown input, FormatError for a damaged ledger.
  std::string operator()(SampleId id) const;

 private:
  struct Block {
    SampleId first;
    std::uint64_t begin;  // byte offset in the file
  };
  InputFile ledger_;
  std::vector<Block> blocks_;
};

}  // namespace winnow::pipeline
