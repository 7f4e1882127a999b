#pragma once

#include <string>

#include "app/load/load_shards.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "train/run/record/stored_run.h"
#include "train/run/record/stored_weights.h"

// Flags of several verbs that train, or read what was trained.
namespace winnow::tools {

// --checkpoint and --ema of verbs that read a run. `choice` must outlive `verb`.
void add_checkpoint_flags(Verb verb, train::CheckpointChoice& choice);

// --net, --image-size and --eval-resize of verbs that read weights of a file, too, which their
// helps call `what`. `file` must outlive `verb`.
void add_file_net_flags(Verb verb, const std::string& what, train::FileNetOptions& file);

// --lanes and --threads, as TrainJobs has them.
void add_lane_flags(Verb verb, int& lanes, int& threads);

void add_memory_flags(Verb verb, MemoryOptions& flags);
void add_machine_flags(Verb verb, MemoryOptions& flags);  // of those the ones about machines

}  // namespace winnow::tools
