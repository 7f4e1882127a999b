#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/bytes.h"
#include "dedup/audit/issue.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/ledger.h"

namespace winnow::app {

// The name of the first hash of a cache: images with equal codes of it count as near duplicates. ""
// if the cache has no hash.
std::string first_hash(const pipeline::Manifest& manifest);

// Content of the part of the ingest page that shows pictures: issues, classes, warnings. Names may
// be any bytes.
struct AuditPage {
  struct Picture {
    SampleId id = 0;
    std::string name;
    std::optional<float> score{};  // score of the picture for the issue it is shown for
    bool has_issue = false;        // true if the picture has that issue
    Bytes jpeg{};                  // the picture as a JPEG; empty: no picture
  };
  struct OfIssue {
    dedup::Issue issue;
    std::uint64_t images = 0;
    // The pictures with the worst scores for the issue; the last ones may not have it.
    std::vector<Picture> worst{};
  };
  struct OfClass {
    std::string name;
    std::vector<Picture> some{};
  };

  bool audited = false;  // false for an older cache, which has no audit: no issues are shown
  std::vector<OfIssue> issues;
  std::vector<OfClass> classes;
  std::vector<Picture> warned;  // pictures whose decoder gave a warning
};

// Reads the pictures for the ingest page from a cache. No pictures if the cache stores none.
//
// Limits  12 pictures per issue; 8 for each of the first 40 classes; one per row of `warned`; 3 MB
//         of JPEGs in all
AuditPage look_at(const pipeline::Cache& cache, std::span<const pipeline::LedgerRow> warned);

// Makes the sections of the ingest page on issues and on classes. Empty text if there is nothing to
// show. Pure.
std::string issues_section(const AuditPage& page);
std::string classes_section(const AuditPage& page);
extern const std::string_view kAuditStyle;  // style sheet of the sections on issues and classes

}  // namespace winnow::app
