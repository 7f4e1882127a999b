#pragma once

#include <cstdint>

#include "common/comm/communicator.h"
#include "train/backend/backend.h"
#include "train/run/options.h"
#include "train/run/start/job.h"

namespace winnow::train {

// Jobs that are planned and not run.

// What is known of a data set that is not there.
struct DataShape {
  std::int64_t images = 0;             // to train on
  std::int64_t evaluation_images = 0;  // after each epoch
  int classes = 0;
  int channels = 3;
};

// The job of `options` on such a data set, without samples to load; options.data.cache is not
// looked at. Collective.
// Throws   UsageError: options that do not fit the backend or each other
Job job_of_shape(const TrainOptions& options, const DataShape& shape, const Backend& backend,
                 comm::Communicator& comm);

// The same job in other micro-batches, and with another batch where that is not 0. Its config says
// what it said.
// Throws   UsageError: the batch is no multiple of the micro-batch, or has too few for the ranks
Job with_micro_batch(const Job& job, std::int64_t micro_batch, std::int64_t batch, int rank,
                     int ranks);

}  // namespace winnow::train
