#include "pipeline/ingest/chunk.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "common/checksum.h"
#include "common/error.h"
#include "common/resample.h"
#include "dedup/hash/features.h"
#include "pipeline/decode/decode.h"

namespace winnow::pipeline {
namespace {

using datasets::ReadError;

// Small records share a value; see docs/formats/shard.md. Never depends on time or threads.
constexpr std::size_t kPackRecords = 64;
constexpr std::size_t kPackBytes = 256u << 10;
// LMDB cannot write a value of 2 GiB.
constexpr std::uint64_t kMaxPayloadBytes = (std::uint64_t{1} << 31) - (4u << 20);

Hash128 hash_pixels(const Image& image) {
  const std::array<std::uint32_t, 3> shape{static_cast<std::uint32_t>(image.height_px),
                                           static_cast<std::uint32_t>(image.width_px),
                                           static_cast<std::uint32_t>(image.channels)};
  Xxh3Stream stream;
  stream.update(std::as_bytes(std::span(shape)));
  stream.update(as_bytes(image.pixels));
  return stream.digest();
}

Hash128 file_hash(const Readable& input) {
  return input.encoded.empty() ? hash_pixels(input.image) : xxh3_128(input.encoded);
}

// An I/O error may pass, as on a network file system that is busy; what stays after three tries is
// booked.
Expected<datasets::Payload, ReadError> read_patiently(const datasets::Source& source,
                                                      std::uint64_t position) {
  using namespace std::chrono_literals;
  for (const auto pause : {5ms, 40ms}) {
    auto payload = source.read(position);
    if (payload || payload.error().kind != ReadError::Kind::kIo) return payload;
    std::this_thread::sleep_for(pause);
  }
  return source.read(position);
}

Refused refused(const ReadError& error) {
  switch (error.kind) {
    case ReadError::Kind::kMissing:
      return {Fate::kMissing, error.detail};
    case ReadError::Kind::kEmpty:
      return {Fate::kEmpty, error.detail};
    case ReadError::Kind::kCorrupt:
      return {Fate::kCorrupt, error.detail};
    case ReadError::Kind::kIo:
      break;
  }
  return {Fate::kUnreadable, error.detail};
}

Refused refused(const DecodeError& error) {
  switch (error.kind) {
    case DecodeError::Kind::kTruncated:
      return {Fate::kTruncated, error.detail};
    case DecodeError::Kind::kUnsupported:
      return {Fate::kUnsupported, error.detail};
    case DecodeError::Kind::kTooLarge:
      return {Fate::kTooLarge, error.detail};
    case DecodeError::Kind::kCorrupt:
      break;
  }
  return {Fate::kCorrupt, error.detail};
}

Refused too_large(std::uint64_t bytes) {
  return {Fate::kTooLarge, "has " + std::to_string(bytes) + " bytes"};
}

// Room for a record of its own pack: header, directory, padding.
std::uint64_t pack_bytes(const RecordView& record) {
  return 16 + kRecordHeaderBytes + 4 * record.labels.size() + record.group.size() + 16 +
         record.payload.size();
}

std::string describe(const datasets::Source& source, std::uint64_t position) {
  return "input '" + source.entries().names()[position] + "'";
}

}  // namespace

ChunkMaker::ChunkMaker(const datasets::Source& source, const IngestOptions& options, Gates& gates)
    : source_(source), store_(options.store), decode_(options.decode), gates_(gates) {
  for (const std::string& name : options.hashes) {
    const dedup::Hash* hash = &dedup::find_hash(name);
    if (std::find(hashes_.begin(), hashes_.end(), hash) != hashes_.end()) {
      throw UsageError("the hash " + name + " is named twice; name it once");
    }
    hashes_.push_back(hash);
  }
}

dedup::Fingerprints ChunkMaker::empty_fingerprints() const {
  dedup::Fingerprints table;
  for (const dedup::Hash* hash : hashes_) {
    table.codes.push_back({.hash = std::string(hash->name),
                           .version = hash->version,
                           .bits = hash->bits,
                           .words = {}});
  }
  return table;
}

std::uint64_t ChunkMaker::pixel_bytes(std::uint64_t position) const {
  const auto input = load(position);
  return input ? input->image.pixels.size() : 0;
}

Expected<Readable, Refused> ChunkMaker::load(std::uint64_t position) const {
  const std::uint64_t input_bytes = source_.entries().input_bytes(position);
  if (input_bytes > kMaxPayloadBytes) return too_large(input_bytes);
  ByteGate::Credit credit = gates_.encoded.acquire(input_bytes);
  auto payload = read_patiently(source_, position);
  if (!payload) return refused(payload.error());
  if (auto* image = std::get_if<Image>(&*payload)) {
    return load_pixels(position, std::move(*image), std::move(credit));
  }
  return load_encoded(std::get<Bytes>(*std::move(payload)), std::move(credit));
}

Expected<Readable, Refused> ChunkMaker::load_pixels(std::uint64_t position, Image image,
                                                    ByteGate::Credit credit) const {
  const auto side = [](int n) { return static_cast<std::uint64_t>(std::max(n, 0)); };
  const std::uint64_t pixels = side(image.height_px) * side(image.width_px);
  if (pixels == 0) return Refused{Fate::kEmpty, "has no pixels"};
  if ((image.channels != 1 && image.channels != 3) ||
      image.pixels.size() != pixels * side(image.channels)) {
    throw Error(describe(source_, position) +
                " has pixels that do not fit its size: its reader is at fault");
  }
  if (pixels > decode_.max_pixels) {
    return Refused{Fate::kTooLarge, "has " + std::to_string(image.width_px) + " x " +
                                        std::to_string(image.height_px) + " pixels"};
  }
  if (image.pixels.size() > kMaxPayloadBytes) return too_large(image.pixels.size());
  credit.grow_to(image.pixels.size());
  ByteGate::Credit gray = gates_.pixels.acquire(pixels);
  return Readable{{}, std::move(image), {}, std::move(credit), std::move(gray)};
}

Expected<Readable, Refused> ChunkMaker::load_encoded(Bytes bytes, ByteGate::Credit credit) const {
  if (bytes.empty()) return Refused{Fate::kEmpty, "has no bytes"};
  if (bytes.size() > kMaxPayloadBytes) return too_large(bytes.size());
  credit.grow_to(bytes.size());  // the listing may have been wrong
  ByteGate::Credit pixels;
  auto image = decode(bytes, decode_, [&](std::uint64_t decoded_bytes) {
    pixels.shrink_to(0);
    pixels = gates_.pixels.acquire(decoded_bytes + decoded_bytes / 3);
  });
  if (!image) return refused(image.error());
  if (store_ == Store::kRaw && image->pixels.size() > kMaxPayloadBytes) {
    return too_large(image->pixels.size());
  }
  std::string warning = std::move(image->warning);
  return Readable{std::move(bytes), *std::move(image), std::move(warning), std::move(credit),
                  std::move(pixels)};
}

void ChunkMaker::append_fingerprints(dedup::Fingerprints& table, std::uint64_t position,
                                     const Readable& input) const {
  const datasets::Listing& entries = source_.entries();
  const Image& image = input.image;
  const Hash128 pixel_hash = hash_pixels(image);
  table.ids.push_back(make_sample_id(0, position));
  table.splits.push_back(entries.split(position));
  table.labels.push_back(entries.labels(position));
  table.groups.push_back(entries.group(position));
  table.widths_px.push_back(static_cast<std::uint32_t>(image.width_px));
  table.heights_px.push_back(static_cast<std::uint32_t>(image.height_px));
  table.file_bytes.push_back(input.encoded.empty() ? image.pixels.size() : input.encoded.size());
  table.file_hashes.push_back(input.encoded.empty() ? pixel_hash : xxh3_128(input.encoded));
  table.pixel_hashes.push_back(pixel_hash);
  Image copy;
  ImageView gray = image.view();
  if (image.channels != 1) {
    copy = to_gray(image.view());
    gray = copy.view();
  }
  table.sharpness.push_back(dedup::sharpness(gray));
  table.quality.push_back(dedup::quality(gray));
  for (std::size_t i = 0; i < hashes_.size(); ++i) {
    std::vector<std::uint64_t>& words = table.codes[i].words;
    words.resize(words.size() + table.codes[i].words_per_code());
    hashes_[i]->compute(gray, words.data() + words.size() - table.codes[i].words_per_code());
  }
}

RecordView ChunkMaker::record_of(std::uint64_t position, const Readable& input) const {
  const datasets::Listing& entries = source_.entries();
  const bool raw = store_ == Store::kRaw || input.encoded.empty();
  return {.id = make_sample_id(0, position),
          .split = entries.split(position),
          .coding = raw ? Coding::kRaw : Coding::kEncoded,
          .height_px = input.image.height_px,
          .width_px = input.image.width_px,
          .channels = input.image.channels,
          .labels = entries.labels(position),
          .group = entries.group(position),
          .payload = raw ? as_bytes(input.image.pixels) : BytesView(input.encoded)};
}

namespace {

// Gathers consecutive small records into packs; large ones are alone.
class Packer {
 public:
  Packer(std::vector<Pack>& out, ByteGate& kept) : out_(out), kept_(kept), credit_(kept.none()) {}

  void add(const RecordView& record, Pack::Item item) {
    const std::size_t bytes = record.payload.size();
    if (items_.size() == kPackRecords || bytes_ + bytes > kPackBytes) close();
    items_.push_back(item);
    bytes_ += bytes;
    if (bytes > kPackBytes) {
      // Straight from the input's own memory, which is counted elsewhere until it goes.
      kept_all_ = credit_.try_grow_to(pack_bytes(record));
      if (kept_all_) close_with(std::span(&record, 1));
      close();
    } else if (kept_all_) {
      keep(record);
    }
  }

  void close() {
    for (std::size_t i = 0; i < records_.size(); ++i) records_[i].payload = payloads_[i];
    close_with(records_);
  }

 private:
  // A copy now, and later the pack beside all copies.
  void keep(const RecordView& record) {
    kept_all_ = credit_.try_grow_to(credit_.bytes() + 2 * pack_bytes(record));
    if (!kept_all_) {
      drop();
      return;
    }
    records_.push_back(record);
    payloads_.emplace_back(record.payload.begin(), record.payload.end());
  }

  void close_with(std::span<const RecordView> records) {
    if (items_.empty()) return;
    Pack pack;
    pack.items = std::exchange(items_, {});
    if (kept_all_) {
      pack.pack = pack_records(records);
      credit_.shrink_to(pack.pack.size());
      pack.credit = std::exchange(credit_, kept_.none());
    }
    out_.push_back(std::move(pack));
    drop();
    bytes_ = 0;
    kept_all_ = true;
  }

  void drop() {
    records_.clear();
    payloads_.clear();
    credit_.shrink_to(0);
  }

  std::vector<Pack>& out_;
  ByteGate& kept_;
  ByteGate::Credit credit_;
  std::vector<Pack::Item> items_;
  std::vector<RecordView> records_;  // of items_, while all are kept
  std::vector<Bytes> payloads_;
  std::size_t bytes_ = 0;
  bool kept_all_ = true;
};

}  // namespace

Chunk ChunkMaker::make(const ChunkPlan& plan, const std::function<void()>& check) const {
  Chunk chunk;
  chunk.plan = plan;
  chunk.fingerprints = empty_fingerprints();
  Packer packer(chunk.packs, gates_.kept);
  for (std::uint64_t position = plan.begin; position < plan.end; ++position) {
    if (check) check();
    const Split split = source_.entries().split(position);
    chunk.ledger.push_back({.id = make_sample_id(0, position),
                            .name = source_.entries().names()[position],
                            .split = split,
                            .fate = Fate::kOk,
                            .reason = {}});
    try {
      const auto input = load(position);
      if (!input) {
        chunk.ledger.back().fate = input.error().fate;
        chunk.ledger.back().reason = input.error().reason;
        continue;
      }
      chunk.ledger.back().reason = input->warning;
      append_fingerprints(chunk.fingerprints, position, *input);
      chunk.tally.add(input->image.view(), split);
      if (store_ != Store::kNone) {
        packer.add(record_of(position, *input), {position, chunk.fingerprints.size() - 1});
      }
    } catch (const std::bad_alloc&) {
      throw SystemError("out of memory at " + describe(source_, position) +
                        "; use fewer threads or lower the limit on pixels");
    }
  }
  packer.close();
  return chunk;
}

void ChunkMaker::make_again(const Chunk& chunk, Pack& pack) const {
  std::vector<Readable> inputs;
  std::vector<RecordView> records;
  ByteGate::Credit credit = gates_.kept.none();
  for (const Pack::Item& item : pack.items) {
    auto loaded = load(item.position);
    if (!loaded || file_hash(*loaded) != chunk.fingerprints.file_hashes[item.row]) {
      throw Error(describe(source_, item.position) +
                  " changed while it was being ingested; leave the source alone and ingest again");
    }
    Readable& input = inputs.emplace_back(*std::move(loaded));
    if (store_ == Store::kRaw) {
      input.encoded = {};
    } else if (!input.encoded.empty()) {
      input.image.pixels = {};
    }
    records.push_back(record_of(item.position, input));
    // From here on it counts as kept: the next input may have to wait at the other gates.
    credit.grow_to(credit.bytes() + 2 * pack_bytes(records.back()));
    input.encoded_credit.shrink_to(0);
    input.pixel_credit.shrink_to(0);
  }
  pack.pack = pack_records(records);
  credit.shrink_to(pack.pack.size());
  pack.credit = std::move(credit);
}

}  // namespace winnow::pipeline
