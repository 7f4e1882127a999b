// Makes the page of a synthetic deduplication: bench_gallery PAGE [ROWS GROUPS [MEMBERS]].
// Rows, groups, names and pictures are made by formula. Prints the seconds of each step and the
// peak of memory.

#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "app/page/gallery_make.h"
#include "common/file.h"
#include "common/rng.h"

namespace {

using namespace winnow;

constexpr std::uint32_t kClasses = 1000;
constexpr int kThreshold = 8;

std::uint64_t random_of(std::uint64_t row) {
  return CounterRng(1, 0, row, RandomUse::kOrder).next_u64();
}

dedup::Fingerprints table_of(std::uint32_t rows) {
  dedup::Fingerprints table;
  for (std::uint32_t row = 0; row < rows; ++row) {
    table.ids.push_back(row);
    table.splits.push_back(row % 20 == 0 ? Split::kTest : Split::kTrain);
    const auto label = static_cast<std::int32_t>(row / 3 % kClasses);
    table.labels.push_back(std::span(&label, 1));
    table.widths_px.push_back(500);
    table.heights_px.push_back(375);
    table.file_hashes.push_back(xxh3_128(as_bytes(std::to_string(row))));
  }
  return table;
}

// Groups of this many members, as far as rows last. 0: mostly two; every tenth group has three,
// every hundredth has forty.
dedup::Result result_of(const dedup::Fingerprints& table, std::uint32_t groups,
                        std::uint32_t members) {
  dedup::Result result;
  dedup::Selection& selection = result.selection = dedup::keep_all(table.ids);
  selection.settings = R"({"hash":"phash","threshold":8,"groups":"components","keep":"first"})";
  std::uint32_t row = 0;
  for (std::uint32_t number = 0; number < groups; ++number) {
    const std::uint32_t usual = number % 100 == 0 ? 40 : number % 10 == 0 ? 3 : 2;
    const std::uint32_t size = members > 0 ? members : usual;
    if (row + size > table.size()) break;
    dedup::Group group;
    for (std::uint32_t i = 0; i < size; ++i) group.rows.push_back(row + i);
    const auto distance = static_cast<std::uint16_t>(random_of(number) % (kThreshold + 1));
    for (std::uint32_t i = 1; i < size; ++i) {
      selection.kept[row + i] = row;
      selection.weights[row + i] = 0;
      selection.distances[row + i] = distance;
      selection.rules[row + i] = dedup::Rule::kDuplicate;
    }
    group.leak = dedup::is_leak(table.splits, group.rows);
    group.label_conflict = dedup::labels_differ(table.labels, group.rows);
    group.shape = {.diameter = distance, .chain = false};
    result.removed += size - 1;
    result.groups.push_back(std::move(group));
    row += size;
  }
  result.kept = table.size() - result.removed;
  return result;
}

// As detailed as a photo: a JPEG of 160 pixels takes some 7 KB.
std::optional<Image> picture_of(SampleId id, int) {
  Image image(240, 320, 3);
  CounterRng random(2, 0, id, RandomUse::kOrder);
  const double phase = static_cast<double>(random.next_u64() % 1000) / 100;
  for (int y = 0; y < image.height_px; ++y) {
    for (int x = 0; x < image.width_px; ++x) {
      const std::uint64_t noise = random.next_u64();
      for (int c = 0; c < 3; ++c) {
        const double wave = 90 * std::sin(phase + x / (9.0 + c)) * std::cos(y / 23.0 - phase);
        image.pixels[static_cast<std::size_t>((y * image.width_px + x) * 3 + c)] =
            static_cast<std::uint8_t>(110 + wave + static_cast<double>(noise >> (8 * c) & 31U));
      }
    }
  }
  return image;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "bench_gallery PAGE [ROWS GROUPS [MEMBERS]]\n");
    return 2;
  }
  const auto number = [&](int place, std::uint32_t usual) {
    return argc > place ? static_cast<std::uint32_t>(std::strtoul(argv[place], nullptr, 10))
                        : usual;
  };
  const dedup::Fingerprints table = table_of(number(2, 3'000'000));
  const dedup::Result result = result_of(table, number(3, 200'000), number(4, 0));
  std::vector<std::string> classes;
  for (std::uint32_t i = 0; i < kClasses; ++i) classes.push_back("class " + std::to_string(i));
  const tools::GalleryInput input{.result = result,
                                  .table = table,
                                  .threshold = kThreshold,
                                  .classes = classes,
                                  .name_of = [](SampleId id) {
                                    return "photos/set " + std::to_string(random_of(id) % 40) +
                                           "/IMG_" + std::to_string(id) + ".jpg";
                                  }};
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  const auto begin = std::chrono::steady_clock::now();
  const tools::GalleryPage page = tools::make_gallery(
      input, {.title = "made by formula", .made = "", .picture_of = picture_of, .no_pictures = ""},
      {});
  const std::string html = html_of(page);
  const double seconds = seconds_since(begin);
  write_file_durably(argv[1], html);
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  std::printf(
      "%zu rows, %zu groups, %zu shown: %.1f s, page %.1f MB, memory %ld MB before, %ld MB "
      "at most\n",
      table.size(), result.groups.size(), page.groups.size(), seconds,
      static_cast<double>(html.size()) / 1e6, before.ru_maxrss / 1000, after.ru_maxrss / 1000);
  return 0;
}
