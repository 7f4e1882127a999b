#include "pipeline/export/sheet.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "common/error.h"
#include "common/rng.h"
#include "pipeline/decode/caption.h"
#include "pipeline/export/choice.h"
#include "pipeline/export/pixels.h"
#include "pipeline/parallel/worker_limit.h"

namespace winnow::pipeline {
namespace {

constexpr int kGapPx = 8;
constexpr int kCellWidthPx = kThumbnailPx + kGapPx;
constexpr int kCellHeightPx = kThumbnailPx + 2 * kCaptionHeightPx + kGapPx;
constexpr std::uint8_t kWhite = 255;
constexpr std::uint8_t kGray = 160;

Image filled(int height_px, int width_px, std::uint8_t value) {
  Image image(height_px, width_px, 3);
  std::ranges::fill(image.pixels, value);
  return image;
}

// Copies a picture of 1 or 3 channels into one of 3, enlarged by an integer factor.
void put(ImageView from, int factor, Image& to, int x, int y) {
  const auto at = [&to](int px, int py) {
    return to.pixels.data() + 3 * (static_cast<std::ptrdiff_t>(py) * to.width_px + px);
  };
  for (int row = 0; row < from.height_px * factor; ++row) {
    const std::uint8_t* source = from.row(row / factor);
    for (int column = 0; column < from.width_px * factor; ++column) {
      const std::uint8_t* pixel =
          source + static_cast<std::ptrdiff_t>(column / factor) * from.channels;
      std::uint8_t* out = at(x + column, y + row);
      for (int c = 0; c < 3; ++c) out[c] = pixel[from.channels == 3 ? c : 0];
    }
  }
}

Image crossed_out() {
  Image image = filled(kThumbnailPx, kThumbnailPx, 235);
  for (int i = 0; i < kThumbnailPx; ++i) {
    for (const int x : {i, kThumbnailPx - 1 - i}) {
      std::uint8_t* pixel =
          image.pixels.data() + 3 * (static_cast<std::ptrdiff_t>(i) * kThumbnailPx + x);
      std::fill_n(pixel, 3, kGray);
    }
  }
  return image;
}

// The end of a name, as much as fits.
std::string fitting(std::string text) {
  if (caption_width_px(text) <= kThumbnailPx) return text;
  while (!text.empty() && caption_width_px(".." + text) > kThumbnailPx) text.erase(0, 1);
  return ".." + text;
}

std::string last_part(const std::string& name) {
  const std::size_t slash = name.find_last_of('/', name.size() < 2 ? 0 : name.size() - 2);
  return slash == std::string::npos ? name : name.substr(slash + 1);
}

struct Cell {
  Image image;
  std::string problem{};  // why there is no picture
  std::string mixed{};    // how it was mixed, if it was
};

std::string words_of(const Mix& mix) {
  const int percent = static_cast<int>(std::lround(100 * mix.own));
  return (mix.box ? "cutmix " : "mixup ") + std::to_string(percent) + " %";
}

// A sample as an epoch sees it, with the sample it is mixed with.
Cell seen_of(ImageView image, SampleId id, const Image* before, SampleId id_before,
             const SheetRecipe& how, std::uint32_t epoch) {
  const int channels =
      before == nullptr ? image.channels : std::max(image.channels, before->channels);
  const Geometry geometry{how.height_px, how.width_px, channels};
  const auto augmented = [&](ImageView of, SampleId with_id) {
    Image out(how.height_px, how.width_px, channels);
    augment(of, how.recipe, geometry, {.seed = how.seed, .epoch = epoch, .id = with_id}, out.pixels,
            how.levels);
    return out;
  };
  Image seen = augmented(image, id);
  const auto mix = before == nullptr ? std::nullopt : mix_of(how.recipe, geometry, how.seed, epoch);
  if (!mix) return {thumbnail(seen.view())};
  const Image other = augmented(before->view(), id_before);
  mix_rows({seen.pixels.data(), seen.height_px, seen.width_px, channels}, 1, other.pixels.data(), 0,
           seen.height_px, *mix);
  return {thumbnail(seen.view()), "", words_of(*mix)};
}

// `count` pictures of a sample.
std::vector<Cell> cells_of(const Cache& cache, const DecodeSettings& settings, SampleId id,
                           SampleId id_before, const SheetOptions& options, std::size_t count) {
  try {
    const auto image = pixels_of(cache.record(id, first_variant), settings);
    if (!image) {
      return std::vector(count, Cell{crossed_out(), "cannot be decoded: " + image.error().detail});
    }
    std::vector<Cell> cells{{thumbnail(image->view())}};
    if (count == 1) return cells;
    const SheetRecipe& how = *options.augment;
    std::optional<Image> before;
    if (mixes(how.recipe)) {
      if (auto found = pixels_of(cache.record(id_before, first_variant), settings)) {
        before = *std::move(found);
      }
    }
    for (std::uint32_t epoch = 0; cells.size() < count; ++epoch) {
      cells.push_back(
          seen_of(image->view(), id, before ? &*before : nullptr, id_before, how, epoch));
    }
    return cells;
  } catch (const FormatError& error) {
    return std::vector(count, Cell{crossed_out(), error.what()});
  }
}

std::vector<std::size_t> rows_of_class(const Manifest& manifest, const dedup::Fingerprints& table,
                                       const std::vector<std::size_t>& rows,
                                       const std::string& name) {
  const auto found = std::ranges::find(manifest.classes, name);
  if (found == manifest.classes.end()) {
    throw UsageError(
        "there is no class '" + name + "'; the cache has " +
        std::to_string(manifest.classes.size()) +
        (manifest.classes.empty() ? "" : ", '" + manifest.classes.front() + "' first"));
  }
  const auto label = static_cast<std::int32_t>(found - manifest.classes.begin());
  std::vector<std::size_t> out;
  std::ranges::copy_if(rows, std::back_inserter(out), [&](std::size_t row) {
    const auto labels = table.labels[row];
    return std::ranges::find(labels, label) != labels.end();
  });
  return out;
}

std::vector<std::size_t> rows_for(const Cache& cache, dedup::Fingerprints& table,
                                  const SheetOptions& options) {
  const SheetChoice& choice = options.choice;
  std::optional<dedup::Selection> selection;
  if (!choice.selection.empty()) {
    selection = cache.read_selection(choice.selection);
    apply_splits(*selection, table);
  }
  std::vector<std::size_t> rows =
      selection && choice.removed
          ? removed_rows(table, choice.split, *selection)
          : choose(table, choice.split, selection ? &*selection : nullptr, false).rows;
  if (choice.label) rows = rows_of_class(cache.manifest(), table, rows, *choice.label);
  if (!rows.empty()) return rows;
  throw UsageError(cache.paths().root.string() + " has no such samples; see winnow info " +
                   cache.paths().root.string());
}

void check_pictures(const Cache& cache) {
  if (!cache.manifest().shards.empty()) return;
  throw UsageError(
      cache.paths().root.string() +
      " has fingerprints only and no pictures to show; ingest with --store original or raw");
}

using Colour = std::array<std::uint8_t, 3>;
constexpr Colour kStays{31, 138, 91};
constexpr Colour kGoes{180, 85, 45};

// A cell of a sheet: a picture, texts below it, and a line above it.
struct Place {
  const Image* image = nullptr;  // nullptr: white
  std::string first{};
  std::string second{};
  std::optional<Colour> line{};
};

void draw_line(Image& to, int x, int y, const Colour& colour) {
  constexpr int kLinePx = 3;
  for (int row = y - kLinePx - 1; row < y - 1; ++row) {
    std::uint8_t* pixel =
        to.pixels.data() + 3 * (static_cast<std::ptrdiff_t>(row) * to.width_px + x);
    for (int i = 0; i < 3 * kThumbnailPx; ++i) pixel[i] = colour[static_cast<std::size_t>(i % 3)];
  }
}

Image lay_out(const std::vector<Place>& places, std::size_t columns) {
  const std::size_t lines = (places.size() + columns - 1) / columns;
  Image sheet = filled(static_cast<int>(lines) * kCellHeightPx + kGapPx,
                       static_cast<int>(columns) * kCellWidthPx + kGapPx, kWhite);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const int x = static_cast<int>(i % columns) * kCellWidthPx + kGapPx;
    const int y = static_cast<int>(i / columns) * kCellHeightPx + kGapPx;
    if (places[i].image != nullptr) put(places[i].image->view(), 1, sheet, x, y);
    if (places[i].line) draw_line(sheet, x, y, *places[i].line);
    write_caption(sheet, x, y + kThumbnailPx, places[i].first);
    write_caption(sheet, x, y + kThumbnailPx + kCaptionHeightPx, places[i].second);
  }
  return sheet;
}

// The beginning of a text, as much as fits.
std::string cut_to_fit(std::string text) {
  while (text.size() > 1 && caption_width_px(text) > kThumbnailPx) text.pop_back();
  return text;
}

// Describes the decision about a member of a group.
std::string fate_of(const dedup::Selection& selection, std::size_t row, Split own) {
  if (selection.weights[row] > 0) {
    const Split used = selection.split_of(row, own);
    return used == own ? "stays" : "moves to " + std::string(split_name(used));
  }
  const dedup::Rule rule = selection.rules[row];
  std::string words(rule == dedup::Rule::kDuplicate ? "goes" : dedup::rule_name(rule));
  const int bits = selection.distances[row];
  if (bits > 0) words += " " + std::to_string(bits) + (bits == 1 ? " bit" : " bits");
  return words;
}

// The groups of two or more rows with such a member, in display order.
std::vector<std::vector<std::uint32_t>> groups_for(const Cache& cache,
                                                   const dedup::Selection& selection,
                                                   const dedup::Fingerprints& table,
                                                   const SheetChoice& choice) {
  std::vector<bool> wanted(table.size(), true);
  if (choice.split || choice.label) {
    std::vector<std::size_t> rows = choose(table, choice.split, &selection, true).rows;
    if (choice.label) rows = rows_of_class(cache.manifest(), table, rows, *choice.label);
    wanted.assign(table.size(), false);
    for (const std::size_t row : rows) wanted[row] = true;
  }
  auto told = cache.read_groups(selection);
  if (!told) told = dedup::groups_by_codes(selection, table, nullptr, 0);
  std::vector<std::vector<std::uint32_t>> groups;
  for (dedup::Group& group : told->groups) groups.push_back(std::move(group.rows));
  std::erase_if(groups, [&](const std::vector<std::uint32_t>& rows) {
    return std::ranges::none_of(rows, [&](std::uint32_t row) { return wanted[row]; });
  });
  for (std::vector<std::uint32_t>& rows : groups) {
    std::ranges::stable_sort(rows, {}, [&](std::uint32_t row) {
      return std::pair(!(selection.weights[row] > 0), -static_cast<int>(selection.distances[row]));
    });
  }
  if (!groups.empty()) return groups;
  throw UsageError("selection '" + selection.name +
                   "' has no such groups of two images or more; see "
                   "winnow info " +
                   cache.paths().root.string() + " --selection " + selection.name);
}

}  // namespace

std::vector<std::size_t> pick(std::size_t rows, std::size_t count,
                              std::optional<std::uint64_t> seed) {
  count = std::min(rows, count);
  std::vector<std::size_t> places;
  if (!seed) {
    for (std::size_t i = 0; i < count; ++i) places.push_back(i * rows / count);
    return places;
  }
  // A random subset: the positions of the smallest of `rows` random numbers.
  std::vector<std::pair<std::uint64_t, std::size_t>> drawn(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    drawn[i] = {CounterRng(*seed, 0, i, RandomUse::kOrder).next_u64(), i};
  }
  std::nth_element(drawn.begin(), drawn.begin() + static_cast<std::ptrdiff_t>(count), drawn.end());
  for (std::size_t i = 0; i < count; ++i) places.push_back(drawn[i].second);
  std::ranges::sort(places);
  return places;
}

Image thumbnail(ImageView image) {
  const auto smaller = shrunk_to(image, kThumbnailPx);
  if (smaller) image = smaller->view();
  const int factor = std::max(1, kThumbnailPx / std::max(image.height_px, image.width_px));
  Image out = filled(kThumbnailPx, kThumbnailPx, kWhite);
  put(image, factor, out, (kThumbnailPx - image.width_px * factor) / 2,
      (kThumbnailPx - image.height_px * factor) / 2);
  return out;
}

Sheet make_sheet(const Cache& cache, const SheetOptions& options) {
  const Manifest& manifest = cache.manifest();
  check_pictures(cache);
  dedup::Fingerprints table = cache.open_fingerprints()({"labels"});
  const std::vector<std::size_t> rows = rows_for(cache, table, options);
  // Pictures per sample: those of one line, or one.
  const std::size_t each = options.augment ? std::max<std::size_t>(2, options.columns) : 1;
  const std::vector<std::size_t> places =
      pick(rows.size(), std::max<std::size_t>(1, options.count / each), options.seed);
  std::vector<std::vector<Cell>> cells(places.size());
  const WorkerLimit limit(options.threads);
  const DecodeSettings settings = manifest.settings.decode;
  tbb::parallel_for(std::size_t{0}, cells.size(), [&](std::size_t i) {
    const auto id_of = [&](std::size_t line) { return table.ids[rows[places[line]]]; };
    const std::size_t before = (i > 0 ? i : cells.size()) - 1;
    cells[i] = cells_of(cache, settings, id_of(i), id_of(before), options, each);
  });
  const LedgerNames names = cache.read_names();
  Sheet sheet;
  sheet.samples = cells.size();
  sheet.pictures = cells.size() * each;
  const std::size_t columns =
      std::min(std::max(each, options.columns), std::max<std::size_t>(1, sheet.pictures));
  std::vector<Place> shown(sheet.pictures);
  for (std::size_t i = 0; i < sheet.pictures; ++i) {
    const std::size_t row = rows[places[i / each]];
    const Cell& cell = cells[i / each][i % each];
    shown[i].image = &cell.image;
    if (i % each > 0) {
      shown[i].first = "epoch " + std::to_string(i % each - 1);
      shown[i].second = cell.mixed;
      continue;
    }
    const std::string name = names(table.ids[row]);
    if (!cell.problem.empty()) sheet.broken.push_back("'" + name + "' " + cell.problem);
    std::string second = std::to_string(table.ids[row]);
    for (const std::int32_t label : table.labels[row]) second += ' ' + class_name(manifest, label);
    shown[i].first = fitting(last_part(name));
    shown[i].second = cut_to_fit(second);
  }
  sheet.image = lay_out(shown, columns);
  return sheet;
}

Sheet make_group_sheet(const Cache& cache, const SheetOptions& options) {
  check_pictures(cache);
  const dedup::Fingerprints table = cache.open_fingerprints()({"labels"});
  const dedup::Selection selection = cache.read_selection(options.choice.selection);
  check_is_of(selection, table);
  const auto groups = groups_for(cache, selection, table, options.choice);
  const std::size_t columns = std::max<std::size_t>(2, options.columns);
  const std::vector<std::size_t> chosen =
      pick(groups.size(), std::max<std::size_t>(1, options.count / columns), options.seed);
  // One cell a row; the last cell of a group that does not fit shows the number of the others.
  std::vector<Place> places(chosen.size() * columns);
  std::vector<Cell> cells(places.size());
  const auto rows_in = [&](std::size_t line) {
    const std::vector<std::uint32_t>& rows = groups[chosen[line]];
    return std::span(rows).first(rows.size() > columns ? columns - 1 : rows.size());
  };
  const WorkerLimit limit(options.threads);
  tbb::parallel_for(std::size_t{0}, places.size(), [&](std::size_t i) {
    const auto rows = rows_in(i / columns);
    if (i % columns >= rows.size()) return;
    const SampleId id = table.ids[rows[i % columns]];
    cells[i] = cells_of(cache, cache.manifest().settings.decode, id, id, options, 1).front();
  });
  const LedgerNames names = cache.read_names();
  Sheet sheet;
  for (std::size_t line = 0; line < chosen.size(); ++line) {
    const auto rows = rows_in(line);
    const std::size_t left = groups[chosen[line]].size() - rows.size();
    if (left > 0)
      places[line * columns + rows.size()].first = "and " + std::to_string(left) + " more";
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const std::string name = names(table.ids[rows[k]]);
      const Cell& cell = cells[line * columns + k];
      if (!cell.problem.empty()) sheet.broken.push_back("'" + name + "' " + cell.problem);
      std::string second = fate_of(selection, rows[k], table.splits[rows[k]]) + ':';
      for (const std::int32_t label : table.labels[rows[k]]) {
        second += ' ' + class_name(cache.manifest(), label);
      }
      if (second.back() == ':') second.pop_back();
      places[line * columns + k] = {&cell.image, fitting(last_part(name)), cut_to_fit(second),
                                    selection.weights[rows[k]] > 0 ? kStays : kGoes};
    }
    sheet.pictures += rows.size();
  }
  sheet.samples = sheet.pictures;
  sheet.image = lay_out(places, columns);
  return sheet;
}

}  // namespace winnow::pipeline
