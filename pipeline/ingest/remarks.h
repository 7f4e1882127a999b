#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "pipeline/store/ledger.h"

namespace winnow::pipeline {

// Remarks on an ingest's inputs beyond the ledger's classes.
struct Remarks {
  std::uint64_t warned = 0;                          // readable, but with a decoder warning
  std::map<std::string, std::uint64_t> unsupported;  // unsupported inputs, by reason
  // Readable inputs with an EXIF orientation other than upright. Not in ledgers, so add(row) does
  // not count them.
  std::uint64_t oriented = 0;
  // Readable inputs with transparent pixels and no matte; likewise.
  std::uint64_t transparent = 0;

  void add(const LedgerRow& row);
  void add(const Remarks& other);
};

// Decides whether a finished ingest counts as failed. Each level of `fail_on` includes those above
// it.
struct Gate {
  enum class FailOn {
    kNone,
    kTruncated,  // an input that ends early
    kError,      // any unreadable input
    kWarning,    // any decoder warning
  };
  FailOn fail_on = FailOn::kNone;
  // Maximum number of unreadable inputs; nullopt: no limit.
  struct Limit {
    double value = 0;
    bool percent = false;  // percentage of all inputs
  };
  std::optional<Limit> max_bad;
};

// Parses "12" or "0.5%". UsageError.
Gate::Limit parse_max_bad(const std::string& text);

// The reason, with numbers, why `gate` refuses inputs with these classes; empty if it does not.
// Pure.
std::string refusal(const Gate& gate, const std::map<std::string, std::uint64_t>& classes,
                    std::uint64_t warned);

}  // namespace winnow::pipeline
