#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "train/checkpoint/safetensors.h"

namespace winnow::train {

inline constexpr int kCheckpointVersion = 1;

// Everything a run needs to go on: written as DIR/step-N/{model.safetensors, optimizer.safetensors,
// state.json, manifest.json}, the manifest (sizes and XXH3-128 of the others) last.
struct Checkpoint {
  std::int64_t step = 0;               // steps done
  std::vector<NamedTensor> model;      // parameters and running statistics, torchvision's names
  std::vector<NamedTensor> optimizer;  // "<slot>.<parameter>": "momentum.fc.bias"
  std::string state;                   // JSON of the trainer's own
};

// Durable and atomic: written beside, synced, renamed into place; then DIR/latest is pointed at it
// and all but the newest `keep` are removed. Throws SystemError.
void save_checkpoint(const std::filesystem::path& directory, const Checkpoint& checkpoint,
                     int keep);

// What save_checkpoint does after the renaming, for one that was killed in between: DIR/latest
// points at `newest`, all but the newest `keep` are removed.
void settle_checkpoints(const std::filesystem::path& newest, int keep);

// Throws FormatError naming the file when anything in it is damaged, missing or newer.
Checkpoint load_checkpoint(const std::filesystem::path& step_directory);

// The newest complete checkpoint in `directory`; nothing where there is none at all. Torn ones are
// passed over; each is named in `skipped` (one sentence) when given. Throws FormatError when all
// are torn, so that nobody begins anew unawares, and for one of a newer version, which must not be
// overwritten; SystemError where the disk does not answer, which may pass.
std::optional<std::filesystem::path> newest_checkpoint(const std::filesystem::path& directory,
                                                       std::vector<std::string>* skipped = nullptr);

}  // namespace winnow::train
