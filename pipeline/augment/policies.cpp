#include "pipeline/augment/policies.h"

// Source: Cubuk et al., "AutoAugment: Learning augmentation strategies from data" (CVPR 2019), with
// the order and rounding of torchvision.

namespace winnow::pipeline {
namespace {

using enum Op;

constexpr SubPolicy kImageNet[] = {
    {{{kPosterize, 0.4, 8}, {kRotate, 0.6, 9}}},
    {{{kSolarize, 0.6, 5}, {kAutoContrast, 0.6, 0}}},
    {{{kEqualize, 0.8, 0}, {kEqualize, 0.6, 0}}},
    {{{kPosterize, 0.6, 7}, {kPosterize, 0.6, 6}}},
    {{{kEqualize, 0.4, 0}, {kSolarize, 0.2, 4}}},
    {{{kEqualize, 0.4, 0}, {kRotate, 0.8, 8}}},
    {{{kSolarize, 0.6, 3}, {kEqualize, 0.6, 0}}},
    {{{kPosterize, 0.8, 5}, {kEqualize, 1.0, 0}}},
    {{{kRotate, 0.2, 3}, {kSolarize, 0.6, 8}}},
    {{{kEqualize, 0.6, 0}, {kPosterize, 0.4, 6}}},
    {{{kRotate, 0.8, 8}, {kSaturation, 0.4, 0}}},
    {{{kRotate, 0.4, 9}, {kEqualize, 0.6, 0}}},
    {{{kEqualize, 0.0, 0}, {kEqualize, 0.8, 0}}},
    {{{kInvert, 0.6, 0}, {kEqualize, 1.0, 0}}},
    {{{kSaturation, 0.6, 4}, {kContrast, 1.0, 8}}},
    {{{kRotate, 0.8, 8}, {kSaturation, 1.0, 2}}},
    {{{kSaturation, 0.8, 8}, {kSolarize, 0.8, 7}}},
    {{{kSharpness, 0.4, 7}, {kInvert, 0.6, 0}}},
    {{{kShearX, 0.6, 5}, {kEqualize, 1.0, 0}}},
    {{{kSaturation, 0.4, 0}, {kEqualize, 0.6, 0}}},
    {{{kEqualize, 0.4, 0}, {kSolarize, 0.2, 4}}},
    {{{kSolarize, 0.6, 5}, {kAutoContrast, 0.6, 0}}},
    {{{kInvert, 0.6, 0}, {kEqualize, 1.0, 0}}},
    {{{kSaturation, 0.6, 4}, {kContrast, 1.0, 8}}},
    {{{kEqualize, 0.8, 0}, {kEqualize, 0.6, 0}}},
};

constexpr SubPolicy kCifar10[] = {
    {{{kInvert, 0.1, 0}, {kContrast, 0.2, 6}}},
    {{{kRotate, 0.7, 2}, {kTranslateX, 0.3, 9}}},
    {{{kSharpness, 0.8, 1}, {kSharpness, 0.9, 3}}},
    {{{kShearY, 0.5, 8}, {kTranslateY, 0.7, 9}}},
    {{{kAutoContrast, 0.5, 0}, {kEqualize, 0.9, 0}}},
    {{{kShearY, 0.2, 7}, {kPosterize, 0.3, 7}}},
    {{{kSaturation, 0.4, 3}, {kBrightness, 0.6, 7}}},
    {{{kSharpness, 0.3, 9}, {kBrightness, 0.7, 9}}},
    {{{kEqualize, 0.6, 0}, {kEqualize, 0.5, 0}}},
    {{{kContrast, 0.6, 7}, {kSharpness, 0.6, 5}}},
    {{{kSaturation, 0.7, 7}, {kTranslateX, 0.5, 8}}},
    {{{kEqualize, 0.3, 0}, {kAutoContrast, 0.4, 0}}},
    {{{kTranslateY, 0.4, 3}, {kSharpness, 0.2, 6}}},
    {{{kBrightness, 0.9, 6}, {kSaturation, 0.2, 8}}},
    {{{kSolarize, 0.5, 2}, {kInvert, 0.0, 0}}},
    {{{kEqualize, 0.2, 0}, {kAutoContrast, 0.6, 0}}},
    {{{kEqualize, 0.2, 0}, {kEqualize, 0.6, 0}}},
    {{{kSaturation, 0.9, 9}, {kEqualize, 0.6, 0}}},
    {{{kAutoContrast, 0.8, 0}, {kSolarize, 0.2, 8}}},
    {{{kBrightness, 0.1, 3}, {kSaturation, 0.7, 0}}},
    {{{kSolarize, 0.4, 5}, {kAutoContrast, 0.9, 0}}},
    {{{kTranslateY, 0.9, 9}, {kTranslateY, 0.7, 9}}},
    {{{kAutoContrast, 0.9, 0}, {kSolarize, 0.8, 3}}},
    {{{kEqualize, 0.8, 0}, {kInvert, 0.1, 0}}},
    {{{kTranslateY, 0.7, 9}, {kAutoContrast, 0.9, 0}}},
};

constexpr SubPolicy kSvhn[] = {
    {{{kShearX, 0.9, 4}, {kInvert, 0.2, 0}}},       {{{kShearY, 0.9, 8}, {kInvert, 0.7, 0}}},
    {{{kEqualize, 0.6, 0}, {kSolarize, 0.6, 6}}},   {{{kInvert, 0.9, 0}, {kEqualize, 0.6, 0}}},
    {{{kEqualize, 0.6, 0}, {kRotate, 0.9, 3}}},     {{{kShearX, 0.9, 4}, {kAutoContrast, 0.8, 0}}},
    {{{kShearY, 0.9, 8}, {kInvert, 0.4, 0}}},       {{{kShearY, 0.9, 5}, {kSolarize, 0.2, 6}}},
    {{{kInvert, 0.9, 0}, {kAutoContrast, 0.8, 0}}}, {{{kEqualize, 0.6, 0}, {kRotate, 0.9, 3}}},
    {{{kShearX, 0.9, 4}, {kSolarize, 0.3, 3}}},     {{{kShearY, 0.8, 8}, {kInvert, 0.7, 0}}},
    {{{kEqualize, 0.9, 0}, {kTranslateY, 0.6, 6}}}, {{{kInvert, 0.9, 0}, {kEqualize, 0.6, 0}}},
    {{{kContrast, 0.3, 3}, {kRotate, 0.8, 4}}},     {{{kInvert, 0.8, 0}, {kTranslateY, 0.0, 2}}},
    {{{kShearY, 0.7, 6}, {kSolarize, 0.4, 8}}},     {{{kInvert, 0.6, 0}, {kRotate, 0.8, 4}}},
    {{{kShearY, 0.3, 7}, {kTranslateX, 0.9, 3}}},   {{{kShearX, 0.1, 6}, {kInvert, 0.6, 0}}},
    {{{kSolarize, 0.7, 2}, {kTranslateY, 0.6, 7}}}, {{{kShearY, 0.8, 4}, {kInvert, 0.8, 0}}},
    {{{kShearX, 0.7, 9}, {kTranslateY, 0.8, 3}}},   {{{kShearY, 0.8, 5}, {kAutoContrast, 0.7, 0}}},
    {{{kShearX, 0.7, 2}, {kInvert, 0.1, 0}}},
};

}  // namespace

std::span<const SubPolicy> policy_table(Policy policy) noexcept {
  switch (policy) {
    case Policy::kCifar10:
      return kCifar10;
    case Policy::kSvhn:
      return kSvhn;
    default:
      return kImageNet;
  }
}

}  // namespace winnow::pipeline
