#include "train/run/start/kernel_times.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <string>
#include <utility>

#include "common/statistics.h"
#include "train/run/start/ready_program.h"

namespace winnow::train {
namespace {

double now(int threads) {
  if (threads > 1) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Totals of one layer in a run, over all its nodes.
struct NodeSum {
  double seconds = 0;
  int nodes = 0;
  std::size_t scratch_bytes = 0;
};

// Measures the second of two runs, because the first finds nothing in caches.
std::map<std::string, NodeSum> sums_of_layers(Program& program, int threads) {
  const std::vector<NodeKernel> kernels = program.node_kernels();
  program.run(0, kernels.size());
  program.wait(kernels.size());
  std::map<std::string, NodeSum> sums;
  for (std::size_t node = 0; node < kernels.size(); ++node) {
    const double begin = now(threads);
    program.run(node, node + 1);
    program.wait(node + 1);
    if (kernels[node].layer.empty()) continue;
    NodeSum& sum = sums[kernels[node].layer];
    sum.seconds += now(threads) - begin;
    sum.nodes += 1;
    sum.scratch_bytes = std::max(sum.scratch_bytes, kernels[node].scratch_bytes);
  }
  return sums;
}

class Turns {
 public:
  Turns(Backend& backend, const Graph& graph, const CompileOptions& options)
      : backend_(backend), graph_(graph), options_(options) {
    for (const auto& [layer, kernels] : backend.candidates_of(graph, options)) {
      LayerTimes& row = layers_.emplace_back(LayerTimes{.layer = layer});
      for (const std::string& kernel : kernels) row.kernels.push_back({.name = kernel});
      count_ = std::max(count_, kernels.size());
    }
  }

  std::size_t count() const { return count_; }
  std::vector<LayerTimes> take() { return std::move(layers_); }

  // The kernels at `turn` of all layers that have one there which is worth it.
  void measure(std::size_t turn, bool is_first_round) {
    KernelChoices choices;
    for (const LayerTimes& row : layers_) {
      if (turn < row.kernels.size() && (is_first_round || is_worth_it(row, turn))) {
        choices[row.layer] = row.kernels[turn].name;
      }
    }
    if (choices.empty()) return;
    CompileOptions options = options_;
    options.choices = &choices;
    ReadyProgram program(backend_, graph_, options);
    const auto sums = sums_of_layers(*program, options.threads);
    for (LayerTimes& row : layers_) {
      if (!choices.contains(row.layer)) continue;
      const NodeSum& sum = sums.at(row.layer);
      row.nodes = sum.nodes;
      row.kernels[turn].seconds.push_back(sum.seconds / sum.nodes);
      row.kernels[turn].scratch_bytes = sum.scratch_bytes;
    }
  }

 private:
  static bool is_worth_it(const LayerTimes& row, std::size_t turn) {
    double fastest = median(row.kernels.front().seconds);
    for (const KernelTimes& kernel : row.kernels) {
      fastest = std::min(fastest, median(kernel.seconds));
    }
    return turn == 0 || median(row.kernels[turn].seconds) < 2 * fastest;
  }

  Backend& backend_;
  const Graph& graph_;
  const CompileOptions options_;
  std::vector<LayerTimes> layers_;
  std::size_t count_ = 0;
};

}  // namespace

std::vector<LayerTimes> measure_kernels(Backend& backend, const Graph& graph,
                                        const CompileOptions& options, int rounds,
                                        const std::function<bool()>& goes_on) {
  Turns turns(backend, graph, options);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t turn = 0; turn < turns.count(); ++turn) {
      if (round > 0 && goes_on && !goes_on()) return turns.take();
      turns.measure(turn, round == 0);
    }
  }
  return turns.take();
}

}  // namespace winnow::train
