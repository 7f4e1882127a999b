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
// On disk: DIR/step-N/{model.safetensors, optimizer.safetensors, state.json, ema.safetensors,
// manifest.json}. ema.safetensors only exists for runs with a moving average. The manifest has the
// sizes and XXH3-128 of the other files and is written last.
struct Checkpoint {
  std::int64_t step = 0;           // number of steps done
  std::vector<NamedTensor> model;  // parameters and running statistics, with torchvision's names
  std::vector<NamedTensor> optimizer;  // "<slot>.<parameter>", such as "momentum.fc.bias"
  std::string state;                   // JSON of the trainer
  std::vector<NamedTensor> ema{};      // moving averages, named as `model`; empty: none
  // Metadata entries for `model` and `ema`; not read back.
  std::map<std::string, std::string> about{};
};

// Writes DIR/step-N durably and atomically: under another name, synced, then renamed.
// is_best  Afterwards DIR/best points at it.
// keep     As for keep_newest_checkpoints(), which is called at the end.
// Errors   SystemError. The partly written checkpoint is then removed, which frees space on a full
//          disk.
void save_checkpoint(const std::filesystem::path& directory, const Checkpoint& checkpoint, int keep,
                     bool is_best = false);

// Points DIR/latest at `newest`, and removes all checkpoints except the newest `keep` and the
// target of DIR/best. So the best one is removed only when a better one is complete.
// A resumed run must call it, too, because its predecessor may have been killed in between.
void keep_newest_checkpoints(const std::filesystem::path& newest, int keep);

// Removes the unfinished checkpoints of a process that was killed. No process may be writing one
// meanwhile.
void remove_unfinished_checkpoints(const std::filesystem::path& directory);

// Points DIR/best at DIR/step-N. Returns false if that does not exist, or if `step` is nullopt;
// then removes DIR/best.
bool mark_best_checkpoint(const std::filesystem::path& directory, std::optional<std::int64_t> step);

// Loads a checkpoint. Sizes are compared with the manifest before anything is read.
// Throws FormatError naming the file that is damaged, missing or of a newer version.
Checkpoint load_checkpoint(const std::filesystem::path& step_directory);

// The newest intact checkpoint in `directory`; nullopt if there is none at all.
//
// skipped  Receives a sentence for each damaged checkpoint.
// Throws   FormatError: all are damaged, so that a run does not restart from the beginning by
//          accident; or one has a newer version and must not be overwritten. SystemError: a disk
//          error, which may be temporary.
std::optional<std::filesystem::path> newest_checkpoint(const std::filesystem::path& directory,
                                                       std::vector<std::string>* skipped = nullptr);

}  // namespace winnow::train
