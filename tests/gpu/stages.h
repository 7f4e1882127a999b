#pragma once

#include <memory>

#include "tests/gpu/report.h"
#include "tests/gpu/synthetic.h"
#include "train/backend/cudnn/device.h"

// What the suite asks of a card. Each stage adds its items to the report, passing over those it has
// already; see tests/gpu/run for what each is for.
namespace winnow::gpu {

// The operations alone, in f32, bf16 and f16: what a sanitizer has time for.
void operations_stage(std::shared_ptr<train::cudnn::Device> device, Report& report);
void conformance_stage(std::shared_ptr<train::cudnn::Device> device, Report& report);
void train_stage(std::shared_ptr<train::cudnn::Device> device, Report& report,
                 const std::vector<LossRow>& cpu_losses);
void bench_stage(std::shared_ptr<train::cudnn::Device> device, Report& report);

}  // namespace winnow::gpu
