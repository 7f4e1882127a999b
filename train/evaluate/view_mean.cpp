#include "train/evaluate/view_mean.h"

#include <algorithm>
#include <cmath>

#include "common/error.h"
#include "train/graph/reference.h"

namespace winnow::train {
namespace {

// One sample: views in rows, classes in columns.
struct Terms {
  std::span<const WeightedView> views;
  std::size_t classes;
  std::vector<double> numbers;

  double* row(std::size_t view) { return numbers.data() + view * classes; }
  double at(std::size_t view, std::size_t k) const { return numbers[view * classes + k]; }

  double mean(std::size_t k) const {
    double sum = 0;
    for (std::size_t v = 0; v < views.size(); ++v) sum += views[v].weight * at(v, k);
    return sum;
  }
  // The logarithm of the mean of numbers given by their logarithms.
  double log_mean(std::size_t k) const {
    double largest = at(0, k);
    for (std::size_t v = 1; v < views.size(); ++v) largest = std::max(largest, at(v, k));
    double sum = 0;
    for (std::size_t v = 0; v < views.size(); ++v) {
      sum += views[v].weight * std::exp(at(v, k) - largest);
    }
    return largest + std::log(sum);
  }
};

void log_softmax(double* row, std::size_t classes) {
  const double largest = *std::max_element(row, row + classes);
  double sum = 0;
  for (std::size_t k = 0; k < classes; ++k) sum += std::exp(row[k] - largest);
  const double normalizer = largest + std::log(sum);
  for (std::size_t k = 0; k < classes; ++k) row[k] -= normalizer;
}

double log_sigmoid(double x) { return std::min(x, 0.0) - std::log1p(std::exp(-std::abs(x))); }

}  // namespace

void average_views(const ViewMean& view_mean, std::span<const std::vector<float>> logits,
                   std::size_t classes, std::span<float> mean) {
  const std::span<const WeightedView> views = view_mean.of->views;
  const bool of_logits = view_mean.of->mean == MeanOf::kLogits;
  const bool sigmoid = view_mean.sigmoid;
  Terms terms{views, classes, std::vector<double>(views.size() * classes)};
  Terms others = terms;  // for sigmoids: logarithms of the complementary probabilities
  for (std::size_t first = 0; first < mean.size(); first += classes) {
    for (std::size_t v = 0; v < views.size(); ++v) {
      double* const row = terms.row(v);
      std::copy_n(&logits[v][first], classes, row);
      if (of_logits) continue;
      if (!sigmoid) log_softmax(row, classes);
      for (std::size_t k = 0; sigmoid && k < classes; ++k) {
        others.row(v)[k] = log_sigmoid(-row[k]);
        row[k] = log_sigmoid(row[k]);
      }
    }
    for (std::size_t k = 0; k < classes; ++k) {
      double value = of_logits ? terms.mean(k) : terms.log_mean(k);
      if (!of_logits && sigmoid) value -= others.log_mean(k);
      mean[first + k] = static_cast<float>(value);
    }
  }
}

LossOfLogits::LossOfLogits(const Graph& graph) : graph_(graph), values_(graph.values.size()) {
  const auto loss = std::ranges::find(graph.outputs, OutputKind::kPerSampleLoss, &Output::kind);
  if (loss == graph.outputs.end()) throw Error("the net does not compute a loss for each sample");
  const auto node = std::ranges::find_if(graph.nodes, [&](const Node& one) {
    return std::ranges::find(one.outputs, loss->value) != one.outputs.end();
  });
  node_ = &*node;
  for (const std::vector<ValueId>* ids : {&node_->inputs, &node_->outputs}) {
    for (const ValueId id : *ids) {
      values_[static_cast<std::size_t>(id)].resize(
          static_cast<std::size_t>(element_count(graph.value(id).shape)));
    }
  }
}

void LossOfLogits::compute(std::span<const float> logits, std::span<const float> targets,
                           std::span<float> per_sample) {
  const auto value = [this](ValueId id) -> std::vector<double>& {
    return values_[static_cast<std::size_t>(id)];
  };
  std::ranges::copy(logits, value(node_->inputs[0]).begin());
  std::ranges::copy(targets, value(node_->inputs[1]).begin());
  interpret_node(graph_, *node_, values_);
  std::ranges::transform(value(node_->outputs[1]), per_sample.begin(),
                         [](double loss) { return static_cast<float>(loss); });
}

}  // namespace winnow::train
