#include "train/plan/batch_layout.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "common/error.h"
#include "pipeline/load/order.h"

namespace winnow::train {

std::int64_t BatchLayout::end_of_epoch(std::int64_t epoch) const noexcept {
  return std::min(total_steps, (epoch * samples + batch - 1) / batch);
}

double BatchLayout::epoch_at(std::int64_t step) const noexcept {
  return static_cast<double>(step * batch) / static_cast<double>(samples);
}

namespace {

// The largest divisor up to `largest` that leaves `parts` micro-batches; 1 if there is none.
std::int64_t largest_divisor(std::int64_t batch, std::int64_t largest, std::int64_t parts) {
  for (std::int64_t m = std::min(batch / parts, largest); m > 1; --m) {
    if (batch % m == 0) return m;
  }
  return 1;
}

// The same; but if that has less than kLeastOfNorm samples, the smallest divisor that is not below
// it.
std::int64_t nearest_divisor(std::int64_t batch, std::int64_t largest, std::int64_t parts) {
  const std::int64_t large = largest_divisor(batch, largest, parts);
  if (large >= kLeastOfNorm) return large;
  std::int64_t found = batch;
  for (std::int64_t d = 1; d <= batch / d; ++d) {
    if (batch % d != 0) continue;
    for (const std::int64_t m : {d, batch / d}) {
      if (m >= kLeastOfNorm) found = std::min(found, m);
    }
  }
  return found;
}

// Batches near `batch` whose default micro-batch leaves at least one for each of `ranks` ranks.
std::string batches_that_divide(std::int64_t batch, int ranks, bool of_views) {
  const auto divides = [&](std::int64_t b) {
    return b / (of_views ? micro_batch_of_views(b) : default_micro_batch(b)) >= ranks;
  };
  std::string names;
  for (std::int64_t b = batch - 1; b >= std::max<std::int64_t>(1, batch / 2); --b) {
    if (!divides(b)) continue;
    names = std::to_string(b) + " or ";
    break;
  }
  std::int64_t more = std::max<std::int64_t>(batch, ranks) + 1;
  while (!divides(more)) ++more;
  return names + std::to_string(more);
}

}  // namespace

BatchLayout plan_batches(std::int64_t samples, std::int64_t batch, std::int64_t micro_batch,
                         double epochs, const RankOf& self, bool of_views) {
  const int ranks = self.ranks;
  if (batch < 1 || micro_batch < 1 || batch % micro_batch != 0) {
    throw UsageError("--batch-size " + std::to_string(batch) +
                     " is not a multiple of --micro-batch " + std::to_string(micro_batch));
  }
  const std::int64_t parts = batch / micro_batch;
  if (parts < ranks) {
    const bool is_default =
        micro_batch == (of_views ? micro_batch_of_views(batch) : default_micro_batch(batch));
    const std::string choice = is_default
                                   ? batches_that_divide(batch, ranks, of_views)
                                   : std::to_string(micro_batch * ranks) + " with --micro-batch " +
                                         std::to_string(micro_batch);
    throw UsageError("there are more ranks (" + std::to_string(ranks) +
                     ") than micro-batches in a batch (" + std::to_string(parts) +
                     "); choose --batch-size " + choice + ", or a smaller --micro-batch");
  }
  const double steps = epochs * static_cast<double>(samples) / static_cast<double>(batch);
  if (!(steps > 0)) throw UsageError("--epochs must be above 0");
  // Positions in the stream of samples must be exact in a double.
  constexpr double kMostSamples = 0x1p53;
  if (static_cast<double>(batch) >= kMostSamples ||
      epochs * static_cast<double>(samples) >= kMostSamples) {
    throw UsageError("--epochs or --batch-size ask for over 2^53 samples; choose less");
  }
  return part_of({.samples = samples,
                  .batch = batch,
                  .micro_batch = micro_batch,
                  .total_steps = std::max<std::int64_t>(1, std::llround(steps))},
                 self.rank, ranks);
}

BatchLayout part_of(BatchLayout layout, int rank, int ranks) {
  std::tie(layout.first_micro, layout.last_micro) =
      pipeline::share(layout.batch / layout.micro_batch, rank, ranks);
  return layout;
}

// Four parts, so that a few ranks have work without other settings.
std::int64_t default_micro_batch(std::int64_t batch) { return nearest_divisor(batch, 64, 4); }

std::int64_t micro_batch_of_views(std::int64_t batch) { return nearest_divisor(batch, 256, 2); }

std::int64_t older_micro_batch(std::int64_t batch, bool of_views) {
  return of_views ? largest_divisor(batch, 256, 2) : largest_divisor(batch, 64, 4);
}

std::vector<pipeline::Request> requests_of(const BatchLayout& layout,
                                           const pipeline::Sampler& sampler, std::int64_t step,
                                           bool mixed) {
  const auto at = [](std::int64_t position) { return static_cast<std::uint64_t>(position); };
  const std::int64_t begin = step * layout.batch;
  const std::int64_t first = layout.first_micro * layout.micro_batch;  // in the batch
  const std::int64_t count = layout.micro_batches() * layout.micro_batch;
  std::vector<pipeline::Request> requests = sampler.requests(at(begin + first), at(count));
  if (!mixed || count == layout.batch) return requests;
  const std::int64_t before = (first + layout.batch - 1) % layout.batch;
  requests.push_back(sampler.requests(at(begin + before), 1).front());
  requests.back().partner = true;
  return requests;
}

double weight_of_batch(const BatchLayout& layout, const pipeline::Sampler& sampler,
                       std::int64_t step) {
  if (sampler.all_weights_are_one()) return static_cast<double>(layout.batch);
  double sum = 0;  // in batch order, on any rank
  for (const auto& request : sampler.requests(static_cast<std::uint64_t>(step * layout.batch),
                                              static_cast<std::uint64_t>(layout.batch))) {
    sum += request.weight;
  }
  return sum;
}

}  // namespace winnow::train
