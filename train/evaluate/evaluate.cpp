#include "train/evaluate/evaluate.h"

#include <algorithm>

#include "pipeline/load/order.h"
#include "train/step/feed.h"

namespace winnow::train {

Evaluation evaluate(Program& program, const pipeline::Source& source,
                    const pipeline::SampleSet& samples, const std::vector<SampleId>* leaked,
                    const pipeline::LoadOptions& load, comm::Communicator& comm,
                    const ProgressSink& progress, bool with_logits) {
  Feed feed(program);
  const std::vector<float> loss = bind_output(program, OutputKind::kLoss);
  const std::vector<float> per_sample = bind_output(program, OutputKind::kPerSampleLoss);
  const std::vector<float> logits = bind_output(program, OutputKind::kLogits);

  const std::size_t m = feed.size();
  const auto micro_batches = static_cast<std::int64_t>((samples.size() + m - 1) / m);
  const auto [first, last] = pipeline::share(micro_batches, comm.rank(), comm.size());
  const auto longest = (micro_batches + comm.size() - 1) / comm.size();
  const auto requests_of = [&](int rank, std::uint64_t i) {
    std::vector<pipeline::Request> requests;
    if (static_cast<std::int64_t>(i) >= longest) return requests;
    const auto [begin, end] = pipeline::share(micro_batches, rank, comm.size());
    const auto micro = begin + static_cast<std::int64_t>(i);
    for (std::size_t k = static_cast<std::size_t>(micro) * m; requests.size() < m; ++k) {
      requests.push_back(micro < end && k < samples.size() ? pipeline::Request{.id = samples.ids[k]}
                                                           : pipeline::Request{.weight = 0});
    }
    return requests;
  };
  pipeline::Loader loader(
      *source.cache, load,
      pipeline::make_planner(source.spread, comm.rank(), requests_of, load.seed));

  // Each element is written by one rank; the sums over ranks are everybody's.
  std::vector<double> losses(samples.size(), 0.0);
  std::vector<double> labels(samples.size(), 0.0);
  std::vector<double> predictions(samples.size(), 0.0);
  std::vector<double> all_logits(with_logits ? samples.size() * feed.classes() : 0, 0.0);
  std::vector<std::int32_t> predicted(m);
  for (std::int64_t micro = first; micro < last; ++micro) {
    pipeline::Batch batch = loader.next();
    feed.bind(batch, 0, 1.0);
    program.run(0, program.graph().nodes.size());
    program.wait(program.graph().nodes.size());
    score(batch, 0, logits, per_sample, predicted);
    for (std::size_t i = 0; i < m; ++i) {
      const std::size_t k = static_cast<std::size_t>(micro) * m + i;
      if (k >= samples.size()) break;
      losses[k] = per_sample[i];
      labels[k] = batch.labels[batch.label_offsets[i]];
      predictions[k] = predicted[i];
      if (!with_logits) continue;
      const std::size_t classes = feed.classes();
      std::copy_n(logits.begin() + static_cast<std::ptrdiff_t>(i * classes), classes,
                  all_logits.begin() + static_cast<std::ptrdiff_t>(k * classes));
    }
    if (progress) {
      progress({.done = static_cast<std::uint64_t>(micro - first + 1),
                .total = static_cast<std::uint64_t>(last - first),
                .note = "evaluating"});
    }
  }
  loader.settle();
  comm.all_reduce(losses);
  comm.all_reduce(labels);
  comm.all_reduce(predictions);
  if (with_logits) comm.all_reduce(all_logits);

  Evaluation result;
  result.samples = samples.size();
  result.logits.assign(all_logits.begin(), all_logits.end());
  double all_correct = 0;
  double clean_correct = 0;
  for (std::size_t k = 0; k < samples.size(); ++k) {
    result.loss += losses[k];
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
  result.loss /= static_cast<double>(samples.size());
  result.top1 = all_correct / static_cast<double>(samples.size());
  if (leaked != nullptr && result.leaked < samples.size()) {
    result.top1_leak_free = clean_correct / static_cast<double>(samples.size() - result.leaked);
  }
  return result;
}

}  // namespace winnow::train
