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

// The outcome for an input. Every input has exactly one; the counts sum to the number of inputs.
enum class Fate : std::uint8_t {
  kOk = 0,
  kTruncated,    // ends early
  kCorrupt,      // the decoder refused it
  kUnsupported,  // a format that cannot be read here
  kTooLarge,     // over the pixel limit
  kEmpty,        // no bytes
  kMissing,      // listed, but does not exist
  kUnreadable,   // the file system could not deliver it
  kDuplicate,    // read, and left out on purpose, because another sample represents it
};
inline constexpr int kFateCount = 9;
std::string_view fate_name(Fate fate) noexcept;  // "ok", "truncated", ...

struct LedgerRow {
  SampleId id = 0;
  std::string name;  // as in the source's listing
  Split split = Split::kNone;
  Fate fate = Fate::kOk;
  std::string reason;  // empty for kOk without a warning
  // Listed size of an unreadable input; older ledgers lack it.
  std::optional<std::uint64_t> bytes{};
};

// One JSON object a line, in id order (docs/formats/ledger.md). Equal ledgers give equal text.
// Names may be any bytes.
std::string to_json_lines(const std::vector<LedgerRow>& rows);
std::vector<LedgerRow> parse_ledger(const std::string& text,
                                    const std::string& where);  // FormatError
// Calls `take` for the rows of the file in order. FormatError.
void for_each_row(const InputFile& ledger, const std::function<void(const LedgerRow&)>& take);
// As for_each_row(), only for rows that are not kOk, or have a reason. Fast, because the others are
// not parsed.
void for_each_remark(const InputFile& ledger, const std::function<void(const LedgerRow&)>& take);

// The ledger row of a sample that `selection` removed (its row number is `decision`): class
// duplicate, with its representative, distance and rule, and its earlier reason. `kept_name` is the
// name of the representative in the source.
LedgerRow left_out(LedgerRow row, const dedup::Selection& selection, std::size_t decision,
                   const std::string& kept_name);

using FateCounts = std::array<std::uint64_t, kFateCount>;  // by Fate
FateCounts count_fates(const std::vector<LedgerRow>& rows);
// All classes; `duplicate`, which was added later, only if it occurs, so that older manifests do
// not change.
std::map<std::string, std::uint64_t> by_name(const FateCounts& counts);

// Names of inputs in the source, looked up in the ledger on request. Holds a few bytes an input.
// Thread-safe.
class LedgerNames {
 public:
  explicit LedgerNames(InputFile ledger);  // reads it once; FormatError
  // Error for an unknown input; FormatError as above.
  std::string operator()(SampleId id) const;

 private:
  struct Block {
    SampleId first;
    std::uint64_t begin;  // offset in the file
  };
  InputFile ledger_;
  std::vector<Block> blocks_;
};

}  // namespace winnow::pipeline
