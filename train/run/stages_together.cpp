#include "train/run/stages_together.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <sstream>
#include <string>

#include "train/plan/execution.h"

namespace winnow::train {
namespace {

// Numbers of a stage that others are told after each step.
enum Told : std::size_t {
  kToldLoss,
  kToldWeight,
  kToldCorrect,
  kToldSamples,
  kToldStop,
  kToldNotFinite,
  kTold
};

bool is_of_tail(const std::string& name) {
  return std::ranges::any_of(kStepTailNames, [&](const char* tail) { return name == tail; });
}

// A line for each.
std::string to_lines(const std::map<std::string, std::int32_t>& sums, bool with_tail) {
  std::string text;
  for (const auto& [name, capacity] : sums) {
    if (with_tail || !is_of_tail(name)) text += std::to_string(capacity) + " " + name + "\n";
  }
  return text;
}

}  // namespace

StagesTogether::StagesTogether(const RankStages& ranks, comm::Communicator& comm)
    : ranks_(ranks), comm_(comm), stage_(ranks.stage_of(comm.rank())) {}

StepResult StagesTogether::take(std::int64_t number, const std::function<StepResult()>& step) {
  Taken& taken = taken_.emplace_back();
  taken.step.number = number;
  try {
    taken.step.result = step();
  } catch (const NotFiniteError& error) {
    taken.step.not_finite = error.findings();
  }
  if (ranks_.is_pipeline()) tell(taken);
  return taken.step.result;
}

void StagesTogether::tell(Taken& taken) {
  taken.told.assign(static_cast<std::size_t>(ranks_.count()) * kTold, 0);
  if (is_first()) {
    const StepResult& result = taken.step.result;
    const bool is_finite = !taken.step.not_finite;
    const std::span<double> own =
        std::span(taken.told).subspan(static_cast<std::size_t>(stage_) * kTold, kTold);
    own[kToldLoss] = result.score.loss;
    own[kToldWeight] = result.score.weight;
    own[kToldCorrect] = result.score.correct;
    own[kToldSamples] = result.score.samples;
    own[kToldStop] = result.stop ? 1 : 0;
    own[kToldNotFinite] = is_finite ? 0 : 1;
  }
  taken.pending = comm_.start_sum(taken.told);
}

bool StagesTogether::ends_run(const Taken& taken) const {
  if (!ranks_.is_pipeline()) return taken.step.not_finite.has_value();
  for (std::size_t at = 0; at < taken.told.size(); at += kTold) {
    if (taken.told[at + kToldStop] > 0 || taken.told[at + kToldNotFinite] > 0) return true;
  }
  return false;
}

std::optional<KnownStep> StagesTogether::next_known(bool meets) {
  // One more than there are stages, so that no rank waits for one that is a little late.
  const std::size_t later = static_cast<std::size_t>(ranks_.count());
  if (taken_.empty() || (!meets && taken_.size() <= later)) return std::nullopt;
  taken_.front().pending.wait();
  ends_ = ends_ || ends_run(taken_.front());
  if (ends_ && !meets) return std::nullopt;
  Taken taken = std::move(taken_.front());
  taken_.pop_front();
  if (!ranks_.is_pipeline()) return std::move(taken.step);
  return known(std::move(taken));
}

KnownStep StagesTogether::known(Taken taken) {
  StepResult& result = taken.step.result;
  std::optional<NotFiniteFindings>& found = taken.step.not_finite;
  result.heads.clear();
  for (std::size_t at = 0; at < taken.told.size(); at += kTold) {
    const std::span<const double> one = std::span(taken.told).subspan(at, kTold);
    result.stop = result.stop || one[kToldStop] > 0;
    if (one[kToldNotFinite] > 0 && !found) found.emplace();
    if (at + kTold < taken.told.size()) {
      result.heads.push_back({.loss = one[kToldLoss], .correct = one[kToldCorrect]});
    } else {
      result.score = {.loss = one[kToldLoss],
                      .weight = one[kToldWeight],
                      .correct = one[kToldCorrect],
                      .samples = one[kToldSamples]};
    }
  }
  if (!found) return std::move(taken.step);
  for (const std::string& tensor : comm::all_gather(comm_, found->tensor)) {
    if (found->tensor.empty()) found->tensor = tensor;
  }
  return std::move(taken.step);
}

void StagesTogether::gather(RunState& state) {
  if (!ranks_.is_pipeline()) return;
  const bool is_last = stage_ + 1 == ranks_.count();
  const std::string own = is_first() ? to_lines(state.sums, is_last) : std::string();
  for (const std::string& lines : comm::all_gather(comm_, own)) {
    std::istringstream in(lines);
    std::int32_t capacity = 0;
    for (std::string name; in >> capacity && in.get() && std::getline(in, name);) {
      state.sums[name] = capacity;
    }
  }
  if (state.loss_scales.empty()) return;
  std::string scale(sizeof(LossScale), '\0');
  std::memcpy(scale.data(), &state.loss_scales.front(), sizeof(LossScale));
  const std::vector<std::string> scales = comm::all_gather(comm_, scale);
  state.loss_scales.resize(static_cast<std::size_t>(ranks_.count()));
  for (int s = 0; s < ranks_.count(); ++s) {
    std::memcpy(&state.loss_scales[static_cast<std::size_t>(s)],
                scales[static_cast<std::size_t>(ranks_.first_rank(s))].data(), sizeof(LossScale));
  }
}

double StagesTogether::norm(double own) {
  if (!ranks_.is_pipeline()) return own;
  std::vector<double> norms(static_cast<std::size_t>(ranks_.count()), 0);
  if (is_first()) norms[static_cast<std::size_t>(stage_)] = own;
  comm_.all_reduce(norms);
  double all = 0;
  for (const double one : norms) all = std::hypot(all, one);
  return all;
}

}  // namespace winnow::train
