#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "pipeline/store/ledger.h"

namespace winnow::pipeline {

// What is worth saying of an ingest's inputs beyond the ledger's classes.
struct Remarks {
  std::uint64_t warned = 0;                          // read, though the decoder warned of damage
  std::map<std::string, std::uint64_t> unsupported;  // inputs of that class by reason
  // Inputs read whose EXIF orientation is not upright; ledgers do not say, nor does add(row).
  std::uint64_t oriented = 0;
  // Inputs read that have transparent pixels, and were laid upon no matte; likewise.
  std::uint64_t transparent = 0;

  void add(const LedgerRow& row);
  void add(const Remarks& other);
};

// Whether an ingest that is done counts as failed. Each level of `fail_on` includes those above it.
struct Gate {
  enum class FailOn {
    kNone,
    kTruncated,  // an input that ends early
    kError,      // any input that could not be read
    kWarning,    // any that the decoder warned of
  };
  FailOn fail_on = FailOn::kNone;
  // More unreadable inputs than this are too many. No limit where empty.
  struct Limit {
    double value = 0;
    bool percent = false;  // of all inputs
  };
  std::optional<Limit> max_bad;
};

// "12" or "0.5%". UsageError.
Gate::Limit parse_max_bad(const std::string& text);

// Why `gate` refuses inputs of these classes, with the numbers; empty where it does not. Pure.
std::string refusal(const Gate& gate, const std::map<std::string, std::uint64_t>& classes,
                    std::uint64_t warned);

}  // namespace winnow::pipeline
