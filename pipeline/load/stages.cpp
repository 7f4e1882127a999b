#include "pipeline/load/stages.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "pipeline/decode/decode.h"
#include "pipeline/load/variant_internal.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline {
namespace {

// More than a core's cache holds, so that pixels come from memory, as in a loader.
constexpr std::size_t kImagesHeld = 256;

// Written alternately, as in a loader: one is used while another is filled.
constexpr std::size_t kBatches = 2;

Image pixels_of(const Cache& cache, const RecordView& record) {
  if (record.coding == Coding::kRaw) {
    Image image(record.height_px, record.width_px, record.channels);
    std::memcpy(image.pixels.data(), record.payload.data(), image.pixels.size());
    return image;
  }
  const DecodeSettings settings = cache.manifest().settings.decode;
  auto image = pipeline::decode(record.payload, settings);
  if (!image) {
    throw Error("sample " + std::to_string(record.id) + " of " + cache.paths().root.string() +
                " cannot be decoded: " + image.error().detail);
  }
  return *std::move(image);
}

ImageView view_of(const RecordView& record) noexcept {
  return {reinterpret_cast<const std::uint8_t*>(record.payload.data()), record.height_px,
          record.width_px, record.channels, std::ptrdiff_t{record.width_px} * record.channels};
}

}  // namespace

LoadStages::LoadStages(const Cache& cache, std::vector<Request> requests, LoadOptions options,
                       std::size_t batch)
    : cache_(cache),
      requests_(std::move(requests)),
      options_(std::move(options)),
      batch_(batch),
      team_(options_.threads),
      records_(requests_.size()) {
  read();
  encoded_ =
      std::ranges::any_of(records_, [](const RecordView& r) { return r.coding != Coding::kRaw; });
  if (encoded_) {
    images_.resize(std::min(kImagesHeld, records_.size()));
    team_.run(images_.size(), [&](std::size_t i) { images_[i] = pixels_of(cache_, records_[i]); });
  }
  const Geometry& g = options_.geometry;
  std::size_t largest = static_cast<std::size_t>(g.height_px) *
                        static_cast<std::size_t>(g.width_px) * static_cast<std::size_t>(g.channels);
  for (const RecordView& record : records_) largest = std::max(largest, record.payload.size());
  pixels_.resize(largest * batch_ * kBatches);
}

void LoadStages::for_each(const std::function<void(std::size_t, std::size_t)>& work) {
  for (std::size_t begin = 0; begin < requests_.size(); begin += batch_) {
    const std::size_t count = std::min(batch_, requests_.size() - begin);
    const std::size_t first = begin / batch_ % kBatches * batch_;
    team_.run(count, [&](std::size_t slot) { work(begin + slot, first + slot); });
  }
}

void LoadStages::read() {
  for_each([&](std::size_t i, std::size_t) {
    records_[i] = cache_.record(requests_[i].id, variant_of(requests_[i], options_.seed));
  });
}

void LoadStages::decode() {
  for_each([&](std::size_t i, std::size_t) {
    if (records_[i].coding != Coding::kRaw) pixels_of(cache_, records_[i]);
  });
}

void LoadStages::augment() {
  const Geometry& g = options_.geometry;
  const std::size_t bytes = static_cast<std::size_t>(g.height_px) *
                            static_cast<std::size_t>(g.width_px) *
                            static_cast<std::size_t>(g.channels);
  for_each([&](std::size_t i, std::size_t slot) {
    const ImageView image = encoded_ ? images_[i % images_.size()].view() : view_of(records_[i]);
    pipeline::augment(image, options_.recipe, g,
                      {options_.seed, requests_[i].epoch, requests_[i].id},
                      std::span(pixels_).subspan(slot * bytes, bytes));
  });
}

void LoadStages::copy() {
  const std::size_t room = pixels_.size() / (batch_ * kBatches);
  for_each([&](std::size_t i, std::size_t slot) {
    const BytesView from = records_[i].payload;
    std::memcpy(pixels_.data() + slot * room, from.data(), from.size());
  });
}

std::string bottleneck(double rate, const StageRates& alone) {
  struct Part {
    std::string_view name;
    double seconds;  // per image
  };
  const auto seconds_of = [](double per_second) { return per_second > 0 ? 1 / per_second : 0; };
  std::array<Part, 4> parts{{{"reading", seconds_of(alone.read)},
                             {"decoding", seconds_of(alone.decode)},
                             {"augmenting", seconds_of(alone.augment)},
                             {"putting batches together", 0}}};
  const double whole = seconds_of(rate);
  double known = 0;
  for (const Part& part : parts) known += part.seconds;
  parts.back().seconds = std::max(0.0, whole - known);
  const Part& worst = *std::ranges::max_element(parts, {}, &Part::seconds);
  const double all = std::max(whole, known);
  const int percent = static_cast<int>(std::lround(all > 0 ? 100 * worst.seconds / all : 0));
  return "the bottleneck is " + std::string(worst.name) + ", " + std::to_string(percent) +
         " % of the time of an image";
}

}  // namespace winnow::pipeline
