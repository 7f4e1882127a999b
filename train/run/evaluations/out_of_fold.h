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
// folds.
// Stored as out-of-fold.{npy,csv,json} in a run's folder (docs/formats/out-of-fold.md).
struct OutOfFold {
  struct About {
    std::string cache_digest;  // digest of the cache's manifest
    // Digest of the cache's images and labels in any order of classes
    // (pipeline::digest_by_names()); empty in older files.
    std::string digest_by_names = {};
    std::string selection;  // the selection that was divided into folds; empty: all images
    std::uint32_t folds = 0;
    // Whether classes are independent (sigmoid): a row of probabilities need not sum to 1.
    bool sigmoid = false;
  };
  About about;
  std::vector<std::string> classes;    // class names in UTF-8, see to_utf8()
  std::vector<SampleId> ids{};         // sample ids, ascending
  std::vector<std::uint32_t> fold{};   // fold of each sample in `ids`, from 0
  std::vector<float> probabilities{};  // shape (ids, classes), row-major

  std::span<const float> row(std::size_t sample) const {
    return std::span(probabilities).subspan(sample * classes.size(), classes.size());
  }
  // Class with the highest probability; in a tie, the lowest.
  std::int32_t prediction(std::size_t sample) const;
};

// Reorders the columns of `predicted` to the order of `classes`. Both have the same class names.
void order_classes(OutOfFold& predicted, const std::vector<std::string>& classes);

// Converts logits (N, classes) to probabilities, in float64. Pure.
// `sigmoid`: the sigmoid of each logit; otherwise the softmax of each row.
std::vector<float> probabilities_of(std::span<const float> logits, std::size_t classes,
                                    bool sigmoid);

// Looks up names and labels of samples for out-of-fold.csv. The texts may have any bytes.
struct SampleWords {
  std::function<std::string(SampleId)> name;
  std::function<std::string(std::size_t sample)> label;
};

// Writes the three out-of-fold files durably, out-of-fold.json last. A folder without
// out-of-fold.json counts as having no predictions.
void write_out_of_fold(const std::filesystem::path& run, const OutOfFold& predicted,
                       const SampleWords& words);

// Reads the out-of-fold files of a run.
// Throws  UsageError: the run has none. FormatError: they are damaged; a row is not a probability
//         distribution, or with about.sigmoid a number is outside [0, 1].
OutOfFold read_out_of_fold(const std::filesystem::path& run);

}  // namespace winnow::train
