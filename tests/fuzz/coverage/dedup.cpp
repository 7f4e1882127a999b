// Tables of fingerprints, selections, reviews and the files of an index.
#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

#include "common/error.h"
#include "dedup/decisions/deduplicate.h"
#include "dedup/decisions/settings.h"
#include "dedup/features/feature_table.h"
#include "dedup/features/unit_vectors.h"
#include "dedup/index/files_internal.h"
#include "dedup/index/manifest_internal.h"
#include "dedup/review/review.h"
#include "dedup/table/fingerprints.h"
#include "dedup/table/selection.h"
#include "dedup/verify/landmark_file.h"
#include "dedup/verify/verify.h"
#include "pipeline/store/settings.h"
#include "tests/fuzz/coverage/folder.h"
#include "tests/fuzz/coverage/harness.h"
#include "tests/fuzz/coverage/harness_list.h"
#include "tests/fuzz/coverage/seal.h"

namespace winnow::fuzz {
namespace {

using namespace dedup;

// The number of rows that the file states, as its manifest would; 0 if the file ends before.
std::uint64_t rows_of(BytesView column_file) {
  constexpr std::size_t kRowsAt = 16;
  std::uint64_t rows = 0;
  if (column_file.size() < kRowsAt + sizeof rows) return 0;
  std::memcpy(&rows, column_file.data() + kRowsAt, sizeof rows);
  return std::min<std::uint64_t>(rows, 0xFFFFFFFF);
}

std::shared_ptr<const InputFile> file_of(BytesView input) {
  static const Folder folder;
  return std::make_shared<const InputFile>(folder.write("00000.index", seal_column_file(input)));
}

// The review as winnow writes it.
std::string text_of(const Review& review) {
  std::string text = review_header();
  for (const Judgement& judgement : review.judgements) text += review_line(judgement);
  return review.sample ? text + review_line(*review.sample) : text;
}

}  // namespace

int fuzz_fingerprints(BytesView input) {
  const Bytes bytes = seal_column_file(input);
  const Fingerprints table = parse_fingerprints(bytes, "table");
  expect(serialize(table) == bytes, "a table has one form");
  if (table.thumbnails.size() > 0) {
    const Ragged<ThumbnailBlock> read = open_thumbnails(file_of(input))(0, table.size());
    expect(read.values == table.thumbnails.values, "thumbnails are the same from the file");
  }
  if (table.size() > 64) return 0;
  for (const char* hash : {"exact", "phash"}) {
    Options options;
    options.hash = hash;
    check_selection(deduplicate(table, options).selection, "what was decided");
  }
  return 0;
}

int fuzz_selection(BytesView input) {
  const Bytes bytes = seal_column_file(input);
  const Selection selection = parse_selection(bytes, "selection");
  expect(parse_selection(serialize(selection), "again") == selection,
         "a selection is read as it was written");
  settings_in_words(selection.settings);
  to_text(pipeline::with_dropped({}, selection.settings, "selection"));
  return 0;
}

int fuzz_features(BytesView input) {
  const Bytes bytes = seal_column_file(input);
  const FeatureTable table = parse_features(bytes, "features");
  expect(serialize(table) == bytes, "features have one form");
  if (table.size() > 64) return 0;
  const UnitVectors units(table);
  for (std::size_t row = 0; row < table.size(); ++row) {
    expect(units.cosine(row, row) > 0.9999F, "each vector has a direction");
  }
  return 0;
}

// Landmarks of grey pictures, as many as the file states.
int fuzz_landmarks(BytesView input) {
  static const Folder folder;
  const auto path = folder.write("00001.landmarks", seal_column_file(input));
  auto piece = find_landmarks_in(path, {"0123456789abcdef0123456789abcdef", rows_of(input)});
  if (!piece) throw FormatError("it is found again");
  std::vector<std::optional<std::uint32_t>> rows;
  for (std::uint32_t row = 0; row < piece->pictures(); ++row) rows.emplace_back(row);
  const std::size_t count = piece->places.size();
  KnownLandmarks known;
  known.add(std::move(*piece), std::move(rows));
  const LandmarkTable landmarks = known.table();
  expect(landmarks.size() == count, "each landmark is of a row");
  if (landmarks.size() > 64) return 0;
  std::vector<std::uint32_t> all(landmarks.size());
  std::iota(all.begin(), all.end(), 0);
  const auto gray = [](std::uint32_t row) {
    Image image(48, 64, 1);
    for (std::size_t i = 0; i < image.pixels.size(); ++i) {
      image.pixels[i] = static_cast<std::uint8_t>(i * i / 7 + i * row);
    }
    return image;
  };
  verify_hits(landmarks, find_hits(landmarks, all, 8, {}), gray, {}, known_model());
  return 0;
}

int fuzz_review(BytesView input) {
  const Review review = parse_review(as_text(input), "review");
  expect(review.cut_off == (review.complete_bytes < input.size()), "what is left out is told");
  const std::string text = text_of(review);
  expect(text_of(parse_review(text, "again")) == text, "a review is read as it was written");
  expect(last_said({&review, 1}).size() <= review.judgements.size(), "what is in force was said");
  return 0;
}

int fuzz_index_manifest(BytesView input) {
  const IndexManifest manifest = parse_index_manifest(seal_json(input), "manifest.json");
  const std::string text = to_json(manifest);
  expect(to_json(parse_index_manifest(text, "again")) == text,
         "a manifest is read as it was written");
  for (const SealedFile* file : manifest.files()) {
    expect(file->name.find('/') == std::string::npos, "a file lies in the index's folder");
  }
  return 0;
}

int fuzz_index_links(BytesView input) {
  constexpr int kRadius = 8;
  const auto file = file_of(input);
  const auto read = [&](std::uint64_t first_row) {
    const LinksFile links(file, kRadius, first_row, rows_of(input));
    links.read_firsts();
    links.for_each(0, kRadius, [](std::span<const Edge>) {});
  };
  try {
    read(0);
  } catch (const FormatError&) {
    read(6);  // as a second segment, as in seeds.cpp
  }
  return 0;
}

int fuzz_index_names(BytesView input) {
  const std::uint64_t rows = rows_of(input);
  const NamesFile names(file_of(input), rows);
  std::size_t seen = 0;
  names.for_each([&](std::size_t row, std::string_view name) {
    expect(row == seen++, "names come in order");
    if (row < 8) expect(names.name(row) == name, "a name is the same by itself");
  });
  expect(seen == rows, "each row has a name");
  return 0;
}

int fuzz_index_tombstones(BytesView input) {
  const std::uint64_t count = rows_of(input);
  read_tombstones(*file_of(input), 1000, count);
  return 0;
}

}  // namespace winnow::fuzz
