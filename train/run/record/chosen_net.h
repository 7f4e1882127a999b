#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "common/comm/communicator.h"
#include "train/nets/net_file.h"
#include "train/run/options.h"

namespace winnow::train {

// Reads the file that describes a net, if there is one. Returns `net`, with the text of that file.
NetChoice read_net(const NetChoice& net);

// Returns the net of the run in folder `run`. With `resume`, its description is read from the run's
// config.json, even if the original file has changed or is gone.
//
// Throws  As read_net_file(). FormatError: the config.json of a resumed run is damaged.
NetChoice net_of_run(const NetChoice& net, const std::filesystem::path& run, bool resume);

// As net_of_run(), but read on rank 0 and sent to all. Collective. `note` receives a sentence if
// the file that describes the net has changed.
NetChoice choose_net(const NetChoice& given, const RunOptions& run, comm::Communicator& comm,
                     const std::function<void(std::string)>& note);

// Returns the micro-batch size to use. Collective.
// batch  If batch.micro_batch is 0: the default; or, for a resumed run that began with an older
//        version's default, that older default.
std::int64_t choose_micro_batch(const BatchOptions& batch, const RunOptions& run,
                                comm::Communicator& comm);

}  // namespace winnow::train
