#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/image.h"
#include "common/sample.h"
#include "pipeline/augment/augment.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline {

// Shows the effect of a recipe. The line of a sample has the original picture, then the picture as
// the epochs from 0 of a run with that seed see it.
// A recipe that mixes samples mixes each with that of the line before (the first with the last),
// and epoch e uses the mix of batch e.
struct SheetRecipe {
  Recipe recipe;
  int height_px = 0;
  int width_px = 0;
  std::uint64_t seed = 1;
  Levels levels{};  // levels of the data set
};

// Selects samples.
struct SheetChoice {
  std::string selection = {};             // only what it keeps; empty: everything
  bool removed = false;                   // the samples it removes instead
  std::optional<Split> split = {};        // only this one
  std::optional<std::string> label = {};  // only this class, by name
};

struct SheetOptions {
  SheetChoice choice;
  std::size_t count = 64;  // maximum number of pictures
  std::size_t columns = 8;
  std::optional<std::uint64_t> seed;  // for a random choice; nullopt: evenly spaced ids
  int threads = 0;                    // 0: TBB's default
  std::optional<SheetRecipe> augment;
};

struct Sheet {
  Image image;  // 3 channels
  std::size_t samples = 0;
  std::size_t pictures = 0;
  std::vector<std::string> broken;  // errors of samples without a picture, by name
};

// `count` of `rows` positions, ascending: evenly spaced or, with a seed, uniformly random. Pure.
std::vector<std::size_t> pick(std::size_t rows, std::size_t count,
                              std::optional<std::uint64_t> seed);

// The picture centred in a white square of kThumbnailPx, 3 channels. Large ones are reduced to fit;
// tiny ones are enlarged by an integer factor, so that their pixels are visible.
inline constexpr int kThumbnailPx = 128;
Image thumbnail(ImageView image);

// A contact sheet: thumbnails in rows, with name, id and classes below. An unreadable record is
// shown as a crossed-out square.
// Errors  UsageError: no such samples, no such class, or a cache without images.
Sheet make_sheet(const Cache& cache, const SheetOptions& options);

// A sheet with a line for each group of the selection `choice.selection`: kept samples first, under
// a green line, then removed ones, the furthest first, under an orange line. If they do not fit,
// the last place shows the number of the others.
// choice  split and label choose groups with such a member; removed is ignored, like `augment`.
// Errors  UsageError if there is no such group; as make_sheet().
Sheet make_group_sheet(const Cache& cache, const SheetOptions& options);

}  // namespace winnow::pipeline
