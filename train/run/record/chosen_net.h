#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "common/comm/communicator.h"
#include "train/nets/net_file.h"
#include "train/run/options.h"

namespace winnow::train {

// `net` with the text of its file, if a file describes it.
NetChoice read_net(const NetChoice& net);

// The net of a run in the folder `run`. One that goes on (`resume`) keeps the description that it
// began with, which its config.json has, though the file has changed since or is gone.
//
// Throws   as read_net_file(); FormatError: the config.json of a run that goes on is damaged.
NetChoice net_of_run(const NetChoice& net, const std::filesystem::path& run, bool resume);

// The same, read on rank 0; `note` takes a sentence where the file has changed. Collective.
NetChoice choose_net(const NetChoice& given, const RunOptions& run, comm::Communicator& comm,
                     const std::function<void(std::string)>& note);

// The micro-batch of `batch`. 0 stands for the default, or for that of an older version where
// the run goes on that began with it. Collective.
std::int64_t choose_micro_batch(const BatchOptions& batch, const RunOptions& run,
                                comm::Communicator& comm);

}  // namespace winnow::train
