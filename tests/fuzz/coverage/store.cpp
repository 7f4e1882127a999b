// The files of a cache, and files that come with recipes.
#include <algorithm>
#include <filesystem>
#include <string>

#include "pipeline/augment/recipe.h"
#include "pipeline/augment/variants.h"
#include "pipeline/copies/peer_copy_internal.h"
#include "pipeline/copies/shard_copy.h"
#include "pipeline/ingest/part.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/ledger.h"
#include "pipeline/store/manifest.h"
#include "pipeline/store/shard_format.h"
#include "tests/fuzz/coverage/folder.h"
#include "tests/fuzz/coverage/harness.h"
#include "tests/fuzz/coverage/harness_list.h"
#include "tests/fuzz/coverage/seal.h"

namespace winnow::fuzz {
namespace {

using namespace pipeline;

// Stands for the listing and the options of an ingest. seeds.cpp makes parts with it.
constexpr const char* kPartKey = "key";

}  // namespace

int fuzz_manifest(BytesView input) {
  const Manifest manifest = parse_manifest(seal_json(input), "manifest.json");
  const std::string text = to_json(manifest);
  expect(to_json(parse_manifest(text, "again")) == text, "a manifest is read as it was written");
  entries(manifest.settings);
  manifest.images.mean();
  manifest.images.deviation();
  variant_settings(manifest.settings.variants);
  return 0;
}

int fuzz_ledger(BytesView input) {
  static const Folder folder;
  const std::vector<LedgerRow> rows = parse_ledger(std::string(as_text(input)), "ledger");
  const std::string text = to_json_lines(rows);
  expect(to_json_lines(parse_ledger(text, "again")) == text, "a ledger is read as it was written");
  count_fates(rows);
  const auto file = folder.write("ledger.jsonl", input);
  for_each_remark(InputFile(file), [](const LedgerRow&) {});
  const LedgerNames names{InputFile(file)};
  for (std::size_t i = 0; i < std::min<std::size_t>(rows.size(), 8); ++i) names(rows[i].id);
  return 0;
}

int fuzz_pack(BytesView input) {
  const Bytes pack = seal_pack(input);
  for_each_packed_size(pack, "pack", [](SampleId, std::size_t) {});
  for (const RecordView& record : unpack_records(pack, "pack")) {
    const FoundRecord found = find_record(pack, record.id, "pack");
    expect(found.found && found.record.id == record.id, "what is unpacked is found");
    find_record(pack, record.id, "pack", [](int variants) { return variants - 1; });
  }
  return 0;
}

int fuzz_part(BytesView input) {
  static const Folder folder;
  const CachePaths paths{folder.path()};
  folder.write("parts/00000", seal_tail(input));
  const auto part = read_part(paths, "00000", kPartKey);
  if (!part) return 0;
  part->inputs();
  for_each_piece(paths, "00000", [](const std::string& ledger, const dedup::Fingerprints&) {
    parse_ledger(ledger, "piece");
  });
  return 0;
}

// The description of a copy in memory.
int fuzz_copy(BytesView input) {
  static const Folder folder;
  const std::string digest(32, 'a');
  const std::string name = memory_prefix() + "copy-" + digest;
  folder.write(name + "/copy.json", input);
  std::filesystem::permissions(folder / name, std::filesystem::perms::owner_all);
  contents_of_copy(folder / name, digest);
  list_copies(folder.path());
  find_copied_files("/cache", folder.path());
  return 0;
}

int fuzz_peer_files(BytesView input) {
  const auto files = parse_files(std::string(as_text(input)), "message");
  const std::string text = to_json(files);
  expect(to_json(parse_files(text, "again")) == text, "a message is read as it was written");
  return 0;
}

int fuzz_recipe(BytesView input) {
  const Recipe recipe = parse_recipe(as_text(input));
  expect(parse_recipe(recipe_name(recipe)) == recipe, "a recipe is what its name says");
  return 0;
}

}  // namespace winnow::fuzz
