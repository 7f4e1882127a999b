#pragma once

#include <cstdint>
#include <vector>

namespace winnow::comm {

// Chooses the tags of MPI messages on one rank. Each link (sender, receiver) has a count of its
// own. Each chain (sequence of transfers) with messages on a link takes the next tag of that link.
//
// Equal     Both ends of a link give a chain the same tag, because they begin the chains that they
//           share in the same order. Chains between other ranks do not matter, so a rank need not
//           know them.
// Distinct  Running chains have different tags on a link, if each begins only when may_begin() is
//           true.
class LinkTags {
 public:
  // Tags are 0 .. `most`, then 0 again. `most` >= 1.
  explicit LinkTags(int most) : most_(most) {}

  // Whether the next chain may begin. If not, it must wait until chain number `oldest`, the oldest
  // that is running, has ended.
  bool may_begin(std::uint64_t oldest) const noexcept;

  // Begins the next chain. Returns its number, from 1.
  std::uint64_t begin_chain() noexcept { return ++chains_; }

  // The tag for messages of the chain that began last, to `peer` (`sends`) or from it.
  int of(int peer, bool sends);

 private:
  struct Link {
    std::uint64_t chain = 0;  // number of the last chain that took a tag
    int tag = -1;
  };

  int most_;
  std::uint64_t chains_ = 0;
  std::vector<Link> links_;  // [2 * peer + sends]
};

}  // namespace winnow::comm
