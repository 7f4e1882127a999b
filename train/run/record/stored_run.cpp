#include "train/run/record/stored_run.h"

#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "train/checkpoint/checkpoint.h"
#include "train/model/state_dict.h"
#include "train/rewrites/rewrites.h"
#include "train/run/record/run_state.h"

namespace winnow::train {
namespace {

std::filesystem::path find_checkpoint(const std::filesystem::path& run, const std::string& name,
                                      const std::function<void(std::string)>& note) {
  if (!name.empty()) {
    const std::filesystem::path path = run / "checkpoints" / name;
    if (std::filesystem::is_directory(path)) return path;
    throw UsageError(run.string() + " has no checkpoint " + name +
                     (name == "best" ? "; keep one with winnow train --keep-best" : ""));
  }
  std::vector<std::string> skipped;
  const auto newest = newest_checkpoint(run / "checkpoints", &skipped);
  if (!newest) {
    throw UsageError(run.string() + " has no complete checkpoint yet; train it further");
  }
  for (const std::string& reason : skipped) note("skipped: " + reason);
  if (!skipped.empty()) note("using " + newest->string());
  return *newest;
}

// Each field is in its range, but they may be incompatible.
Graph stored_graph(const NetSetup& setup, int head, const std::string& where) {
  try {
    return head == 0 ? forward_graph(setup) : trained_graph(setup);
  } catch (const Error& error) {
    throw FormatError(where + " describes an impossible net: " + error.what());
  }
}

// Whether `state` belongs to a checkpoint that is the best by its moving averages.
bool is_best_by_ema(const std::string& name, const RunState& state) {
  return name == "best" && state.best && state.best->metric.starts_with("val_ema.");
}

}  // namespace

StoredRun load_run(const std::filesystem::path& run, const CheckpointChoice& choice,
                   const std::function<void(std::string)>& note) {
  const std::filesystem::path config = run / "config.json";
  if (!std::filesystem::exists(config)) {
    if (std::filesystem::exists(run / "fold-1" / "config.json")) {
      throw UsageError(run.string() + " contains a run for each fold; name one of them, such as " +
                       (run / "fold-1").string());
    }
    throw UsageError(run.string() + " contains no run; make one with winnow train");
  }
  StoredRun stored;
  stored.config = parse_config(read_text(config), config.string());
  const std::filesystem::path from = find_checkpoint(run, choice.name, note);
  const Checkpoint loaded = load_checkpoint(from);
  stored.graph = stored_graph(stored.config.setup, choice.head, config.string());
  if (choice.head > 0) stored.graph = at_head(stored.graph, choice.head);
  stored.graph = for_inference(stored.graph);
  const RunState state = parse_state(loaded.state, (from / "state.json").string());
  stored.epoch = state.epoch;
  const bool unasked = !choice.ema && is_best_by_ema(choice.name, state);
  if (unasked)
    note("using the moving averages, which the best checkpoint was chosen by: " +
         state.best->metric);
  const bool ema = choice.ema || unasked;
  stored.checkpoint = from.filename().string();
  stored.ema = ema;
  if (ema && loaded.ema.empty()) {
    throw UsageError(from.string() +
                     " has no moving averages; keep them with winnow train --ema-decay");
  }
  stored.model = model_of(stored.graph, ema ? loaded.ema : loaded.model,
                          (from / (ema ? "ema.safetensors" : "model.safetensors")).string());
  stored.model.classes = stored.config.classes;
  return stored;
}

}  // namespace winnow::train
