#include <algorithm>

#include "tests/comm/check/check.h"
#include "tests/comm/check/check_internal.h"

namespace winnow::comm {

namespace {

using Counts = std::vector<std::vector<std::size_t>>;

// Where the parts of every rank begin, and what has arrived.
class ExchangeBuffers {
 public:
  explicit ExchangeBuffers(const Counts& counts)
      : ranks_(counts.size()), out_(ranks_), in_(ranks_), arrived_(ranks_) {
    for (std::size_t me = 0; me < ranks_; ++me) {
      out_[me] = in_[me] = {0};
      for (std::size_t peer = 0; peer < ranks_; ++peer) {
        out_[me].push_back(out_[me].back() + counts[me][peer]);
        in_[me].push_back(in_[me].back() + counts[peer][me]);
      }
    }
  }

  std::size_t out_size(int rank) const { return out_[static_cast<std::size_t>(rank)].back(); }
  std::size_t in_size(int rank) const { return in_[static_cast<std::size_t>(rank)].back(); }

  // Sends only read, and from another buffer than receives write to.
  bool meet(const Transfer& a, const Transfer& b) const {
    return a.kind != Transfer::Kind::kSend && b.kind != Transfer::Kind::kSend && overlap(a, b);
  }

  // Elements must keep their distance from the beginning of their part, and lie within it.
  std::string mismatch(int sender, int receiver, const Transfer& send,
                       const Transfer& receive) const {
    const auto from = static_cast<std::size_t>(sender);
    const auto to = static_cast<std::size_t>(receiver);
    const bool same = receive.kind == Transfer::Kind::kReceiveCopy && send.count == receive.count &&
                      send.begin >= out_[from][to] &&
                      send.begin + send.count <= out_[from][to + 1] &&
                      send.begin - out_[from][to] == receive.begin - in_[to][from];
    if (same) return "";
    return "rank " + std::to_string(sender) + " sends " + range_text(send.begin, send.count) +
           " of what goes out, whose part for rank " + std::to_string(receiver) + " is " +
           range_text(out_[from][to], out_[from][to + 1] - out_[from][to]) +
           ", and that one puts it at " + range_text(receive.begin, receive.count) +
           " of what comes in, whose part is " +
           range_text(in_[to][from], in_[to][from + 1] - in_[to][from]) + ", in " +
           place_text(send);
  }

  std::string deliver(int, int receiver, const Transfer&, const Transfer& receive) {
    arrived_[static_cast<std::size_t>(receiver)].push_back(receive);
    return "";
  }

  std::string end_round(int) { return ""; }

  // Everything must have arrived once, except the part that a rank keeps.
  std::string check_complete() {
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      std::vector<Transfer>& arrived = arrived_[rank];
      arrived.push_back({Transfer::Kind::kReceiveCopy, static_cast<int>(rank), 0, 0,
                         in_[rank][rank], in_[rank][rank + 1] - in_[rank][rank]});
      std::erase_if(arrived, [](const Transfer& transfer) { return transfer.count == 0; });
      std::ranges::sort(arrived, {}, &Transfer::begin);
      std::size_t end = 0;
      for (const Transfer& transfer : arrived) {
        if (transfer.begin < end) {
          return twice(rank, transfer.begin,
                       std::min(end, transfer.begin + transfer.count) - transfer.begin);
        }
        if (transfer.begin > end) return missing(rank, end, transfer.begin - end);
        end = transfer.begin + transfer.count;
      }
      if (end < in_[rank].back()) return missing(rank, end, in_[rank].back() - end);
    }
    return "";
  }

 private:
  static std::string twice(std::size_t rank, std::size_t begin, std::size_t count) {
    return "rank " + std::to_string(rank) + " gets " + range_text(begin, count) + " twice";
  }
  static std::string missing(std::size_t rank, std::size_t begin, std::size_t count) {
    return "rank " + std::to_string(rank) + " ends without " + range_text(begin, count);
  }

  std::size_t ranks_;
  // [rank][peer]: where the part begins; one extra element
  std::vector<std::vector<std::size_t>> out_;
  std::vector<std::vector<std::size_t>> in_;
  std::vector<std::vector<Transfer>> arrived_;
};

}  // namespace

std::string check_all_to_all(const std::vector<std::vector<Transfer>>& transfers_of_rank,
                             const std::vector<std::vector<std::size_t>>& counts) {
  require_checkable(transfers_of_rank.size());
  if (counts.size() != transfers_of_rank.size()) {
    throw Error("the schedule checker was given the transfers of " +
                std::to_string(transfers_of_rank.size()) + " ranks and the parts of " +
                std::to_string(counts.size()));
  }
  ExchangeBuffers buffers(counts);
  const int ranks = static_cast<int>(transfers_of_rank.size());
  for (int rank = 0; rank < ranks; ++rank) {
    std::string fault = check_list(rank, transfers_of_rank[static_cast<std::size_t>(rank)], ranks,
                                   buffers.out_size(rank), buffers.in_size(rank));
    if (!fault.empty()) return fault;
  }
  std::string fault = run_chains(transfers_of_rank, buffers);
  return fault.empty() ? buffers.check_complete() : fault;
}

}  // namespace winnow::comm
