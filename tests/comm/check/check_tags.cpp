#include <map>
#include <utility>

#include "tests/comm/check/check.h"
#include "tests/comm/check/check_internal.h"

namespace winnow::comm {

namespace {

// Which chain of which operation.
using ChainOf = std::pair<std::size_t, int>;

struct Link {
  std::map<ChainOf, int> sent;      // the tag that the sender gives
  std::map<ChainOf, int> received;  // the tag that the receiver looks for
};

std::string chain_text(const ChainOf& chain) {
  return "chain " + std::to_string(chain.second) + " of operation " + std::to_string(chain.first);
}

// The fault in one end's tags; empty if there is none.
std::string check_end(const std::map<ChainOf, int>& tags) {
  std::map<int, ChainOf> of_tag;
  for (const auto& [chain, tag] : tags) {
    const auto [at, is_new] = of_tag.emplace(tag, chain);
    if (is_new) continue;
    return chain_text(at->second) + " and " + chain_text(chain) + " have one tag, " +
           std::to_string(tag);
  }
  return "";
}

std::string check_link(const Link& link) {
  if (std::string fault = check_end(link.sent); !fault.empty()) return fault;
  if (link.sent == link.received) return "";
  for (const auto& [chain, tag] : link.sent) {
    const auto at = link.received.find(chain);
    if (at == link.received.end()) return chain_text(chain) + " has no receiver";
    if (at->second == tag) continue;
    return chain_text(chain) + " is sent with tag " + std::to_string(tag) + " and received with " +
           std::to_string(at->second);
  }
  return "the receiver waits for chains that have no sender";
}

}  // namespace

std::string check_tags(const std::vector<TransferLists>& operations, const Tags& tags) {
  std::map<std::pair<int, int>, Link> links;
  for (std::size_t o = 0; o < operations.size(); ++o) {
    for (std::size_t rank = 0; rank < operations[o].size(); ++rank) {
      for (std::size_t i = 0; i < operations[o][rank].size(); ++i) {
        const Transfer& transfer = operations[o][rank][i];
        const int me = static_cast<int>(rank);
        const bool sends = transfer.kind == Transfer::Kind::kSend;
        Link& link = sends ? links[{me, transfer.peer}] : links[{transfer.peer, me}];
        auto& of_end = sends ? link.sent : link.received;
        const auto [at, is_new] = of_end.emplace(ChainOf{o, transfer.chain}, tags[o][rank][i]);
        if (is_new || at->second == tags[o][rank][i]) continue;
        return "rank " + std::to_string(me) + " gives " + chain_text(at->first) + " two tags";
      }
    }
  }
  for (const auto& [ends, link] : links) {
    const std::string fault = check_link(link);
    if (fault.empty()) continue;
    return "from rank " + std::to_string(ends.first) + " to rank " + std::to_string(ends.second) +
           ": " + fault;
  }
  return "";
}

}  // namespace winnow::comm
