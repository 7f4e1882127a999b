#include "pipeline/store/shard_format.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "common/checksum.h"
#include "common/error.h"

namespace winnow::pipeline {
namespace {

constexpr std::size_t kAlignment = 8;
constexpr std::size_t kDirectoryBytes = 8;  // count and zero, before the offsets
constexpr std::uint16_t kPlainVersion = 1;
constexpr std::uint16_t kVariantsVersion = 2;

// The header of a record as laid out in memory on little-endian machines, the only ones winnow runs
// on.
struct RecordHeader {
  std::uint64_t checksum;
  std::uint16_t version;
  std::uint8_t coding;
  std::uint8_t split;
  std::uint16_t labels;
  std::uint16_t group_bytes;
  std::uint64_t id;
  std::uint32_t height_px;
  std::uint32_t width_px;
  std::uint16_t channels;
  std::uint16_t variants;  // 0 if there is one
  std::uint32_t payload_bytes;
};
static_assert(sizeof(RecordHeader) == kRecordHeaderBytes);
static_assert(std::is_trivially_copyable_v<RecordHeader>);
constexpr std::size_t kChecksumBytes = 8;

constexpr std::size_t aligned(std::size_t size) noexcept {
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

template <class T>
T narrow(std::uint64_t value, const char* field, SampleId id) {
  if (value > std::numeric_limits<T>::max()) {
    throw Error("record " + std::to_string(id) + " cannot be stored: its " + field + " of " +
                std::to_string(value) + " is over " +
                std::to_string(std::numeric_limits<T>::max()));
  }
  return static_cast<T>(value);
}

std::uint64_t raw_bytes(std::uint64_t height, std::uint64_t width,
                        std::uint64_t channels) noexcept {
  return height * width * channels;
}

struct Layout {
  std::size_t sums_at;  // offset of the variants' checksums
  std::size_t payload_at;
  std::size_t end;      // end of the payload
  std::size_t summed;   // end of what the record's own checksum covers
  std::size_t aligned;  // offset of the next record
};
Layout layout_of(std::size_t labels, std::size_t group_bytes, std::size_t variants,
                 std::size_t payload_bytes) noexcept {
  const std::size_t sums_at = aligned(kRecordHeaderBytes + 4 * labels + group_bytes);
  const std::size_t payload_at = sums_at + kChecksumBytes * variants;
  const std::size_t end = payload_at + payload_bytes;
  return {sums_at, payload_at, end, variants > 0 ? payload_at : end, aligned(end)};
}
Layout layout_of(const RecordView& record) noexcept {
  return layout_of(record.labels.size(), record.group.size(),
                   record.variants > 1 ? static_cast<std::size_t>(record.variants) : 0,
                   record.payload.size());
}

// One variant in the payload of a record.
BytesView variant_in(BytesView payload, std::size_t variants, std::size_t which) noexcept {
  const std::size_t bytes = payload.size() / variants;
  return payload.subspan(which * bytes, bytes);
}

RecordHeader header_of(const RecordView& record) {
  const SampleId id = record.id;
  const bool shaped = record.height_px >= 1 && record.width_px >= 1 &&
                      (record.channels == 1 || record.channels == 3);
  if (!shaped)
    throw Error("record " + std::to_string(id) +
                " cannot be stored: its size or number of channels is invalid");
  RecordHeader header{};
  header.version = record.variants > 1 ? kVariantsVersion : kPlainVersion;
  header.coding = static_cast<std::uint8_t>(record.coding);
  header.split = static_cast<std::uint8_t>(record.split);
  header.labels = narrow<std::uint16_t>(record.labels.size(), "number of labels", id);
  header.group_bytes = narrow<std::uint16_t>(record.group.size(), "group key size", id);
  header.id = id;
  header.height_px = static_cast<std::uint32_t>(record.height_px);
  header.width_px = static_cast<std::uint32_t>(record.width_px);
  header.channels = static_cast<std::uint16_t>(record.channels);
  header.payload_bytes = narrow<std::uint32_t>(record.payload.size(), "payload size", id);
  if (record.variants < 1 || (record.variants > 1 && record.coding != Coding::kRaw)) {
    throw Error("record " + std::to_string(id) + " cannot be stored: it has " +
                std::to_string(record.variants) + " variants, but only pixels may have several");
  }
  const auto variants = static_cast<std::uint64_t>(record.variants);
  if (variants > 1) header.variants = narrow<std::uint16_t>(variants, "number of variants", id);
  if (record.coding == Coding::kRaw &&
      record.payload.size() !=
          variants * raw_bytes(header.height_px, header.width_px, header.channels)) {
    throw Error("record " + std::to_string(id) + " cannot be stored: its pixels are not " +
                "height x width x channels bytes for each variant");
  }
  return header;
}

void write_record(const RecordView& record, std::byte* out) {
  RecordHeader header = header_of(record);
  const Layout layout = layout_of(record);
  std::byte* labels = out + kRecordHeaderBytes;
  std::byte* group = labels + 4 * record.labels.size();
  std::memcpy(out, &header, sizeof(header));
  if (!record.labels.empty()) std::memcpy(labels, record.labels.data(), 4 * record.labels.size());
  if (!record.group.empty()) std::memcpy(group, record.group.data(), record.group.size());
  if (!record.payload.empty()) {
    std::memcpy(out + layout.payload_at, record.payload.data(), record.payload.size());
  }
  for (std::size_t k = 0; k < header.variants; ++k) {
    const std::uint64_t sum = xxh3_64(variant_in(record.payload, header.variants, k));
    std::memcpy(out + layout.sums_at + kChecksumBytes * k, &sum, sizeof(sum));
  }
  header.checksum = xxh3_64({out + kChecksumBytes, layout.summed - kChecksumBytes});
  std::memcpy(out, &header.checksum, kChecksumBytes);
}

// Access to a pack without trusting its content.
class Pack {
 public:
  Pack(BytesView bytes, const std::string& where, CheckedBytes* checked = nullptr)
      : bytes_(bytes), where_(where), checked_(checked) {
    need(reinterpret_cast<std::uintptr_t>(bytes.data()) % kAlignment == 0, "is not aligned");
    need(bytes.size() >= kDirectoryBytes, "is cut short");
    std::uint32_t count = 0;
    std::memcpy(&count, bytes.data(), sizeof(count));
    need(count >= 1 && (bytes.size() - kDirectoryBytes) / 8 >= count, "has a damaged directory");
    count_ = count;
  }

  std::size_t count() const noexcept { return count_; }
  std::size_t first_at() const noexcept { return kDirectoryBytes + 8 * count_; }

  std::size_t offset(std::size_t i) const {
    std::uint64_t at = 0;
    std::memcpy(&at, bytes_.data() + kDirectoryBytes + 8 * i, sizeof(at));
    need(at % kAlignment == 0 && at >= first_at() && at <= bytes_.size() &&
             bytes_.size() - at >= kRecordHeaderBytes,
         "has a damaged directory");
    return static_cast<std::size_t>(at);
  }

  // Prefetches the header of a record. Each lies in cache lines of its own, and waiting for them
  // dominates when only headers are read.
  void fetch_header(std::size_t i) const noexcept {
    if (i >= count_) return;
    std::uint64_t at = 0;
    std::memcpy(&at, bytes_.data() + kDirectoryBytes + 8 * i, sizeof(at));
    if (at < bytes_.size()) __builtin_prefetch(bytes_.data() + at);
  }

  RecordHeader header(std::size_t i) const {
    RecordHeader header;
    std::memcpy(&header, bytes_.data() + offset(i), sizeof(header));
    return header;
  }

  // Aligned: the pack is, records begin at multiples of 8, and labels follow a header of 40 bytes.
  std::span<const std::int32_t> labels(std::size_t i) const {
    const std::size_t at = offset(i) + kRecordHeaderBytes;
    const std::size_t count = header(i).labels;
    need(count <= (bytes_.size() - at) / 4, "has a record that ends too soon");
    return {reinterpret_cast<const std::int32_t*>(bytes_.data() + at), count};
  }

  RecordView record(std::size_t i, const PickVariant& pick = {}) const {
    const std::size_t at = offset(i);
    const RecordHeader header = this->header(i);
    if (header.version > kRecordVersion) {
      throw FormatError(where_ + " was written by a newer winnow (record version " +
                        std::to_string(header.version) + ", this one reads up to " +
                        std::to_string(kRecordVersion) + ") or is damaged");
    }
    const bool several = header.version == kVariantsVersion;
    const Layout layout = layout_of(header.labels, header.group_bytes,
                                    several ? header.variants : 0, header.payload_bytes);
    need(layout.end <= bytes_.size() - at, "has a record that ends too soon");
    const BytesView record = bytes_.subspan(at, layout.end);
    need(matches(record.first(layout.summed).subspan(kChecksumBytes), header.checksum),
         "has a record whose checksum does not match");
    const bool raw = header.coding == static_cast<std::uint8_t>(Coding::kRaw);
    need(header.version >= kPlainVersion && header.coding <= 1 && header.split < kSplitCount &&
             (several ? header.variants > 1 && raw : header.variants == 0) &&
             (header.channels == 1 || header.channels == 3) && in_range(header.height_px) &&
             in_range(header.width_px),
         "has a record that winnow cannot have written");
    const std::uint64_t variants = several ? header.variants : 1;
    need(!raw || (header.payload_bytes % variants == 0 &&
                  header.payload_bytes / variants ==
                      raw_bytes(header.height_px, header.width_px, header.channels)),
         "has a record whose pixels do not fit its size");
    BytesView payload = record.subspan(layout.payload_at, header.payload_bytes);
    if (several) payload = checked_variants(record, layout, payload, header.variants, pick);
    return {.id = header.id,
            .split = static_cast<Split>(header.split),
            .coding = static_cast<Coding>(header.coding),
            .height_px = static_cast<int>(header.height_px),
            .width_px = static_cast<int>(header.width_px),
            .channels = header.channels,
            .labels = labels(i),
            .group = as_text(record.subspan(kRecordHeaderBytes + std::size_t{4} * header.labels,
                                            header.group_bytes)),
            .payload = payload,
            .variants = several && !pick ? header.variants : 1};
  }

  void need(bool good, const char* what) const {
    if (!good) throw FormatError(where_ + " is damaged: it " + what + "; make it again");
  }

 private:
  bool matches(BytesView part, std::uint64_t sum) const {
    if (checked_ != nullptr && checked_->has(part)) return true;
    if (xxh3_64(part) != sum) return false;
    if (checked_ != nullptr) checked_->remember(part);
    return true;
  }

  // All variants, or the chosen one, if their checksums match.
  BytesView checked_variants(BytesView record, const Layout& layout, BytesView payload,
                             std::size_t variants, const PickVariant& pick) const {
    const auto check = [&](std::size_t k) {
      const BytesView variant = variant_in(payload, variants, k);
      std::uint64_t sum = 0;
      std::memcpy(&sum, record.data() + layout.sums_at + kChecksumBytes * k, sizeof(sum));
      need(matches(variant, sum), "has a variant whose checksum does not match");
      return variant;
    };
    if (!pick) {
      for (std::size_t k = 0; k < variants; ++k) check(k);
      return payload;
    }
    const int picked = pick(static_cast<int>(variants));
    if (picked < 0 || picked >= static_cast<int>(variants)) {
      throw Error(where_ + " has no variant " + std::to_string(picked) + ": there are " +
                  std::to_string(variants));
    }
    return check(static_cast<std::size_t>(picked));
  }

  static bool in_range(std::uint32_t side) noexcept {
    return side >= 1 && side <= static_cast<std::uint32_t>(std::numeric_limits<int>::max());
  }

  BytesView bytes_;
  const std::string& where_;
  CheckedBytes* checked_;
  std::size_t count_ = 0;
};

}  // namespace

Bytes pack_records(std::span<const RecordView> records) {
  if (records.empty()) throw Error("a pack needs at least one record");
  const std::size_t first = kDirectoryBytes + 8 * records.size();
  std::size_t total = first;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (i > 0 && records[i].id <= records[i - 1].id) {
      throw Error(
          "the records of a pack must have ascending ids: " + std::to_string(records[i].id) +
          " came after " + std::to_string(records[i - 1].id));
    }
    total += layout_of(records[i]).aligned;
  }
  Bytes pack(total);
  const auto count = narrow<std::uint32_t>(records.size(), "pack's record count", records[0].id);
  std::memcpy(pack.data(), &count, sizeof(count));
  std::uint64_t at = first;
  for (std::size_t i = 0; i < records.size(); ++i) {
    std::memcpy(pack.data() + kDirectoryBytes + 8 * i, &at, sizeof(at));
    write_record(records[i], pack.data() + at);
    at += layout_of(records[i]).aligned;
  }
  return pack;
}

std::size_t packed_bytes(const RecordView& record) {
  return kDirectoryBytes + 8 + layout_of(record).aligned;
}

void pack_record(const RecordView& record, std::span<std::byte> out) {
  if (out.size() != packed_bytes(record)) {
    throw Error("record " + std::to_string(record.id) + " needs " +
                std::to_string(packed_bytes(record)) + " bytes as a pack, not " +
                std::to_string(out.size()));
  }
  constexpr std::uint64_t kCount = 1;  // and zero
  constexpr std::uint64_t kAt = kDirectoryBytes + 8;
  std::memcpy(out.data(), &kCount, sizeof(kCount));
  std::memcpy(out.data() + kDirectoryBytes, &kAt, sizeof(kAt));
  const std::span<std::byte> place = out.subspan(kAt);
  const Layout layout = layout_of(record);
  std::ranges::fill(place.first(layout.payload_at), std::byte{0});  // padding between fields
  std::ranges::fill(place.subspan(layout.end), std::byte{0});
  write_record(record, place.data());
}

void for_each_packed_size(BytesView pack, const std::string& where,
                          const std::function<void(SampleId, std::size_t)>& take) {
  const Pack in(pack, where);
  for (std::size_t i = 0; i < in.count(); ++i) {
    const RecordHeader header = in.header(i);
    const std::size_t variants = std::max<std::size_t>(1, header.variants);
    const Layout alone =
        layout_of(header.labels, header.group_bytes, 0, header.payload_bytes / variants);
    take(header.id, kDirectoryBytes + 8 + alone.aligned);
  }
}

void for_each_labels(
    BytesView pack, const std::string& where,
    const std::function<void(SampleId id, std::span<const std::int32_t> labels)>& take) {
  constexpr std::size_t kAhead = 8;
  const Pack in(pack, where);
  for (std::size_t i = 0; i < in.count(); ++i) {
    in.fetch_header(i + kAhead);
    take(in.header(i).id, in.labels(i));
  }
}

FoundRecord find_record(BytesView pack, SampleId id, const std::string& where,
                        const PickVariant& pick, CheckedBytes* checked) {
  const Pack in(pack, where, checked);
  // If no input was left out, which is usual, the id gives the position. Every header examined lies
  // in another page.
  const SampleId first = in.header(0).id;
  if (id >= first && id - first < in.count()) {
    const auto guess = static_cast<std::size_t>(id - first);
    if (in.header(guess).id == id) return {.found = true, .record = in.record(guess, pick)};
  }
  std::size_t low = 0;
  std::size_t high = in.count();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (in.header(middle).id < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == in.count() || in.header(low).id != id) return {};
  return {.found = true, .record = in.record(low, pick)};
}

std::vector<RecordView> unpack_records(BytesView pack, const std::string& where) {
  const Pack in(pack, where);
  std::uint32_t zero = 0;
  std::memcpy(&zero, pack.data() + 4, sizeof(zero));
  in.need(zero == 0, "has a damaged directory");
  std::vector<RecordView> records;
  records.reserve(in.count());
  std::size_t next = in.first_at();
  for (std::size_t i = 0; i < in.count(); ++i) {
    in.need(in.offset(i) == next, "has a damaged directory");
    records.push_back(in.record(i));
    const Layout layout = layout_of(records.back());
    for (std::size_t at = layout.end; at < layout.aligned; ++at) {
      in.need(next + at < pack.size() && pack[next + at] == std::byte{0}, "has damaged padding");
    }
    next += layout.aligned;
    in.need(i == 0 || records[i - 1].id < records[i].id, "has ids that do not ascend");
  }
  in.need(next == pack.size(), "has bytes after its last record");
  return records;
}

}  // namespace winnow::pipeline
