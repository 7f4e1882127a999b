#pragma once

#include "common/comm/communicator.h"
#include "train/model/model.h"
#include "train/run/options.h"
#include "train/run/start/job.h"

namespace winnow::train {

// Computes the whitening filters (tensors with Init::kWhitening) of the job's net from the first
// images of the first epoch, prepared as in evaluation, and puts those that `model` has into it.
// Out         The same filters on all ranks. They depend only on data and seed.
// threads     Number of decoding threads.
// Collective  No loader may prepare batches meanwhile.
void whiten(Model& model, const Job& job, int threads, comm::Communicator& comm);

// Completes the initial weights of a run, equally on all ranks. Collective.
// Computes whitening filters, unless a file gave weights; then starts the moving averages of the
// weights.
void complete_weights(Model& model, const Job& job, const StartOptions& start, int threads,
                      comm::Communicator& comm);

}  // namespace winnow::train
