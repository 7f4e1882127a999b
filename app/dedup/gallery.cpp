#include "app/dedup/gallery.h"

#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "dedup/decisions/issues.h"

namespace winnow::app {
namespace {

constexpr std::string_view kPageBegins = "<!DOCTYPE html>";

bool is_page(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, kPageBegins.size()> begin{};
  file.read(begin.data(), begin.size());
  return std::string_view(begin.data(), static_cast<std::size_t>(file.gcount())) == kPageBegins;
}

// Images that were removed on their own: for an issue, or by a review decision.
std::vector<dedup::IssuePicture> dropped_pictures(const Deduplicated& what) {
  const std::vector<dedup::Rule>& rules = what.result.selection.rules;
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < rules.size(); ++row) {
    if (rules[row] == dedup::Rule::kIssue || rules[row] == dedup::Rule::kReview) {
      rows.push_back(row);
    }
  }
  if (rows.empty()) return {};
  // Images that a review dropped are looked at as well: the result has no issues of theirs.
  const dedup::IssueSet asked = what.options.policy.drop_issues;
  return dedup::issue_pictures(std::move(rows), dedup::find_issues(asked, what.columns, ""),
                               what.columns, "");
}

}  // namespace

void check_folder_of(const std::filesystem::path& path, const std::string& what) {
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  std::error_code ignored;
  if (std::filesystem::is_directory(folder, ignored)) return;
  throw UsageError(what + " cannot be written to " + path.string() + ": there is no folder " +
                   folder.string() + "; make it first");
}

void check_report_path(const std::filesystem::path& path) {
  if (path.empty()) return;
  if (path == "-") {
    throw UsageError("--report needs a file, such as page.html: a page is not printed");
  }
  check_folder_of(path, "the report");
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) &&
      !(std::filesystem::is_regular_file(status) && is_page(path))) {
    throw UsageError(path.string() +
                     " already exists and is not an HTML page; name another file for the report");
  }
}

std::string title_of(const pipeline::Manifest& manifest) {
  std::string title;
  for (const pipeline::SourceInfo& source : manifest.sources) {
    title += (title.empty() ? "" : ", ") + source.name;
  }
  return title;
}

void write_gallery(const Session& session, const GalleryInput& input, const GallerySubject& subject,
                   const std::filesystem::path& path) {
  const GalleryLimits limits{.threads = thread_plan(session, 0).cores, .stop = session.stop};
  write_file_durably(path, html_of(make_gallery(input, subject, limits)));
  say(session, fmt::format("report: {}", path.string()));
}

void write_gallery(const Session& session, const Deduplicated& what,
                   std::span<const std::string> classes, const GallerySubject& subject,
                   const std::filesystem::path& path) {
  const std::vector<dedup::IssuePicture> pictures = dropped_pictures(what);
  const dedup::Fingerprints table =
      what.columns({"labels", "widths_px", "heights_px", "file_hashes"});
  const dedup::VerifiedLinks* const verified = what.links.verified.get();
  const GalleryInput input{.result = what.result,
                           .table = table,
                           .threshold = dedup::effective_threshold(what.options),
                           .classes = classes,
                           .name_of = what.name_of,
                           .pictures = pictures,
                           .compared = verified != nullptr,
                           .told = verified != nullptr
                                       ? dedup::ComparedPairs(verified->verification.pairs)
                                       : dedup::ComparedPairs()};
  write_gallery(session, input, subject, path);
}

}  // namespace winnow::app
