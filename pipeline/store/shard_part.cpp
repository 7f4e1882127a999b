#include "pipeline/store/shard_part.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "common/error.h"
#include "common/lmdb/structure.h"
#include "pipeline/store/pack_cutter.h"
#include "pipeline/store/shard_format.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kLengthBytes = sizeof(std::uint64_t);

[[noreturn]] void fail(const InputFile& file, const std::string& what) {
  throw FormatError(file.path().string() + " is damaged: " + what + "; ingest again");
}

std::uint64_t length_at(BytesView stream) {
  std::uint64_t length = 0;
  std::memcpy(&length, stream.data(), sizeof(length));
  return length;
}

}  // namespace

std::vector<PackPlace> find_packs(const InputFile& file, const ShardInfo& shard) {
  if (file.size() != shard.bytes) {
    fail(file, "it has " + std::to_string(file.size()) + " bytes instead of " +
                   std::to_string(shard.bytes));
  }
  std::vector<PackPlace> places;
  lmdb::for_each_place(file, [&](std::uint64_t key, std::uint64_t begin, std::uint64_t bytes) {
    const bool ascends = places.empty() || places.back().ids.first < key;
    if (key < shard.first_id || key > shard.last_id || !ascends) {
      fail(file, "a pack is stored under a wrong key");
    }
    if (!places.empty()) places.back().ids.last = key - 1;
    places.push_back({.ids = {key, shard.last_id}, .begin = begin, .bytes = bytes});
  });
  return places;
}

std::vector<PackPlace> find_packs(const InputFile& file, const ShardInfo& shard,
                                  std::span<const IdRun> of) {
  std::vector<PackPlace> places = find_packs(file, shard);
  std::erase_if(places, [&](const PackPlace& place) { return !has_any(of, place.ids); });
  return places;
}

Bytes read_pack(const InputFile& file, const PackPlace& place) {
  Bytes pack(place.bytes);
  file.read_at(place.begin, pack);
  const std::string where = file.path().string() + ", record " + std::to_string(place.ids.first);
  const std::vector<RecordView> records = unpack_records(pack, where);
  if (records.front().id != place.ids.first || records.back().id > place.ids.last) {
    fail(file, "a pack is stored under a wrong key");
  }
  return pack;
}

std::uint64_t stream_bytes(const PackPlace& place) noexcept { return kLengthBytes + place.bytes; }

PackStream::PackStream(const fs::path& file, const ShardInfo& shard, std::span<const IdRun> of)
    : file_(file), places_(find_packs(file_, shard, of)) {
  std::uint64_t end = 0;
  for (const PackPlace& place : places_) {
    begins_.push_back(end);
    end += stream_bytes(place);
  }
}

const Bytes& PackStream::pack(std::size_t number) {
  if (pack_.empty() || number_ != number) {
    pack_ = read_pack(file_, places_[number]);
    number_ = number;
  }
  return pack_;
}

void PackStream::read_at(std::uint64_t begin, std::span<std::byte> out) {
  while (!out.empty()) {
    const auto after = std::ranges::upper_bound(begins_, begin);
    if (after == begins_.begin()) throw Error("a stream of packs ends before the requested bytes");
    const auto number = static_cast<std::size_t>(after - begins_.begin()) - 1;
    const std::uint64_t inside = begin - begins_[number];
    const std::uint64_t length = places_[number].bytes;
    if (inside >= kLengthBytes + length) {
      throw Error("a stream of packs ends before the requested bytes");
    }
    const BytesView from = inside < kLengthBytes
                               ? std::as_bytes(std::span(&length, 1)).subspan(inside)
                               : BytesView(pack(number)).subspan(inside - kLengthBytes);
    const std::size_t bytes = std::min(out.size(), from.size());
    std::memcpy(out.data(), from.data(), bytes);
    out = out.subspan(bytes);
    begin += bytes;
  }
}

void ShardPartWriter::put(Bytes pack, const std::string& where) {
  std::vector<RecordView> records = unpack_records(pack, where);
  const std::size_t count = records.size();
  std::erase_if(records, [&](const RecordView& record) { return !has_id(of_, record.id); });
  if (records.empty()) return;
  const SampleId key = records.front().id;
  if (records.size() < count) pack = pack_records(records);
  if (bytes_ > 0 && bytes_ + pack.size() > kTransactionBytes) commit();
  bytes_ += pack.size();
  transaction_.emplace_back(key, std::move(pack));
}

void ShardPartWriter::put_stream(BytesView bytes, const std::string& where) {
  unread_.insert(unread_.end(), bytes.begin(), bytes.end());
  std::size_t at = 0;
  for (BytesView left = unread_; left.size() >= kLengthBytes;
       left = BytesView(unread_).subspan(at)) {
    const std::uint64_t length = length_at(left);
    if (left.size() - kLengthBytes < length) break;
    const BytesView pack = left.subspan(kLengthBytes, length);
    put(Bytes(pack.begin(), pack.end()), where);
    at += kLengthBytes + length;
  }
  unread_.erase(unread_.begin(), unread_.begin() + static_cast<std::ptrdiff_t>(at));
}

void ShardPartWriter::finish(const std::string& where) {
  if (!unread_.empty()) throw FormatError(where + " is damaged: it ends within a pack");
  commit();
  writer_.seal();
}

void ShardPartWriter::commit() {
  writer_.put(transaction_);
  transaction_.clear();
  bytes_ = 0;
}

}  // namespace winnow::pipeline
