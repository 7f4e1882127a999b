#include "python/core/batch.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/error.h"
#include "python/core/arrays.h"
#include "python/core/bind.h"

namespace winnow::python {
namespace nb = nanobind;

pipeline::Batch UsedBatches::take() {
  const std::lock_guard hold(lock_);
  if (batches_.empty()) return {};
  pipeline::Batch batch = std::move(batches_.back());
  batches_.pop_back();
  return batch;
}

void UsedBatches::give(pipeline::Batch batch) {
  const std::lock_guard hold(lock_);
  if (batches_.size() < kMost) batches_.push_back(std::move(batch));
}

HeldBatch::HeldBatch(pipeline::Batch from, std::uint64_t first_position,
                     std::shared_ptr<UsedBatches> back_to)
    : batch(std::move(from)), begin(first_position), used(std::move(back_to)) {}

HeldBatch::~HeldBatch() {
  if (used) used->give(std::move(batch));
}

namespace {

using pipeline::Batch;

Batch& batch_of(nb::handle self) { return nb::inst_ptr<HeldBatch>(self)->batch; }

template <auto Column, class T>
nb::object column(nb::handle self) {
  std::vector<T>& values = batch_of(self).*Column;
  const std::array<std::size_t, 1> shape{values.size()};
  return array_view(values, shape, self);
}

nb::object images(nb::handle self) {
  Batch& batch = batch_of(self);
  const std::array<std::size_t, 4> shape{batch.size(), static_cast<std::size_t>(batch.height_px),
                                         static_cast<std::size_t>(batch.width_px),
                                         static_cast<std::size_t>(batch.channels)};
  return array_view(batch.pixels, shape, self);
}

// The labels of samples with exactly one each.
nb::object labels(nb::handle self) {
  const Batch& batch = batch_of(self);
  std::vector<std::int64_t> single(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const std::uint32_t at = batch.label_offsets[i];
    if (batch.label_offsets[i + 1] != at + 1) {
      throw UsageError("sample " + std::to_string(batch.ids[i]) + " carries " +
                       std::to_string(batch.label_offsets[i + 1] - at) +
                       " labels, because it is mixed or has several classes; use targets(classes), "
                       "or label_values with label_offsets");
    }
    single[i] = batch.labels[at];
  }
  return array_of(std::move(single));
}

// The weight of each class for each sample.
nb::object targets(nb::handle self, std::size_t classes) {
  const Batch& batch = batch_of(self);
  std::vector<float> dense(batch.size() * classes);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    for (std::uint32_t at = batch.label_offsets[i]; at < batch.label_offsets[i + 1]; ++at) {
      const auto label = static_cast<std::size_t>(batch.labels[at]);
      if (label >= classes) {
        throw UsageError("sample " + std::to_string(batch.ids[i]) + " has label " +
                         std::to_string(label) + ", but the given number of classes is " +
                         std::to_string(classes));
      }
      dense[i * classes + label] += batch.label_weights[at];
    }
  }
  const std::array<std::size_t, 2> shape{batch.size(), classes};
  return array_of(std::move(dense), shape);
}

}  // namespace

void bind_batch(nb::module_& core) {
  nb::class_<HeldBatch>(core, "Batch")
      .def("__len__", [](const HeldBatch& held) { return held.batch.size(); })
      .def_prop_ro("images", &images)
      .def_prop_ro("ids", &column<&Batch::ids, SampleId>)
      .def_prop_ro("weights", &column<&Batch::weights, float>)
      .def_prop_ro("label_offsets", &column<&Batch::label_offsets, std::uint32_t>)
      .def_prop_ro("label_values", &column<&Batch::labels, std::int32_t>)
      .def_prop_ro("label_weights", &column<&Batch::label_weights, float>)
      .def_prop_ro("groups", &column<&Batch::groups, std::uint64_t>)
      .def_prop_ro("labels", &labels)
      .def("targets", &targets, nb::arg("classes"))
      .def_ro("begin", &HeldBatch::begin)
      .def("digest", [](const HeldBatch& held) { return digest_of(held.batch, held.begin); });
}

}  // namespace winnow::python
