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

// Collects examples for the ingest page: the first inputs of each ledger outcome (`Fate`) that
// needs an explanation. For readable inputs: those that a decoder warned about.
class Examples {
 public:
  static constexpr std::size_t kMost = 20;  // most examples per outcome of the ledger

  void add(const pipeline::LedgerRow& row);
  const std::vector<pipeline::LedgerRow>& of(pipeline::Fate fate) const noexcept {
    return rows_[static_cast<std::size_t>(fate)];
  }

 private:
  std::array<std::vector<pipeline::LedgerRow>, pipeline::kFateCount> rows_;
};

// Content of the HTML page of an ingest. Names and texts may be any bytes.
struct IngestPage {
  pipeline::Manifest manifest;
  std::string digest;
  pipeline::Remarks remarks;
  Examples examples;
  std::string cache;  // path of the cache as the user gave it
  std::string made;   // when, by which version and on which machine the page was made
  Bytes sheet;        // PNG with some of the images; empty: none
  std::optional<AuditPage> audit{};  // results of the audit with pictures; nullopt: no audit

  // Facts about the run that made the cache, if it was this process.
  struct Run {
    // How the layout of each source was understood, one sentence each.
    std::vector<std::string> descriptions;
    std::vector<datasets::Skipped> skipped;  // files beside the inputs that were skipped
    std::vector<std::string> command;        // words of the command line
    std::string folder;                      // working directory of the command
    std::optional<pipeline::StageTimes> times;
    double seconds = 0;  // duration of the run in seconds
    // Inputs processed during `seconds`, without those of an interrupted run before.
    std::uint64_t inputs_done = 0;
    std::uint64_t peak_rss_bytes = 0;
    std::vector<std::string> notes{};  // notes on the inputs; "": no note
  };
  std::optional<Run> run;
};

// Reads the content of the ingest page from the cache alone.
IngestPage read_page(const pipeline::Cache& cache);

// Makes the ingest page: self-contained HTML, well-formed XML, too. Pure.
std::string html_of(const IngestPage& page);

}  // namespace winnow::app
