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

// Everything a run needs to go on. On disk: DIR/step-N/{model.safetensors, optimizer.safetensors,
// state.json, ema.safetensors, manifest.json}, the last but one of runs with a moving average only.
// The manifest has sizes and XXH3-128 of the others and is written last.
struct Checkpoint {
  std::int64_t step = 0;               // steps done
  std::vector<NamedTensor> model;      // parameters and running statistics, torchvision's names
  std::vector<NamedTensor> optimizer;  // "<slot>.<parameter>": "momentum.fc.bias"
  std::string state;                   // JSON of the trainer's own
  std::vector<NamedTensor> ema{};      // moving averages, named as `model`; empty: none
  // Entries of the metadata of `model` and `ema`; not read back.
  std::map<std::string, std::string> about{};
};

// Writes DIR/step-N, durable and atomic: under another name, synced, then renamed. With `is_best`
// DIR/best points at it then. Afterwards keep_newest_checkpoints(). Throws SystemError; what was
// written of it is removed then, so that a full disk has its room back.
void save_checkpoint(const std::filesystem::path& directory, const Checkpoint& checkpoint, int keep,
                     bool is_best = false);

// Points DIR/latest at `newest` and removes all checkpoints but the newest `keep` and what DIR/best
// points at: the best one goes when a better one is whole. A resumed run calls it too: the one
// before may have been killed in between.
void keep_newest_checkpoints(const std::filesystem::path& newest, int keep);

// Removes what a process that was killed left of checkpoints that it was writing. Nobody may write
// one meanwhile.
void remove_unfinished_checkpoints(const std::filesystem::path& directory);

// Points DIR/best at DIR/step-N. False where that is not there, or there is no best one: DIR/best
// is removed.
bool mark_best_checkpoint(const std::filesystem::path& directory, std::optional<std::int64_t> step);

// Throws FormatError naming the file that is damaged, missing or of a newer version. Sizes are
// compared with the manifest's before anything is read.
Checkpoint load_checkpoint(const std::filesystem::path& step_directory);

// The newest sound checkpoint in `directory`; nothing where there is none at all.
//
// skipped  Gets a sentence for each damaged one that was passed over.
// Throws   FormatError: all are damaged, so that nobody begins anew unawares; one is of a newer
//          version, which must not be overwritten.
//          SystemError: the disk does not answer, which may pass.
std::optional<std::filesystem::path> newest_checkpoint(const std::filesystem::path& directory,
                                                       std::vector<std::string>* skipped = nullptr);

}  // namespace winnow::train
