#include "tests/fuzz/coverage/seal.h"

#include <algorithm>
#include <cstring>

#include "common/checksum.h"
#include "common/crc32c.h"
#include "common/json_text.h"
#include "pipeline/store/shard_format.h"

namespace winnow::fuzz {
namespace {

template <class T>
T number_at(BytesView bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <class T>
void put_at(Bytes& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

std::size_t aligned(std::size_t at) { return (at + 7) / 8 * 8; }

// Seals a record up to the end that its header states, if that lies in the pack.
void seal_record(Bytes& pack, std::size_t at) {
  constexpr std::size_t kChecksumBytes = 8;
  if (at > pack.size() || pack.size() - at < pipeline::kRecordHeaderBytes) return;
  const BytesView record = BytesView(pack).subspan(at);
  const auto version = number_at<std::uint16_t>(record, 8);
  const auto labels = number_at<std::uint16_t>(record, 12);
  const auto group_bytes = number_at<std::uint16_t>(record, 14);
  const auto variants = number_at<std::uint16_t>(record, 34);
  const auto payload_bytes = number_at<std::uint32_t>(record, 36);
  std::size_t payload =
      aligned(pipeline::kRecordHeaderBytes + std::size_t{4} * labels + group_bytes);
  const std::size_t sums = payload;
  const bool has_variants = version == 2 && variants > 1;
  if (has_variants) payload += std::size_t{8} * variants;
  if (payload > record.size() || payload_bytes > record.size() - payload) return;
  for (std::size_t k = 0; has_variants && k < variants; ++k) {
    const std::size_t each = payload_bytes / variants;
    put_at(pack, at + sums + 8 * k, xxh3_64(record.subspan(payload + k * each, each)));
  }
  const std::size_t summed = has_variants ? payload : payload + payload_bytes;
  put_at(pack, at, xxh3_64(record.subspan(kChecksumBytes, summed - kChecksumBytes)));
}

// Corrects the hashes of thumbnails, in the last column but one. Returns where the values of
// thumbnails begin, which the checksum does not cover; 0 if there are none.
std::size_t seal_thumbnails(Bytes& file) {
  constexpr std::size_t kHeader = 24;
  constexpr std::size_t kEntry = 64;
  constexpr std::size_t kPiece = 65536;
  constexpr std::string_view kName = "thumbnails:values";
  if (file.size() < kHeader + 2 * kEntry + 8) return 0;
  const std::size_t end = file.size() - 8;
  const std::size_t columns = number_at<std::uint32_t>(file, 12);
  if (columns < 2 || columns > (end - kHeader) / kEntry) return 0;
  const std::size_t entry = kHeader + kEntry * (columns - 1);
  const auto begin = number_at<std::uint64_t>(file, entry + 56);
  const auto hashes = number_at<std::uint64_t>(file, entry - kEntry + 56);
  if (as_text(BytesView(file).subspan(entry, kName.size())) != kName || begin > end) return 0;
  const std::size_t bytes = std::min<std::size_t>(
      end - begin, std::size_t{64} * number_at<std::uint32_t>(file, entry + 48));
  for (std::size_t at = 0; at < bytes && hashes <= begin; at += kPiece) {
    const std::size_t place = hashes + at / kPiece * 8;
    if (place + 8 > begin) break;
    put_at(file, place, xxh3_64(BytesView(file).subspan(begin + at, std::min(kPiece, bytes - at))));
  }
  return begin;
}

std::uint32_t masked_crc(BytesView bytes) {
  Crc32c crc;
  crc.update(bytes);
  return crc.masked();
}

}  // namespace

Bytes seal_column_file(BytesView bytes) {
  Bytes out(bytes.begin(), bytes.end());
  const std::size_t checked = seal_thumbnails(out);
  if (checked == 0) return seal_tail(out);
  put_at(out, out.size() - 8, xxh3_64(BytesView(out).first(checked)));
  return out;
}

Bytes seal_tail(BytesView bytes) {
  Bytes out(bytes.begin(), bytes.end());
  if (out.size() < 8) return out;
  put_at(out, out.size() - 8, xxh3_64(bytes.first(bytes.size() - 8)));
  return out;
}

std::string seal_json(BytesView bytes) {
  std::string text(as_text(bytes));
  if (const std::size_t digits = stated_digest(text).size(); digits > 0) {
    text.erase(2, text.find('\n', 2) + 1 - 2);
  }
  return text.starts_with("{\n") ? with_digest_line(text) : text;
}

Bytes seal_pack(BytesView pack) {
  Bytes out(pack.begin(), pack.end());
  if (out.size() < 8) return out;
  const std::size_t count =
      std::min<std::size_t>(number_at<std::uint32_t>(out, 0), (out.size() - 8) / 8);
  for (std::size_t i = 0; i < count; ++i) {
    seal_record(out, number_at<std::uint64_t>(out, 8 + 8 * i));
  }
  return out;
}

Bytes seal_tfrecord(BytesView bytes) {
  Bytes out(bytes.begin(), bytes.end());
  for (std::size_t at = 0; out.size() - at >= 12;) {
    const auto length = number_at<std::uint64_t>(out, at);
    put_at(out, at + 8, masked_crc(bytes.subspan(at, 8)));
    at += 12;
    if (out.size() - at < 4 || length > out.size() - at - 4) break;
    put_at(out, at + length, masked_crc(bytes.subspan(at, length)));
    at += length + 4;
  }
  return out;
}

}  // namespace winnow::fuzz
