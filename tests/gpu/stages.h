#pragma once

#include <memory>

#include "tests/gpu/report.h"
#include "tests/gpu/synthetic.h"
#include "train/backend/cudnn/device.h"

// The stages of the suite. Each adds its items to the report, and skips those it has already;
// tests/gpu/run explains the stages.
namespace winnow::gpu {

// The operations alone, in f32, bf16 and f16: all that is feasible under a sanitizer.
void operations_stage(std::shared_ptr<train::cudnn::Device> device, Report& report);
void conformance_stage(std::shared_ptr<train::cudnn::Device> device, Report& report);
void train_stage(std::shared_ptr<train::cudnn::Device> device, Report& report,
                 const std::vector<LossRow>& cpu_losses);
void bench_stage(std::shared_ptr<train::cudnn::Device> device, Report& report);

}  // namespace winnow::gpu
