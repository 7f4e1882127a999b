#include "train/run/run_directory.h"

#include <span>
#include <vector>

#include "common/error.h"
#include "train/checkpoint/checkpoint.h"
#include "train/run/agreement.h"

namespace winnow::train {
namespace {

namespace fs = std::filesystem;

std::int64_t go_on(const fs::path& checkpoints, Model& model,
                   const std::function<void(std::string)>& note) {
  std::vector<std::string> skipped;
  const auto newest = newest_checkpoint(checkpoints, &skipped);
  for (const std::string& reason : skipped) note("passed over: " + reason);
  if (!newest) return 0;
  const Checkpoint checkpoint = load_checkpoint(*newest);
  load_state_dict(model, checkpoint.model, (*newest / "model.safetensors").string());
  load_momenta(model, checkpoint.optimizer, (*newest / "optimizer.safetensors").string());
  note("going on from " + newest->string());
  return checkpoint.step;
}

}  // namespace

std::int64_t RunDirectory::begin(const std::string& config, bool resume, Model& model,
                                 const std::function<void(std::string)>& note) {
  const fs::path config_path = path_ / "config.json";
  const fs::path checkpoints = path_ / "checkpoints";
  std::vector<double> step(1, 0.0);
  on_root(comm_, [&] {
    if (!fs::exists(config_path)) {
      if (fs::exists(path_) && !fs::is_empty(path_)) {
        throw UsageError(path_.string() + " is not empty and holds no run; choose another --out");
      }
      fs::create_directories(path_);
      lock_ = lock_directory(path_);
      write_file_durably(config_path, config);
      return;
    }
    lock_ = lock_directory(path_);
    if (!resume) {
      throw UsageError(
          path_.string() +
          " holds a run already; go on with it by --resume auto, or choose another --out");
    }
    if (read_text(config_path) != config) {
      throw UsageError(
          "the options differ from those the run in " + path_.string() +
          " was started with (its config.json); give the same, or choose another --out");
    }
    step[0] = static_cast<double>(go_on(checkpoints, model, note));
  });
  comm_.all_reduce(step);  // only rank 0 has one to give
  for (Model::Tensor& t : model.tensors) {
    comm_.broadcast(std::as_writable_bytes(std::span(t.data)), 0);
    comm_.broadcast(std::as_writable_bytes(std::span(t.momentum)), 0);
  }
  return static_cast<std::int64_t>(step[0]);
}

void RunDirectory::save(std::int64_t step, const Model& model, const std::string& state, int keep) {
  on_root(comm_, [&] {
    save_checkpoint(path_ / "checkpoints",
                    {step, to_state_dict(model, step), to_momenta(model), state}, keep);
  });
}

}  // namespace winnow::train
