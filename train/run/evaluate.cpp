#include "train/run/evaluate.h"

#include <algorithm>

#include "pipeline/load/order.h"
#include "train/run/feed.h"

namespace winnow::train {
Evaluation evaluate(Program& program, const pipeline::Cache& cache,
                    const pipeline::SampleSet& samples, const std::vector<SampleId>* leaked,
                    const pipeline::LoadOptions& load, comm::Communicator& comm,
                    const ProgressSink& progress) {
  Feed feed(program);
  const std::vector<float> loss = bind_output(program, OutputKind::kLoss);
  const std::vector<float> per_sample = bind_output(program, OutputKind::kPerSampleLoss);
  const std::vector<float> logits = bind_output(program, OutputKind::kLogits);

  const std::size_t m = feed.size();
  const auto micro_batches = static_cast<std::int64_t>((samples.size() + m - 1) / m);
  const auto [first, last] = pipeline::share(micro_batches, comm.rank(), comm.size());
  pipeline::Loader loader(cache, load, [&, first = first, last = last](std::uint64_t i) {
    std::vector<pipeline::Request> requests;
    const auto micro = first + static_cast<std::int64_t>(i);
    if (micro >= last) return requests;
    for (std::size_t k = static_cast<std::size_t>(micro) * m; requests.size() < m; ++k) {
      requests.push_back(k < samples.size() ? pipeline::Request{.id = samples.ids[k]}
                                            : pipeline::Request{.weight = 0});
    }
    return requests;
  });

  // Each element is written by one rank; the sums over ranks are everybody's.
  std::vector<double> sums(2, 0.0);  // loss, weight
  std::vector<double> labels(samples.size(), 0.0);
  std::vector<double> predictions(samples.size(), 0.0);
  std::vector<std::int32_t> predicted(m);
  for (std::int64_t micro = first; micro < last; ++micro) {
    pipeline::Batch batch = loader.next();
    feed.bind(batch, 0, 1.0);
    program.run(0, program.graph().nodes.size());
    const Score s = score(batch, 0, logits, per_sample, predicted);
    sums[0] += s.loss;
    sums[1] += s.weight;
    for (std::size_t i = 0; i < m; ++i) {
      const std::size_t k = static_cast<std::size_t>(micro) * m + i;
      if (k >= samples.size()) break;
      labels[k] = batch.labels[batch.label_offsets[i]];
      predictions[k] = predicted[i];
    }
    if (progress) {
      progress({.done = static_cast<std::uint64_t>(micro - first + 1),
                .total = static_cast<std::uint64_t>(last - first),
                .note = "evaluating"});
    }
  }
  comm.all_reduce(sums);
  comm.all_reduce(labels);
  comm.all_reduce(predictions);

  Evaluation result;
  result.samples = samples.size();
  result.loss = sums[1] > 0 ? sums[0] / sums[1] : 0;
  double all_correct = 0;
  double clean_correct = 0;
  for (std::size_t k = 0; k < samples.size(); ++k) {
    result.labels.push_back(static_cast<std::int32_t>(labels[k]));
    result.predictions.push_back(static_cast<std::int32_t>(predictions[k]));
    const bool correct = labels[k] == predictions[k];
    all_correct += correct ? 1 : 0;
    if (leaked != nullptr && std::binary_search(leaked->begin(), leaked->end(), samples.ids[k])) {
      ++result.leaked;
    } else {
      clean_correct += correct ? 1 : 0;
    }
  }
  result.top1 = all_correct / static_cast<double>(samples.size());
  if (leaked != nullptr && result.leaked < samples.size()) {
    result.top1_leak_free = clean_correct / static_cast<double>(samples.size() - result.leaked);
  }
  return result;
}

}  // namespace winnow::train
