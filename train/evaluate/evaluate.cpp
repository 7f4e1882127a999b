#include "train/evaluate/evaluate.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "pipeline/load/views.h"
#include "train/backend/weights.h"
#include "train/evaluate/average_precision.h"
#include "train/evaluate/gather.h"
#include "train/evaluate/micro_batches.h"
#include "train/evaluate/passage.h"
#include "train/evaluate/view_mean.h"
#include "train/step/feed.h"

namespace winnow::train {
namespace {

// The result of a sample.
struct SampleResult {
  float loss = 0;
  std::int32_t label = 0;
  std::int32_t prediction = 0;
  std::int32_t rank = 0;  // rank of the label among the classes by logits; 0: it is the prediction
};

// Rank of a sample without a label, or with logits that are not all finite: never among the first.
constexpr std::int32_t kNoRank = std::numeric_limits<std::int32_t>::max();

// Number of classes that come before the label. Ties go to the lower class.
std::int32_t rank_of(std::span<const float> logits, std::int32_t label) {
  const auto own = static_cast<std::size_t>(label);
  const float mine = logits[own];
  std::int32_t before = 0;
  for (std::size_t k = 0; k < logits.size(); ++k) {
    before += logits[k] > mine || (logits[k] == mine && k < own) ? 1 : 0;
  }
  return before;
}

// The result of a sample with these labels. With several labels: the predicted one, otherwise the
// first; and the best of their ranks. Without labels: label -1.
SampleResult result_of(std::span<const std::int32_t> labels, std::span<const float> logits,
                       std::int32_t prediction, float loss) {
  SampleResult result{.loss = loss,
                      .label = labels.empty() ? -1 : labels.front(),
                      .prediction = prediction,
                      .rank = kNoRank};
  for (const std::int32_t label : labels) {
    result.rank = std::min(result.rank, rank_of(logits, label));
    if (label == prediction) result.label = label;
  }
  if (!all_finite(logits)) result.rank = kNoRank;
  return result;
}

// The views of a lane's micro-batch, and the mean of their logits.
struct LaneViews {
  explicit LaneViews(const ViewMean& of) : view_mean(of), logits(of.of->views.size()) {}

  ViewMean view_mean;
  pipeline::Batch shown;
  std::vector<std::vector<float>> logits;  // for each view
  std::optional<LossOfLogits> loss;        // where the net ends
};

// Empty if the program has no output of this kind.
std::vector<float> output_of(Program& program, OutputKind kind) {
  std::vector<std::vector<float>> all = bind_outputs(program, kind);
  return all.empty() ? std::vector<float>() : std::move(all.front());
}

// A program with its inputs and outputs: of the whole net, or of a stage of a pipeline.
struct Lane {
  // `index`: number of the lane on this rank.
  Lane(Program& of, const ViewMean& view_mean, std::size_t index, Passage& way)
      : program(of),
        feed(of),
        number(index),
        passage(way),
        passed(output_of(of, OutputKind::kValue)),
        loss(output_of(of, OutputKind::kLoss)),
        per_sample(output_of(of, OutputKind::kPerSampleLoss)),
        logits(output_of(of, OutputKind::kLogits)),
        predictions(feed.size()) {
    if (view_mean.of == nullptr) return;
    views.emplace(view_mean);
    if (has_results()) views->loss.emplace(of.graph());
  }

  bool has_results() const noexcept { return passed.empty(); }

  void compute(pipeline::Batch& batch, const Turn& turn) {
    views ? predict_views(batch, turn) : predict(batch, turn, turn.number);
    if (has_results()) score(batch, 0, logits, per_sample, predictions);
  }

  // `message`: number of what is received and sent.
  void predict(pipeline::Batch& batch, const Turn& turn, std::int64_t message) {
    const std::size_t nodes = program.graph().nodes.size();
    std::span<float> given;
    if (turn.from >= 0) given = passage.receive(number, turn.from, message);
    feed.bind(batch, 0, 1.0, {}, {}, given);
    program.run(0, nodes);
    program.wait(nodes);
    if (turn.to >= 0) passage.send(number, turn.to, message, passed);
  }

  void predict_views(const pipeline::Batch& batch, const Turn& turn) {
    const auto count = static_cast<std::int64_t>(views->logits.size());
    views->shown = batch;
    for (std::size_t v = 0; v < views->logits.size(); ++v) {
      if (turn.from < 0)
        pipeline::show(batch, views->view_mean.of->views[v].view, views->shown.pixels);
      predict(views->shown, turn, turn.number * count + static_cast<std::int64_t>(v));
      views->logits[v] = logits;
    }
    if (!has_results()) return;
    average_views(views->view_mean, views->logits, feed.classes(), logits);
    views->loss->compute(logits, feed.targets(), per_sample);
  }

  Program& program;
  Feed feed;
  std::size_t number;
  Passage& passage;
  std::vector<float> passed;  // values for the next stage; empty where the net ends
  std::vector<float> loss;
  std::vector<float> per_sample;
  std::vector<float> logits;
  std::vector<std::int32_t> predictions;
  std::optional<LaneViews> views;
};

// Collects the results of this rank's micro-batches.
class RankEvaluation {
 public:
  // Rank 0 has room for the results of all ranks; its own come first. `classes`: number of logits
  // of a sample to keep; 0: none.
  RankEvaluation(std::vector<Lane>& lanes, const Shares& shares, int rank, std::size_t classes)
      : lanes_(lanes), shares_(shares), own_(shares.samples_of(rank)) {
    const std::size_t room = rank == 0 ? shares.samples : own_.second - own_.first;
    results_.resize(room);
    logits_.resize(room * classes);
  }

  std::size_t lanes() const noexcept { return lanes_.size(); }

  void compute(std::size_t lane, pipeline::Batch& batch, const Turn& turn) {
    try {
      lanes_[lane].compute(batch, turn);
    } catch (...) {
      lanes_[lane].passage.give_up();
      throw;
    }
    if (lanes_[lane].has_results()) keep(lanes_[lane], batch, turn.micro);
  }

  std::vector<SampleResult>& results() noexcept { return results_; }
  std::vector<float>& logits() noexcept { return logits_; }

 private:
  void keep(const Lane& lane, const pipeline::Batch& batch, std::int64_t micro) {
    const std::size_t first = static_cast<std::size_t>(micro) * shares_.micro_batch;
    const std::size_t count = std::min(shares_.micro_batch, own_.second - first);
    const std::size_t classes = lane.feed.classes();
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t begin = batch.label_offsets[i];
      results_[first - own_.first + i] =
          result_of(std::span(batch.labels).subspan(begin, batch.label_offsets[i + 1] - begin),
                    std::span(lane.logits).subspan(i * classes, classes), lane.predictions[i],
                    lane.per_sample[i]);
    }
    if (logits_.empty()) return;
    std::copy_n(lane.logits.begin(), count * classes,
                logits_.begin() + static_cast<std::ptrdiff_t>((first - own_.first) * classes));
  }

  std::vector<Lane>& lanes_;
  const Shares shares_;
  const std::pair<std::size_t, std::size_t> own_;  // samples [first, second)
  std::vector<SampleResult> results_;
  std::vector<float> logits_;
};

// Computes all micro-batches of this rank.
void compute_all(const SamplePass& pass, pipeline::LoadOptions load, comm::Communicator& comm,
                 RankEvaluation& mine, const ProgressSink& progress) {
  const RankStages& stages = pass.shares.stages;
  load.data.pixels = stages.stage_of(comm.rank()) == 0;
  // In a pipeline, ranks of a stage take turns.
  if (stages.is_pipeline()) load.batches_ahead *= stages.place_of(comm.rank()).ranks;
  for_each_micro_batch(
      pass, load, comm, mine.lanes(),
      [&](std::size_t lane, pipeline::Batch& batch, const Turn& turn) {
        mine.compute(lane, batch, turn);
      },
      progress);
}

// Sums computed by rank 0 and sent to all ranks.
struct Figures {
  double loss = 0;
  std::uint64_t correct = 0;
  std::uint64_t in_five = 0;
  std::uint64_t correct_of_clean = 0;
  std::uint64_t leaked = 0;
};

Figures add_up(const std::vector<SampleResult>& results, const EvaluationTask& task) {
  Figures sum;
  for (std::size_t k = 0; k < results.size(); ++k) {
    const bool correct = results[k].label == results[k].prediction && results[k].rank != kNoRank;
    const bool leaked =
        task.leaked != nullptr && std::ranges::binary_search(*task.leaked, task.samples.ids[k]);
    sum.loss += double{results[k].loss};
    sum.correct += correct ? 1 : 0;
    sum.in_five += results[k].rank < 5 ? 1 : 0;
    sum.leaked += leaked ? 1 : 0;
    sum.correct_of_clean += correct && !leaked ? 1 : 0;
  }
  return sum;
}

Evaluation evaluation_of(const Figures& sum, const EvaluationTask& task) {
  Evaluation result;
  const auto count = static_cast<double>(task.samples.size());
  result.samples = task.samples.size();
  result.loss = sum.loss / count;
  result.top1 = static_cast<double>(sum.correct) / count;
  result.top5 = static_cast<double>(sum.in_five) / count;
  result.leaked = sum.leaked;
  if (task.leaked != nullptr && sum.leaked < result.samples) {
    result.top1_leak_free = static_cast<double>(sum.correct_of_clean) /
                            static_cast<double>(result.samples - sum.leaked);
  }
  return result;
}

// Rank 0 has the `logits` of all samples.
void judge_by_class(std::span<const float> logits, const pipeline::SampleLabels& labels,
                    std::size_t classes, comm::Communicator& comm, Evaluation& result) {
  double mean = -1;  // no value
  if (comm.rank() == 0) {
    result.average_precisions = average_precisions(logits, labels, classes);
    mean = mean_of(result.average_precisions).value_or(mean);
  }
  comm.broadcast(std::as_writable_bytes(std::span(&mean, 1)), 0);
  if (mean >= 0) result.mean_average_precision = mean;
}

}  // namespace

Evaluation evaluate(std::span<const std::unique_ptr<Program>> programs, const EvaluationTask& task,
                    const pipeline::LoadOptions& load, comm::Communicator& comm,
                    const ProgressSink& progress) {
  const EvaluationStages stages = task.stages.value_or(EvaluationStages{{{comm.size()}}});
  Passage passage(programs.front()->graph(), programs.size(), stages.wire, comm);
  std::vector<Lane> lanes;
  lanes.reserve(programs.size());
  for (const std::unique_ptr<Program>& program : programs) {
    lanes.emplace_back(*program, task.view_mean, lanes.size(), passage);
  }
  const Shares shares{task.samples.size(), lanes.front().feed.size(), stages.ranks};
  const bool keeps_logits = task.with_logits || task.several_labels != nullptr;
  std::size_t classes = 0;  // logits of a sample to keep; the last stage knows how many
  if (keeps_logits) {
    const int last = stages.ranks.first_rank(stages.ranks.count() - 1);
    classes = comm::broadcast(comm, lanes.front().feed.classes(), last);
  }
  RankEvaluation mine(lanes, shares, comm.rank(), classes);
  lanes.front().program.load_parameters();  // for all lanes
  compute_all({task.source, task.samples, shares, "evaluating"}, load, comm, mine, progress);
  std::vector<SampleResult>& results = mine.results();
  gather_on_root(comm, shares.bytes_of_ranks(sizeof(SampleResult)),
                 std::as_writable_bytes(std::span(results)));
  if (keeps_logits) {
    gather_on_root(comm, shares.bytes_of_ranks(classes * sizeof(float)),
                   std::as_writable_bytes(std::span(mine.logits())));
  }
  Figures sum;
  if (comm.rank() == 0) sum = add_up(results, task);
  comm.broadcast(std::as_writable_bytes(std::span(&sum, 1)), 0);
  Evaluation result = evaluation_of(sum, task);
  if (task.several_labels != nullptr) {
    judge_by_class(mine.logits(), *task.several_labels, classes, comm, result);
  }
  if (comm.rank() != 0) return result;
  for (const SampleResult& sample : results) {
    result.labels.push_back(sample.label);
    result.predictions.push_back(sample.prediction);
    result.losses.push_back(sample.loss);
  }
  if (task.with_logits) result.logits = std::move(mine.logits());
  return result;
}

}  // namespace winnow::train
