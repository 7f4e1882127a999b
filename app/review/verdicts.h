#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dedup/review/review.h"
#include "dedup/table/fingerprints.h"

namespace winnow::app {

// Keeps track of the judgements of each group as they arrive. Not thread-safe.
class Verdicts {
 public:
  // `images`: for each group the file hashes of its images, ascending, each once; one image per
  // group if judgements are about single images.
  explicit Verdicts(dedup::Ragged<Hash128> images, dedup::About about = dedup::About::kDuplicates);

  // Applies a judgement. It concerns a group if its images are a subset or a superset of the
  // group's. Later judgements override earlier ones of the same images. Judgements about another
  // subject are ignored.
  void apply(const dedup::Judgement& judgement);

  // Judgements in force for a group, in the order they were made; images ascending.
  const std::vector<dedup::Judgement>& said(std::uint32_t group) const;
  // The verdict on a group: from the judgement of exactly its images, else from the last judgement;
  // a `keep` counts only if there is no other. A duplicate group of one image (equal files) is
  // always a duplicate.
  std::optional<dedup::Verdict> of(std::uint32_t group) const;
  std::uint64_t left() const noexcept { return left_; }  // number of groups without a judgement

 private:
  std::vector<std::uint32_t> groups_about(const std::vector<Hash128>& images) const;
  bool is_certain(std::uint32_t group) const {
    return about_ == dedup::About::kDuplicates && images_[group].size() < 2;
  }

  dedup::Ragged<Hash128> images_;
  dedup::About about_;
  std::vector<std::pair<Hash128, std::uint32_t>> groups_of_;  // ascending
  std::unordered_map<std::uint32_t, std::vector<dedup::Judgement>> said_;
  std::uint64_t left_ = 0;
};

}  // namespace winnow::app
