#include <algorithm>
#include <cmath>
#include <numbers>

#include "common/bytes.h"
#include "common/checksum.h"
#include "common/rng.h"
#include "train/nets/nets.h"

namespace winnow::train {
namespace {

// Box and Muller 1958: two uniform numbers give two independent normal ones.
void fill_normal(std::vector<float>& numbers, double deviation, CounterRng rng) {
  for (std::size_t i = 0; i < numbers.size(); i += 2) {
    const double radius = deviation * std::sqrt(-2 * std::log(1 - rng.uniform()));
    const double angle = 2 * std::numbers::pi * rng.uniform();
    numbers[i] = static_cast<float>(radius * std::cos(angle));
    if (i + 1 < numbers.size()) numbers[i + 1] = static_cast<float>(radius * std::sin(angle));
  }
}

void fill_uniform(std::vector<float>& numbers, double bound, CounterRng rng) {
  for (float& number : numbers) number = static_cast<float>(bound * (2 * rng.uniform() - 1));
}

// Filter i copies channel i if there is one: PyTorch's dirac_() for the first C filters.
void put_identities(std::vector<float>& filters, const Shape& shape) {
  const std::int64_t pixels = shape.at(2) * shape.at(3);
  const std::int64_t filter = shape.at(1) * pixels;
  const std::int64_t centre = shape.at(2) / 2 * shape.at(3) + shape.at(3) / 2;
  for (std::int64_t i = 0; i < std::min(shape.at(0), shape.at(1)); ++i) {
    const auto begin = filters.begin() + i * filter;
    std::fill_n(begin, filter, 0.0F);
    *(begin + i * pixels + centre) = 1;
  }
}

float constant(Init init) {
  if (init == Init::kOnes) return 1;
  return init == Init::kMillionth ? 1e-6F : 0;
}

}  // namespace

std::vector<float> initial_value(const Value& value, std::uint64_t seed) {
  std::vector<float> numbers(static_cast<std::size_t>(element_count(value.shape)),
                             constant(value.init));
  const CounterRng rng(seed, 0, xxh3_64(as_bytes(value.name)), RandomUse::kInitialise);
  switch (value.init) {
    case Init::kZeros:
    case Init::kOnes:
    case Init::kMillionth:
      break;
    case Init::kKaimingFanOut: {
      const auto fan_out = static_cast<double>(element_count(value.shape) / value.shape.at(1));
      fill_normal(numbers, std::sqrt(2 / fan_out), rng);
      break;
    }
    case Init::kUniformFanIn:
    case Init::kWhitening:
    case Init::kDirac:
      fill_uniform(numbers, 1 / std::sqrt(static_cast<double>(value.fan_in)), rng);
      if (value.init == Init::kDirac) put_identities(numbers, value.shape);
      break;
    case Init::kKaimingFanIn:
      fill_normal(numbers, std::sqrt(2 / static_cast<double>(value.fan_in)), rng);
      break;
    case Init::kUniformFanOut:
      fill_uniform(numbers, 1 / std::sqrt(static_cast<double>(value.shape.at(0))), rng);
      break;
    case Init::kNormal001:
      fill_normal(numbers, 0.01, rng);
      break;
    case Init::kNormal002:
      fill_normal(numbers, 0.02, rng);
      break;
    case Init::kXavierUniform: {
      const auto fans = static_cast<double>(value.fan_in + value.shape.at(0));
      fill_uniform(numbers, std::sqrt(6 / fans), rng);
      break;
    }
    // torchvision truncates at +-2, which is 13 standard deviations for the smallest patch
    case Init::kLecunNormal:
      fill_normal(numbers, std::sqrt(1 / static_cast<double>(value.fan_in)), rng);
      break;
    case Init::kNormal1e6:
      fill_normal(numbers, 1e-6, rng);
      break;
  }
  return numbers;
}

}  // namespace winnow::train
