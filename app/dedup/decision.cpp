#include "app/dedup/decision.h"

#include <algorithm>
#include <optional>

#include "common/error.h"
#include "common/sample.h"

namespace winnow::app {
namespace {

dedup::SplitOrder parse_order(const std::vector<std::string>& names) {
  dedup::SplitOrder order{};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto split = i < names.size() ? parse_split(names[i]) : std::nullopt;
    const auto before = order.begin() + static_cast<std::ptrdiff_t>(i);
    if (!split || *split == Split::kNone || std::find(order.begin(), before, *split) != before) {
      throw UsageError(
          "--split-order names train, val and test, each once, such as test,val,train");
    }
    order[i] = *split;
  }
  return order;
}

}  // namespace

dedup::Options dedup_options(const DecisionOptions& flags) {
  dedup::Options options;
  options.scope = dedup::parse_scope(flags.scope);
  if (!flags.groups.empty()) options.groups = dedup::parse_group_kind(flags.groups);
  options.matching.least_quality = flags.choice.least_quality;
  dedup::Policy& policy = options.policy;
  policy.keep = dedup::parse_keep_policy(flags.policy.keep);
  if (flags.policy.on_leak == "drop-eval") policy.order = dedup::kTrainingFirst;
  if (flags.policy.on_leak == "move") policy.on_leak = dedup::LeakAction::kMove;
  if (!flags.policy.split_order.empty()) {
    if (flags.policy.on_leak == "drop-eval") {
      throw UsageError(
          "--on-leak drop-eval sets the split order, too; leave out --on-leak or --split-order");
    }
    policy.order = parse_order(flags.policy.split_order);
  }
  policy.on_conflict = dedup::parse_conflict_action(flags.policy.on_conflict);
  policy.mode = dedup::parse_selection_mode(flags.policy.mode);
  for (const std::string& name : flags.policy.thin) {
    policy.thin[static_cast<std::size_t>(*parse_split(name))] = true;
  }
  if (!flags.policy.thin.empty() && options.scope == dedup::Scope::kAcross) {
    throw UsageError(
        "--thin removes duplicates inside a split, but --scope across removes none there; leave "
        "out one of the two flags");
  }
  policy.drop_issues = dedup::parse_issues(flags.policy.drop_issues);
  dedup::check_drop_issues(policy.drop_issues);
  return options;
}

void refuse_leaks(const dedup::Result& result) {
  if (result.leaks.empty()) return;
  std::string pairs;
  for (const dedup::LeakCount& leak : result.leaks) {
    pairs += (pairs.empty() ? "" : ", ") + std::to_string(leak.samples_in_b) + " of " +
             std::string(split_name(leak.b)) + " are in " + std::string(split_name(leak.a));
  }
  throw RefusedError(
      "splits share pictures (" + pairs +
      "); with --on-leak, drop them from train or from evaluation, or move them to one split");
}

}  // namespace winnow::app
