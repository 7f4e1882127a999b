#include "train/run/record/run_saver.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>
#include <vector>

#include "common/comm/agreement.h"
#include "common/file.h"
#include "train/model/class_names.h"
#include "train/model/state_dict.h"

namespace winnow::train {
namespace {

void add(std::vector<NamedTensor> more, std::vector<NamedTensor>& all) {
  std::ranges::move(more, std::back_inserter(all));
}

void add_tensors(const Model& part, Checkpoint& checkpoint) {
  add(to_state_dict(part, checkpoint.step), checkpoint.model);
  add(to_optimizer_state(part), checkpoint.optimizer);
  add(to_ema_state_dict(part, checkpoint.step), checkpoint.ema);
  if (checkpoint.about.empty()) add_classes(checkpoint.about, part.classes);
}

}  // namespace

RunSaver::Hold::~Hold() {
  const std::chrono::duration<double> held = std::chrono::steady_clock::now() - begin_;
  saver_.held_seconds_ += held.count();
}

RunSaver::Hold RunSaver::begin() {
  board_.mark(health::Stage::kSaving);
  return Hold(*this);
}

void RunSaver::add_costs(std::map<std::string, double>& values) const {
  values["checkpoint.held_time"] = held_seconds_;
  values["checkpoint.cpu_time"] = writer_.cpu_seconds();
}

void RunSaver::save(const RunState& state, const Model& held, const NetTensors& tensors,
                    std::string census) {
  const bool waits = saved_ == 0 || is_best(state);
  on_root(comm_, [&] { writer_.wait(); });  // because memory suffices for one copy
  Checkpoint checkpoint;
  if (comm_.rank() == 0) checkpoint = directory_.checkpoint_of(state);
  tensors.gather(held, [&](const Model& part) { add_tensors(part, checkpoint); });
  on_root(comm_, [&] {
    writer_.write(job_of(state, std::move(checkpoint), std::move(census)));
    if (waits) writer_.wait();
  });
  if (comm_.rank() != 0) board_.set_saved(waits ? state.step : saved_);
  saved_ = state.step;
}

void RunSaver::finish() {
  on_root(comm_, [&] { writer_.wait(); });
  if (comm_.rank() != 0) board_.set_saved(saved_);
}

CheckpointJob RunSaver::job_of(const RunState& state, Checkpoint checkpoint, std::string census) {
  return {.checkpoint = std::move(checkpoint),
          .keep = keep_,
          .is_best = is_best(state),
          .before =
              [this, census = std::move(census)] {
                log_.sync();
                write_file_durably(directory_.census(), census);
              },
          .after = [this, step = state.step] { board_.set_saved(step); }};
}

}  // namespace winnow::train
