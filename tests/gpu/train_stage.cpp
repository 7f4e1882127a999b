#include <algorithm>
#include <cmath>
#include <string>

#include "tests/gpu/stages.h"
#include "train/backend/cudnn/cudnn.h"

namespace winnow::gpu {

using namespace winnow::train;

namespace {

constexpr double kF32Limit = 1e-3;  // relative, of each of the steps' losses

// The largest share of what each step allows.
void add_following(Report& report, const std::string& item, const std::vector<double>& got,
                   const std::vector<double>& want, const std::vector<double>& allowed) {
  double worst = 0;
  double largest = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double away = std::abs(got[i] - want[i]);
    worst = std::max(worst, std::isfinite(away) ? away / allowed[i] : 1e9);
    largest = std::max(largest, std::isfinite(away) ? away / std::abs(want[i]) : 1e9);
  }
  report.add(item, worst <= 1,
             {{"steps", static_cast<double>(want.size())},
              {"largest_relative_difference", largest},
              {"worst_share_of_what_is_allowed", worst},
              {"first_loss", got.front()},
              {"last_loss", got.back()}},
             "");
}

// Until the classes are told apart: means over the last ten steps.
void learns(Backend& backend, Report& report, const std::string& item, DType dtype) {
  constexpr std::int64_t kSteps = 150;
  const Recipe recipe{.batch = 256, .micro_batch = 128, .dtype = dtype, .lr = 0.05};
  Training training(backend, recipe);
  double loss = 0;
  double accuracy = 0;
  for (std::int64_t s = 0; s < kSteps; ++s) {
    pipeline::Batch batch =
        synthetic_batch(static_cast<std::uint64_t>(s * recipe.batch),
                        static_cast<std::size_t>(recipe.batch), recipe.side, recipe.classes);
    const Training::Result result = training.step(batch);
    if (s < kSteps - 10) continue;
    loss += result.loss / 10;
    accuracy += result.accuracy / 10;
  }
  // Images are new in every step, so this is no matter of remembering them.
  report.add(item, accuracy > 0.95,
             {{"steps", static_cast<double>(kSteps)}, {"loss", loss}, {"accuracy", accuracy}}, "");
}

// Memory that the card has less of afterwards.
void compare_memory(Backend& backend, cudnn::Device& device, Report& report,
                    const std::string& item) {
  constexpr double kMiB = 1 << 20;
  constexpr double kBeside = 256;  // weights, sums, what the libraries load, the allocator's pages
  const auto before = static_cast<double>(device.free_bytes());
  const Recipe recipe{.batch = 1024, .micro_batch = 1024, .dtype = DType::kBF16};
  Training training(backend, recipe);
  pipeline::Batch batch = synthetic_batch(0, 1024, recipe.side, recipe.classes);
  for (int s = 0; s < 5; ++s) training.step(batch);
  const double used = (before - static_cast<double>(device.free_bytes())) / kMiB;
  const double planned = static_cast<double>(training.program().arena_bytes()) / kMiB;
  report.add(item, used >= planned * 0.99 && used <= planned + kBeside,
             {{"planned_mib", planned}, {"used_mib", used}}, "");
}

}  // namespace

void train_stage(std::shared_ptr<cudnn::Device> device, Report& report,
                 const std::vector<LossRow>& cpu_losses) {
  const auto backend = make_cudnn_backend(device);
  std::vector<double> f32, bf16, f32_allowed;
  for (const LossRow& row : cpu_losses) {
    f32.push_back(row.f32);
    bf16.push_back(row.bf16);
    f32_allowed.push_back(kF32Limit * std::abs(row.f32));
  }
  const std::string in_f32 = "resnet20 f32 follows the CPU";
  report.run(in_f32, [&] {
    const auto got = losses(*backend, compared_recipe(DType::kF32), kComparedSteps);
    add_following(report, in_f32, got, f32, f32_allowed);
  });
  const std::string in_bf16 = "resnet20 bf16 follows the CPU";
  report.run(in_bf16, [&] {
    const auto got = losses(*backend, compared_recipe(DType::kBF16), kComparedSteps);
    add_following(report, in_bf16, got, bf16, bf16_band(cpu_losses));
  });
  const std::string in_f16 = "resnet20 f16 follows the CPU";
  report.run(in_f16, [&] {  // f32, no further than bf16 would be
    const auto got = losses(*backend, compared_recipe(DType::kF16), kComparedSteps);
    add_following(report, in_f16, got, f32, bf16_band(cpu_losses));
  });
  for (const DType dtype : {DType::kTf32, DType::kBF16, DType::kF16}) {
    const std::string item = "resnet20 " + std::string(dtype_name(dtype)) + " learns";
    report.run(item, [&] { learns(*backend, report, item, dtype); });
  }
  const std::string memory = "peak memory as planned";
  report.run(memory, [&] { compare_memory(*backend, *device, report, memory); });
  report.leave_out("winnow train on a cache",
                   "this program has no LMDB, OpenCV, TBB or MPI in it; build the preset cuda and "
                   "run winnow train --backend cudnn");
}

}  // namespace winnow::gpu
