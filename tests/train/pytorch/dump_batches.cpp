// dump_batches CACHE OUT SEED AUGMENT BATCH FIRST COUNT
//
// Writes the global batches FIRST to FIRST + COUNT - 1 that training on CACHE sees, as a
// safetensors file:
// "pixels"            u8, (COUNT, BATCH, H, W, C)
// "labels", "ids"     (COUNT, BATCH)
#include <cstdlib>
#include <exception>
#include <iostream>
#include <span>

#include "common/file.h"
#include "pipeline/load/dataset.h"
#include "pipeline/load/loader.h"
#include "pipeline/load/sampler.h"
#include "train/checkpoint/safetensors.h"

namespace {

using namespace winnow;

void dump(const std::span<char* const> args) {
  const auto number = [&](std::size_t i) { return std::strtoll(args[i], nullptr, 10); };
  const auto cache = pipeline::open_cache(args[1]);
  const pipeline::DatasetInfo info = pipeline::describe(*cache);
  const auto seed = static_cast<std::uint64_t>(number(3));
  const pipeline::Sampler sampler(pipeline::select_samples(*cache, Split::kTrain, ""), seed);
  const pipeline::LoadOptions options{.geometry = {info.height_px, info.width_px, info.channels},
                                      .recipe = pipeline::parse_recipe(args[4]),
                                      .seed = seed};
  const std::int64_t batch = number(5);
  const std::int64_t first = number(6);
  const std::int64_t count = number(7);
  train::NamedTensor pixels{
      "pixels", "U8", {count, batch, info.height_px, info.width_px, info.channels}, {}};
  train::NamedTensor labels{"labels", "I64", {count, batch}, {}};
  train::NamedTensor ids{"ids", "I64", {count, batch}, {}};
  for (std::int64_t b = first; b < first + count; ++b) {
    const pipeline::Batch loaded = pipeline::load_batch(
        *cache,
        sampler.requests(static_cast<std::uint64_t>(b * batch), static_cast<std::uint64_t>(batch)),
        options);
    const BytesView raw = as_bytes(loaded.pixels);
    pixels.data.insert(pixels.data.end(), raw.begin(), raw.end());
    const auto id_bytes = std::as_bytes(std::span(loaded.ids));
    ids.data.insert(ids.data.end(), id_bytes.begin(), id_bytes.end());
    for (std::size_t i = 0; i < loaded.size(); ++i) {
      const std::int64_t label = loaded.labels[loaded.label_offsets[i]];
      const auto bytes = std::as_bytes(std::span(&label, 1));
      labels.data.insert(labels.data.end(), bytes.begin(), bytes.end());
    }
  }
  const std::vector<train::NamedTensor> tensors{std::move(pixels), std::move(labels),
                                                std::move(ids)};
  write_file_durably(args[2], train::to_safetensors(tensors, {}));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 8) return 2;
    dump({argv, static_cast<std::size_t>(argc)});
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
