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

// What a recipe makes of a sample, to look at: its line has the picture as it is, then as the
// epochs from 0 of a run with that seed see it. A recipe that mixes samples mixes each with that of
// the line before, the first with that of the last, in each epoch as in the batch of its number.
struct SheetRecipe {
  Recipe recipe;
  int height_px = 0;
  int width_px = 0;
  std::uint64_t seed = 1;
  Levels levels{};  // of the data set
};

// Which samples.
struct SheetChoice {
  std::string selection = {};             // only what it keeps; empty: everything
  bool removed = false;                   // what it removes in place of that
  std::optional<Split> split = {};        // only this one
  std::optional<std::string> label = {};  // only this class, by its name
};

struct SheetOptions {
  SheetChoice choice;
  std::size_t count = 64;  // of pictures, at most
  std::size_t columns = 8;
  std::optional<std::uint64_t> seed;  // a random choice; without: spread evenly over the ids
  int threads = 0;                    // 0: what TBB has
  std::optional<SheetRecipe> augment;
};

struct Sheet {
  Image image;  // 3 channels
  std::size_t samples = 0;
  std::size_t pictures = 0;
  std::vector<std::string> broken;  // what is wrong with those that have no picture, by name
};

// `count` of `rows` places, ascending: spread evenly, or by seed any of them, each as likely. Pure.
std::vector<std::size_t> pick(std::size_t rows, std::size_t count,
                              std::optional<std::uint64_t> seed);

// The picture in a square of kThumbnailPx: larger ones made smaller to fit, tiny ones larger by a
// whole factor so that their pixels show, in the middle of white. 3 channels.
inline constexpr int kThumbnailPx = 128;
Image thumbnail(ImageView image);

// A contact sheet: thumbnails in rows, each with its name, id and classes below. A record that
// cannot be read is a crossed-out square. UsageError when there are no such samples or no such
// class, or the cache has no images.
Sheet make_sheet(const Cache& cache, const SheetOptions& options);

// A line for each group of a selection, `choice.selection`: what stays first, under a green line,
// then what goes, the furthest first, under an orange one. Where it does not fit, the last place
// says how many more there are. `choice.split` and `choice.label` choose groups with such a member;
// `choice.removed` and `augment` say nothing here. UsageError where there is no such group, else as
// make_sheet().
Sheet make_group_sheet(const Cache& cache, const SheetOptions& options);

}  // namespace winnow::pipeline
