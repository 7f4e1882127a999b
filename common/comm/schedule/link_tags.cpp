#include "common/comm/schedule/link_tags.h"

#include <algorithm>
#include <cstddef>

namespace winnow::comm {

// From the oldest chain to the next one a link takes no more tags than there are.
bool LinkTags::may_begin(std::uint64_t oldest) const noexcept {
  return chains_ + 1 - oldest <= static_cast<std::uint64_t>(most_);
}

int LinkTags::of(int peer, bool sends) {
  const std::size_t at = 2 * static_cast<std::size_t>(peer) + (sends ? 1 : 0);
  links_.resize(std::max(links_.size(), at + 1));
  Link& link = links_[at];
  if (link.chain != chains_) link = {chains_, link.tag == most_ ? 0 : link.tag + 1};
  return link.tag;
}

}  // namespace winnow::comm
