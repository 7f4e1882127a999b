#pragma once

#include <iosfwd>
#include <memory>
#include <span>

#include "tests/gpu/report.h"
#include "tests/gpu/synthetic.h"
#include "train/backend/cudnn/device.h"

// The stages of the suite. Each adds its items to the report, and skips those it has already;
// tests/gpu/run explains the stages.
namespace winnow::gpu {

// The operations alone, which a sanitizer has time for.
void operations_stage(std::shared_ptr<train::cudnn::Device> device, Report& report,
                      std::span<const train::DType> types);
void conformance_stage(std::shared_ptr<train::cudnn::Device> device, Report& report);
void train_stage(std::shared_ptr<train::cudnn::Device> device, Report& report,
                 const std::vector<LossRow>& cpu_losses);

// Measures what it is asked to until there is nothing more to read.
//
// In     a case a line: "resnet20 32 10 1024 bf16 5 30", net, side, classes, batch, type, steps to
// warm up, steps to measure Out    a line of JSON for each: images_per_second, step_ms and more, or
// "error" Nets   stay ready until another case is asked for.
void bench_stage(std::shared_ptr<train::cudnn::Device> device, std::istream& cases,
                 std::ostream& results);

}  // namespace winnow::gpu
