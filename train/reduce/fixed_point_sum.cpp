#include <algorithm>
#include <atomic>

#include "common/error.h"
#include "train/reduce/fixed_point.h"
#include "train/reduce/gradient_sum.h"
#include "train/reduce/gradient_sum_internal.h"

namespace winnow::train {
namespace {

// Sets `largest` to the maximum of both. Thread-safe.
void raise_to(std::int32_t& largest, std::int32_t value) noexcept {
  const std::atomic_ref<std::int32_t> at(largest);
  std::int32_t before = at.load();
  while (before < value && !at.compare_exchange_weak(before, value)) {
  }
}

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
        written_at_(capacities_),
        exponents_(names_.size()),
        values_(layout.elements),
        reducing_(layout.buckets.size()) {
    for (const GradientLayout::Tensor& tensor : layout.tensors) ends_.push_back(tensor.offset);
    for (std::size_t at = layout.tail_offset; at < layout.elements; ++at) ends_.push_back(at);
    ends_.push_back(layout.elements);
    ends_.erase(ends_.begin());
    for (std::size_t lane = 0; lane < options_.micro_batches.size(); ++lane) {
      lanes_.push_back({.one = std::vector<float>(layout.elements),
                        .sum = std::vector<std::int64_t>(layout.elements)});
    }
  }

  std::span<float> written(int lane) noexcept override {
    return lanes_[static_cast<std::size_t>(lane)].one;
  }

  void begin() noexcept override { std::ranges::fill(exponents_, kNoExponent); }

  void add(int lane, std::size_t bucket, bool first, Part part) override {
    Lane& l = lanes_[static_cast<std::size_t>(lane)];
    const GradientLayout::Bucket& b = layout_.buckets[bucket];
    for_each_number(elements_of(part, b.offset, b.count), [&](std::size_t i, Elements range) {
      const auto values = std::span<const float>(l.one).subspan(range.begin, range.size());
      const auto sum = std::span(l.sum).subspan(range.begin, range.size());
      const std::int32_t exponent = exponent_of(values);
      if (first) std::ranges::fill(sum, 0);
      raise_to(exponents_[i], exponent);
      if (fits(exponent, capacities_[i])) add_fixed_point(values, capacities_[i], bits_, sum);
    });
  }

  void add_lanes(std::size_t bucket, Part part) override {
    const GradientLayout::Bucket& b = layout_.buckets[bucket];
    const Elements range = elements_of(part, b.offset, b.count);
    const auto cut = [&](Lane& lane) {
      return std::span(lane.sum).subspan(range.begin, range.size());
    };
    for (std::size_t lane = 1; lane < lanes_.size(); ++lane) {
      add_to(cut(lanes_[0]), std::span<const std::int64_t>(cut(lanes_[lane])));
    }
  }

  void reduce(std::size_t bucket) override {
    const GradientLayout::Bucket& b = layout_.buckets[bucket];
    reducing_[bucket] = comm_.start(
        {.buffer = std::span(lanes_[0].sum).subspan(b.offset, b.count), .group = options_.group},
        options_.transfers->buckets[bucket]);
    if (bucket + 1 < layout_.buckets.size()) return;
    reducing_exponents_ = comm_.start({.buffer = std::span(exponents_),
                                       .reduction = comm::Reduction::kMax,
                                       .group = options_.group},
                                      options_.transfers->exponents);
  }

  // From here on, every rank has the same numbers and makes the same decision.
  Outcome finish() override {
    for (comm::Pending& pending : reducing_) pending.wait();
    reducing_exponents_.wait();
    if (std::ranges::find(exponents_, kNotFinite) != exponents_.end()) return Outcome::kNotFinite;
    written_at_ = capacities_;
    bool repeat = false;
    for (std::size_t i = 0; i < capacities_.size(); ++i) {
      if (fits(exponents_[i], capacities_[i])) continue;
      capacities_[i] = next_capacity(exponents_[i], kNoExponent);
      repeat = true;
    }
    if (repeat) return Outcome::kRepeat;
    for (std::size_t i = 0; i < capacities_.size(); ++i) {
      capacities_[i] = next_capacity(exponents_[i], capacities_[i]);
    }
    return Outcome::kDone;
  }

  std::span<const float> read(Part part) noexcept override {
    const Elements all = elements_of(part, 0, layout_.elements);
    for_each_number(all, [&](std::size_t i, Elements range) {
      from_fixed_point(
          std::span<const std::int64_t>(lanes_[0].sum).subspan(range.begin, range.size()),
          written_at_[i], bits_, std::span(values_).subspan(range.begin, range.size()));
    });
    return values().subspan(all.begin, all.size());
  }

  std::span<float> values() noexcept override { return values_; }

  bool is_finite(std::size_t tensor) const override { return exponents_[tensor] != kNotFinite; }

  std::map<std::string, std::int32_t> state() const override {
    std::map<std::string, std::int32_t> state;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (capacities_[i] != kNoExponent) state[names_[i]] = capacities_[i];
    }
    return state;
  }

  void restore(const std::map<std::string, std::int32_t>& state) override {
    for (const auto& [name, capacity] : state) {
      if (is_capacity(capacity)) continue;
      throw FormatError("the checkpoint has an impossible upper limit for the gradients of " +
                        name + ", 2^" + std::to_string(capacity) +
                        "; resume from an older checkpoint");
    }
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const auto found = state.find(names_[i]);
      capacities_[i] = found == state.end() ? kNoExponent : found->second;
    }
  }

 private:
  struct Lane {
    std::vector<float> one;  // for one micro-batch
    std::vector<std::int64_t> sum;
  };

  // Calls what(i, range) for each entry i of names_ that has elements in `range`, with those
  // elements.
  template <class F>
  void for_each_number(Elements range, const F& what) const {
    auto end = std::ranges::upper_bound(ends_, range.begin);
    while (range.begin < range.end) {
      const std::size_t stop = std::min(*end, range.end);
      what(static_cast<std::size_t>(end - ends_.begin()), Elements{range.begin, stop});
      range.begin = stop;
      ++end;
    }
  }

  const GradientLayout& layout_;
  const std::vector<std::string> names_;
  comm::Communicator& comm_;
  const SumOptions options_;
  const int bits_;
  std::vector<std::size_t> ends_;         // for each of names_, one past its last element
  std::vector<std::int32_t> capacities_;  // for each of names_, for the next values
  // capacities with which the sums of the last step were written
  std::vector<std::int32_t> written_at_;
  std::vector<std::int32_t> exponents_;  // for each of names_, over the values of all micro-batches
  std::vector<Lane> lanes_;
  std::vector<float> values_;
  std::vector<comm::Pending> reducing_;  // destroyed before the memory it works on
  comm::Pending reducing_exponents_;
};

}  // namespace

std::size_t exponent_count(const GradientLayout& layout) noexcept {
  return layout.tensors.size() + (layout.elements - layout.tail_offset);
}

SumBytes bytes_of_sums(const GradientLayout& layout, bool whole_numbers) noexcept {
  const std::size_t floats = sizeof(float) * layout.elements;
  if (!whole_numbers) return {.lane = floats, .further = floats};
  return {.lane = floats + sizeof(std::int64_t) * layout.elements, .shared = floats};
}

std::unique_ptr<GradientSum> make_fixed_point_sum(const GradientLayout& layout,
                                                  std::vector<std::string> names,
                                                  comm::Communicator& comm, SumOptions options) {
  return std::make_unique<FixedPointSum>(layout, std::move(names), comm, std::move(options));
}

}  // namespace winnow::train
