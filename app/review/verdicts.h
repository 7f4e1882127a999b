#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dedup/review/review.h"
#include "dedup/table/fingerprints.h"

namespace winnow::app {

// Which groups were judged, and how, as judgements come in. Not for several threads at once.
class Verdicts {
 public:
  // The images of each group: ascending, each once; one where judgements are about that image.
  explicit Verdicts(dedup::Ragged<Hash128> images, dedup::About about = dedup::About::kDuplicates);

  // What is said is of a group where it is of some or all of its images and no others, or of all
  // of them and others. Later ones win over earlier ones of the same images. What is about
  // something else is passed over.
  void apply(const dedup::Judgement& judgement);

  // What is in force of a group, in the order in which it was said; images are ascending.
  const std::vector<dedup::Judgement>& said(std::uint32_t group) const;
  // In one word: what was said of exactly its images; else what was said last, anything before
  // `keep`. About duplicates, groups of one image alone, of equal files, are such whatever is said.
  std::optional<dedup::Verdict> of(std::uint32_t group) const;
  std::uint64_t left() const noexcept { return left_; }  // groups that nothing is said of

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
