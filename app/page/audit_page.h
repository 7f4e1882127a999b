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

// The hash whose equal codes make near duplicates of a cache: its first; "" where it has none.
std::string first_hash(const pipeline::Manifest& manifest);

// What the page of an ingest shows in pictures. Names may hold any bytes.
struct AuditPage {
  struct Picture {
    SampleId id = 0;
    std::string name;
    std::optional<float> score{};  // by the issue
    bool has_issue = false;
    Bytes jpeg{};  // empty: there is none
  };
  struct OfIssue {
    dedup::Issue issue;
    std::uint64_t images = 0;
    std::vector<Picture> worst{};  // by score; the last of them may be without the issue
  };
  struct OfClass {
    std::string name;
    std::vector<Picture> some{};
  };

  bool audited = false;  // otherwise there are no issues: the cache is older
  std::vector<OfIssue> issues;
  std::vector<OfClass> classes;
  std::vector<Picture> warned;  // that a decoder complained of
};

// At most 12 pictures of an issue, 8 of each of the first 40 classes and one of each of `warned`,
// of 3 MB together. Without pictures where the cache keeps none.
AuditPage look_at(const pipeline::Cache& cache, std::span<const pipeline::LedgerRow> warned);

// Sections of the page; empty where there is nothing to show. Pure.
std::string issues_section(const AuditPage& page);
std::string classes_section(const AuditPage& page);
extern const std::string_view kAuditStyle;  // that they need

}  // namespace winnow::app
