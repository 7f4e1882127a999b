// How long `winnow review` takes to its first page, and to store a judgement, with any number of
// images and groups. Exit code 1 above 2 s or 50 ms. See ../README.md.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/file.h"
#include "common/rng.h"
#include "pipeline/store/ledger.h"
#include "tools/review/review_site.h"

namespace winnow::tools {
namespace {

namespace fs = std::filesystem;

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double shown(const char* what, const std::function<void()>& work) {
  const double seconds = seconds_of(work);
  std::printf("%-52s %9.3f s\n", what, seconds);
  return seconds;
}

struct Data {
  dedup::Fingerprints table;
  dedup::Selection selection;
};

// Groups of three, spread evenly over the rows; codes of a group are a few bits apart.
Data make_data(std::uint32_t images, std::uint32_t groups) {
  Data data;
  CounterRng random(1, 0, 0, RandomUse::kTest);
  dedup::CodeColumn codes = dedup::empty_codes("phash", 1, 64);
  const std::uint32_t stride = images / groups;
  std::uint64_t code = 0;
  for (std::uint32_t row = 0; row < images; ++row) {
    const std::uint32_t place = row % stride;
    const bool grouped = row / stride < groups && place < 3;
    const bool stands = !grouped || place == 0;
    if (stands) code = random.next_u64();
    const std::uint32_t bits = stands ? 0 : 1 + random.below(8);
    codes.words.push_back(code ^ ((std::uint64_t{1} << bits) - 1));
    data.table.ids.push_back(row);
    data.table.splits.push_back(row % 97 == 0 ? Split::kTest : Split::kTrain);
    const auto label = static_cast<std::int32_t>(random.below(1000));
    data.table.labels.push_back(std::span(&label, 1));
    data.table.widths_px.push_back(640);
    data.table.heights_px.push_back(480);
    Hash128 hash;
    for (auto& byte : hash.bytes) byte = static_cast<std::uint8_t>(random.next_u32());
    data.table.file_hashes.push_back(hash);
    data.selection.ids.push_back(row);
    data.selection.weights.push_back(stands ? 1 : 0);
    const std::uint32_t before =
        data.selection.components.empty() ? 0 : data.selection.components.back() + 1;
    data.selection.components.push_back(stands ? before : before - 1);
    data.selection.kept.push_back(stands ? row : row - place);
    data.selection.distances.push_back(static_cast<std::uint16_t>(bits));
    data.selection.rules.push_back(stands ? dedup::Rule::kKept : dedup::Rule::kDuplicate);
  }
  data.table.codes.push_back(std::move(codes));
  return data;
}

void write_ledger(const fs::path& path, std::uint32_t images) {
  DurableFile file(path);
  std::vector<pipeline::LedgerRow> rows;
  for (std::uint32_t row = 0; row < images; ++row) {
    rows.push_back({.id = row,
                    .name = "train/class" + std::to_string(row % 1000) + "/image_" +
                            std::to_string(row) + ".jpg",
                    .split = Split::kTrain,
                    .fate = pipeline::Fate::kOk,
                    .reason = {}});
    if (rows.size() < 10000 && row + 1 < images) continue;
    file.append(as_bytes(pipeline::to_json_lines(rows)));
    rows.clear();
  }
  file.finish();
}

WebRequest groups(std::map<std::string, std::string, std::less<>> asked) {
  return {.path = "groups", .parameters = std::move(asked)};
}

// Seconds of each of so many judgements, ascending.
std::vector<double> judge(ReviewSite& site, const Data& data, std::size_t count) {
  std::vector<double> seconds;
  std::vector<std::uint32_t> removed;
  for (std::uint32_t row = 0; row < data.table.size() && removed.size() < count; ++row) {
    if (data.selection.weights[row] == 0) removed.push_back(row);
  }
  for (const std::uint32_t row : removed) {
    const WebRequest request{
        .is_post = true,
        .path = "judgements",
        .body = R"({"verdict":"different","images":[")" + to_hex(data.table.file_hashes[row]) +
                R"(",")" + to_hex(data.table.file_hashes[data.selection.kept[row]]) + R"("]})"};
    seconds.push_back(seconds_of([&] { site.answer(request); }));
  }
  std::ranges::sort(seconds);
  return seconds;
}

int run(std::uint32_t images, std::uint32_t count, const fs::path& folder) {
  const Data data = make_data(images, count);
  write_ledger(folder / "ledger.jsonl", images);
  std::printf("%u images, %u groups of three\n", images, count);
  const pipeline::LedgerNames names{InputFile(folder / "ledger.jsonl")};
  dedup::Result result;
  double first = shown("groups of the selection, and their diameters", [&] {
    result = groups_of(data.selection, data.table, data.table.find_codes("phash"), 8);
  });
  std::vector<std::string> classes;
  for (int i = 0; i < 1000; ++i) classes.push_back("class" + std::to_string(i));
  std::unique_ptr<GroupList> list;
  std::unique_ptr<ReviewSite> site;
  Pictures pictures([](SampleId, int) { return std::nullopt; }, 1, 1);
  dedup::ReviewLog log(folder / "review.jsonl");
  first += shown("what is known of each", [&] {
    list = std::make_unique<GroupList>(
        GalleryInput{result, data.table, 8, classes, std::cref(names)}, false);
    site = std::make_unique<ReviewSite>(ReviewSite::Parts{*list, pictures, log, {}});
  });
  first += shown("first page of 50", [&] { site->answer(groups({{"count", "50"}})); });
  std::printf("%-52s %9.3f s\n", "together", first);
  shown("another page", [&] { site->answer(groups({{"first", "100000"}})); });
  shown("first by distance", [&] { site->answer(groups({{"sort", "distance"}})); });
  shown("of one class, not judged", [&] {
    site->answer(groups({{"class", "class7"}, {"todo", "1"}, {"count", "1"}}));
  });
  shown("first by folders (reads the names of all)", [&] {
    site->answer(groups({{"sort", "folders"}}));
  });
  shown("by folders again", [&] { site->answer(groups({{"sort", "folders"}})); });
  const std::vector<double> seconds = judge(*site, data, 200);
  const double median = seconds[seconds.size() / 2];
  std::printf("a judgement stored: median %.1f ms, 99 of 100 within %.1f ms\n", 1e3 * median,
              1e3 * seconds[seconds.size() * 99 / 100]);
  return first > 2 || median > 0.05 ? 1 : 0;
}

}  // namespace
}  // namespace winnow::tools

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "bench_review IMAGES GROUPS FOLDER, such as 3000000 200000 /tmp\n");
    return 2;
  }
  const auto folder = std::filesystem::path(argv[3]) / "bench_review";
  std::filesystem::create_directories(folder);
  const int code = winnow::tools::run(static_cast<std::uint32_t>(std::atoi(argv[1])),
                                      static_cast<std::uint32_t>(std::atoi(argv[2])), folder);
  std::filesystem::remove_all(folder);
  return code;
}
