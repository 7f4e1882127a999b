#include "dedup/lists/report.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "common/json.h"
#include "common/utf8.h"
#include "dedup/decisions/issues.h"
#include "dedup/features/feature_links.h"
#include "dedup/lists/list.h"
#include "dedup/lists/pairs.h"
#include "dedup/review/decided.h"

namespace winnow::dedup {
namespace {

// The fields of a sample in lists.
struct Samples {
  const Fingerprints& table;
  const NameOf& name_of;

  std::vector<Json> describe(std::size_t row) const {
    const auto labels = table.labels[row];
    return {table.ids[row], to_utf8(name_of(table.ids[row])), split_name(table.splits[row]),
            Json(std::vector<std::int32_t>(labels.begin(), labels.end()))};
  }
};

std::vector<std::string> decision_fields() {
  return {"id",        "name",       "split",       "labels",   "group", "kept_id",
          "kept_name", "kept_split", "kept_labels", "distance", "rule",  "because"};
}

void append_to(std::vector<Json> more, std::vector<Json>& to) {
  std::move(more.begin(), more.end(), std::back_inserter(to));
}

std::vector<Json> decision_of(const Selection& selection, const Samples& samples, std::size_t row,
                              std::size_t group, const ReasonOf& because) {
  std::vector<Json> values = samples.describe(row);
  values.emplace_back(group);
  const std::size_t kept = selection.row_of(selection.kept[row]);
  append_to(samples.describe(kept), values);
  values.emplace_back(selection.distances[row]);
  values.emplace_back(rule_name(selection.rules[row]));
  values.emplace_back(
      kept == row ? std::string()
                  : because(static_cast<std::uint32_t>(kept), static_cast<std::uint32_t>(row)));
  return values;
}

// Probability and transformation of a pair; empty if pictures were not compared.
std::vector<Json> comparison_fields(const VerifiedPair* pair, const Fingerprints& sizes,
                                    const Edge& edge) {
  if (pair == nullptr) return {"", ""};
  return {rounded_score(pair->probability), transformation_words(*pair, sizes, edge.a, edge.b)};
}

// The same for a row and its representative.
std::vector<Json> comparison_fields_of_row(ComparedPairs told, const Selection& selection,
                                           const Fingerprints& sizes, std::size_t row) {
  const auto copy = static_cast<std::uint32_t>(row);
  const auto kept = static_cast<std::uint32_t>(selection.row_of(selection.kept[row]));
  return comparison_fields(copy == kept ? nullptr : find_pair(told, copy, kept), sizes,
                           {kept, copy, 0});
}

std::vector<std::string> pair_fields() {
  return {"id",         "name",        "split",        "labels",  "other_id",
          "other_name", "other_split", "other_labels", "distance"};
}

Json verification_json(const VerifiedLinks& verified) {
  const KeptPairs& kept = verified.kept;
  Json told{{"candidates", verified.verification.counts.candidates},
            {"compared", verified.verification.counts.registered},
            {"compared_larger", verified.looked_closer},
            {"passed_over", verified.skipped},
            {"pairs", verified.verification.pairs.size()},
            {"look_alikes", verified.look_alikes.size()},
            {"collages", verified.collages.size()}};
  if (!kept.least.raised_by_labels) {
    told["expected_false"] = kept.expected_false;
    told["most_false"] = most_false_pairs(kept.expected_false);
  }
  return told;
}

}  // namespace

ReasonOf reasons_of(const ColumnSource& columns, const Policy& policy) {
  const auto table =
      std::make_shared<const Fingerprints>(columns(columns_for(policy.keep, /*codes=*/"")));
  return [table, policy](std::uint32_t kept, std::uint32_t row) {
    return std::string(reason_of_choice(*table, kept, row, policy));
  };
}

void list_removed(const Result& result, const Fingerprints& table, ComparedPairs told,
                  const NameOf& name_of, const ReasonOf& because, const ListTo& to) {
  std::vector<std::string> names = decision_fields();
  names.insert(names.end(), {"probability", "transformation"});
  List list(std::move(names), to.form, to.out);
  const Samples samples{table, name_of};
  for (std::size_t row = 0; row < result.selection.size(); ++row) {
    if (result.selection.weights[row] > 0) continue;
    std::vector<Json> values =
        decision_of(result.selection, samples, row, result.selection.components[row], because);
    append_to(comparison_fields_of_row(told, result.selection, table, row), values);
    list.put(values);
  }
}

void list_groups(const Result& result, const Fingerprints& table, ComparedPairs told,
                 const NameOf& name_of, const ReasonOf& because, const ListTo& to) {
  std::vector<std::string> names = decision_fields();
  names.insert(names.end(),
               {"weight", "used_in", "diameter", "chain", "probability", "transformation"});
  List list(std::move(names), to.form, to.out);
  const Samples samples{table, name_of};
  const Selection& selection = result.selection;
  for (std::size_t number = 0; number < result.groups.size(); ++number) {
    const Group& group = result.groups[number];
    for (const std::uint32_t row : group.rows) {
      std::vector<Json> values = decision_of(selection, samples, row, number, because);
      append_to({selection.weights[row], split_name(selection.split_of(row, table.splits[row])),
                 group.shape.diameter, group.shape.chain},
                values);
      append_to(comparison_fields_of_row(told, selection, table, row), values);
      list.put(values);
    }
  }
}

void list_pairs(const ColumnSource& columns, const Options& options, const LinksWithEvidence& links,
                const Fingerprints& table, const NameOf& name_of, const ListTo& to) {
  std::vector<std::string> names = pair_fields();
  const bool by_features = !options.matching.features.empty();
  if (by_features) names.emplace_back("cosine");
  if (links.verified) names.insert(names.end(), {"probability", "transformation"});
  const Fingerprints sizes = links.verified ? columns({"widths_px", "heights_px"}) : Fingerprints{};
  List list(std::move(names), to.form, to.out);
  const Samples samples{table, name_of};
  const std::vector<Edge> listed =
      links.verified ? listed_pairs(*links.verified) : std::vector<Edge>();
  const LinkSource source = links.verified ? links_of(std::span(listed)) : links.source;
  for_each_pair(columns, options, source, [&](const Edge& pair) {
    std::vector<Json> values = samples.describe(pair.a);
    append_to(samples.describe(pair.b), values);
    values.emplace_back(pair.distance);
    if (by_features) values.emplace_back(cosine_of_distance(static_cast<int>(pair.distance)));
    if (links.verified) {
      append_to(comparison_fields(find_pair(*links.verified, pair.a, pair.b), sizes, pair), values);
    }
    list.put(values);
  });
}

void list_look_alikes(const ColumnSource& columns, const Options& options,
                      const LinksWithEvidence& links, const Fingerprints& table,
                      const NameOf& name_of, const ListTo& to) {
  std::vector<std::string> names = pair_fields();
  names.insert(names.end(), {"probability", "transformation"});
  List list(std::move(names), to.form, to.out);
  if (!links.verified) return;
  const Samples samples{table, name_of};
  const Fingerprints sizes = columns({"widths_px", "heights_px"});
  const Fingerprints coded = columns({"codes:" + options.hash});
  const CodeColumn& codes = codes_of(coded, options.hash);
  for (const VerifiedPair& pair : links.verified->look_alikes) {
    std::vector<Json> values = samples.describe(pair.row_a);
    append_to(samples.describe(pair.row_b), values);
    values.emplace_back(row_distance(codes, pair.row_a, pair.row_b));
    append_to(comparison_fields(&pair, sizes, {pair.row_a, pair.row_b, 0}), values);
    list.put(values);
  }
}

void list_low_quality(const Fingerprints& table, const Options& options, const NameOf& name_of,
                      const ListTo& to) {
  List list({"id", "name", "split", "labels"}, to.form, to.out);
  const Samples samples{table, name_of};
  const auto is_enough = is_enough_for(options.hash, options.matching.least_quality);
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (!is_enough(table.quality[row])) list.put(samples.describe(row));
  }
}

void list_issues(const std::vector<IssueSet>& of_row, const ColumnSource& columns,
                 const std::string& hash, const NameOf& name_of, const ListTo& to) {
  List list({"id", "name", "split", "labels", "issue", "score"}, to.form, to.out);
  const Fingerprints table = columns({"labels"});
  const Samples samples{table, name_of};
  IssueSet wanted;
  for (const IssueSet& issues : of_row) wanted.add(issues);
  for_each_issue(wanted, columns, hash, [&](const IssueRow& issue, const auto& scores) {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 0; row < of_row.size(); ++row) {
      if (of_row[row].has(issue.issue)) rows.push_back(row);
    }
    std::ranges::stable_sort(rows, {}, [&](std::uint32_t row) { return scores[row]; });
    for (const std::uint32_t row : rows) {
      std::vector<Json> values = samples.describe(row);
      values.emplace_back(issue.name);
      values.emplace_back(rounded_score(scores[row]));
      list.put(values);
    }
  });
}

std::string json_summary(const Result& result, const Options& options,
                         const VerifiedLinks* verified) {
  Json leaks = Json::array();
  for (const LeakCount& leak : result.leaks) {
    leaks.push_back({{"a", split_name(leak.a)},
                     {"b", split_name(leak.b)},
                     {"groups", leak.groups},
                     {"samples", leak.samples_in_b}});
  }
  Json summary{{"schema", "winnow.dedup/1"},
               {"hash", options.hash},
               {"threshold", effective_threshold(options)},
               {"mode", selection_mode_name(result.selection.mode)},
               {"groups", result.groups.size()},
               {"chains", result.chains},
               {"removed", result.removed},
               {"kept", result.kept},
               {"moved", result.moved},
               {"leaks", leaks},
               {"conflicts", result.conflicts},
               {"near_conflicts", result.near_conflicts},
               {"evaluation_duplicates",
                {{"val", result.repeated[static_cast<std::size_t>(Split::kVal)]},
                 {"test", result.repeated[static_cast<std::size_t>(Split::kTest)]}}},
               {"blank", result.low_quality}};
  if (!options.chosen_by.demand.empty()) summary["chosen_by"] = options.chosen_by.demand;
  if (options.matching.least_quality) summary["least_quality"] = *options.matching.least_quality;
  if (options.matching.verified) summary["verified"] = *options.matching.verified;
  if (verified != nullptr) summary["verification"] = verification_json(*verified);
  if (!options.matching.features.empty()) {
    summary["features"] = options.matching.features;
    summary["cosine"] = cosine_of_distance(options.threshold);
  }
  if (!options.policy.drop_issues.empty()) {
    const auto counts = count_issues(result.issues);
    summary["issues"] = Json::object();
    for (const IssueRow& row : issue_rows()) {
      if (!options.policy.drop_issues.has(row.issue)) continue;
      summary["issues"][std::string(row.name)] = counts[static_cast<std::size_t>(row.issue)];
    }
  }
  if (options.decided) {
    summary["review"] = {
        {"judgements", options.decided->judgements}, {"unknown_images", options.decided->unknown},
        {"equal_images", options.decided->equal},    {"overruled", result.overruled},
        {"dropped", result.dropped_by_review},       {"spared", result.spared_by_review},
        {"protected_drops", result.protected_drops}};
  }
  if (options.policy.precedence && !options.policy.precedence->protect.empty()) {
    summary["protected_leaks"] = result.protected_leaks;
  }
  return summary.dump();
}

}  // namespace winnow::dedup
