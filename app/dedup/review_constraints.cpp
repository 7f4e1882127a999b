#include "app/dedup/review_constraints.h"

#include <fmt/core.h>

#include <utility>

#include "app/words.h"
#include "common/error.h"

namespace winnow::app {
namespace {

void check_globs(const Session& session, const dedup::Precedence& precedence) {
  for (const auto& glob : precedence.prefer) {
    if (glob.images == 0) {
      say(session, fmt::format("no image matches --prefer '{}'", glob.text));
    }
  }
  for (const auto& glob : precedence.protect) {
    if (glob.images > 0) continue;
    throw UsageError("no image matches --protect '" + glob.text +
                     "', so it would protect nothing; names are those of winnow dedup "
                     "--list-groups FILE, and ** stands for any folders");
  }
}

}  // namespace

void check_reviews(const std::vector<std::filesystem::path>& reviews) {
  for (const std::filesystem::path& file : reviews) dedup::read_review(file);
}

std::vector<dedup::Review> read_reviews(const Session& session,
                                        const std::vector<std::filesystem::path>& reviews) {
  std::vector<dedup::Review> read;
  for (const std::filesystem::path& file : reviews) {
    read.push_back(dedup::read_review(file));
    if (!read.back().cut_off) continue;
    say(session, fmt::format("the last line of {} is cut off and was ignored", file.string()));
  }
  return read;
}

std::shared_ptr<const dedup::Decided> decided_by(const Session& session,
                                                 const std::vector<std::filesystem::path>& reviews,
                                                 const dedup::ColumnSource& columns) {
  if (reviews.empty()) return nullptr;
  return std::make_shared<const dedup::Decided>(
      dedup::apply_to_rows(read_reviews(session, reviews), columns));
}

dedup::NameSource names_in(const pipeline::Cache& cache) {
  return [&cache](const dedup::NameSink& sink) {
    cache.for_each_ledger_row([&](const pipeline::LedgerRow& row) { sink(row.id, row.name); });
  };
}

void apply_constraints(const Session& session, const ReviewConstraints& constraints,
                       const dedup::ColumnSource& columns, const dedup::NameSource& names,
                       dedup::Options& options) {
  options.decided = decided_by(session, constraints.reviews, columns);
  const dedup::RowSets chosen = options.decided ? options.decided->kept : dedup::RowSets();
  const dedup::Globs& globs = constraints.globs;
  if (globs.prefer.empty() && globs.protect.empty() && chosen.empty()) return;
  auto precedence = std::make_shared<const dedup::Precedence>(
      dedup::precedence_of(columns({}).ids, names, globs, chosen));
  if (columns({}).size() > 0) check_globs(session, *precedence);
  options.policy.precedence = std::move(precedence);
}

void report_constraints(const Session& session, const dedup::Decided& decided) {
  say(session,
      fmt::format("{} applied{}", count_of(decided.judgements, "judgement"),
                  decided.unknown == 0 ? ""
                                       : fmt::format("; {} that they name {} not in these data",
                                                     count_of(decided.unknown, "image"),
                                                     decided.unknown == 1 ? "is" : "are")));
  if (decided.equal > 0) {
    say(session,
        fmt::format("{} judged to differ from an image with equal pixels; they stay in one group",
                    count_of(decided.equal, "image is", "images are")));
  }
}

void report_constraints(const Session& session, const dedup::Options& options,
                        const dedup::Result& result) {
  if (options.decided) report_constraints(session, *options.decided);
  if (result.dropped_by_review + result.spared_by_review > 0) {
    say(session,
        fmt::format("by judgements of single images, {} dropped, and {} kept in spite of issues",
                    count_of(result.dropped_by_review, "image is", "images are"),
                    grouped(result.spared_by_review)));
  }
  if (result.protected_drops > 0) {
    say(session, fmt::format("{} to be dropped by a judgement, but kept because of --protect",
                             count_of(result.protected_drops, "image was", "images were")));
  }
  if (result.overruled > 0) {
    say(session,
        fmt::format("{} to be kept by a judgement, but removed: the group stays in another split "
                    "(--on-leak), or another image of the group takes precedence",
                    count_of(result.overruled, "image was", "images were")));
  }
  if (result.protected_leaks > 0) {
    say(session, fmt::format("leak: {} in several splits, because their images are protected",
                             count_of(result.protected_leaks, "group stays", "groups stay")));
  }
}

}  // namespace winnow::app
