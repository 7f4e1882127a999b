#include "app/page/gallery_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "app/page/gallery_assets.h"
#include "app/page/html.h"
#include "app/page/page.h"
#include "app/page/strata.h"
#include "app/words.h"
#include "common/json.h"
#include "common/utf8.h"
#include "dedup/decisions/settings.h"

namespace winnow::app {
namespace {

constexpr std::array<std::string_view, kGroupReasonCount + 1> kReasonWords{
    "leak: they reach into another split", "conflict: their labels differ",
    "chain: some images are further apart than the threshold",
    "near: their distance is close to the threshold", "nothing special"};
constexpr std::string_view kComparedChain = "chain: some images are not shown to be one picture";

std::string_view reason_words(std::size_t reason, bool compared) {
  const bool is_chain = reason == static_cast<std::size_t>(GroupReason::kChain);
  return compared && is_chain ? kComparedChain : kReasonWords[reason];
}

// JSON as the content of a script element, valid in XML too.
std::string in_script(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    const std::string_view here = json.substr(i, 3);
    if (c == '<' || c == '>' || c == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else if (here == "\xEF\xBF\xBE" || here == "\xEF\xBF\xBF") {  // not allowed in XML
      out += here.back() == '\xBE' ? "\\ufffe" : "\\uffff";
      i += 2;
    } else {
      out += c;
    }
  }
  return out;
}

std::string data_script(std::string_view id, std::string_view json) {
  return fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", id,
                     in_script(json));
}

std::vector<GallerySummary::Class> classes_of(const GalleryInput& input) {
  std::map<std::int32_t, GallerySummary::Class> by_label;
  for (std::size_t row = 0; row < input.table.size(); ++row) {
    for (const std::int32_t label : input.table.labels[row]) {
      GallerySummary::Class& found = by_label[label];
      ++found.images;
      found.removed += input.result.selection.weights[row] > 0 ? 0 : 1;
    }
  }
  std::vector<GallerySummary::Class> classes;
  for (auto& [label, found] : by_label) {
    if (found.removed == 0) continue;
    found.name = name_of_label(input, label);
    classes.push_back(std::move(found));
  }
  std::ranges::stable_sort(classes, std::ranges::greater{}, &GallerySummary::Class::removed);
  if (classes.size() > GallerySummary::kMostListed) classes.resize(GallerySummary::kMostListed);
  return classes;
}

std::vector<GallerySummary::Folders> folders_of(const GalleryInput& input,
                                                std::span<const GroupFacts> facts) {
  std::map<std::pair<std::string, std::string>, std::uint64_t> counts;
  for (const GroupFacts& group : facts) {
    if (group.is_picture) continue;
    const std::vector<std::string> folders = describe_group(input, group).folders;
    if (folders.size() == 1) ++counts[{folders[0], folders[0]}];
    for (std::size_t a = 0; a < folders.size(); ++a) {
      for (std::size_t b = a + 1; b < folders.size(); ++b) ++counts[{folders[a], folders[b]}];
    }
  }
  std::vector<GallerySummary::Folders> all;
  for (const auto& [pair, groups] : counts) all.push_back({pair.first, pair.second, groups});
  std::ranges::stable_sort(all, std::ranges::greater{}, &GallerySummary::Folders::groups);
  if (all.size() > GallerySummary::kMostListed) all.resize(GallerySummary::kMostListed);
  return all;
}

std::string verdict_of(const GallerySummary& found) {
  if (found.groups + found.pictures == 0) return "No two images are duplicates.";
  std::string words = fmt::format(
      "{} of duplicates; {} of {} {} removed.", count_of(found.groups, "group"),
      grouped(found.removed), count_of(found.images, "image"), found.removed == 1 ? "is" : "are");
  if (found.pictures > 0) {
    words +=
        fmt::format(" {} by {}, for an issue or a review.",
                    count_of(found.pictures, "picture") + (found.pictures == 1 ? " goes" : " go"),
                    found.pictures == 1 ? "itself" : "themselves");
  }
  for (const dedup::LeakCount& leak : found.leaks) {
    words += fmt::format(" Leak: {} of {} {} a duplicate in {}.",
                         count_of(leak.samples_in_b, "image"), split_name(leak.b),
                         leak.samples_in_b == 1 ? "has" : "have", split_name(leak.a));
  }
  return words;
}

std::string tiles_of(const GallerySummary& found) {
  const std::uint64_t leaks = found.by_reason[static_cast<std::size_t>(GroupReason::kLeak)];
  std::string tiles =
      tile(grouped(found.images), "images") + tile(grouped(found.groups), "groups") +
      tile(grouped(found.removed), "removed") + tile(grouped(found.images - found.removed), "kept");
  if (found.moved > 0) tiles += tile(grouped(found.moved), "moved to another split");
  tiles += tile(grouped(leaks), "groups leak") +
           tile(grouped(found.conflicts), "groups with labels that differ") +
           tile(grouped(found.chains), "chains");
  return tiles;
}

std::string header_of(const GalleryPage& page) {
  const GalleryFrame& frame = page.frame;
  const std::string first =
      frame.first.empty() ? "" : "<strong>" + escaped(frame.first) + ".</strong> ";
  return page_header(escaped(frame.verb), name_html(page.title),
                     first + (frame.verdict.empty() ? verdict_of(page.summary) : frame.verdict),
                     frame.tiles.empty() ? tiles_of(page.summary) : frame.tiles);
}

std::string reasons_table(const GalleryPage& page) {
  std::array<std::uint64_t, kGroupReasonCount + 1> shown{};
  for (const GalleryGroup& group : page.groups) {
    if (!group.facts.is_picture) ++shown[static_cast<std::size_t>(first_reason(group.facts))];
  }
  if (page.summary.groups == 0 && page.summary.pictures > 0) return "";
  std::string rows;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const std::uint64_t all = page.summary.by_reason[i];
    rows += row(cell(reason_words(i, page.config.compared)) + number_cell(grouped(all)) +
                    (page.config.server ? "" : number_cell(grouped(shown[i]))),
                all == 0 ? RowLook::kFaint : RowLook::kPlain);
  }
  std::vector<std::string> columns{"groups by the first reason to look at them", "#groups"};
  if (!page.config.server) columns.emplace_back("#shown here");
  return table(columns, rows);
}

std::string issues_table(const GalleryPage& page) {
  if (page.summary.pictures == 0) return "";
  std::string rows;
  for (const dedup::IssueRow& issue : dedup::shown_issue_rows()) {
    const std::uint64_t all = page.summary.by_issue[static_cast<std::size_t>(issue.issue)];
    if (all == 0) continue;
    const auto shown = std::ranges::count_if(page.groups, [&](const GalleryGroup& group) {
      return group.facts.issues.has(issue.issue);
    });
    rows +=
        row(key_cell(escaped(issue.name)) + number_cell(grouped(all)) +
            (page.config.server ? "" : number_cell(grouped(static_cast<std::uint64_t>(shown)))) +
            number_cell(fmt::format("{:.3g}", issue.threshold)) + cell(escaped(issue.what)));
  }
  if (rows.empty()) return "";
  std::vector<std::string> columns{"issue", "#pictures"};
  if (!page.config.server) columns.emplace_back("#shown here");
  columns.insert(columns.end(), {"#a score below", "what the score is"});
  return table(columns, rows);
}

std::string leaks_table(const GallerySummary& found) {
  if (found.leaks.empty()) return "";
  std::string rows;
  for (const dedup::LeakCount& leak : found.leaks) {
    rows += row(cell(fmt::format("{} and {}", split_name(leak.a), split_name(leak.b))) +
                number_cell(grouped(leak.groups)) + number_cell(grouped(leak.samples_in_b)));
  }
  return details("Leaks by pair of splits",
                 table({"splits", "#groups", "#images of the second"}, rows), true);
}

std::string classes_table(const GallerySummary& found) {
  if (found.classes.empty()) return "";
  std::string rows;
  for (const GallerySummary::Class& one : found.classes) {
    const double share = static_cast<double>(one.removed) / static_cast<double>(one.images);
    rows += row(cell(name_html(one.name)) + number_cell(grouped(one.images)) +
                number_cell(grouped(one.removed)) + number_cell(percent(share)));
  }
  return details(fmt::format("By class: the {} that most is removed of", found.classes.size()),
                 table({"class", "#images", "#removed", "#share"}, rows), false);
}

std::string folders_table(const GallerySummary& found) {
  if (found.folders.empty()) return "";
  const auto words = [](const std::string& folder) {
    return folder.empty() ? "no folder" : name_html(folder);
  };
  std::string rows;
  for (const GallerySummary::Folders& pair : found.folders) {
    rows += row(cell(words(pair.a)) + cell(pair.a == pair.b ? "the same" : words(pair.b)) +
                number_cell(grouped(pair.groups)));
  }
  return details(
      fmt::format("By pair of folders: the {} that share most groups", found.folders.size()),
      table({"folder", "and", "#groups"}, rows), false);
}

std::string left_out(const GalleryPage& page) {
  const std::uint64_t all = page.summary.groups + page.summary.pictures;
  if (page.config.server || page.groups.size() == all) return "";
  return paragraph(fmt::format(
      "This page shows {} of {} groups{}: as many of each reason, distance and class as there is "
      "room for. {}",
      grouped(page.groups.size()), grouped(all), page.summary.pictures > 0 ? " and pictures" : "",
      page.frame.listed));
}

std::string sections_of(const GalleryPage& page) {
  const GallerySummary& found = page.summary;
  std::string how =
      found.decided.empty() ? "" : paragraph("Decided by: " + escaped(found.decided) + ".");
  how += left_out(page);
  if (!page.pictures.empty()) how += paragraph(aside(escaped(page.pictures)));
  how += paragraph(aside(page.config.server
                             ? "Nothing was deleted. What you judge below is written down at once."
                             : "Nothing was deleted. What you judge below is kept by this page "
                               "and saved as a file, which " +
                                   escaped(page.frame.applying_verb) + " --review FILE obeys."));
  if (!page.frame.counts) return page.frame.sections + section("Pictures", how);
  return page.frame.sections +
         section("What was found", how + reasons_table(page) + issues_table(page) +
                                       leaks_table(found) + classes_table(found) +
                                       folders_table(found));
}

Json texts(const std::vector<std::string>& names) {
  Json list = Json::array();
  for (const std::string& name : names) list.push_back(to_utf8(name));
  return list;
}

std::string json_of(const GalleryConfig& config) {
  Json json{{"schema", "winnow.gallery/1"},
            {"source", config.server ? "server" : "static"},
            {"key", config.key},
            {"compared", config.compared},
            {"duplicates", config.duplicates},
            {"pictures", config.pictures},
            {"issues", Json::array()},
            {"most_distance", config.most_distance},
            {"facets",
             {{"splits", texts(config.splits)},
              {"classes", texts(config.classes)},
              {"folders", texts(config.folders)}}}};
  for (const dedup::IssueRow& row : dedup::shown_issue_rows()) {
    if (!config.issues.has(row.issue)) continue;
    json["issues"].push_back({{"name", row.name},
                              {"what", row.what},
                              {"threshold", dedup::rounded_score(row.threshold)}});
  }
  if (!config.fates.empty()) json["fates"] = config.fates;
  if (!config.first_line.empty()) json["first_line"] = Json::parse(config.first_line);
  return json.dump();
}

std::string scripts_of(const GalleryPage& page) {
  std::string scripts = data_script("config", json_of(page.config));
  if (!page.config.server) {
    std::string groups;
    for (const GalleryGroup& group : page.groups) {
      groups += (groups.empty() ? "[" : ",\n") + to_json(group);
    }
    scripts += data_script("groups", groups.empty() ? "[]" : groups + "]");
  }
  return scripts + "<script>//<![CDATA[\n" + std::string(kGalleryJs) + "//]]></script>\n";
}

std::vector<std::string> listed(const std::set<std::string>& names) {
  return {names.begin(), names.end()};
}

}  // namespace

GallerySummary count(const dedup::Result& result, std::span<const GroupFacts> facts) {
  GallerySummary found;
  found.images = result.selection.size();
  found.groups = result.groups.size();
  found.removed = result.removed;
  found.moved = result.moved;
  found.conflicts = result.conflicts;
  found.chains = result.chains;
  found.leaks = result.leaks;
  for (const GroupFacts& group : facts) {
    if (!group.is_picture) ++found.by_reason[static_cast<std::size_t>(first_reason(group))];
    found.pictures += group.is_picture ? 1 : 0;
    for (const dedup::IssueRow& row : dedup::shown_issue_rows()) {
      if (group.issues.has(row.issue)) ++found.by_issue[static_cast<std::size_t>(row.issue)];
    }
  }
  found.decided = dedup::settings_in_words(result.selection.settings);
  return found;
}

GallerySummary summarize(const GalleryInput& input, std::span<const GroupFacts> facts) {
  GallerySummary found = count(input.result, facts);
  found.classes = classes_of(input);
  found.folders = folders_of(input, facts);
  return found;
}

GalleryConfig config_of(std::span<const GalleryGroup> groups) {
  GalleryConfig config;
  std::set<std::string> classes;
  std::set<std::string> folders;
  unsigned splits = 0;
  Xxh3Stream key;
  config.duplicates = groups.empty();
  for (const GalleryGroup& group : groups) {
    (group.facts.is_picture ? config.pictures : config.duplicates) = true;
    config.issues.add(group.facts.issues);
    config.most_distance = std::max(config.most_distance, group.facts.distance);
    splits |= group.facts.splits;
    folders.insert(group.folders.begin(), group.folders.end());
    for (const GalleryMember& member : group.members) {
      classes.insert(member.labels.begin(), member.labels.end());
      key.update(as_bytes(to_hex(member.hash)));
    }
    key.update(as_bytes(std::to_string(group.facts.number)));
  }
  for (int i = 0; i < kSplitCount; ++i) {
    if ((splits >> i & 1U) != 0) config.splits.emplace_back(split_name(static_cast<Split>(i)));
  }
  config.classes = listed(classes);
  config.folders = listed(folders);
  config.key = to_hex(key.digest_64());
  return config;
}

std::string html_of(const GalleryPage& page) {
  const std::string gallery =
      "<main id=\"gallery\"><p>The groups are drawn by the script of this page, which your browser "
      "does not run.</p></main>\n";
  return html_page({.title = page.title + ": " + page.frame.about,
                    .body = header_of(page) + sections_of(page) + gallery,
                    .made = page.made,
                    .style = kGalleryCss,
                    .end = scripts_of(page)});
}

}  // namespace winnow::app
