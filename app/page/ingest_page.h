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

// The first inputs of each fate of the ledger that needs an explanation. For readable inputs: those
// that a decoder warned about.
class Examples {
 public:
  static constexpr std::size_t kMost = 20;  // per fate

  void add(const pipeline::LedgerRow& row);
  const std::vector<pipeline::LedgerRow>& of(pipeline::Fate fate) const noexcept {
    return rows_[static_cast<std::size_t>(fate)];
  }

 private:
  std::array<std::vector<pipeline::LedgerRow>, pipeline::kFateCount> rows_;
};

// Content of the page of an ingest. Names and texts may be any bytes.
struct IngestPage {
  pipeline::Manifest manifest;
  std::string digest;
  pipeline::Remarks remarks;
  Examples examples;
  std::string cache;                 // path as the user gave it
  std::string made;                  // when, by what, on which machine the page was made
  Bytes sheet;                       // a PNG of some of the images; empty: none
  std::optional<AuditPage> audit{};  // its results in pictures

  // The run that made the cache, if it was this process.
  struct Run {
    std::vector<std::string> descriptions;   // how the layout of each source was understood
    std::vector<datasets::Skipped> skipped;  // files next to the inputs that are no inputs
    std::vector<std::string> command;        // words of the command
    std::string folder;                      // working directory of the command
    std::optional<pipeline::StageTimes> times;
    double seconds = 0;
    std::uint64_t inputs_done = 0;  // during `seconds`; an earlier run had done the others
    std::uint64_t peak_rss_bytes = 0;
    std::vector<std::string> notes{};  // notes on the inputs; "" = none
  };
  std::optional<Run> run;
};

// The page's content from the cache alone.
IngestPage read_page(const pipeline::Cache& cache);

// A self-contained HTML page, also well-formed XML. Pure.
std::string html_of(const IngestPage& page);

}  // namespace winnow::app
