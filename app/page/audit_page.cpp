#include "app/page/audit_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "app/page/html.h"
#include "app/page/page.h"
#include "app/words.h"
#include "dedup/decisions/issues.h"
#include "pipeline/export/sheet.h"
#include "pipeline/export/thumbnails.h"

namespace winnow::app {
namespace {

constexpr std::size_t kMostOfIssue = 12;
constexpr std::size_t kMostWithout = 4;  // number of these without the issue
constexpr std::size_t kMostClasses = 40;
constexpr std::size_t kMostOfClass = 8;
constexpr std::uint64_t kMostBytes = 3u << 20;

// The rows with the lowest scores below 1; on a tie the first.
std::vector<std::uint32_t> worst_rows(const std::vector<float>& scores, std::size_t most) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < scores.size(); ++row) {
    if (scores[row] < 1) rows.push_back(row);
  }
  most = std::min(most, rows.size());
  std::ranges::partial_sort(rows, rows.begin() + static_cast<std::ptrdiff_t>(most), {},
                            [&](std::uint32_t row) { return std::pair(scores[row], row); });
  rows.resize(most);
  return rows;
}

AuditPage::OfIssue look_at(const dedup::IssueRow& issue, const std::vector<float>& scores,
                           const std::vector<SampleId>& ids) {
  AuditPage::OfIssue out{.issue = issue.issue};
  const auto has_it = [&](float score) { return score < issue.threshold; };
  out.images = static_cast<std::uint64_t>(std::ranges::count_if(scores, has_it));
  const std::size_t most = std::min<std::uint64_t>(kMostOfIssue, out.images + kMostWithout);
  for (const std::uint32_t row : worst_rows(scores, most)) {
    out.worst.push_back(
        {.id = ids[row], .name = {}, .score = scores[row], .has_issue = has_it(scores[row])});
  }
  return out;
}

std::vector<AuditPage::OfClass> some_of_classes(const pipeline::Manifest& manifest,
                                                const dedup::Fingerprints& table) {
  std::vector<std::vector<SampleId>> ids(std::min(kMostClasses, manifest.classes.size()));
  for (std::size_t row = 0; row < table.size(); ++row) {
    for (const std::int32_t label : table.labels[row]) {
      if (static_cast<std::size_t>(label) < ids.size()) {
        ids[static_cast<std::size_t>(label)].push_back(table.ids[row]);
      }
    }
  }
  std::vector<AuditPage::OfClass> classes;
  for (std::size_t label = 0; label < ids.size(); ++label) {
    AuditPage::OfClass& one = classes.emplace_back();
    one.name = manifest.classes[label];
    for (const std::size_t at : pipeline::pick(ids[label].size(), kMostOfClass, std::nullopt)) {
      one.some.push_back({.id = ids[label][at], .name = {}});
    }
  }
  return classes;
}

// All pictures of a page, in a fixed order.
template <class Take>
void for_each_picture(AuditPage& page, const Take& take) {
  for (AuditPage::OfIssue& issue : page.issues) std::ranges::for_each(issue.worst, take);
  for (AuditPage::OfClass& one : page.classes) std::ranges::for_each(one.some, take);
  std::ranges::for_each(page.warned, take);
}

void fill_in(const pipeline::Cache& cache, AuditPage& page) {
  std::vector<SampleId> ids;
  const pipeline::LedgerNames names = cache.read_names();
  for_each_picture(page, [&](AuditPage::Picture& picture) {
    ids.push_back(picture.id);
    picture.name = names(picture.id);
  });
  pipeline::Thumbnails made =
      pipeline::make_thumbnails(pipeline::pictures_of(cache), ids, {.most_bytes = kMostBytes});
  auto next = made.jpegs.begin();
  for_each_picture(page, [&](AuditPage::Picture& picture) { picture.jpeg = std::move(*next++); });
}

std::string html_of(const AuditPage::Picture& picture) {
  std::string note;
  if (picture.score) note = fmt::format("{:.3f}", *picture.score);
  const std::string image =
      picture.jpeg.empty()
          ? "<span class=\"none\">no picture</span>"
          : fmt::format("<img alt=\"\" src=\"{}\" />", data_uri("image/jpeg", picture.jpeg));
  return fmt::format(
      "<figure class=\"{}\" title=\"{}\">{}<figcaption>{}{}{}</figcaption></figure>\n",
      picture.score && !picture.has_issue ? "shot faint" : "shot", escaped(picture.name), image,
      name_html(picture.name), note.empty() ? "" : "<br />", note);
}

std::string shots(const std::vector<AuditPage::Picture>& pictures) {
  std::string all;
  for (const AuditPage::Picture& picture : pictures) all += html_of(picture);
  return all.empty() ? all : "<div class=\"shots\">\n" + all + "</div>\n";
}

}  // namespace

const std::string_view kAuditStyle = R"(
.shots { display: flex; flex-wrap: wrap; gap: .6rem; margin: .4rem 0 1rem; }
.shot { padding: .4rem; width: 8.5rem; }
.shot img { display: block; max-width: 100%; max-height: 8.5rem; margin: 0 auto .3rem; }
.shot figcaption { font-size: .7rem; overflow: hidden; text-overflow: ellipsis; overflow-wrap: anywhere; max-height: 4.2em; }
.shot.faint { opacity: .45; }
.shot .none { display: block; font-size: .7rem; opacity: .6; }
)";

std::string first_hash(const pipeline::Manifest& manifest) {
  if (manifest.tables.hashes.empty()) return {};
  const std::string& first = manifest.tables.hashes.front();
  return first.substr(0, first.find(':'));
}

AuditPage look_at(const pipeline::Cache& cache, std::span<const pipeline::LedgerRow> warned) {
  AuditPage page;
  const dedup::ColumnSource columns = cache.open_fingerprints();
  page.audited = dedup::is_audited(columns);
  const dedup::Fingerprints table = columns({"labels"});
  if (page.audited) {
    const std::string hash = first_hash(cache.manifest());
    dedup::for_each_issue(dedup::all_issues(), columns, hash,
                          [&](const dedup::IssueRow& issue, const std::vector<float>& scores) {
                            page.issues.push_back(look_at(issue, scores, table.ids));
                          });
  }
  page.classes = some_of_classes(cache.manifest(), table);
  for (const pipeline::LedgerRow& row : warned) page.warned.push_back({.id = row.id, .name = {}});
  fill_in(cache, page);
  return page;
}

std::string issues_section(const AuditPage& page) {
  if (!page.audited) {
    return section("What the images look like",
                   paragraph("They were ingested before winnow audited images, or some of them: "
                             "ingest them into a new cache to have it."));
  }
  std::string rows;
  std::string pictures;
  for (const AuditPage::OfIssue& of : page.issues) {
    const dedup::IssueRow& issue = dedup::row_of(of.issue);
    rows += row(key_cell(escaped(issue.name)) + number_cell(grouped(of.images)) +
                    number_cell(fmt::format("{:.3g}", issue.threshold)) + cell(escaped(issue.what)),
                of.images == 0 ? RowLook::kFaint : RowLook::kPlain);
    if (of.worst.empty()) continue;
    pictures += details(fmt::format("{}: {} image{}", escaped(issue.name), grouped(of.images),
                                    of.images == 1 ? "" : "s"),
                        shots(of.worst), of.images > 0);
  }
  if (!page.warned.empty()) {
    pictures += details("ok, but with a decoder's warning", shots(page.warned), true);
  }
  return section("What the images look like",
                 table({"issue", "#images", "#threshold", "what the score is"}, rows) +
                     paragraph("Images with the lowest scores are shown, worst first; pale ones "
                               "come next and do not have the issue. <code>winnow info --issues "
                               "NAME</code> lists all, <code>winnow dedup --drop-issues "
                               "NAME</code> leaves them out.") +
                     pictures);
}

std::string classes_section(const AuditPage& page) {
  std::string content;
  for (const AuditPage::OfClass& one : page.classes) {
    if (!one.some.empty()) {
      content += details(name_html(one.name), shots(one.some), page.classes.size() <= 10);
    }
  }
  return content.empty() ? content : section("Some of each class", content);
}

}  // namespace winnow::app
