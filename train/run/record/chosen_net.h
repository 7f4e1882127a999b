#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "common/comm/communicator.h"
#include "train/nets/net_file.h"
#include "train/run/options.h"

namespace winnow::train {

// Returns `net` with the text of its file, if it is described by one.
NetChoice read_net(const NetChoice& net);

// The net of a run in the folder `run`. With `resume`, it has the description in the run's
// config.json, even if the file has changed since or is gone.
//
// Throws  As read_net_file(). FormatError: the config.json of a resumed run is damaged.
NetChoice net_of_run(const NetChoice& net, const std::filesystem::path& run, bool resume);

// As net_of_run(), read on rank 0. `note` receives a sentence if the file has changed. Collective.
NetChoice choose_net(const NetChoice& given, const RunOptions& run, comm::Communicator& comm,
                     const std::function<void(std::string)>& note);

// The micro-batch of `batch`. 0 stands for the default; for a resumed run that began with an older
// version's default, for that one. Collective.
std::int64_t choose_micro_batch(const BatchOptions& batch, const RunOptions& run,
                                comm::Communicator& comm);

}  // namespace winnow::train
