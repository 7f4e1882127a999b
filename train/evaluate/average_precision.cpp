#include "train/evaluate/average_precision.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace winnow::train {
namespace {

struct Scored {
  float logit;
  bool positive;
};

// Sorts `samples`.
std::optional<double> average_precision(std::vector<Scored>& samples) {
  std::ranges::sort(samples, std::ranges::greater{}, &Scored::logit);
  double sum = 0;
  std::uint64_t positives = 0;
  for (std::size_t begin = 0; begin < samples.size();) {
    std::size_t end = begin;
    std::uint64_t more = 0;
    for (; end < samples.size() && samples[end].logit == samples[begin].logit; ++end) {
      more += samples[end].positive ? 1 : 0;
    }
    positives += more;
    sum += static_cast<double>(more) * static_cast<double>(positives) / static_cast<double>(end);
    begin = end;
  }
  if (positives == 0) return std::nullopt;
  return sum / static_cast<double>(positives);
}

}  // namespace

std::vector<std::optional<double>> average_precisions(std::span<const float> logits,
                                                      const pipeline::SampleLabels& labels,
                                                      std::size_t classes) {
  std::vector<std::optional<double>> found;
  std::vector<Scored> samples(logits.size() / classes);
  for (std::size_t k = 0; k < classes; ++k) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const float logit = logits[i * classes + k];
      samples[i] = {std::isfinite(logit) ? logit : -std::numeric_limits<float>::infinity(),
                    std::ranges::find(labels[i], static_cast<std::int32_t>(k)) != labels[i].end()};
    }
    found.push_back(average_precision(samples));
  }
  return found;
}

std::optional<double> mean_of(std::span<const std::optional<double>> precisions) {
  double sum = 0;
  std::size_t count = 0;
  for (const auto& precision : precisions) {
    if (!precision) continue;
    sum += *precision;
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
}

}  // namespace winnow::train
