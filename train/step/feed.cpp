#include "train/step/feed.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "common/error.h"
#include "common/rng.h"
#include "common/sample.h"
#include "train/backend/weights.h"

namespace winnow::train {
namespace {

std::string describe(SampleId id) {
  return "sample " + std::to_string(position_of(id)) + " of source " +
         std::to_string(source_of(id));
}

bool takes_any_labels(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const Node& node) { return node.op->each_class; });
}

// Throws unless sample `who` has exactly the one label that the loss takes, or two in a mixed
// batch.
void check_count(const std::string& who, bool mixed, std::uint32_t count, double total) {
  const std::uint32_t due = mixed ? 2 : 1;
  if (count == due && std::abs(total - 1) <= 1e-3) return;
  throw UsageError(who + " has " + std::to_string(count) + " labels, training needs exactly one" +
                   (mixed ? " of each" : "") +
                   (count > due ? "; for several labels use --loss bce or focal"
                                : "; ingest a labelled data set"));
}

// Sets the target of sample `row`, which has one label, two in a mixed batch, or with `any` any
// number.
void set_target(const pipeline::Batch& batch, std::size_t row, bool any, std::span<float> target) {
  const std::uint32_t begin = batch.label_offsets[row];
  const std::uint32_t end = batch.label_offsets[row + 1];
  const std::string who =
      describe(batch.ids[row]) +
      (batch.mix ? ", mixed with " + describe(batch.partners[row]) + "," : std::string());
  double total = 0;
  for (std::uint32_t k = begin; k < end; ++k) total += batch.label_weights[k];
  if (!any) check_count(who, batch.mix.has_value(), end - begin, total);
  for (std::uint32_t k = begin; k < end; ++k) {
    const std::int32_t label = batch.labels[k];
    if (label < 0 || static_cast<std::size_t>(label) >= target.size()) {
      throw UsageError(who + " has label " + std::to_string(label) + ", the net has " +
                       std::to_string(target.size()) + " classes");
    }
    float& share = target[static_cast<std::size_t>(label)];
    // both pictures of a mixed sample may have this label
    share = std::min(1.0F, share + batch.label_weights[k]);
  }
}

void set_key(const Draw& draw, SampleId id, std::span<std::uint8_t> bytes) {
  std::uint64_t key =
      CounterRng(draw.seed, static_cast<std::uint32_t>(draw.step), id, RandomUse::kDropout)
          .next_u64();
  for (std::uint8_t& byte : bytes) {
    byte = static_cast<std::uint8_t>(key);
    key >>= 8;
  }
}

// The label that counts as right for a mixed sample: that of the larger share, the first if there
// is a tie; -1 if there is none.
std::int32_t main_label(const pipeline::Batch& batch, std::size_t row) {
  std::int32_t label = -1;
  float greatest = 0;
  for (std::uint32_t k = batch.label_offsets[row]; k < batch.label_offsets[row + 1]; ++k) {
    const double part = k < batch.others[row] ? batch.mix->own : 1 - batch.mix->own;
    const auto share = static_cast<float>(part);
    if (share <= greatest) continue;
    greatest = share;
    label = batch.labels[k];
  }
  return label;
}

bool is_right(const pipeline::Batch& batch, std::size_t row, std::int32_t predicted) {
  if (batch.mix) return main_label(batch, row) == predicted;
  const auto begin = batch.labels.begin();
  return std::find(begin + batch.label_offsets[row], begin + batch.label_offsets[row + 1],
                   predicted) != begin + batch.label_offsets[row + 1];
}

// The first class that counts as wrong; 0 if there is none.
std::int32_t first_wrong(const pipeline::Batch& batch, std::size_t row, std::size_t classes) {
  for (std::int32_t k = 0; k < static_cast<std::int32_t>(classes); ++k) {
    if (!is_right(batch, row, k)) return k;
  }
  return 0;
}

}  // namespace

Feed::Feed(Program& program)
    : program_(program),
      pixels_(program.graph().find("pixels")),
      size_(static_cast<std::size_t>(program.graph().value(pixels_).shape[0])),
      pixels_per_sample_(
          static_cast<std::size_t>(element_count(program.graph().value(pixels_).shape)) / size_) {
  const Graph& graph = program.graph();
  any_labels_ = takes_any_labels(graph);
  weights_.resize(1, std::vector<float>(size_));
  for (const ValueId id : graph.of_kind(ValueKind::kInput)) {
    const Value& input = graph.value(id);
    if (input.name == "keys") keys_input_ = id;
    if (input.name.ends_with(".weights")) weights_.emplace_back(size_);
    if (input.name != "targets") continue;
    classes_ = static_cast<std::size_t>(input.shape[1]);
    targets_.resize(size_ * classes_);
    program.bind(id, std::span(targets_));
  }
  bind_weights();
  if (!keys_input_) return;
  key_bytes_ = static_cast<std::size_t>(graph.value(*keys_input_).shape[1]);
  keys_.resize(size_ * key_bytes_);
  program.bind(*keys_input_, std::span(keys_));
}

// In the order of stages; the net's own weights come last.
void Feed::bind_weights() {
  const Graph& graph = program_.graph();
  std::size_t stage = 0;
  for (const ValueId id : graph.of_kind(ValueKind::kInput)) {
    const std::string& name = graph.value(id).name;
    if (name.ends_with(".weights")) program_.bind(id, std::span(weights_[stage++]));
    if (name == "weights") program_.bind(id, std::span(weights_.back()));
  }
}

void Feed::bind(pipeline::Batch& batch, std::size_t m, double total_weight, const Draw& draw,
                std::span<const double> loss_scales, std::span<float> given) {
  const auto scale_of = [&](std::size_t stage) {
    return loss_scales.empty() ? 1 : loss_scales[std::min(stage, loss_scales.size() - 1)];
  };
  std::fill(targets_.begin(), targets_.end(), 0.0F);
  for (std::size_t i = 0; i < size_; ++i) {
    const std::size_t row = m * size_ + i;
    for (std::size_t stage = 0; stage < weights_.size(); ++stage) {
      weights_[stage][i] = static_cast<float>(batch.weights[row] / total_weight * scale_of(stage));
    }
    if (batch.weights[row] > 0 && classes_ > 0)
      set_target(batch, row, any_labels_, std::span(targets_).subspan(i * classes_, classes_));
    if (keys_input_)
      set_key(draw, batch.ids[row], std::span(keys_).subspan(i * key_bytes_, key_bytes_));
  }
  if (!given.empty()) return program_.bind(pixels_, given);
  const std::size_t count = size_ * pixels_per_sample_;
  program_.bind(pixels_, std::span(batch.pixels).subspan(m * count, count));
}

std::vector<std::vector<float>> bind_outputs(Program& program, OutputKind kind) {
  const Graph& graph = program.graph();
  std::vector<std::vector<float>> all;
  for (const Output& output : graph.outputs) {
    if (output.kind != kind) continue;
    std::vector<float>& data =
        all.emplace_back(static_cast<std::size_t>(element_count(graph.value(output.value).shape)));
    program.bind(output.value, std::span(data));
  }
  return all;
}

std::vector<float> bind_output(Program& program, OutputKind kind) {
  std::vector<std::vector<float>> all = bind_outputs(program, kind);
  if (all.empty()) throw Error("the net lacks an output that training needs");
  return std::move(all.front());
}

Score score(const pipeline::Batch& batch, std::size_t m, std::span<const float> logits,
            std::span<const float> per_sample_loss, std::span<std::int32_t> predictions) {
  const std::size_t size = per_sample_loss.size();
  const std::size_t classes = logits.size() / size;
  Score total;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t row = m * size + i;
    const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(i * classes);
    const auto best = std::max_element(begin, begin + static_cast<std::ptrdiff_t>(classes));
    auto predicted = static_cast<std::int32_t>(best - begin);
    const bool finite = all_finite({begin, classes});
    if (!finite) predicted = first_wrong(batch, row, classes);
    if (!predictions.empty()) predictions[i] = predicted;
    const double weight = batch.weights[row];
    if (weight == 0) continue;
    total.loss += weight * per_sample_loss[i];
    total.weight += weight;
    total.samples += 1;
    if (finite && is_right(batch, row, predicted)) total.correct += 1;
  }
  return total;
}

}  // namespace winnow::train
