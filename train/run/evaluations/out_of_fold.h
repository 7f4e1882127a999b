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

// What nets that have not seen an image say of it: of K folds each was predicted by the net that
// was trained on the others. The files out-of-fold.{npy,csv,json} of a run's folder
// (docs/formats/out-of-fold.md).
struct OutOfFold {
  struct About {
    std::string cache_digest;          // of its manifest
    std::string digest_by_names = {};  // see pipeline::digest_by_names(); older ones have none
    std::string selection;             // that the folds were made of; empty: everything
    std::uint32_t folds = 0;
    bool sigmoid = false;  // of each class for itself: a row does not add up to 1
  };
  About about;
  std::vector<std::string> classes;    // UTF-8, see to_utf8()
  std::vector<SampleId> ids{};         // ascending
  std::vector<std::uint32_t> fold{};   // of each id, from 0
  std::vector<float> probabilities{};  // (ids, classes)

  std::span<const float> row(std::size_t sample) const {
    return std::span(probabilities).subspan(sample * classes.size(), classes.size());
  }
  std::int32_t prediction(std::size_t sample) const;  // the first of the most probable classes
};

// Brings the columns into the order of `classes`, which has the same names.
void order_classes(OutOfFold& predicted, const std::vector<std::string>& classes);

// Probabilities of logits (N, classes): the softmax of each row, or with `sigmoid` that of each
// logit, in float64. Pure.
std::vector<float> probabilities_of(std::span<const float> logits, std::size_t classes,
                                    bool sigmoid);

// What people call samples, and their labels, for the CSV. Any bytes.
struct SampleWords {
  std::function<std::string(SampleId)> name;
  std::function<std::string(std::size_t sample)> label;
};

// Writes the three files durably, out-of-fold.json last: without it there are none.
void write_out_of_fold(const std::filesystem::path& run, const OutOfFold& predicted,
                       const SampleWords& words);

// Throws UsageError where the folder holds none, FormatError where they are damaged, or what no net
// says: a row that is no distribution, or with about.sigmoid numbers that are no probabilities.
OutOfFold read_out_of_fold(const std::filesystem::path& run);

}  // namespace winnow::train
