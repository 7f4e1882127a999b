#include "pipeline/ingest/part.h"

#include <algorithm>
#include <numeric>
#include <system_error>
#include <type_traits>

#include "common/checksum.h"
#include "common/error.h"
#include "common/file.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;
namespace {

// Parts are only used by later runs of the same program. Raise the version on any change below;
// parts of other versions are redone.
constexpr std::string_view kMagic = "winnow part 9\n";
static_assert(std::is_trivially_copyable_v<Tally> &&
              sizeof(Tally) == 8 * (kSplitCount + 2 + 4 * 7));  // no padding

fs::path part_file(const CachePaths& paths, const std::string& shard) {
  return parts_folder(paths) / shard;
}

void put_text(ByteWriter& out, std::string_view text) {
  out.put<std::uint64_t>(text.size());
  out.put_text(text);
}

std::string get_text(ByteReader& in) { return in.get_text(in.get<std::uint64_t>()); }

// The beginning of the file.
Bytes head_of(const std::string& key) {
  ByteWriter out;
  out.put_text(kMagic);
  put_text(out, key);
  return std::move(out).take();
}

// The data after the rows. Its length (8 bytes) and the XXH3-64 of everything before follow.
Bytes foot_of(const Part& part) {
  ByteWriter out;
  put_text(out, part.info.file);
  out.put(part.info.first_id);
  out.put(part.info.last_id);
  out.put(part.info.records);
  out.put(part.info.bytes);
  out.put<std::uint64_t>(part.info.block_hashes.size());
  for (const std::string& hash : part.info.block_hashes) put_text(out, hash);
  out.put_bytes(std::as_bytes(std::span(&part.tally, 1)));
  out.put_array(std::span<const std::uint64_t>(part.fates));
  out.put(part.size.rows);
  out.put(part.size.labels);
  out.put(part.size.group_bytes);
  out.put(part.size.audited);
  out.put(part.size.pictured);
  out.put(part.size.thumbnail_blocks);
  out.put(part.remarks.warned);
  out.put(part.remarks.oriented);
  out.put(part.remarks.transparent);
  out.put<std::uint64_t>(part.remarks.unsupported.size());
  for (const auto& [reason, count] : part.remarks.unsupported) {
    put_text(out, reason);
    out.put(count);
  }
  return std::move(out).take();
}

Part parse_foot(BytesView foot, const std::string& where) {
  ByteReader in(foot, where);
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
  for (std::uint64_t& count : part.fates) count = in.get<std::uint64_t>();
  part.size.rows = in.get<std::uint64_t>();
  part.size.labels = in.get<std::uint64_t>();
  part.size.group_bytes = in.get<std::uint64_t>();
  part.size.audited = in.get<std::uint64_t>();
  part.size.pictured = in.get<std::uint64_t>();
  part.size.thumbnail_blocks = in.get<std::uint64_t>();
  part.remarks.warned = in.get<std::uint64_t>();
  part.remarks.oriented = in.get<std::uint64_t>();
  part.remarks.transparent = in.get<std::uint64_t>();
  const auto reasons = in.get<std::uint64_t>();
  for (std::uint64_t i = 0; i < reasons; ++i) {
    const std::string reason = get_text(in);
    part.remarks.unsupported[reason] = in.get<std::uint64_t>();
  }
  return part;
}

constexpr std::uint64_t kTailBytes = 16;  // length of the foot, checksum

Bytes bytes_at(const InputFile& file, std::uint64_t offset, std::uint64_t count) {
  if (offset > file.size() || count > file.size() - offset) {
    throw FormatError(file.path().string() + " is not a file that a rank of an ingest wrote");
  }
  Bytes bytes(count);
  file.read_at(offset, bytes);
  return bytes;
}

std::uint64_t number_at(const InputFile& file, std::uint64_t offset) {
  return ByteReader(bytes_at(file, offset, 8), file.path().string()).get<std::uint64_t>();
}

// Offset of the foot.
std::uint64_t foot_at(const InputFile& file) {
  const std::uint64_t tail = std::max(file.size(), kTailBytes) - kTailBytes;
  return tail - std::min(tail, number_at(file, tail));
}

bool is_sound(const InputFile& file, const std::string& key) {
  const Bytes head = head_of(key);
  if (file.size() < head.size() + kTailBytes || bytes_at(file, 0, head.size()) != head)
    return false;
  Xxh3Stream hash;
  for_each_piece(file, 0, file.size() - 8, [&](BytesView piece) { hash.update(piece); });
  return hash.digest_64() == number_at(file, file.size() - 8);
}

}  // namespace

std::uint64_t Part::inputs() const noexcept {
  return std::accumulate(fates.begin(), fates.end(), std::uint64_t{0});
}

fs::path parts_folder(const CachePaths& paths) { return paths.root / "parts"; }

PartWriter::PartWriter(const CachePaths& paths, const std::string& shard, const std::string& key)
    : file_(part_file(paths, shard)) {
  put(head_of(key));
}

void PartWriter::put(BytesView bytes) {
  hash_.update(bytes);
  file_.append(bytes);
  bytes_ += bytes.size();
}

void PartWriter::append(const std::vector<LedgerRow>& ledger,
                        const dedup::Fingerprints& fingerprints) {
  ByteWriter out;
  put_text(out, to_json_lines(ledger));
  put_text(out, as_text(dedup::serialize(fingerprints)));
  put(out.bytes());
}

void PartWriter::finish(const Part& part) {
  ByteWriter out;
  out.put_bytes(foot_of(part));
  out.put<std::uint64_t>(out.size());
  put(out.bytes());
  ByteWriter checksum;
  checksum.put(hash_.digest_64());
  file_.append(checksum.bytes());
  file_.finish();
}

std::optional<Part> read_part(const CachePaths& paths, const std::string& shard,
                              const std::string& key) {
  const fs::path path = part_file(paths, shard);
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  const InputFile file(path);
  // Truncated or older parts: the shard is redone.
  if (!is_sound(file, key)) return std::nullopt;
  const std::uint64_t foot = foot_at(file);
  Part part = parse_foot(bytes_at(file, foot, file.size() - kTailBytes - foot), path.string());
  const bool in_place =
      part.info.file.empty() ||
      (fs::file_size(paths.root / part.info.file, error) == part.info.bytes && !error);
  if (!in_place) return std::nullopt;
  return part;
}

void for_each_piece(const CachePaths& paths, const std::string& shard, const TakeRows& take) {
  const InputFile file(part_file(paths, shard));
  const std::uint64_t end = foot_at(file);
  std::uint64_t at = kMagic.size();
  const auto next = [&] {
    const std::uint64_t size = number_at(file, at);
    Bytes bytes = bytes_at(file, at + 8, size);
    at += 8 + size;
    return bytes;
  };
  next();  // the key
  while (at < end) {
    const Bytes ledger = next();
    const Bytes table = next();
    take(std::string(as_text(ledger)), dedup::parse_fingerprints(table, file.path().string()));
  }
}

void remove_part(const CachePaths& paths, const std::string& shard) {
  const fs::path file = part_file(paths, shard);
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return;
  remove_file(file);
  fsync_directory(file.parent_path());
}

}  // namespace winnow::pipeline
