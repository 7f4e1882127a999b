#include <algorithm>
#include <cmath>

#include "common/small_float.h"
#include "train/reduce/gradient_sum.h"
#include "train/reduce/gradient_sum_internal.h"

namespace winnow::train {
namespace {

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
    if (options_.error_feedback && comm.size() > 1) lost_.resize(layout.elements);
  }

  // A lane with a single micro-batch writes directly into its sum.
  std::span<float> written(int lane) noexcept override {
    Lane& l = lanes_[static_cast<std::size_t>(lane)];
    return l.one.empty() ? l.sum : l.one;
  }

  void begin() noexcept override {}

  void add(int lane, std::size_t bucket, bool first, Part part) override {
    Lane& l = lanes_[static_cast<std::size_t>(lane)];
    if (l.one.empty()) return;
    const std::span<const float> one = cut(l.one, bucket, part);
    const std::span<float> sum = cut(l.sum, bucket, part);
    if (first) {
      std::ranges::copy(one, sum.begin());
    } else {
      add_to(sum, one);
    }
  }

  void add_lanes(std::size_t bucket, Part part) override {
    const std::span<float> sum = cut(lanes_[0].sum, bucket, part);
    for (std::size_t lane = 1; lane < lanes_.size(); ++lane) {
      add_to(sum, std::span<const float>(cut(lanes_[lane].sum, bucket, part)));
    }
  }

  void reduce(std::size_t bucket) override {
    const SumTransfers& transfers = *options_.transfers;
    std::span<float> sums = cut(lanes_[0].sum, bucket, {});
    if (!transfers.tail.empty() && bucket + 1 == layout_.buckets.size()) {
      const std::size_t tail = layout_.elements - layout_.tail_offset;
      reducing_tail_ =
          comm_.start({.buffer = sums.last(tail), .group = options_.group}, transfers.tail);
      sums = sums.first(sums.size() - tail);
    }
    const auto parts = transfers.parts.find(bucket);
    if (parts != transfers.parts.end()) {  // this rank's terms are sent without rounding
      reducing_[bucket] = comm_.start_all_reduce(sums, parts->second, options_.wire);
      return;
    }
    if (!lost_.empty()) round_with_feedback(sums, layout_.buckets[bucket].offset);
    reducing_[bucket] =
        comm_.start({.buffer = sums, .wire = options_.wire, .group = options_.group},
                    transfers.buckets[bucket]);
  }

  Outcome finish() override {
    for (comm::Pending& pending : reducing_) pending.wait();
    reducing_tail_.wait();
    return Outcome::kDone;
  }

  std::span<const float> read(Part part) noexcept override {
    const Elements range = elements_of(part, 0, layout_.elements);
    return values().subspan(range.begin, range.size());
  }

  std::span<float> values() noexcept override { return lanes_[0].sum; }
  bool is_finite(std::size_t tensor) const override {
    const std::span<const float> sum = lanes_[0].sum;
    const std::size_t tensors = layout_.tensors.size();
    if (tensor >= tensors) return std::isfinite(sum[layout_.tail_offset + tensor - tensors]);
    const GradientLayout::Tensor& t = layout_.tensors[tensor];
    return std::ranges::all_of(sum.subspan(t.offset, t.count),
                               [](float value) { return std::isfinite(value); });
  }

  void forget_errors() noexcept override { std::ranges::fill(lost_, 0.0F); }

  std::map<std::string, std::int32_t> state() const override { return {}; }
  void restore(const std::map<std::string, std::int32_t>&) override {}

 private:
  struct Lane {
    std::vector<float> one{};  // for one micro-batch; empty if the lane has only one
    std::vector<float> sum{};
  };

  std::span<float> cut(std::vector<float>& all, std::size_t bucket, Part part) const {
    const GradientLayout::Bucket& b = layout_.buckets[bucket];
    const Elements range = elements_of(part, b.offset, b.count);
    return std::span(all).subspan(range.begin, range.size());
  }

  // Rounds this rank's terms, which start at element `offset`, with error feedback. Terms that are
  // not finite have no error: the step fails anyway.
  void round_with_feedback(std::span<float> terms, std::size_t offset) noexcept {
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const float wanted = terms[i] + lost_[offset + i];
      terms[i] = to_float(to_bf16(wanted));
      const float lost = wanted - terms[i];
      lost_[offset + i] = std::isfinite(lost) ? lost : 0.0F;
    }
  }

  const GradientLayout& layout_;
  comm::Communicator& comm_;
  const SumOptions options_;
  std::vector<Lane> lanes_;
  // rounding errors of this rank's terms in the last step; empty: no feedback
  std::vector<float> lost_;
  std::vector<comm::Pending> reducing_;  // destroyed before the memory it works on
  comm::Pending reducing_tail_;
};

}  // namespace

std::unique_ptr<GradientSum> make_float_sum(const GradientLayout& layout, comm::Communicator& comm,
                                            SumOptions options) {
  return std::make_unique<FloatSum>(layout, comm, std::move(options));
}

}  // namespace winnow::train
