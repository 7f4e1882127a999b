#include "app/review/verdicts.h"

#include <algorithm>

namespace winnow::app {

using dedup::Judgement;
using dedup::Verdict;

Verdicts::Verdicts(dedup::Ragged<Hash128> images, dedup::About about)
    : images_(std::move(images)), about_(about) {
  groups_of_.reserve(images_.values.size());
  for (std::uint32_t group = 0; group < images_.size(); ++group) {
    for (const Hash128& image : images_[group]) groups_of_.emplace_back(image, group);
    if (!is_certain(group)) ++left_;
  }
  std::ranges::sort(groups_of_);
}

std::vector<std::uint32_t> Verdicts::groups_about(const std::vector<Hash128>& images) const {
  std::vector<std::uint32_t> groups;
  for (const Hash128& image : images) {
    auto at = std::ranges::lower_bound(groups_of_, std::pair(image, std::uint32_t{0}));
    for (; at != groups_of_.end() && at->first == image; ++at) groups.push_back(at->second);
  }
  std::ranges::sort(groups);
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  std::erase_if(groups, [&](std::uint32_t group) {
    return !std::ranges::includes(images_[group], images) &&
           !std::ranges::includes(images, images_[group]);
  });
  return groups;
}

void Verdicts::apply(const Judgement& judgement) {
  if (judgement.about != about_) return;
  Judgement sorted{
      .verdict = judgement.verdict, .images = judgement.images, .about = judgement.about};
  std::ranges::sort(sorted.images);
  for (const std::uint32_t group : groups_about(sorted.images)) {
    std::vector<Judgement>& said = said_[group];
    const bool was_judged = !said.empty();
    std::erase_if(said, [&](const Judgement& old) { return old.images == sorted.images; });
    if (sorted.verdict != Verdict::kNone) said.push_back(sorted);
    if (!is_certain(group)) left_ = left_ + (was_judged ? 1 : 0) - (said.empty() ? 0 : 1);
    if (said.empty()) said_.erase(group);
  }
}

const std::vector<Judgement>& Verdicts::said(std::uint32_t group) const {
  static const std::vector<Judgement> nothing;
  const auto found = said_.find(group);
  return found == said_.end() ? nothing : found->second;
}

std::optional<Verdict> Verdicts::of(std::uint32_t group) const {
  if (is_certain(group)) return Verdict::kDuplicate;
  const std::vector<Judgement>& all = said(group);
  if (all.empty()) return std::nullopt;
  const auto images = images_[group];
  const auto exact = std::ranges::find_if(
      all, [&](const Judgement& one) { return std::ranges::equal(one.images, images); });
  if (exact != all.end()) return exact->verdict;
  for (auto last = all.rbegin(); last != all.rend(); ++last) {
    if (last->verdict != Verdict::kKeep) return last->verdict;
  }
  return Verdict::kKeep;
}

}  // namespace winnow::app
