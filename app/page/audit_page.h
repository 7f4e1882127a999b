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

// The first hash of a cache, whose equal codes count as near duplicates; "" if it has none.
std::string first_hash(const pipeline::Manifest& manifest);

// The pictures on the page of an ingest. Names may be any bytes.
struct AuditPage {
  struct Picture {
    SampleId id = 0;
    std::string name;
    std::optional<float> score{};  // score of the issue
    bool has_issue = false;
    Bytes jpeg{};  // empty: no picture
  };
  struct OfIssue {
    dedup::Issue issue;
    std::uint64_t images = 0;
    std::vector<Picture> worst{};  // by score; the last ones may be without the issue
  };
  struct OfClass {
    std::string name;
    std::vector<Picture> some{};
  };

  bool audited = false;  // false: no issues, because the cache is older
  std::vector<OfIssue> issues;
  std::vector<OfClass> classes;
  std::vector<Picture> warned;  // a decoder warned about these
};

// At most 12 pictures of each issue, 8 of each of the first 40 classes and one of each row of
// `warned`, up to 3 MB together. No pictures if the cache stores none.
AuditPage look_at(const pipeline::Cache& cache, std::span<const pipeline::LedgerRow> warned);

// Sections of the page; empty if there is nothing to show. Pure.
std::string issues_section(const AuditPage& page);
std::string classes_section(const AuditPage& page);
extern const std::string_view kAuditStyle;  // style sheet of the sections

}  // namespace winnow::app
