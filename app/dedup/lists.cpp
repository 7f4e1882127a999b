#include "app/dedup/lists.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>

#include "app/dedup/decision.h"
#include "app/dedup/gallery.h"
#include "app/dedup/review_constraints.h"
#include "app/words.h"
#include "common/error.h"
#include "dedup/decisions/issues.h"

namespace winnow::app {
namespace {

dedup::ComparedPairs compared_pairs_of(const Deduplicated& what) {
  if (!what.links.verified) return {};
  return what.links.verified->verification.pairs;
}

// The columns that lists of decisions show.
dedup::Fingerprints listed_columns(const Deduplicated& what) {
  if (compared_pairs_of(what).empty()) return what.columns({"labels"});
  return what.columns({"labels", "widths_px", "heights_px"});
}

void list_removed(const Deduplicated& what, dedup::ListForm form, const dedup::TextSink& out) {
  dedup::list_removed(what.result, listed_columns(what), compared_pairs_of(what), what.name_of,
                      dedup::reasons_of(what.columns, what.options.policy), {form, out});
}

void list_groups(const Deduplicated& what, dedup::ListForm form, const dedup::TextSink& out) {
  dedup::list_groups(what.result, listed_columns(what), compared_pairs_of(what), what.name_of,
                     dedup::reasons_of(what.columns, what.options.policy), {form, out});
}

void list_pairs(const Deduplicated& what, dedup::ListForm form, const dedup::TextSink& out) {
  dedup::list_pairs(what.columns, what.options, what.links, what.columns({"labels"}), what.name_of,
                    {form, out});
}

void list_look_alikes(const Deduplicated& what, dedup::ListForm form, const dedup::TextSink& out) {
  dedup::list_look_alikes(what.columns, what.options, what.links, what.columns({"labels"}),
                          what.name_of, {form, out});
}

void list_low_quality(const Deduplicated& what, dedup::ListForm form, const dedup::TextSink& out) {
  const dedup::Fingerprints table = what.columns({"labels", "quality"});
  dedup::list_low_quality(table, what.options, what.name_of, {form, out});
}

void list_issues(const Deduplicated& what, dedup::ListForm form, const dedup::TextSink& out) {
  dedup::list_issues(what.result.issues, what.columns, "", what.name_of, {form, out});
}

dedup::TextSink lines_of(const Session& session) {
  return [&session](std::string_view text) { print(session, text); };
}

std::array<std::filesystem::path, 6> places_of(const ListPlaces& flags) {
  return {flags.removed,     flags.groups,      flags.pairs,
          flags.look_alikes, flags.low_quality, flags.issues};
}

void write_lists(const Session& session, const Deduplicated& what, const ListPlaces& flags) {
  const auto write = [&](const std::filesystem::path& path, const auto& list) {
    if (path.empty()) return;
    write_list(session, path,
               [&](dedup::ListForm form, const dedup::TextSink& out) { list(what, form, out); });
  };
  write(flags.removed, list_removed);
  write(flags.groups, list_groups);
  write(flags.pairs, list_pairs);
  write(flags.look_alikes, list_look_alikes);
  write(flags.low_quality, list_low_quality);
  write(flags.issues, list_issues);
}

// Reports duplicates inside val and test.
void tell_repeated(const Session& session, const Deduplicated& what, bool refused) {
  for (const Split split : {Split::kVal, Split::kTest}) {
    const auto i = static_cast<std::size_t>(split);
    if (what.result.repeated[i] == 0) continue;
    const std::string_view name = split_name(split);
    say(session, fmt::format("{} a duplicate in {} itself; {}",
                             count_of(what.result.repeated[i], fmt::format("{} sample has", name),
                                      fmt::format("{} samples have", name)),
                             name,
                             !what.options.policy.thin[i]
                                 ? fmt::format("kept (--thin {} removes them)", name)
                             : refused ? "would be removed"
                                       : "removed"));
  }
}

// Reports samples that are removed for an issue, such as being blank.
void tell_issues(const Session& session, const Deduplicated& what, bool refused) {
  if (what.options.policy.drop_issues.empty()) return;
  const auto counts = dedup::count_issues(what.result.issues);
  std::string words;
  for (const dedup::IssueRow& row : dedup::issue_rows()) {
    if (!what.options.policy.drop_issues.has(row.issue)) continue;
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ",
                         grouped(counts[static_cast<std::size_t>(row.issue)]), row.name);
  }
  say(session, fmt::format("issues: {} {}removed (see --list-issues FILE)", words,
                           refused ? "would be " : ""));
}

void tell(const Session& session, const Deduplicated& what, bool refused) {
  const dedup::Result& result = what.result;
  say(session,
      fmt::format("{} of duplicates; {} {}removed, {} kept",
                  count_of(result.groups.size(), "group"), count_of(result.removed, "sample"),
                  refused ? "would be " : "", grouped(result.kept)));
  for (const dedup::LeakCount& leak : result.leaks) {
    say(session,
        fmt::format("leak: {} a duplicate in {} ({})",
                    count_of(leak.samples_in_b, fmt::format("{} sample has", split_name(leak.b)),
                             fmt::format("{} samples have", split_name(leak.b))),
                    split_name(leak.a), count_of(leak.groups, "group")));
  }
  tell_repeated(session, what, refused);
  if (result.moved > 0) {
    say(session, fmt::format("{} {}moved to another split", count_of(result.moved, "sample"),
                             refused ? "would be " : ""));
  }
  if (result.conflicts > 0) {
    say(session, fmt::format("{} different labels{} (look at them with --report, or winnow review)",
                             count_of(result.conflicts, "group has", "groups have"),
                             result.near_conflicts == 0
                                 ? std::string()
                                 : fmt::format("; {} of them are only near duplicates, and one "
                                               "image of each label stays (if folders are not "
                                               "classes, use --labels none)",
                                               grouped(result.near_conflicts))));
  }
  if (result.chains > 0) {
    const bool are_stars = dedup::group_kind(what.options) == dedup::GroupKind::kStars;
    say(session,
        fmt::format("{}: some of their images {} (see --list-groups FILE{})",
                    count_of(result.chains, "group is a chain", "groups are chains"),
                    what.options.matching.verified ? "match others of the group, but not all"
                                                   : "are further apart than the threshold",
                    are_stars ? "; each that is removed matches the one that stays"
                              : ", and --groups stars"));
  }
  if (result.low_quality > 0) {
    say(session,
        fmt::format("{} too little detail to match and {} not compared (see --list-blank FILE)",
                    count_of(result.low_quality, "image has", "images have"),
                    result.low_quality == 1 ? "was" : "were"));
  }
  tell_issues(session, what, refused);
  report_constraints(session, what.options, result);
}

}  // namespace

void write_list(const Session& session, const std::filesystem::path& path,
                const std::function<void(dedup::ListForm, const dedup::TextSink&)>& list) {
  if (path == kStandardOutput) return list(dedup::ListForm::kCsv, lines_of(session));
  DurableFile file(path);
  list(path.extension() == ".jsonl" ? dedup::ListForm::kJsonLines : dedup::ListForm::kCsv,
       [&](std::string_view line) { file.append(as_bytes(line)); });
  file.finish();
}

void check_places(const ListPlaces& lists, const std::filesystem::path& report, bool json) {
  check_report_path(report);
  std::set<std::filesystem::path> taken;
  for (const std::filesystem::path& path : places_of(lists)) {
    if (!path.empty() && path != kStandardOutput) check_folder_of(path, "a list");
    if (!path.empty() && !taken.insert(path.lexically_normal()).second) {
      throw UsageError("two lists would go into " + path.string() + "; name another file for one");
    }
  }
  if (json && taken.contains(kStandardOutput)) {
    throw UsageError(
        "a list and --json would both go to the standard output; name a file for the list");
  }
  if (taken.contains(report.lexically_normal())) {
    throw UsageError("a list and the report would both go into " + report.string() +
                     "; name another file for one");
  }
}
namespace {

// Writes the selection and its files under a lock, so that nobody else writes them meanwhile.
void put_in_place(const Session& session, const Deduplicated& what, ListPlaces& lists,
                  const Ending& ending) {
  const Fd lock = ending.lock ? ending.lock() : Fd();
  if (ending.prepare) ending.prepare();
  if (lists.removed.empty() && !ending.list.empty()) {
    make_directories(ending.list.parent_path());
    lists.removed = ending.list;
    ListPlaces own;
    own.removed = ending.list;
    write_lists(session, what, own);
  }
  if (ending.keep) ending.keep();
}

}  // namespace

void conclude(const Session& session, const Deduplicated& what, ListPlaces lists,
              const Ending& ending) {
  const bool refused = ending.fails_on_leak && !what.result.leaks.empty();
  const auto places = places_of(lists);
  const bool prints_list = std::ranges::count(places, std::filesystem::path(kStandardOutput)) > 0;
  write_lists(session, what, lists);
  if (ending.show) ending.show();
  if (lists.removed.empty() && ending.list.empty() && !ending.json && !prints_list) {
    list_removed(what, dedup::ListForm::kCsv, lines_of(session));
  }
  if (!refused) put_in_place(session, what, lists, ending);
  if (!ending.first.empty()) say(session, ending.first);
  tell(session, what, refused);
  if (ending.keep && !refused) say(session, ending.kept);
  if (!lists.removed.empty() && lists.removed != kStandardOutput) {
    say(session, fmt::format("removed images are listed in {}", lists.removed.string()));
  }
  if (ending.json)
    print(session, fmt::format("{}\n", dedup::json_summary(what.result, what.options,
                                                           what.links.verified.get())));
  if (refused) refuse_leaks(what.result);
}

}  // namespace winnow::app
