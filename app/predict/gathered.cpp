#include "app/predict/gathered.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace winnow::app {
namespace {

// The mean of the largest `share` of a class's probabilities.
float mean_of_top(const GatheredWindows& gathered, std::size_t classes, std::size_t k,
                  double share) {
  std::vector<float> values;
  for (std::size_t i = k; i < gathered.all.size(); i += classes) values.push_back(gathered.all[i]);
  const auto wanted = std::ceil(share * static_cast<double>(values.size()) - 1e-9);
  const auto top = std::clamp<std::size_t>(static_cast<std::size_t>(wanted), 1, values.size());
  std::partial_sort(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(top), values.end(),
                    std::greater<>());
  double sum = 0;
  for (std::size_t i = 0; i < top; ++i) sum += double{values[i]};
  return static_cast<float>(sum / static_cast<double>(top));
}

std::vector<float> means(const std::vector<double>& sums, std::uint64_t count) {
  std::vector<float> means;
  for (const double sum : sums) {
    means.push_back(static_cast<float>(sum / static_cast<double>(count)));
  }
  return means;
}

Extent map_step(const WindowOptions& options) {
  return {1, map_step_of(options), map_step_of(options)};
}

template <class T>
void add_behind(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

void gather(const WindowOptions& options, std::span<const std::int32_t> labels,
            const WindowOutputs& said, GatheredWindows& gathered) {
  const std::span<const float> probabilities = said.probabilities;
  gathered.sums.resize(probabilities.size());
  gathered.most.resize(probabilities.size());
  for (std::size_t k = 0; k < probabilities.size(); ++k) {
    gathered.sums[k] += double{probabilities[k]};
    gathered.most[k] = std::max(gathered.most[k], probabilities[k]);
  }
  if (options.pool.kind == Pool::Kind::kTop) {
    gathered.all.insert(gathered.all.end(), probabilities.begin(), probabilities.end());
  }
  gathered.features.resize(said.features.size());
  for (std::size_t i = 0; i < said.features.size(); ++i) {
    gathered.features[i] += double{said.features[i]};
  }
  ++gathered.windows;
  if (labels.empty()) return;
  gathered.places.push_back(static_cast<std::int32_t>(said.at[1]));
  gathered.places.push_back(static_cast<std::int32_t>(said.at[2]));
  for (const std::int32_t label : labels) {
    gathered.of_maps.push_back(probabilities[static_cast<std::size_t>(label)]);
  }
}

void append(GatheredWindows& gathered, const GatheredWindows& more) {
  if (more.windows == 0) return;
  gathered.windows += more.windows;
  gathered.sums.resize(more.sums.size());
  gathered.most.resize(more.most.size());
  gathered.features.resize(more.features.size());
  for (std::size_t k = 0; k < more.sums.size(); ++k) {
    gathered.sums[k] += more.sums[k];
    gathered.most[k] = std::max(gathered.most[k], more.most[k]);
  }
  for (std::size_t i = 0; i < more.features.size(); ++i) gathered.features[i] += more.features[i];
  add_behind(gathered.all, more.all);
  add_behind(gathered.places, more.places);
  add_behind(gathered.of_maps, more.of_maps);
}

std::uint64_t gathered_bytes(const WindowOptions& options, std::size_t labels, std::size_t classes,
                             std::uint64_t windows) {
  std::uint64_t bytes = 0;
  if (options.pool.kind == Pool::Kind::kTop) bytes += classes * sizeof(float);
  if (labels > 0) bytes += 2 * sizeof(std::int32_t) + labels * sizeof(float);
  return bytes * windows;
}

std::vector<float> pooled(const Pool& pool, const GatheredWindows& gathered) {
  if (pool.kind == Pool::Kind::kMax) return gathered.most;
  if (pool.kind == Pool::Kind::kMean) return means(gathered.sums, gathered.windows);
  const std::size_t classes = gathered.sums.size();
  std::vector<float> tops;
  for (std::size_t k = 0; k < classes; ++k) {
    tops.push_back(mean_of_top(gathered, classes, k, pool.share));
  }
  return tops;
}

std::vector<float> mean_features(const GatheredWindows& gathered) {
  return means(gathered.features, gathered.windows);
}

ClassMaps blended(const WindowOptions& options, std::size_t labels, pipeline::Size size,
                  const GatheredWindows& gathered) {
  const std::int64_t span = span_of(options);
  BlendedMean map({1, size.height_px, size.width_px}, map_step(options), {1, span, span}, labels);
  for (std::size_t i = 0; i < gathered.places.size() / 2; ++i) {
    map.add({0, gathered.places[2 * i], gathered.places[2 * i + 1]},
            std::span(gathered.of_maps).subspan(i * labels, labels));
  }
  const std::vector<float> mean = map.mean();
  ClassMaps maps{static_cast<std::int64_t>(labels), map.points()[1], map.points()[2]};
  maps.values.resize(mean.size());
  const std::size_t count = mean.size() / labels;
  for (std::size_t point = 0; point < count; ++point) {
    for (std::size_t c = 0; c < labels; ++c) {
      maps.values[c * count + point] = mean[point * labels + c];
    }
  }
  return maps;
}

std::uint64_t blended_bytes(const WindowOptions& options, std::size_t labels, pipeline::Size size) {
  if (labels == 0) return 0;
  const Extent side{1, size.height_px, size.width_px};
  const std::uint64_t points = BlendedMean::bytes_of(side, map_step(options), 0) / sizeof(double);
  return BlendedMean::bytes_of(side, map_step(options), labels) +
         points * labels * sizeof(float);  // and a copy by class, while the mean exists
}

}  // namespace winnow::app
