#include "pipeline/ingest/part.h"

#include <algorithm>
#include <system_error>
#include <type_traits>

#include "common/checksum.h"
#include "common/error.h"
#include "common/file.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;
namespace {

// Parts live only from one run to the next of the same program: the version is raised when anything
// below changes, and what it does not know is done again.
constexpr std::string_view kMagic = "winnow part 1\n";
static_assert(std::is_trivially_copyable_v<Tally> &&
              sizeof(Tally) == 8 * (kSplitCount + 2 + 4 * 7));  // no padding

fs::path part_file(const CachePaths& paths, std::size_t shard) {
  return parts_folder(paths) / std::to_string(shard);
}

void put_text(ByteWriter& out, std::string_view text) {
  out.put<std::uint64_t>(text.size());
  out.put_text(text);
}

std::string get_text(ByteReader& in) { return in.get_text(in.get<std::uint64_t>()); }

Bytes serialize(const std::string& key, const Part& part) {
  ByteWriter out;
  out.put_text(kMagic);
  put_text(out, key);
  put_text(out, part.info.file);
  out.put(part.info.first_id);
  out.put(part.info.last_id);
  out.put(part.info.records);
  out.put(part.info.bytes);
  out.put<std::uint64_t>(part.info.block_hashes.size());
  for (const std::string& hash : part.info.block_hashes) put_text(out, hash);
  out.put_bytes(std::as_bytes(std::span(&part.tally, 1)));
  put_text(out, to_json_lines(part.ledger));
  put_text(out, as_text(dedup::serialize(part.fingerprints)));
  out.put(xxh3_64(out.bytes()));
  return std::move(out).take();
}

Part parse(const Bytes& bytes, const std::string& key, const std::string& where) {
  const auto need = [&where](bool good) {
    if (!good) throw FormatError(where + " is of another run or damaged");
  };
  need(bytes.size() >= 8);
  const BytesView body = BytesView(bytes).first(bytes.size() - 8);
  ByteReader checksum(BytesView(bytes).last(8), where);
  need(checksum.get<std::uint64_t>() == xxh3_64(body));
  ByteReader in(body, where);
  need(as_text(in.get_bytes(kMagic.size())) == kMagic);
  need(get_text(in) == key);
  Part part;
  part.info.file = get_text(in);
  part.info.first_id = in.get<SampleId>();
  part.info.last_id = in.get<SampleId>();
  part.info.records = in.get<std::uint64_t>();
  part.info.bytes = in.get<std::uint64_t>();
  const auto blocks = in.get<std::uint64_t>();
  for (std::uint64_t i = 0; i < blocks; ++i) part.info.block_hashes.push_back(get_text(in));
  const BytesView tally = in.get_bytes(sizeof(Tally));
  std::copy(tally.begin(), tally.end(), std::as_writable_bytes(std::span(&part.tally, 1)).begin());
  part.ledger = parse_ledger(get_text(in), where);
  part.fingerprints = dedup::parse_fingerprints(in.get_bytes(in.get<std::uint64_t>()), where);
  return part;
}

bool deserves_another_try(const LedgerRow& row) { return row.fate == Fate::kUnreadable; }

}  // namespace

fs::path parts_folder(const CachePaths& paths) { return paths.root / "parts"; }

void write_part(const CachePaths& paths, std::size_t shard, const std::string& key,
                const Part& part) {
  write_file_durably(part_file(paths, shard), serialize(key, part));
}

std::optional<Part> read_part(const CachePaths& paths, std::size_t shard, const std::string& key) {
  const fs::path file = part_file(paths, shard);
  std::error_code error;
  if (!fs::exists(file, error)) return std::nullopt;
  try {
    Part part = parse(read_file(file), key, file.string());
    if (std::any_of(part.ledger.begin(), part.ledger.end(), deserves_another_try)) {
      return std::nullopt;
    }
    const bool in_place =
        part.info.file.empty() ||
        (fs::file_size(paths.root / part.info.file, error) == part.info.bytes && !error);
    if (!in_place) return std::nullopt;
    return part;
  } catch (const FormatError&) {  // cut short or older: the shard is simply done again
    return std::nullopt;
  }
}

void remove_part(const CachePaths& paths, std::size_t shard) {
  const fs::path file = part_file(paths, shard);
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return;
  remove_file(file);
  fsync_directory(file.parent_path());
}

}  // namespace winnow::pipeline
