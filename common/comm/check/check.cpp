#include "common/comm/check/check.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>

#include "common/error.h"

namespace winnow::comm {

namespace {

constexpr int kMaxRanks = 64;  // bits of a set of ranks
using RankSet = std::uint64_t;
using StepLists = std::vector<std::vector<Step>>;

std::string range_text(std::size_t begin, std::size_t count) {
  return "elements [" + std::to_string(begin) + ", " + std::to_string(begin + count) + ")";
}

std::string place_text(const Step& step) {
  return "chain " + std::to_string(step.chain) + ", round " + std::to_string(step.round);
}

bool overlap(const Step& a, const Step& b) {
  return a.begin < b.begin + b.count && b.begin < a.begin + a.count;
}

// A rank's list by itself: order, peers and ranges.
std::string check_list(int rank, std::span<const Step> steps, int ranks, std::size_t count) {
  const std::string who = "rank " + std::to_string(rank);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    if (step.peer < 0 || step.peer >= ranks || step.peer == rank) {
      return who + " names the peer " + std::to_string(step.peer) + " in " + place_text(step);
    }
    if (step.begin > count || step.count > count - step.begin) {
      return who + " touches " + range_text(step.begin, step.count) + " of " +
             std::to_string(count) + " in " + place_text(step);
    }
    if (i > 0 &&
        std::tie(steps[i - 1].chain, steps[i - 1].round) > std::tie(step.chain, step.round)) {
      return who + " lists " + place_text(step) + " after " + place_text(steps[i - 1]);
    }
  }
  return "";
}

// Chains may run in any order against each other, so on one rank their ranges must not meet.
std::string check_chains_apart(int rank, std::span<const Step> steps) {
  std::vector<Step> sorted(steps.begin(), steps.end());
  std::erase_if(sorted, [](const Step& step) { return step.count == 0; });
  std::ranges::stable_sort(sorted, {}, &Step::begin);
  // The furthest end so far, and the furthest of any other chain than that one's.
  std::size_t furthest = 0;
  std::size_t second = 0;
  int furthest_chain = std::numeric_limits<int>::min();
  int second_chain = furthest_chain;
  for (const Step& step : sorted) {
    const bool same = step.chain == furthest_chain;
    if (step.begin < (same ? second : furthest)) {
      return "rank " + std::to_string(rank) + " touches " + range_text(step.begin, step.count) +
             " in chain " + std::to_string(step.chain) + " and in chain " +
             std::to_string(same ? second_chain : furthest_chain);
    }
    const std::size_t end = step.begin + step.count;
    if (same) {
      furthest = std::max(furthest, end);
    } else if (end > furthest) {
      second = furthest;
      second_chain = furthest_chain;
      furthest = end;
      furthest_chain = step.chain;
    } else if (end > second) {
      second = end;
      second_chain = step.chain;
    }
  }
  return "";
}

// The steps of one round run together: what one of them writes no other may touch, except that
// several may add to the same range.
std::string check_round(int rank, std::span<const Step> round) {
  for (std::size_t i = 0; i < round.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const bool harmless =
          round[i].kind == round[j].kind && round[i].kind != Step::Kind::kReceiveCopy;
      if (!harmless && overlap(round[i], round[j])) {
        return "rank " + std::to_string(rank) + " has two steps of " + place_text(round[i]) +
               " that meet in " + range_text(round[i].begin, round[i].count);
      }
    }
  }
  return "";
}

// What each rank's buffer holds, as sets of ranks over the elementary ranges: those that no step
// cuts.
class Buffers {
 public:
  Buffers(const StepLists& steps_of_rank, std::size_t count) {
    cuts_ = {0, count};
    for (const auto& steps : steps_of_rank) {
      for (const Step& step : steps) {
        cuts_.push_back(step.begin);
        cuts_.push_back(step.begin + step.count);
      }
    }
    std::ranges::sort(cuts_);
    const auto repeated = std::ranges::unique(cuts_);
    cuts_.erase(repeated.begin(), repeated.end());
    for (std::size_t rank = 0; rank < steps_of_rank.size(); ++rank) {
      held_.emplace_back(cuts_.size() - 1, RankSet{1} << rank);
    }
  }

  // Moves what `send` of rank `from` says into the buffer of rank `to`; returns the ranks whose
  // contribution is now in twice.
  RankSet deliver(int from, int to, const Step& receive) {
    const std::vector<RankSet>& source = held_[static_cast<std::size_t>(from)];
    std::vector<RankSet>& target = held_[static_cast<std::size_t>(to)];
    RankSet twice = 0;
    for (std::size_t i = index(receive.begin); cuts_[i] < receive.begin + receive.count; ++i) {
      if (receive.kind == Step::Kind::kReceiveAdd) {
        twice |= target[i] & source[i];
        target[i] |= source[i];
      } else {
        target[i] = source[i];
      }
    }
    return twice;
  }

  std::string check_complete() const {
    const std::size_t ranks = held_.size();
    const RankSet all = std::numeric_limits<RankSet>::max() >> (kMaxRanks - ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      for (std::size_t i = 0; i + 1 < cuts_.size(); ++i) {
        const RankSet missing = all & ~held_[rank][i];
        if (missing != 0) {
          return "rank " + std::to_string(rank) + " ends without the contribution of rank " +
                 std::to_string(std::countr_zero(missing)) + " in " +
                 range_text(cuts_[i], cuts_[i + 1] - cuts_[i]);
        }
      }
    }
    return "";
  }

 private:
  std::size_t index(std::size_t begin) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(cuts_, begin) - cuts_.begin());
  }

  std::vector<std::size_t> cuts_;
  std::vector<std::vector<RankSet>> held_;  // [rank][elementary range]
};

// One chain on all ranks. A message moves only when its sender and its receiver have both reached
// its round: what works so works with any amount of buffering in between.
class ChainRun {
 public:
  ChainRun(std::vector<std::span<const Step>> steps_of_rank, Buffers& buffers)
      : buffers_(buffers), parties_(steps_of_rank.size()) {
    for (std::size_t rank = 0; rank < parties_.size(); ++rank) {
      parties_[rank].steps = steps_of_rank[rank];
      parties_[rank].partner.resize(steps_of_rank[rank].size());
      parties_[rank].moved.resize(steps_of_rank[rank].size());
    }
  }

  std::string run() {
    if (std::string fault = match_messages(); !fault.empty()) return fault;
    for (std::size_t rank = 0; rank < parties_.size(); ++rank) entering_.push_back(rank);
    while (!entering_.empty()) {
      const std::size_t rank = entering_.back();
      entering_.pop_back();
      if (std::string fault = enter_round(rank); !fault.empty()) return fault;
    }
    return check_finished();
  }

 private:
  struct Party {
    std::span<const Step> steps;
    std::vector<std::size_t> partner;  // of each step: the index of the peer's step
    std::vector<bool> moved;           // of each step
    std::size_t begin = 0;             // the current round is steps [begin, end)
    std::size_t end = 0;
    std::size_t waiting = 0;  // of the current round
  };
  struct Message {
    int sender;
    int receiver;
    std::size_t index;  // in the list of the rank that has the step
  };

  // Pairs the i-th send with the i-th receive of each sender and receiver.
  std::string match_messages() {
    std::vector<Message> sent;
    std::vector<Message> received;
    for (std::size_t rank = 0; rank < parties_.size(); ++rank) {
      const int me = static_cast<int>(rank);
      for (std::size_t i = 0; i < parties_[rank].steps.size(); ++i) {
        const Step& step = parties_[rank].steps[i];
        if (step.kind == Step::Kind::kSend) {
          sent.push_back({me, step.peer, i});
        } else {
          received.push_back({step.peer, me, i});
        }
      }
    }
    const auto route = [](const Message& m) { return std::pair(m.sender, m.receiver); };
    std::ranges::stable_sort(sent, {}, route);
    std::ranges::stable_sort(received, {}, route);
    for (std::size_t i = 0; i < std::max(sent.size(), received.size()); ++i) {
      const bool lost =
          i >= received.size() || (i < sent.size() && route(sent[i]) < route(received[i]));
      if (lost) {
        return "rank " + std::to_string(sent[i].sender) + " sends to rank " +
               std::to_string(sent[i].receiver) + " what is never received, in " +
               place_text(step_of(sent[i].sender, sent[i].index));
      }
      if (i >= sent.size() || route(sent[i]) != route(received[i])) {
        return "rank " + std::to_string(received[i].receiver) + " waits for rank " +
               std::to_string(received[i].sender) + ", which does not send, in " +
               place_text(step_of(received[i].receiver, received[i].index));
      }
      const auto [sender, receiver, send_index] = sent[i];
      const std::size_t receive_index = received[i].index;
      const Step& send = step_of(sender, send_index);
      const Step& receive = step_of(receiver, receive_index);
      if (send.begin != receive.begin || send.count != receive.count) {
        return "rank " + std::to_string(sender) + " sends " + range_text(send.begin, send.count) +
               " which rank " + std::to_string(receiver) + " takes for " +
               range_text(receive.begin, receive.count) + ", in " + place_text(send);
      }
      party(sender).partner[send_index] = receive_index;
      party(receiver).partner[receive_index] = send_index;
    }
    return "";
  }

  // Begins the next round of `rank` and moves every message whose other side is already there.
  std::string enter_round(std::size_t rank) {
    Party& me = parties_[rank];
    me.begin = me.end;
    while (me.end < me.steps.size() && me.steps[me.end].round == me.steps[me.begin].round) ++me.end;
    me.waiting = me.end - me.begin;
    const auto round = me.steps.subspan(me.begin, me.waiting);
    if (std::string fault = check_round(static_cast<int>(rank), round); !fault.empty()) {
      return fault;
    }
    for (std::size_t i = me.begin; i < me.end; ++i) {
      const int peer = me.steps[i].peer;
      const std::size_t at = me.partner[i];
      Party& other = party(peer);
      if (at < other.begin || at >= other.end) continue;
      const bool sending = me.steps[i].kind == Step::Kind::kSend;
      const int sender = sending ? static_cast<int>(rank) : peer;
      const int receiver = sending ? peer : static_cast<int>(rank);
      const Step& receive = sending ? other.steps[at] : me.steps[i];
      if (const RankSet twice = buffers_.deliver(sender, receiver, receive); twice != 0) {
        return "rank " + std::to_string(receiver) + " adds the contribution of rank " +
               std::to_string(std::countr_zero(twice)) + " a second time, in " +
               place_text(receive) + ", " + range_text(receive.begin, receive.count);
      }
      me.moved[i] = other.moved[at] = true;
      if (--other.waiting == 0) entering_.push_back(static_cast<std::size_t>(peer));
      --me.waiting;
    }
    if (me.waiting == 0 && me.end > me.begin) entering_.push_back(rank);
    return "";
  }

  std::string check_finished() const {
    for (std::size_t rank = 0; rank < parties_.size(); ++rank) {
      const Party& me = parties_[rank];
      for (std::size_t i = 0; i < me.steps.size(); ++i) {
        if (me.moved[i]) continue;
        return "rank " + std::to_string(rank) + " waits forever for rank " +
               std::to_string(me.steps[i].peer) + " in " + place_text(me.steps[i]) +
               ": the ranks wait for each other in a circle";
      }
    }
    return "";
  }

  Party& party(int rank) { return parties_[static_cast<std::size_t>(rank)]; }
  const Step& step_of(int rank, std::size_t index) { return party(rank).steps[index]; }

  Buffers& buffers_;
  std::vector<Party> parties_;
  std::vector<std::size_t> entering_;  // ranks whose current round is done
};

}  // namespace

std::string check_all_reduce(const std::vector<std::vector<Step>>& steps_of_rank,
                             std::size_t count) {
  if (steps_of_rank.empty() || steps_of_rank.size() > kMaxRanks) {
    throw Error("the schedule checker takes 1 to 64 ranks, not " +
                std::to_string(steps_of_rank.size()));
  }
  const std::size_t ranks = steps_of_rank.size();
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const int who = static_cast<int>(rank);
    std::string fault = check_list(who, steps_of_rank[rank], static_cast<int>(ranks), count);
    if (fault.empty()) fault = check_chains_apart(who, steps_of_rank[rank]);
    if (!fault.empty()) return fault;
  }

  Buffers buffers(steps_of_rank, count);
  std::vector<std::size_t> done(ranks);  // steps of each rank in chains already run
  for (;;) {
    int chain = std::numeric_limits<int>::max();
    bool left = false;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (done[rank] == steps_of_rank[rank].size()) continue;
      chain = std::min(chain, steps_of_rank[rank][done[rank]].chain);
      left = true;
    }
    if (!left) return buffers.check_complete();
    std::vector<std::span<const Step>> of_chain(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const std::span<const Step> rest = std::span(steps_of_rank[rank]).subspan(done[rank]);
      const auto end = std::ranges::find_if(rest, [&](const Step& s) { return s.chain != chain; });
      of_chain[rank] = rest.first(static_cast<std::size_t>(end - rest.begin()));
      done[rank] += of_chain[rank].size();
    }
    if (std::string fault = ChainRun(std::move(of_chain), buffers).run(); !fault.empty()) {
      return fault;
    }
  }
}

std::vector<Traffic> traffic(const std::vector<std::vector<Step>>& steps_of_rank) {
  std::vector<Traffic> out(steps_of_rank.size());
  for (std::size_t rank = 0; rank < steps_of_rank.size(); ++rank) {
    for (const Step& step : steps_of_rank[rank]) {
      if (step.kind == Step::Kind::kSend) {
        out[rank].sent += step.count;
      } else {
        out[rank].received += step.count;
        if (step.kind == Step::Kind::kReceiveAdd) out[rank].added += step.count;
      }
    }
  }
  return out;
}

}  // namespace winnow::comm
