#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/page/audit_page.h"
#include "common/bytes.h"
#include "datasets/source.h"
#include "pipeline/ingest/remarks.h"
#include "pipeline/ingest/stages.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/ledger.h"
#include "pipeline/store/manifest.h"

namespace winnow::app {

// The first inputs of each class of the ledger that there is something to say of; those that are ok
// are those a decoder warned of.
class Examples {
 public:
  static constexpr std::size_t kMost = 20;  // of each class

  void add(const pipeline::LedgerRow& row);
  const std::vector<pipeline::LedgerRow>& of(pipeline::Fate fate) const noexcept {
    return rows_[static_cast<std::size_t>(fate)];
  }

 private:
  std::array<std::vector<pipeline::LedgerRow>, pipeline::kFateCount> rows_;
};

// All that the page of an ingest shows. Names and texts may hold any bytes.
struct IngestPage {
  pipeline::Manifest manifest;
  std::string digest;
  pipeline::Remarks remarks;
  Examples examples;
  std::string cache;                 // as the user named it
  std::string made;                  // the page: when, by what, on which machine
  Bytes sheet;                       // a PNG of some of the images; empty: none
  std::optional<AuditPage> audit{};  // in pictures

  // What made the cache, where this process did.
  struct Run {
    std::vector<std::string> descriptions;   // how the layout of each source was understood
    std::vector<datasets::Skipped> skipped;  // what was beside the inputs, and none
    std::vector<std::string> command;        // its words
    std::string folder;                      // it was given in
    std::optional<pipeline::StageTimes> times;
    double seconds = 0;
    std::uint64_t inputs_done = 0;  // in these seconds; an earlier run had done the others
    std::uint64_t peak_rss_bytes = 0;
    std::vector<std::string> notes{};  // on the inputs; "" = none
  };
  std::optional<Run> run;
};

// What the cache knows of itself.
IngestPage read_page(const pipeline::Cache& cache);

// One HTML page that needs nothing but itself, and is well-formed XML too. Pure.
std::string html_of(const IngestPage& page);

}  // namespace winnow::app
