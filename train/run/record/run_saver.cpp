#include "train/run/record/run_saver.h"

#include <filesystem>
#include <utility>

#include "common/comm/agreement.h"
#include "common/file.h"

namespace winnow::train {

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

void RunSaver::save(const RunState& state, const Model& model, std::string census) {
  const bool waits = saved_ == 0 || is_best(state);
  on_root(comm_, [&] {
    writer_.wait();  // before the copy is made, because memory suffices for one
    writer_.write(job_of(state, model, std::move(census)));
    if (waits) writer_.wait();
  });
  if (comm_.rank() != 0) board_.set_saved(waits ? state.step : saved_);
  saved_ = state.step;
}

void RunSaver::finish() {
  on_root(comm_, [&] { writer_.wait(); });
  if (comm_.rank() != 0) board_.set_saved(saved_);
}

CheckpointJob RunSaver::job_of(const RunState& state, const Model& model, std::string census) {
  return {.checkpoint = directory_.checkpoint_of(state, model),
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
