#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "train/checkpoint/safetensors.h"

namespace winnow::train {

inline constexpr int kCheckpointVersion = 1;

// Everything that is needed to resume a run.
// On disk   DIR/step-N/{model.safetensors, optimizer.safetensors, state.json, ema.safetensors,
//           manifest.json}. ema.safetensors only exists for runs with a moving average of the
//           weights.
// Manifest  Written last. It has the sizes and XXH3-128 of the other files.
struct Checkpoint {
  std::int64_t step = 0;  // number of steps done
  // Parameters and running statistics, with torchvision's tensor names.
  std::vector<NamedTensor> model;
  // Optimiser state, named "<slot>.<parameter>", such as "momentum.fc.bias".
  std::vector<NamedTensor> optimizer;
  std::string state;               // JSON text of the trainer's state
  std::vector<NamedTensor> ema{};  // moving averages, named as in `model`; empty: none
  // Metadata entries for the files of `model` and `ema`. They are not read back.
  std::map<std::string, std::string> about{};
};

// Writes DIR/step-N durably and atomically: under another name, synced, then renamed.
// is_best  Afterwards DIR/best points to it.
// keep     As for keep_newest_checkpoints(), which is called at the end.
// Errors   SystemError. The partly written checkpoint is then removed, which frees space on a full
//          disk.
void save_checkpoint(const std::filesystem::path& directory, const Checkpoint& checkpoint, int keep,
                     bool is_best = false);

// Points DIR/latest to `newest`, and removes all checkpoints except the newest `keep` and the
// target of DIR/best. So the best checkpoint is removed only after a better one is complete.
// A resumed run must call this too, because the process before it may have been killed between
// writing and removing.
void keep_newest_checkpoints(const std::filesystem::path& newest, int keep);

// Removes the unfinished checkpoints of a process that was killed. No process may be writing one
// meanwhile.
void remove_unfinished_checkpoints(const std::filesystem::path& directory);

// Points DIR/best to DIR/step-N. If that does not exist, or if `step` is nullopt, removes DIR/best
// and returns false.
bool mark_best_checkpoint(const std::filesystem::path& directory, std::optional<std::int64_t> step);

// Loads a checkpoint. File sizes are compared with the manifest before anything is read.
// Throws  FormatError, which names the file that is damaged, missing or of a newer version.
Checkpoint load_checkpoint(const std::filesystem::path& step_directory);

// Returns the path of the newest intact checkpoint in `directory`; nullopt if there is no
// checkpoint.
//
// skipped  Receives a sentence for each damaged checkpoint.
// Throws   FormatError: all are damaged, so that a run does not restart from the beginning by
//          accident; or one has a newer version and must not be overwritten. SystemError: a disk
//          error, which may be temporary.
std::optional<std::filesystem::path> newest_checkpoint(const std::filesystem::path& directory,
                                                       std::vector<std::string>* skipped = nullptr);

}  // namespace winnow::train
