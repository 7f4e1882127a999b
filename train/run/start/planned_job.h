#pragma once

#include <cstdint>

#include "common/comm/communicator.h"
#include "train/backend/backend.h"
#include "train/run/options.h"
#include "train/run/start/job.h"

namespace winnow::train {

// Jobs that are planned without being run.

// Sizes of a data set that need not exist.
struct DataShape {
  std::int64_t images = 0;             // number of training images
  std::int64_t evaluation_images = 0;  // number of images evaluated after each epoch
  int classes = 0;
  int channels = 3;
};

// Returns the job of `options` on a data set of the given shape, without samples to load. Ignores
// options.data.cache. Collective.
// Throws  UsageError for options that do not fit the backend or each other.
Job job_of_shape(const TrainOptions& options, const DataShape& shape, const Backend& backend,
                 comm::Communicator& comm);

// Returns `job` with another micro-batch size, and with another global batch size unless `batch` is
// 0. The text of its configuration is unchanged.
// Throws  UsageError if the batch is no multiple of the micro-batch, or has too few micro-batches
//         for the ranks.
Job with_micro_batch(const Job& job, std::int64_t micro_batch, std::int64_t batch, int rank,
                     int ranks);

}  // namespace winnow::train
