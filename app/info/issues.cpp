#include "app/info/issues.h"

#include <fmt/core.h>

#include <functional>
#include <string_view>

#include "app/page/audit_page.h"
#include "app/session.h"
#include "app/words.h"
#include "common/json.h"
#include "dedup/decisions/issues.h"
#include "dedup/lists/report.h"

namespace winnow::app {
namespace {

void list(const pipeline::Cache& cache, dedup::IssueSet wanted, dedup::ListForm form,
          const dedup::TextSink& out) {
  const dedup::ColumnSource columns = cache.open_fingerprints();
  const std::string hash = first_hash(cache.manifest());
  const pipeline::LedgerNames names = cache.read_names();
  dedup::list_issues(dedup::find_issues(wanted, columns, hash), columns, hash, std::cref(names),
                     {form, out});
}

auto counts_of(const pipeline::Cache& cache) {
  return dedup::count_issues(dedup::find_issues(dedup::all_issues(), cache.open_fingerprints(),
                                                first_hash(cache.manifest())));
}

}  // namespace

void print_issues(const Session& session, const pipeline::Cache& cache) {
  const auto counts = counts_of(cache);
  const std::uint64_t images = cache.manifest().inputs.by_fate.at("ok");
  print(session, fmt::format("{:18}{:>10}{:>9}{:>11}  {}\n", "issue", "images", "share",
                             "threshold", "what the score is"));
  for (const dedup::IssueRow& row : dedup::issue_rows()) {
    const std::uint64_t count = counts[static_cast<std::size_t>(row.issue)];
    print(session,
          fmt::format(
              "{:18}{:>10}{:>7.2f} %{:>11.3g}  {}\n", row.name, grouped(count),
              images == 0 ? 0.0 : 100.0 * static_cast<double>(count) / static_cast<double>(images),
              row.threshold, row.what));
  }
}

void list_issues(const Session& session, const pipeline::Cache& cache,
                 const std::vector<std::string>& names) {
  list(cache, dedup::parse_issues(names), dedup::ListForm::kCsv,
       [&](std::string_view line) { print(session, line); });
}

Json issues_json(const pipeline::Cache& cache, const std::vector<std::string>& names) {
  const dedup::IssueSet wanted = dedup::parse_issues(names);
  const auto counts = counts_of(cache);
  Json issues = Json::array();
  for (const dedup::IssueRow& row : dedup::issue_rows()) {
    issues.push_back({{"issue", row.name},
                      {"threshold", dedup::rounded_score(row.threshold)},
                      {"images", counts[static_cast<std::size_t>(row.issue)]}});
  }
  Json json{{"hash", first_hash(cache.manifest())}, {"counts", std::move(issues)}};
  if (names.empty()) return json;
  json["images"] = Json::array();
  list(cache, wanted, dedup::ListForm::kJsonLines,
       [&](std::string_view line) { json["images"].push_back(Json::parse(line)); });
  return json;
}

}  // namespace winnow::app
