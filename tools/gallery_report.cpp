#include "tools/gallery_report.h"

#include <fmt/core.h>

#include <array>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "tools/report/gallery_page.h"
#include "tools/report/page.h"
#include "tools/report/strata.h"

namespace winnow::tools {
namespace {

constexpr std::size_t kMostGroups = 2000;
constexpr std::uint64_t kMostBytes = 40'000'000;  // of a page, about; it says 50 MB to people
constexpr std::string_view kPageBegins = "<!DOCTYPE html>";

bool is_page(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, kPageBegins.size()> begin{};
  file.read(begin.data(), begin.size());
  return std::string_view(begin.data(), static_cast<std::size_t>(file.gcount())) == kPageBegins;
}

std::vector<GalleryGroup> draw(const GalleryInput& input, std::span<const GroupFacts> facts) {
  std::vector<GalleryGroup> groups;
  for (const std::size_t place : draw_groups(facts, kMostGroups)) {
    groups.push_back(describe_group(input, facts[place]));
  }
  return groups;
}

// Puts pictures to the members; returns what is to be said of them.
std::string put_pictures(const Session& session, const GallerySubject& subject,
                         std::vector<GalleryGroup>& groups) {
  if (!subject.picture_of) return subject.no_pictures;
  std::vector<GalleryMember*> members;
  std::vector<SampleId> ids;
  std::uint64_t text_bytes = 0;
  for (GalleryGroup& group : groups) {
    text_bytes += to_json(group).size();
    for (GalleryMember& member : group.members) {
      members.push_back(&member);
      ids.push_back(member.id);
    }
  }
  const std::uint64_t left = kMostBytes - std::min(kMostBytes, text_bytes);
  const pipeline::Thumbnails made =
      pipeline::make_thumbnails(subject.picture_of, ids,
                                {.most_bytes = left / 4 * 3,  // as base64 has it
                                 .threads = thread_plan(session, 0).cores,
                                 .stop = session.stop});
  std::uint64_t missing = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (made.jpegs[i].empty()) {
      ++missing;
    } else {
      members[i]->picture = data_uri("image/jpeg", made.jpegs[i]);
    }
  }
  std::string words = fmt::format(
      "Pictures are at most {} pixels long and lossy: look at the "
      "files themselves where small things matter.",
      made.size.side_px);
  if (missing > 0) words += fmt::format(" {} could not be read.", grouped(missing));
  return words;
}

}  // namespace

void check_report_path(const std::filesystem::path& path) {
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    throw UsageError("the report cannot be written to " + path.string() + ": there is no folder " +
                     folder.string() + "; make it first");
  }
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) &&
      !(std::filesystem::is_regular_file(status) && is_page(path))) {
    throw UsageError(path.string() +
                     " is there already and is no page; name another file for --report");
  }
}

void write_gallery(const Session& session, const Deduplicated& what, const GallerySubject& subject,
                   const std::filesystem::path& path) {
  const dedup::Fingerprints table =
      what.columns({"labels", "widths_px", "heights_px", "file_hashes"});
  const GalleryInput input{.result = what.result,
                           .table = table,
                           .threshold = dedup::effective_threshold(what.options),
                           .classes = subject.classes,
                           .name_of = what.name_of};
  const std::vector<GroupFacts> facts = all_facts(input);
  GalleryPage page{.title = subject.title,
                   .made = made_here(),
                   .summary = summarize(input, facts),
                   .pictures = {},
                   .config = {},
                   .groups = draw(input, facts)};
  page.config = config_of(page.groups);
  page.pictures = put_pictures(session, subject, page.groups);
  write_file_durably(path, html_of(page));
  say(session, fmt::format("report: {}", path.string()));
}

}  // namespace winnow::tools
