#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/comm/communicator.h"
#include "common/progress.h"
#include "pipeline/load/dataset.h"
#include "pipeline/load/exchange.h"
#include "pipeline/load/loader.h"
#include "train/backend/backend.h"

namespace winnow::train {

struct Evaluation {
  double loss = 0;  // mean
  double top1 = 0;  // in [0, 1]
  std::uint64_t samples = 0;
  std::optional<double>
      top1_leak_free;  // without the leaked samples, when there was a list of them
  std::uint64_t leaked = 0;
  std::vector<std::int32_t> labels;       // in the order of the samples, on every rank
  std::vector<std::int32_t> predictions;  // likewise
  std::vector<float> logits;              // likewise, (samples, classes), when asked for
};

// Exact, distributed: every sample counts once, the last micro-batch is padded with weight 0. What
// is computed for a sample depends on no rank, and sums are taken in the order of the samples.
// `program` is an inference graph bound to a model whose parameters it has taken up. Collective.
Evaluation evaluate(Program& program, const pipeline::Source& source,
                    const pipeline::SampleSet& samples, const std::vector<SampleId>* leaked,
                    const pipeline::LoadOptions& load, comm::Communicator& comm,
                    const ProgressSink& progress, bool with_logits = false);

}  // namespace winnow::train
