#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "pipeline/store/ledger.h"

namespace winnow::pipeline {

// Counts of inputs beyond the ledger's outcomes: warnings, reasons, orientation, transparency.
struct Remarks {
  std::uint64_t warned = 0;                          // readable inputs with a decoder warning
  std::map<std::string, std::uint64_t> unsupported;  // unsupported inputs, by reason
  // Readable inputs with an EXIF orientation other than upright. Ledgers lack this, so add(row)
  // does not count them.
  std::uint64_t oriented = 0;
  // Readable inputs with transparent pixels and no matte (background colour). Not in ledgers, so
  // add(row) does not count them.
  std::uint64_t transparent = 0;

  void add(const LedgerRow& row);
  void add(const Remarks& other);
};

// Decides whether a finished ingest counts as failed. Each level of `fail_on` includes the levels
// above it in the list.
struct Gate {
  enum class FailOn {
    kNone,
    kTruncated,  // fail for an input that ends early
    kError,      // fail for any unreadable input
    kWarning,    // fail for any decoder warning
  };
  FailOn fail_on = FailOn::kNone;
  // Most unreadable inputs that are allowed; nullopt: no limit.
  struct Limit {
    double value = 0;
    bool percent = false;  // `value` is a percentage of all inputs
  };
  std::optional<Limit> max_bad;
};

// Parses "12" or "0.5%". Throws UsageError.
Gate::Limit parse_max_bad(const std::string& text);

// The reason, with numbers, why `gate` makes an ingest fail; empty if it does not. Pure.
// classes  number of inputs by ledger outcome
// warned   number of readable inputs with a decoder warning
std::string refusal(const Gate& gate, const std::map<std::string, std::uint64_t>& classes,
                    std::uint64_t warned);

}  // namespace winnow::pipeline
