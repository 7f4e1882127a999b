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
#include "dedup/selection.h"

namespace winnow::pipeline {

// What became of an input. Every input is in exactly one class; the counts add up to the inputs.
enum class Fate : std::uint8_t {
  kOk = 0,
  kTruncated,    // ends early
  kCorrupt,      // the decoder refused it
  kUnsupported,  // a format that cannot be read here
  kTooLarge,     // over the pixel limit
  kEmpty,        // no bytes
  kMissing,      // listed but not there
  kUnreadable,   // the file system would not give it
  kDuplicate,    // read, and left out on purpose: another sample stands for it
};
inline constexpr int kFateCount = 9;
std::string_view fate_name(Fate fate) noexcept;  // "ok", "truncated", ...

struct LedgerRow {
  SampleId id = 0;
  std::string name;  // as in the source's listing
  Split split = Split::kNone;
  Fate fate = Fate::kOk;
  std::string reason;  // empty where ok without a warning
  // As listed, of what could not be read; older ledgers do not say.
  std::optional<std::uint64_t> bytes{};
};

// One JSON object a line, in id order (docs/formats/ledger.md). Equal ledgers, equal text. Names
// may be any bytes.
std::string to_json_lines(const std::vector<LedgerRow>& rows);
std::vector<LedgerRow> parse_ledger(const std::string& text,
                                    const std::string& where);  // FormatError
// The rows of the file in order, one at a time. FormatError.
void for_each_row(const InputFile& ledger, const std::function<void(const LedgerRow&)>& take);
// Those of them that are not ok, or ok with a reason: quickly, for the others are not parsed.
void for_each_remark(const InputFile& ledger, const std::function<void(const LedgerRow&)>& take);

// The row of a sample that `selection` removed, row number `decision` of it: of class duplicate,
// with the sample that stands for it, the distance and the rule, and what was said of it before.
// `kept_name` is what the source calls the one that stands for it.
LedgerRow left_out(LedgerRow row, const dedup::Selection& selection, std::size_t decision,
                   const std::string& kept_name);

using FateCounts = std::array<std::uint64_t, kFateCount>;  // by Fate
FateCounts count_fates(const std::vector<LedgerRow>& rows);
// All classes; but `duplicate`, which came later, only where some are of it: manifests of caches
// that nothing was left out of stay as they were.
std::map<std::string, std::uint64_t> by_name(const FateCounts& counts);

// What the source calls its inputs, looked up in the ledger when it is asked for: a few bytes an
// input are held. Safe from many threads.
class LedgerNames {
 public:
  explicit LedgerNames(InputFile ledger);  // reads it once; FormatError
  // Error when there is no such input, FormatError as above.
  std::string operator()(SampleId id) const;

 private:
  struct Block {
    SampleId first;
    std::uint64_t begin;  // in the file
  };
  InputFile ledger_;
  std::vector<Block> blocks_;
};

}  // namespace winnow::pipeline
