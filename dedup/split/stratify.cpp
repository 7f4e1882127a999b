#include "dedup/split/stratify.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

namespace winnow::dedup {
namespace {

using Amounts = std::vector<double>;  // number of samples for each part

constexpr double kEpsilon = 1e-4;  // above the rounding error of sums over 2^32 samples

struct Class {
  double samples = 0;
  double singles = 0;  // samples alone in their blocks, of this class only
  Amounts dealt;       // in other blocks
  Amounts levelled;    // the singles that each part wants
};

// Distributes `amount` over the parts so that all come as near as possible to their total shares,
// relatively. Parts that already have too much get nothing.
void level(std::span<const double> shares, const Amounts& have, double amount, Amounts& got) {
  got.assign(shares.size(), 0);
  std::array<bool, kMostParts> full{};
  for (bool settled = amount == 0; !settled;) {
    double share = 0;
    double sum = amount;
    for (std::size_t part = 0; part < shares.size(); ++part) {
      if (full[part]) continue;
      share += shares[part];
      sum += have[part];
    }
    settled = true;
    for (std::size_t part = 0; part < shares.size(); ++part) {
      if (full[part]) continue;
      got[part] = shares[part] * sum / share - have[part];
      if (got[part] >= 0) continue;
      got[part] = 0;
      full[part] = true;
      settled = false;
    }
  }
}

// The sums that blocks of one class can make in all parts but one, by dynamic programming. Each sum
// records the block that first reached it, and the part that took the block.
class Sums {
 public:
  Sums(const std::array<std::uint32_t, 2>& most, std::span<const std::uint32_t> sizes)
      : width_(most[0] + std::size_t{1}), height_(most[1] + std::size_t{1}), sizes_(sizes) {
    reached_.resize(width_ * height_, {kNever, 0});
    reached_[0] = {kStart, 0};
    for (std::uint32_t i = 0; i < sizes.size(); ++i) add(i);
  }
  static double work(const std::array<std::uint32_t, 2>& most, std::size_t blocks) {
    return (most[0] + 1.0) * (most[1] + 1.0) * static_cast<double>(blocks);
  }

  // Calls `take(sum, sum)` for all of them.
  template <class Take>
  void for_each(const Take& take) const {
    for (std::size_t y = 0; y < height_; ++y) {
      for (std::size_t x = 0; x < width_; ++x) {
        if (at(x, y).block != kNever) take(x, y);
      }
    }
  }
  // For each block the part (0 or 1) that takes it; 2: neither.
  std::vector<std::uint8_t> blocks_of(std::size_t x, std::size_t y) const {
    std::vector<std::uint8_t> parts(sizes_.size(), 2);
    for (Step step = at(x, y); step.block != kStart; step = at(x, y)) {
      parts[step.block] = step.part;
      (step.part == 0 ? x : y) -= sizes_[step.block];
    }
    return parts;
  }

 private:
  static constexpr std::uint32_t kNever = ~std::uint32_t{0};
  static constexpr std::uint32_t kStart = kNever - 1;
  struct Step {
    std::uint32_t block;
    std::uint8_t part;
  };

  const Step& at(std::size_t x, std::size_t y) const { return reached_[y * width_ + x]; }
  void add(std::uint32_t block) {
    const std::size_t size = sizes_[block];
    // Downwards, so that a block is not added to a sum that it just reached.
    for (std::size_t y = height_; y-- > 0;) {
      for (std::size_t x = width_; x-- > 0;) {
        Step& step = reached_[y * width_ + x];
        if (step.block != kNever) continue;
        if (x >= size && at(x - size, y).block != kNever) {
          step = {block, 0};
        } else if (y >= size && at(x, y - size).block != kNever) {
          step = {block, 1};
        }
      }
    }
  }

  std::size_t width_;
  std::size_t height_;
  std::span<const std::uint32_t> sizes_;
  std::vector<Step> reached_;
};

// The current assignment of blocks, and its distance from the target.
class Assignment {
 public:
  explicit Assignment(const StratifyInput& input)
      : in(input),
        parts(input.parts),
        classes(input.classes, {.dealt = Amounts(input.shares.size()), .levelled = {}}),
        sizes(input.shares.size()) {
    for (std::uint32_t block = 0; block < in.samples.size(); ++block) {
      for (const ClassCount& c : in.blocks[block]) {
        classes[c.label].samples += c.count;
        if (is_single(block)) classes[c.label].singles += 1;
      }
      samples_ += in.samples[block];
      largest_ = std::max<double>(largest_, in.samples[block]);
    }
    for (Class& c : classes) {
      level(in.shares, c.dealt, c.singles, c.levelled);
      add_to_sizes(c.levelled, 1);
    }
  }

  bool is_single(std::uint32_t block) const {
    return in.samples[block] == 1 && in.blocks[block].size() == 1 && in.parts[block] == kAnyPart;
  }
  double wanted(const Class& c, std::size_t part) const { return c.samples * in.shares[part]; }
  double wanted_size(std::size_t part) const { return samples_ * in.shares[part]; }
  double most_size(std::size_t part) const {
    const double quarter = samples_ * std::min(in.shares[part], 1 - in.shares[part]) / 4;
    return wanted_size(part) + std::max(quarter, largest_);
  }
  // Adds a block to a part, or removes it with `times` = -1.
  void place(std::uint32_t block, std::size_t part, double times) {
    for (const ClassCount& count : in.blocks[block]) {
      Class& c = classes[count.label];
      add_to_sizes(c.levelled, -1);
      c.dealt[part] += times * count.count;
      level(in.shares, c.dealt, c.singles, c.levelled);
      add_to_sizes(c.levelled, 1);
    }
    sizes[part] += times * in.samples[block];
    if (times > 0) parts[block] = static_cast<std::uint8_t>(part);
  }

  // Increase of the sum over its classes of (dealt - wanted)^2 / wanted if the block goes to this
  // part. All samples together count as one more class.
  double cost(std::uint32_t block, std::size_t part) const {
    const auto growth = [](double count, double have, double want) {
      return count * (2 * (have - want) + count) / want;
    };
    double sum = growth(in.samples[block], sizes[part], wanted_size(part));
    for (const ClassCount& count : in.blocks[block]) {
      const Class& c = classes[count.label];
      sum += growth(count.count, c.dealt[part], wanted(c, part));
    }
    return sum;
  }
  // The greatest deviation of the class from its share over the parts, in samples.
  double distance(const Class& c, const Amounts& dealt, const Amounts& levelled) const {
    double most = 0;
    for (std::size_t part = 0; part < in.shares.size(); ++part) {
      most = std::max(most, std::abs(dealt[part] + levelled[part] - wanted(c, part)));
    }
    return most;
  }

  bool is_off(const Class& c) const { return distance(c, c.dealt, c.levelled) > 1 + kEpsilon; }

  const StratifyInput& in;
  std::vector<std::uint8_t> parts;  // for each block
  std::vector<Class> classes;
  Amounts sizes;  // sizes of the parts, with the current distribution of singles

 private:
  void add_to_sizes(const Amounts& amounts, double times) {
    for (std::size_t part = 0; part < in.shares.size(); ++part)
      sizes[part] += times * amounts[part];
  }

  double samples_ = 0;
  double largest_ = 0;  // size of the largest block
};

std::uint8_t wish(const Assignment& a, std::uint32_t block) {
  return a.in.wishes.empty() ? kAnyPart : a.in.wishes[block];
}
bool has_room(const Assignment& a, std::uint32_t block, std::size_t part) {
  return a.sizes[part] + a.in.samples[block] <= a.most_size(part) &&
         std::ranges::all_of(a.in.blocks[block], [&](const ClassCount& count) {
           const Class& c = a.classes[count.label];
           return c.dealt[part] + count.count <= a.wanted(c, part);
         });
}
std::size_t best_part(const Assignment& a, std::uint32_t block) {
  if (wish(a, block) != kAnyPart && has_room(a, block, wish(a, block))) return wish(a, block);
  const auto merit = [&](std::size_t part) {
    const bool full = a.sizes[part] + 0.5 * a.in.samples[block] > a.most_size(part);
    return std::pair(full, a.cost(block, part));
  };
  std::size_t best = 0;
  for (std::size_t part = 1; part < a.in.shares.size(); ++part) {
    if (merit(part) < merit(best)) best = part;
  }
  return best;
}

// Assigns the blocks that are not singles, the hardest first.
void assign_blocks(Assignment& a) {
  struct Next {
    double weight;  // the largest share of one of its classes that the block holds
    std::uint32_t samples;
    std::uint64_t key;
    std::uint32_t block;
  };
  std::vector<Next> order;
  for (std::uint32_t block = 0; block < a.in.samples.size(); ++block) {
    if (a.is_single(block)) continue;
    if (a.in.parts[block] != kAnyPart) {
      a.place(block, a.in.parts[block], 1);
      continue;
    }
    Next next{0, a.in.samples[block], a.in.keys[block], block};
    for (const ClassCount& c : a.in.blocks[block]) {
      next.weight = std::max(next.weight, c.count / a.classes[c.label].samples);
    }
    order.push_back(next);
  }
  std::ranges::sort(order, [](const Next& x, const Next& y) {
    return std::tuple(-x.weight, y.samples, x.key, x.block) <
           std::tuple(-y.weight, x.samples, y.key, y.block);
  });
  for (const Next& next : order) a.place(next.block, best_part(a, next.block), 1);
}

// Requires at most three parts.
void mend(Assignment& a, Class& c, std::vector<std::uint32_t>& blocks, double& work_left) {
  std::ranges::sort(blocks, {},
                    [&](std::uint32_t block) { return std::pair(a.in.keys[block], block); });
  std::vector<std::uint32_t> sizes;
  Amounts others = c.dealt;  // this class in blocks that stay where they are
  for (const std::uint32_t block : blocks) {
    sizes.push_back(a.in.samples[block]);
    others[a.parts[block]] -= a.in.samples[block];
  }
  // The part that takes the remainder of the other two.
  const auto last =
      static_cast<std::size_t>(std::ranges::max_element(a.in.shares) - a.in.shares.begin());
  const std::array<std::size_t, 2> parts{last == 0 ? 1U : 0U, last == 2 ? 1U : 2U};
  const double sum = std::accumulate(sizes.begin(), sizes.end(), 0.0);
  const double largest = std::ranges::max(sizes);
  std::array<std::uint32_t, 2> most{};
  for (std::size_t i = 0; i + 1 < a.in.shares.size(); ++i) {
    const double want = std::max(0.0, a.wanted(c, parts[i]) - others[parts[i]]);
    most[i] = static_cast<std::uint32_t>(std::min(sum, std::ceil(want) + largest));
  }
  const double work = Sums::work(most, sizes.size());
  if (work > std::min(work_left, 2e7)) return;  // at most 80 MB
  work_left -= work;

  const Sums sums(most, sizes);
  struct Best {
    double distance;
    std::size_t x = 0;
    std::size_t y = 0;
  };
  Best best{a.distance(c, c.dealt, c.levelled) - kEpsilon};
  const double before = best.distance;
  Amounts dealt;
  Amounts levelled;
  sums.for_each([&](std::size_t x, std::size_t y) {
    dealt = others;
    dealt[parts[0]] += static_cast<double>(x);
    if (a.in.shares.size() > 2) dealt[parts[1]] += static_cast<double>(y);
    dealt[last] += sum - static_cast<double>(x) - static_cast<double>(y);
    if (dealt[last] < others[last]) return;
    level(a.in.shares, dealt, c.singles, levelled);
    const double far = a.distance(c, dealt, levelled);
    if (far >= best.distance) return;
    for (std::size_t part = 0; part < a.in.shares.size(); ++part) {
      const double now = c.dealt[part] + c.levelled[part];
      const double size = a.sizes[part] - now + dealt[part] + levelled[part];
      if (size > std::max(a.sizes[part], a.most_size(part))) return;
    }
    best = {far, x, y};
  });
  if (best.distance >= before) return;
  const std::vector<std::uint8_t> chosen = sums.blocks_of(best.x, best.y);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    a.place(blocks[i], a.parts[blocks[i]], -1);
    a.place(blocks[i], chosen[i] < 2 ? parts[chosen[i]] : last, 1);
  }
}

// Repairs classes that are off, by all sums that blocks with this class alone can make.
void mend_classes(Assignment& a) {
  if (a.in.shares.size() < 2 || a.in.shares.size() > 3) return;
  // Blocks of the classes to repair.
  std::vector<std::vector<std::uint32_t>> blocks(a.classes.size());
  for (std::uint32_t block = 0; block < a.in.samples.size(); ++block) {
    if (a.is_single(block) || a.in.parts[block] != kAnyPart || a.in.blocks[block].size() != 1) {
      continue;
    }
    const std::uint32_t label = a.in.blocks[block].front().label;
    if (a.is_off(a.classes[label])) blocks[label].push_back(block);
  }
  double work_left = 3e8;  // steps; a second or two
  for (std::uint32_t label = 0; label < a.classes.size(); ++label) {
    if (blocks[label].size() > 1) mend(a, a.classes[label], blocks[label], work_left);
  }
}

// Exchanges blocks while that helps.
class Exchange {
 public:
  explicit Exchange(Assignment& assignment) : a_(assignment) {}

  void run() {
    if (a_.in.shares.size() < 2 ||
        std::ranges::none_of(a_.classes, [&](const Class& c) { return a_.is_off(c); })) {
      return;
    }
    std::vector<std::vector<std::uint32_t>> blocks(a_.classes.size());
    for (std::uint32_t block = 0; block < a_.in.samples.size(); ++block) {
      if (a_.is_single(block) || a_.in.parts[block] != kAnyPart) continue;
      for (const ClassCount& c : a_.in.blocks[block]) blocks[c.label].push_back(block);
    }
    for (bool better = true; better;) {
      better = false;
      for (std::uint32_t label = 0; label < a_.classes.size(); ++label) {
        while (a_.is_off(a_.classes[label]) && improve_class(blocks[label])) better = true;
      }
    }
  }

 private:
  // The error of some classes: mainly by how much they are off by more than one.
  double fault(std::span<const ClassCount> counts) const {
    double sum = 0;
    for (const ClassCount& count : counts) {
      const Class& c = a_.classes[count.label];
      for (std::size_t part = 0; part < a_.in.shares.size(); ++part) {
        const double off = std::abs(c.dealt[part] + c.levelled[part] - a_.wanted(c, part));
        sum += std::pow(std::max(0.0, off - 1), 2) + 1e-3 * off * off;
      }
    }
    return sum;
  }

  struct Move {
    std::uint32_t block;
    std::size_t to;
  };
  // Moves blocks if that reduces the error and makes no part too large.
  bool improve(std::span<const Move> moves) {
    const auto sum = [&] {  // a class of two of the blocks counts twice, both before and after
      double all = 0;
      for (const Move& move : moves) all += fault(a_.in.blocks[move.block]);
      return all;
    };
    sizes_ = a_.sizes;
    const double before = sum();
    std::array<std::size_t, 2> from{};
    for (std::size_t i = 0; i < moves.size(); ++i) {
      work_left_ -= static_cast<double>(a_.in.blocks[moves[i].block].size()) * work_of_class_;
      from[i] = a_.parts[moves[i].block];
      a_.place(moves[i].block, from[i], -1);
      a_.place(moves[i].block, moves[i].to, 1);
    }
    bool better = sum() < before - kEpsilon;
    for (std::size_t part = 0; part < a_.in.shares.size(); ++part) {
      better = better && a_.sizes[part] <= std::max(sizes_[part], a_.most_size(part));
    }
    if (better) return true;
    for (std::size_t i = 0; i < moves.size(); ++i) {
      a_.place(moves[i].block, moves[i].to, -1);
      a_.place(moves[i].block, from[i], 1);
    }
    return false;
  }
  // Moves single blocks of a class; if that does not help, swaps pairs.
  bool improve_class(const std::vector<std::uint32_t>& blocks) {
    bool better = false;
    for (const std::uint32_t block : blocks) {
      for (std::size_t part = 0; part < a_.in.shares.size(); ++part) {
        if (work_left_ < 0) return false;
        if (part != a_.parts[block]) better = improve(std::array{Move{block, part}}) || better;
      }
    }
    if (better) return true;
    for (const std::uint32_t a : blocks) {
      for (const std::uint32_t b : blocks) {
        if (work_left_ < 0) return false;
        if (b >= a) break;  // they ascend
        if (a_.parts[a] == a_.parts[b]) continue;
        better = improve(std::array{Move{a, a_.parts[b]}, Move{b, a_.parts[a]}}) || better;
      }
    }
    return better;
  }

  Assignment& a_;
  double work_left_ = 1e7;  // classes of three parts that may be examined; seconds
  const double work_of_class_ = std::max(1.0, static_cast<double>(a_.in.shares.size()) / 3);
  Amounts sizes_;  // before a move
};

// The singles of a class for each part, rounded to sum up to `sum`. Records the effect in
// `lacking`.
std::vector<std::size_t> round(const Assignment& a, const Class& c, std::size_t sum,
                               Amounts& lacking) {
  std::vector<std::size_t> counts(a.in.shares.size());
  // Parts that may be rounded up: whether they must be.
  std::vector<std::pair<bool, std::size_t>> up;
  for (std::size_t part = 0; part < a.in.shares.size(); ++part) {
    const double exact = c.levelled[part];
    counts[part] = static_cast<std::size_t>(exact + kEpsilon);
    const auto less = static_cast<double>(counts[part]);
    sum -= counts[part];
    lacking[part] += exact - less;
    const bool must = c.dealt[part] + less < a.wanted(c, part) - 1 - kEpsilon;
    if (exact - less > kEpsilon) up.emplace_back(must, part);
  }
  std::ranges::stable_sort(up, std::ranges::greater{}, [&](const auto& part) {
    return std::pair(part.first, lacking[part.second]);
  });
  for (const auto& [must, part] : std::span(up).first(sum)) {
    ++counts[part];
    lacking[part] -= 1;
  }
  return counts;
}

void assign_singles(Assignment& a) {
  struct Single {
    std::uint32_t label;
    std::uint32_t block;
    std::uint64_t key;
  };
  std::vector<Single> singles;
  for (std::uint32_t block = 0; block < a.in.samples.size(); ++block) {
    if (!a.is_single(block)) continue;
    singles.push_back({a.in.blocks[block].front().label, block, a.in.keys[block]});
  }
  std::ranges::sort(singles, [](const Single& x, const Single& y) {
    return std::tuple(x.label, x.key, x.block) < std::tuple(y.label, y.key, y.block);
  });
  std::vector<std::span<const Single>> of_class;
  for (auto at = singles.begin(); at != singles.end();) {
    const auto end =
        std::find_if(at, singles.end(), [&](const Single& s) { return s.label != at->label; });
    of_class.emplace_back(at, end);
    at = end;
  }
  std::ranges::sort(of_class, {}, [](std::span<const Single> all) {
    return std::pair(all.front().key, all.front().block);
  });
  // The size that each part lacks. Rounding up where most is lacking, class after class, diffuses
  // the rounding error and any remainder of the blocks.
  Amounts lacking(a.in.shares.size());
  for (std::size_t part = 0; part < a.in.shares.size(); ++part) {
    lacking[part] = a.wanted_size(part) - a.sizes[part];
  }
  for (const std::span<const Single> all : of_class) {
    auto left = round(a, a.classes[all.front().label], all.size(), lacking);
    const auto take = [&](std::uint32_t block, std::size_t part) {
      if (left[part] == 0) return false;
      --left[part];
      a.parts[block] = static_cast<std::uint8_t>(part);
      return true;
    };
    std::vector<std::uint32_t> others;
    for (const Single& single : all) {
      const std::uint8_t part = wish(a, single.block);
      if (part == kAnyPart || !take(single.block, part)) others.push_back(single.block);
    }
    std::size_t part = 0;
    for (const std::uint32_t block : others) {
      while (!take(block, part)) ++part;
    }
  }
}

}  // namespace

std::vector<std::uint8_t> assign_stratified(const StratifyInput& input) {
  Assignment assignment(input);
  assign_blocks(assignment);
  mend_classes(assignment);
  Exchange(assignment).run();
  assign_singles(assignment);
  return std::move(assignment.parts);
}

}  // namespace winnow::dedup
