#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/sample.h"

namespace winnow::train {

// Out-of-fold predictions: each image is predicted by a net that was trained on the other K - 1
// folds. Stored as out-of-fold.{npy,csv,json} in a run's folder (docs/formats/out-of-fold.md).
struct OutOfFold {
  struct About {
    std::string cache_digest;          // digest of its manifest
    std::string digest_by_names = {};  // see pipeline::digest_by_names(); empty in older files
    std::string selection;             // from which the folds were made; empty: everything
    std::uint32_t folds = 0;
    bool sigmoid = false;  // each class separately: a row does not sum to 1
  };
  About about;
  std::vector<std::string> classes;    // UTF-8, see to_utf8()
  std::vector<SampleId> ids{};         // ascending
  std::vector<std::uint32_t> fold{};   // for each id, from 0
  std::vector<float> probabilities{};  // (ids, classes)

  std::span<const float> row(std::size_t sample) const {
    return std::span(probabilities).subspan(sample * classes.size(), classes.size());
  }
  std::int32_t prediction(std::size_t sample) const;  // the first of the most probable classes
};

// Reorders the columns to the order of `classes`, which has the same names.
void order_classes(OutOfFold& predicted, const std::vector<std::string>& classes);

// Probabilities for logits (N, classes), in float64: the softmax of each row, or with `sigmoid` the
// sigmoid of each logit. Pure.
std::vector<float> probabilities_of(std::span<const float> logits, std::size_t classes,
                                    bool sigmoid);

// Names and labels of samples for the CSV. Any bytes.
struct SampleWords {
  std::function<std::string(SampleId)> name;
  std::function<std::string(std::size_t sample)> label;
};

// Writes the three files durably, out-of-fold.json last. Without that one, the others are ignored.
void write_out_of_fold(const std::filesystem::path& run, const OutOfFold& predicted,
                       const SampleWords& words);

// Throws UsageError if the folder has none; FormatError if they are damaged or contain impossible
// predictions: a row that is no distribution, or with about.sigmoid numbers that are no
// probabilities.
OutOfFold read_out_of_fold(const std::filesystem::path& run);

}  // namespace winnow::train
