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

// Shows the effect of an augmentation recipe on a contact sheet. Each sample has a line: the
// original picture, then the picture as epochs 0, 1, 2 ... of a run with this seed see it.
// A recipe that mixes samples mixes each with that of the line before (the first with the last).
// Epoch e uses the mix of batch e.
struct SheetRecipe {
  Recipe recipe;
  int height_px = 0;
  int width_px = 0;
  std::uint64_t seed = 1;
  Levels levels{};  // mean and deviation of the data set's channels
};

// Which samples a contact sheet shows.
struct SheetChoice {
  std::string selection = {};             // show only what this selection keeps; empty: everything
  bool removed = false;                   // show the samples that the selection removes instead
  std::optional<Split> split = {};        // show only this split
  std::optional<std::string> label = {};  // show only the class of this name
};

struct SheetOptions {
  SheetChoice choice;
  std::size_t count = 64;  // most pictures on the sheet
  std::size_t columns = 8;
  std::optional<std::uint64_t> seed;  // seed of a random choice; nullopt: evenly spaced ids
  int threads = 0;                    // threads of TBB; 0: TBB's default
  std::optional<SheetRecipe> augment;
};

struct Sheet {
  Image image;  // 3 channels
  std::size_t samples = 0;
  std::size_t pictures = 0;
  std::vector<std::string> broken;  // errors of samples that could not be shown, with their names
};

// Picks `count` of `rows` positions, ascending: evenly spaced or, with a seed, uniformly random.
// Pure.
std::vector<std::size_t> pick(std::size_t rows, std::size_t count,
                              std::optional<std::uint64_t> seed);

// The picture centred in a white square of kThumbnailPx, 3 channels. Large pictures are downscaled
// to fit; tiny ones are enlarged by an integer factor, so that their pixels are visible.
inline constexpr int kThumbnailPx = 128;
Image thumbnail(ImageView image);

// Makes a contact sheet: thumbnails in rows, with name, id and classes below. An unreadable record
// is shown as a crossed-out square.
// Errors  UsageError: no such samples, no such class, or a cache without images.
Sheet make_sheet(const Cache& cache, const SheetOptions& options);

// Makes a contact sheet with a line for each duplicate group of the selection `choice.selection`:
// kept samples first, under a green line, then removed ones, those furthest from the kept one
// first, under an orange line. If a group does not fit, the last place shows the number of its
// other samples.
// choice  split and label choose the groups that have such a member; `removed` and `augment` are
//         ignored
// Errors  UsageError if there is no such group; as make_sheet()
Sheet make_group_sheet(const Cache& cache, const SheetOptions& options);

}  // namespace winnow::pipeline
