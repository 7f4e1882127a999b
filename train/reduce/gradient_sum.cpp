#include "train/reduce/gradient_sum.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "train/reduce/fixed_point.h"

namespace winnow::train {
namespace {

using Bucket = GradientLayout::Bucket;

class FloatSum final : public GradientSum {
 public:
  FloatSum(const GradientLayout& layout, comm::Communicator& comm, SumOptions options)
      : layout_(layout),
        comm_(comm),
        options_(std::move(options)),
        reducing_(layout.buckets.size()) {
    for (const int count : options_.micro_batches) {
      Lane lane{.sum = std::vector<float>(layout.elements)};
      if (count > 1) lane.one.resize(layout.elements);
      lanes_.push_back(std::move(lane));
    }
  }

  // A lane with a single micro-batch writes its sum at once.
  std::span<float> written(int lane) noexcept override {
    Lane& l = lanes_[static_cast<std::size_t>(lane)];
    return l.one.empty() ? l.sum : l.one;
  }

  void add(int lane, std::size_t bucket, bool first) override {
    Lane& l = lanes_[static_cast<std::size_t>(lane)];
    if (l.one.empty()) return;
    if (first) {
      std::ranges::copy(part(l.one, bucket), part(l.sum, bucket).begin());
    } else {
      add_to(part(l.sum, bucket), part(l.one, bucket));
    }
  }

  void reduce(std::size_t bucket) override {
    const std::span<float> sum = part(lanes_[0].sum, bucket);
    for (std::size_t lane = 1; lane < lanes_.size(); ++lane) {
      add_to(sum, part(lanes_[lane].sum, bucket));
    }
    reducing_[bucket] = comm_.start_all_reduce(sum, *options_.schedule, options_.schedule_options);
  }

  Outcome finish() override {
    for (comm::Pending& pending : reducing_) pending.wait();
    return Outcome::kDone;
  }

  std::span<const float> values() const noexcept override { return lanes_[0].sum; }

  bool is_finite(std::size_t slot) const override {
    const GradientLayout::Slot& s = layout_.slots[slot];
    return std::ranges::all_of(values().subspan(s.offset, s.count),
                               [](float value) { return std::isfinite(value); });
  }

  std::map<std::string, std::int32_t> state() const override { return {}; }
  void restore(const std::map<std::string, std::int32_t>&) override {}

 private:
  struct Lane {
    std::vector<float> one{};  // a micro-batch; empty where there is but one
    std::vector<float> sum{};
  };

  std::span<float> part(std::vector<float>& all, std::size_t bucket) const {
    const Bucket& b = layout_.buckets[bucket];
    return std::span(all).subspan(b.offset, b.count);
  }

  static void add_to(std::span<float> sum, std::span<const float> term) {
    std::ranges::transform(sum, term, sum.begin(), std::plus<>());
  }

  const GradientLayout& layout_;
  comm::Communicator& comm_;
  const SumOptions options_;
  std::vector<Lane> lanes_;
  std::vector<comm::Pending> reducing_;  // after what they work on
};

class FixedPointSum final : public GradientSum {
 public:
  FixedPointSum(const GradientLayout& layout, std::vector<std::string> names,
                comm::Communicator& comm, SumOptions options)
      : layout_(layout),
        names_(std::move(names)),
        comm_(comm),
        options_(std::move(options)),
        bits_(fixed_point_bits(options_.total_micro_batches)),
        capacities_(names_.size(), kNoExponent),
        values_(layout.elements),
        reducing_(layout.buckets.size()) {
    for (const GradientLayout::Slot& slot : layout.slots)
      parts_.push_back({slot.offset, slot.count});
    for (std::size_t at = layout.tail_offset; at < layout.elements; ++at) parts_.push_back({at, 1});
    for (std::size_t lane = 0; lane < options_.micro_batches.size(); ++lane) {
      lanes_.push_back({.one = std::vector<float>(layout.elements),
                        .sum = std::vector<std::int32_t>(layout.elements),
                        .exponents = std::vector<std::int32_t>(names_.size())});
    }
  }

  std::span<float> written(int lane) noexcept override {
    return lanes_[static_cast<std::size_t>(lane)].one;
  }

  void add(int lane, std::size_t bucket, bool first) override {
    Lane& l = lanes_[static_cast<std::size_t>(lane)];
    for (std::size_t i = first_part(bucket); i < last_part(bucket); ++i) {
      const Part& part = parts_[i];
      const auto values = std::span<const float>(l.one).subspan(part.offset, part.count);
      const auto sum = std::span(l.sum).subspan(part.offset, part.count);
      const std::int32_t exponent = exponent_of(values);
      if (first) std::ranges::fill(sum, 0);
      l.exponents[i] = first ? exponent : std::max(l.exponents[i], exponent);
      if (fits(exponent, capacities_[i])) add_fixed_point(values, capacities_[i], bits_, sum);
    }
  }

  void reduce(std::size_t bucket) override {
    const Bucket& b = layout_.buckets[bucket];
    Lane& mine = lanes_[0];
    for (std::size_t lane = 1; lane < lanes_.size(); ++lane) {
      for (std::size_t i = b.offset; i < b.offset + b.count; ++i)
        mine.sum[i] += lanes_[lane].sum[i];
      for (std::size_t i = first_part(bucket); i < last_part(bucket); ++i) {
        mine.exponents[i] = std::max(mine.exponents[i], lanes_[lane].exponents[i]);
      }
    }
    reducing_[bucket] = comm_.start_all_reduce(std::span(mine.sum).subspan(b.offset, b.count),
                                               comm::Reduction::kSum, *options_.schedule,
                                               options_.schedule_options);
    if (bucket + 1 < layout_.buckets.size()) return;
    reducing_exponents_ = comm_.start_all_reduce(std::span(mine.exponents), comm::Reduction::kMax,
                                                 *options_.schedule, options_.schedule_options);
  }

  // From here on every rank has the same numbers before it, and decides the same.
  Outcome finish() override {
    for (comm::Pending& pending : reducing_) pending.wait();
    reducing_exponents_.wait();
    const std::vector<std::int32_t>& found = lanes_[0].exponents;
    if (std::ranges::find(found, kNotFinite) != found.end()) return Outcome::kNotFinite;
    bool repeat = false;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (fits(found[i], capacities_[i])) continue;
      capacities_[i] = next_capacity(found[i], kNoExponent);
      repeat = true;
    }
    if (repeat) return Outcome::kRepeat;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Part& part = parts_[i];
      from_fixed_point(
          std::span<const std::int32_t>(lanes_[0].sum).subspan(part.offset, part.count),
          capacities_[i], bits_, std::span(values_).subspan(part.offset, part.count));
      capacities_[i] = next_capacity(found[i], capacities_[i]);
    }
    return Outcome::kDone;
  }

  std::span<const float> values() const noexcept override { return values_; }

  bool is_finite(std::size_t slot) const override {
    return lanes_[0].exponents[slot] != kNotFinite;
  }

  std::map<std::string, std::int32_t> state() const override {
    std::map<std::string, std::int32_t> state;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (capacities_[i] != kNoExponent) state[names_[i]] = capacities_[i];
    }
    return state;
  }

  void restore(const std::map<std::string, std::int32_t>& state) override {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const auto found = state.find(names_[i]);
      capacities_[i] = found == state.end() ? kNoExponent : found->second;
    }
  }

 private:
  struct Lane {
    std::vector<float> one;  // a micro-batch
    std::vector<std::int32_t> sum;
    std::vector<std::int32_t> exponents;  // of each part, the largest of the micro-batches
  };
  // What shares a power of two: a tensor, or one number of the tail.
  struct Part {
    std::size_t offset;
    std::size_t count;
  };

  std::size_t first_part(std::size_t bucket) const { return layout_.buckets[bucket].first_slot; }
  std::size_t last_part(std::size_t bucket) const {
    const bool last = bucket + 1 == layout_.buckets.size();
    return last ? parts_.size() : layout_.buckets[bucket].last_slot;
  }

  const GradientLayout& layout_;
  const std::vector<std::string> names_;
  comm::Communicator& comm_;
  const SumOptions options_;
  const int bits_;
  std::vector<Part> parts_;
  std::vector<std::int32_t> capacities_;
  std::vector<Lane> lanes_;
  std::vector<float> values_;
  std::vector<comm::Pending> reducing_;  // after what they work on
  comm::Pending reducing_exponents_;
};

}  // namespace

std::unique_ptr<GradientSum> make_float_sum(const GradientLayout& layout, comm::Communicator& comm,
                                            SumOptions options) {
  return std::make_unique<FloatSum>(layout, comm, std::move(options));
}

std::unique_ptr<GradientSum> make_fixed_point_sum(const GradientLayout& layout,
                                                  std::vector<std::string> names,
                                                  comm::Communicator& comm, SumOptions options) {
  return std::make_unique<FixedPointSum>(layout, std::move(names), comm, std::move(options));
}

}  // namespace winnow::train
