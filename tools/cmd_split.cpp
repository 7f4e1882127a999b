#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/utf8.h"
#include "dedup/split/split.h"
#include "pipeline/export/thumbnails.h"
#include "pipeline/store/cache.h"
#include "tools/choice_flags.h"
#include "tools/command.h"
#include "tools/dedup_search.h"
#include "tools/gallery_report.h"
#include "tools/obeyed.h"
#include "tools/review/group_list.h"
#include "tools/split_page.h"

namespace winnow::tools {
namespace {

using dedup::ClassOff;
using dedup::OffReason;
using Shares = std::array<double, kSplitCount>;

struct ShareFlags {
  std::optional<double> train, val, test;
  std::vector<std::string> of;  // whose samples are dealt out

  bool any() const noexcept { return train || val || test; }
};

struct SplitOutput {
  std::filesystem::path report;
  bool json = false;
};

struct SplitOptions {
  std::filesystem::path cache;
  std::string name = "split";
  ShareFlags shares;
  ChoiceFlags choice;
  dedup::SplitOptions split;
  std::vector<std::filesystem::path> reviews;
  bool ignore_group_keys = false;
  SplitOutput output;
};

std::size_t index_of(Split split) { return static_cast<std::size_t>(split); }

// As large as the splits are now, where there are two; else what is usual.
Shares usual_shares(const pipeline::Manifest& manifest) {
  Shares shares{0, 0.8, 0.1, 0.1};
  const auto& counts = manifest.images.split_counts;
  if (std::count(counts.begin() + 1, counts.end(), 0) > 1) return shares;
  double sum = 0;
  for (std::size_t split = 1; split < shares.size(); ++split) {
    sum += static_cast<double>(counts[split]);
  }
  for (std::size_t split = 1; split < shares.size(); ++split) {
    shares[split] = static_cast<double>(counts[split]) / sum;
  }
  return shares;
}

// The first of train, test and val that was not named gets what the others leave.
Shares shares_of(const ShareFlags& o, const pipeline::Manifest& manifest) {
  if (!o.any()) return usual_shares(manifest);
  Shares shares{0, o.train.value_or(0), o.val.value_or(0), o.test.value_or(0)};
  const double rest = 1 - shares[1] - shares[2] - shares[3];
  if (rest < 1e-9) return shares;  // or too much, which is refused
  if (!o.train) {
    shares[1] = rest;
  } else if (!o.test) {
    shares[3] = rest;
  } else if (!o.val) {
    shares[2] = rest;
  }
  return shares;
}

dedup::SplitOptions split_options(const SplitOptions& o, const pipeline::Manifest& manifest) {
  dedup::SplitOptions options = o.split;
  options.dealing.group_keys = !o.ignore_group_keys;
  options.shares = shares_of(o.shares, manifest);
  options.dealing.stay = o.split.dealing.stay || !o.shares.any();
  if (o.shares.of.empty()) {
    options.of = {true, true, options.shares[2] > 0, options.shares[3] > 0};
  } else {
    options.of = {};
    for (const std::string& name : o.shares.of) options.of[index_of(*parse_split(name))] = true;
  }
  return options;
}

std::string_view reason_name(OffReason reason) {
  switch (reason) {
    case OffReason::kFixed:
      return "fixed";
    case OffReason::kBlock:
      return "block";
    case OffReason::kLabels:
      return "labels";
  }
  return "unknown";
}

void print_table(const dedup::SplitSummary& summary, const pipeline::Manifest& manifest) {
  fmt::print("{:6}{:>14}{:>14}{:>10}\n", "split", "samples", "blocks", "classes");
  for (const Split split : {Split::kTrain, Split::kVal, Split::kTest, Split::kNone}) {
    const auto& part = summary.parts[index_of(split)];
    if (split == Split::kNone && part.samples == 0) continue;
    fmt::print("{:6}{:>14}{:>14}{:>10}\n", split_name(split), grouped(part.samples),
               grouped(part.blocks), grouped(part.classes));
  }
  fmt::print("the class furthest from its share is off by {:.1f} samples\n", summary.furthest);
  constexpr std::size_t kMost = 10;
  for (std::size_t i = 0; i < std::min(kMost, summary.off.size()); ++i) {
    const ClassOff& off = summary.off[i];
    const std::string name = class_of(off, manifest).value_or("without labels");
    fmt::print("{}: {} of {} in {} where {:.1f} are its share; {}\n", printable(name),
               grouped(off.got), grouped(off.samples), split_name(off.split), off.wanted,
               reason_in_words(off));
  }
  if (summary.off.size() > kMost) {
    fmt::print("and {} more classes that are off by more than one\n",
               grouped(summary.off.size() - kMost));
  }
}

void tell(const Session& session, const dedup::SplitSummary& summary) {
  say(session, fmt::format("{} blocks that stay together, the largest of {} samples",
                           grouped(summary.blocks), grouped(summary.largest_block)));
  if (summary.moved > 0) {
    say(session,
        fmt::format("{} samples are used in another split than before", grouped(summary.moved)));
  }
  if (summary.left_out > 0) {
    say(session,
        fmt::format("{} samples are left out: each belongs to one in a split that is fixed",
                    grouped(summary.left_out)));
  }
  if (summary.leaks > 0) {
    say(session, fmt::format("{} samples of fixed splits are left out: fixed splits shared them",
                             grouped(summary.leaks)));
  }
}

nlohmann::ordered_json json_of_split(const dedup::SplitResult& result,
                                     const dedup::SplitOptions& options,
                                     const pipeline::Manifest& manifest) {
  using Json = nlohmann::ordered_json;
  const dedup::SplitSummary& summary = result.summary;
  Json json{{"schema", "winnow.split/1"},
            {"hash", options.hash},
            {"threshold",
             dedup::effective_threshold({.hash = options.hash, .threshold = options.threshold})},
            {"seed", options.dealing.seed},
            {"of", Json::array()},
            {"blocks", summary.blocks},
            {"largest_block", summary.largest_block},
            {"moved", summary.moved},
            {"left_out", summary.left_out},
            {"leaks", summary.leaks},
            {"splits", Json::array()},
            {"furthest", summary.furthest},
            {"off", Json::array()}};
  for (const Split split : {Split::kNone, Split::kTrain, Split::kVal, Split::kTest}) {
    const auto& part = summary.parts[index_of(split)];
    if (options.of[index_of(split)]) json["of"].push_back(split_name(split));
    json["splits"].push_back({{"split", split_name(split)},
                              {"share", options.shares[index_of(split)]},
                              {"samples", part.samples},
                              {"dealt", part.dealt},
                              {"blocks", part.blocks},
                              {"classes", part.classes}});
  }
  for (const ClassOff& off : summary.off) {
    const auto name = class_of(off, manifest);
    json["off"].push_back({{"class", name ? Json(to_utf8(*name)) : Json(nullptr)},
                           {"samples", off.samples},
                           {"split", split_name(off.split)},
                           {"wanted", off.wanted},
                           {"got", off.got},
                           {"largest_block", off.largest_block},
                           {"reason", reason_name(off.reason)}});
  }
  if (options.decided) {
    json["review"] = {{"judgements", options.decided->judgements},
                      {"unknown_images", options.decided->unknown},
                      {"equal_images", options.decided->equal},
                      {"dropped", options.decided->dropped.size()}};
  }
  return json;
}

// Writes the page of it: the blocks of two images or more.
void show(const SplitOptions& o, const Session& session, const pipeline::Cache& cache,
          const dedup::ColumnSource& columns, const dedup::SplitOptions& options,
          const dedup::SplitResult& split) {
  const dedup::Options how{.hash = options.hash, .threshold = options.threshold};
  const bool by_codes = how.hash != dedup::kExact;
  const dedup::Fingerprints codes =
      by_codes ? columns({"codes:" + how.hash}) : dedup::Fingerprints();
  const dedup::Result result =
      groups_of(split.selection, columns({"labels"}),
                by_codes ? codes.find_codes(how.hash) : nullptr, dedup::effective_threshold(how));
  const pipeline::LedgerNames names = cache.read_names();
  write_gallery(session, {result, how, columns, {}, std::cref(names)}, cache.manifest().classes,
                {.title = title_of(cache.manifest()),
                 .made = made_here(),
                 .picture_of = pipeline::pictures_of(cache),
                 .no_pictures = kNoPicturesInCache,
                 .frame = split_frame(split.summary, cache.manifest()),
                 .fates = {{"leak", "left out"}}},
                o.output.report);
}

void decide(const SplitOptions& o, const Session& session, const dedup::LinkSource& search) {
  pipeline::check_selection_name(o.name);
  check_choice(o.choice);
  check_report_path(o.output.report);
  const pipeline::Cache cache = pipeline::Cache::open(o.cache);
  if (!can_keep_selections(cache.paths())) {
    throw SystemError(o.cache.string() +
                      " cannot be written to, so it keeps no selection; split a copy of it");
  }
  dedup::SplitOptions options = split_options(o, cache.manifest());
  const dedup::ColumnSource columns = stoppable(cache.open_fingerprints(), session);
  options.decided = decided_by(session, o.reviews, columns);
  const Settled settled = settle_choice(session, o.choice, columns, stored_hashes(cache), search);
  options.hash = settled.hash;
  options.threshold = settled.threshold;
  options.chosen_by = settled.chosen_by;
  options.least_quality = o.choice.least_quality;
  dedup::SplitResult result = dedup::make_splits(columns, options, settled.links);
  result.selection.name = o.name;
  result.selection.cache_digest = cache.digest();
  if (!o.output.report.empty()) show(o, session, cache, columns, options, result);
  keep_previous(session, cache, result.selection);
  cache.write_selection(result.selection);
  if (o.output.json) {
    fmt::print("{}\n", json_of_split(result, options, cache.manifest()).dump());
  } else {
    print_table(result.summary, cache.manifest());
  }
  tell(session, result.summary);
  if (options.decided) {
    tell_obeyed(session, *options.decided);
    if (!options.decided->dropped.empty()) {
      say(session, fmt::format("{} images are in no split: judgements drop them",
                               grouped(options.decided->dropped.size())));
    }
  }
  say(session, fmt::format("selection '{}' written", o.name));
}

void run(const SplitOptions& o, Session& session) {
  with_search(session, /*all_links=*/chooses(o.choice) || !o.reviews.empty(),
              [&](const dedup::LinkSource& links) { decide(o, session, links); });
}

}  // namespace

Command add_split(CLI::App& program) {
  auto o = std::make_shared<SplitOptions>();
  CLI::App* app = program.add_subcommand(
      "split",
      "Make train, val and test so that no duplicate and no group key lies in two of them");
  app->add_option("cache", o->cache, "Cache made by winnow ingest")->required();
  app->add_option("--name", o->name, "Name of the selection")->capture_default_str();
  const CLI::Range share(0.0, 1.0);
  app->add_option("--train", o->shares.train,
                  "Share of train, from 0 to 1; by default what is left")
      ->check(share);
  app->add_option("--val", o->shares.val, "Share of val")->check(share);
  app->add_option("--test", o->shares.test, "Share of test")->check(share);
  app->add_option("--of", o->shares.of,
                  "Deal out the samples of these splits; others stay where they are. By default "
                  "none, train, and those that get a share")
      ->delimiter(',')
      ->check(CLI::IsMember({"none", "train", "val", "test"}));
  add_choice_flags(*app, "--", o->choice);
  add_review_flag(*app, o->reviews);
  app->add_flag("--ignore-group-keys", o->ignore_group_keys,
                "Let samples of one group key lie in several splits");
  app->add_flag("--stay", o->split.dealing.stay,
                "Leave as many samples in their splits as that allows; without shares this is so");
  app->add_option("--seed", o->split.dealing.seed, "Another seed makes other splits")
      ->capture_default_str();
  add_report_flag(*app, o->output.report);
  app->add_flag("--json", o->output.json, "Print one JSON object on stdout");
  app->footer(
      "A block is what duplicates and group keys (bursts of one scene, pictures of one patient)\n"
      "hold together. Blocks are never cut; each class comes within one sample of its share in\n"
      "each split where its blocks allow, and the table names those that do not. Without shares,\n"
      "splits are as large as they are now, and only what must move does; where there is but one\n"
      "split, or none, they are 0.8, 0.1 and 0.1.\n"
      "Shares are of the samples dealt out. What belongs to a sample of a split that stays as it\n"
      "is joins that split if it gets a share, and is left out if not. The result is a selection:\n"
      "train, eval and export use the splits that it says; one of the same name before is kept as\n"
      "NAME.previous. Under mpirun ranks share the search.\n\n"
      "Examples:\n"
      "  winnow split cache --val 0.1 --test 0.1\n"
      "  winnow split cache --val 0.1        # of train and of no split; test stays as it is\n"
      "  winnow split cache --of train --val 0.1 --name tuning\n"
      "  winnow split cache                  # mends splits that leak, each as large as it was\n"
      "  winnow split cache --val 0.1 --report splits.html   # to look at what stays together\n"
      "  winnow export cache --to splits --selection split\n"
      "  winnow dedup cache --splits split --name clean   # thins duplicates inside their train");
  return {app, true, [o](Session& session) { run(*o, session); }, true};
}

}  // namespace winnow::tools
