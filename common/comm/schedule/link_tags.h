#pragma once

#include <cstdint>
#include <vector>

namespace winnow::comm {

// Tags of messages, as one rank counts them. Each link (sender, receiver) has a count of its own.
// Each chain with messages on a link takes the link's next tag.
//
// Equal     Both ends of a link give a chain the same tag: they begin the chains that they share in
//           the same order. Chains between other ranks do not matter, so a rank need not know them.
// Distinct  Chains that are under way at once have different tags on a link, if each begins only
//           where may_begin() says so.
class LinkTags {
 public:
  // Tags are 0 .. `most`, then 0 again. `most` >= 1.
  explicit LinkTags(int most) : most_(most) {}

  // `oldest` is the number of the oldest chain under way. False: the next chain waits for it.
  bool may_begin(std::uint64_t oldest) const noexcept;

  // The next chain begins. Returns its number, from 1.
  std::uint64_t begin_chain() noexcept { return ++chains_; }

  // The tag for messages of the chain that began last: to `peer` or from it.
  int of(int peer, bool sends);

 private:
  struct Link {
    std::uint64_t chain = 0;  // the last that took a tag
    int tag = -1;
  };

  int most_;
  std::uint64_t chains_ = 0;
  std::vector<Link> links_;  // [2 * peer + sends]
};

}  // namespace winnow::comm
