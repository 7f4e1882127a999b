#pragma once

#include <string>

#include "app/load/load_shards.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "train/run/record/stored_run.h"
#include "train/run/record/stored_weights.h"

// Options of several verbs that train, or read results of training.
namespace winnow::tools {

// Adds --checkpoint and --ema to a verb that reads a run. `choice` must outlive `verb`.
void add_checkpoint_flags(Verb verb, train::CheckpointChoice& choice);

// Adds --net, --image-size and --eval-resize to a verb that also reads weights files; its help
// calls these `what`. `file` must outlive `verb`.
void add_file_net_flags(Verb verb, const std::string& what, train::FileNetOptions& file);

// Adds --lanes (runs at the same time) and --threads, see TrainJobs.
void add_lane_flags(Verb verb, int& lanes, int& threads);

void add_memory_flags(Verb verb, MemoryOptions& flags);
void add_machine_flags(Verb verb, MemoryOptions& flags);  // only options about machines

}  // namespace winnow::tools
