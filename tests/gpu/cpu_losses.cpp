// Writes what the card's losses are compared with: the first steps of ResNet-20 on a CPU.
//   cpu_losses > tests/gpu/resnet20_losses.txt        (needs AVX-512 for bf16)
#include <cstdio>
#include <vector>

#include "tests/gpu/synthetic.h"
#include "train/backend/backend.h"

int main() {
  using namespace winnow;
  const auto backend = train::make_backend("onednn");
  const auto f32 =
      gpu::losses(*backend, gpu::compared_recipe(train::DType::kF32), gpu::kComparedSteps);
  const auto bf16 =
      gpu::losses(*backend, gpu::compared_recipe(train::DType::kBF16), gpu::kComparedSteps);
  std::printf("# Losses of ResNet-20 on synthetic images, step by step: f32, bf16.\n# %s, %s\n",
              backend->library().c_str(), backend->instruction_set().c_str());
  for (std::size_t i = 0; i < f32.size(); ++i) std::printf("%.9g %.9g\n", f32[i], bf16[i]);
}
