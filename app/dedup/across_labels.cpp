#include "app/dedup/across_labels.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/page/html.h"
#include "app/words.h"

namespace winnow::app {
namespace {

// The command with another value of a flag.
std::string with_flag(std::vector<std::string> words, const std::string& flag,
                      const std::string& value) {
  const auto at = std::ranges::find(words, flag);
  if (at != words.end()) words.erase(at, std::min(at + 2, words.end()));
  words.insert(words.end(), {flag, value});
  std::string command;
  for (const std::string& word : words) {
    command += (command.empty() ? "" : " ") + shell_word(word);
  }
  return command;
}

}  // namespace

std::string across_labels(const dedup::Result& result, const dedup::Options& options,
                          const dedup::ColumnSource& columns, const dedup::LinkSource& links,
                          std::vector<std::string> words, const std::string& prefix) {
  if (result.near_conflicts == 0) return {};
  dedup::Options whatever_labels = options;
  whatever_labels.policy.on_conflict = dedup::ConflictAction::kKeep;
  const std::uint64_t removed = dedup::deduplicate(columns, whatever_labels, links).removed;
  if (removed <= result.removed) return {};
  const std::uint64_t more = removed - result.removed;
  return fmt::format("{} {} like {}, but labels differ; this removes {}: {}", grouped(more),
                     more == 1 ? "image stays though it is" : "images stay though they are",
                     more == 1 ? "another" : "others", more == 1 ? "it" : "them",
                     with_flag(std::move(words), prefix + "on-conflict", "keep"));
}

}  // namespace winnow::app
