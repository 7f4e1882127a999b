#pragma once

#include <string>

#include "app/load/load_shards.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "train/run/record/stored_run.h"
#include "train/run/record/stored_weights.h"

// Flags of several verbs that train, or read results of training.
namespace winnow::tools {

// --checkpoint and --ema of verbs that read a run. `choice` must outlive `verb`.
void add_checkpoint_flags(Verb verb, train::CheckpointChoice& choice);

// --net, --image-size and --eval-resize of verbs that also read weights files, which their help
// calls `what`. `file` must outlive `verb`.
void add_file_net_flags(Verb verb, const std::string& what, train::FileNetOptions& file);

// --lanes and --threads, see TrainJobs.
void add_lane_flags(Verb verb, int& lanes, int& threads);

void add_memory_flags(Verb verb, MemoryOptions& flags);
void add_machine_flags(Verb verb, MemoryOptions& flags);  // only the flags about machines

}  // namespace winnow::tools
