#include "pipeline/ingest/chunk.h"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "common/checksum.h"
#include "common/error.h"
#include "pipeline/decode/decode.h"
#include "pipeline/decode/encode.h"
#include "pipeline/decode/shrink.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/pack_cutter.h"

namespace winnow::pipeline {
namespace {

using datasets::ReadError;

Hash128 file_hash(const Readable& input) {
  return input.encoded.empty() ? hash_pixels(input.image) : xxh3_128(input.encoded);
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
  const auto variants = static_cast<std::uint64_t>(record.variants);
  return 16 + kRecordHeaderBytes + 4 * record.labels.size() + record.group.size() + 16 +
         8 * variants + record.payload.size();
}

// Of what is in memory already: counted, without waiting.
ByteGate::Credit count_only(ByteGate& gate, std::uint64_t bytes) {
  ByteGate::Credit credit = gate.none();
  credit.grow_to(bytes);
  return credit;
}

// The training labels of an input.
void append_labels(dedup::Ragged<std::int32_t>& to, const PlacedSource& in,
                   std::uint64_t position) {
  const std::span<const std::int32_t> labels = in.source->entries().labels(position);
  if (in.training_labels.empty()) {
    to.push_back(labels);
    return;
  }
  std::vector<std::int32_t> mapped;
  for (const std::int32_t label : labels) {
    mapped.push_back(in.training_labels.at(static_cast<std::size_t>(label)));
  }
  to.push_back(mapped);
}

std::string describe(const PlacedSource& in, std::uint64_t position) {
  return "input '" + in.source->entries().names()[position] + "'";
}

}  // namespace

ChunkMaker::ChunkMaker(std::span<const PlacedSource> sources, const IngestOptions& options,
                       Gates& gates)
    : sources_(sources),
      store_(options.store),
      decode_(options.decode),
      resize_(options.resize),
      variants_(options.variants),
      left_out_(options.left_out),
      scale_(dedup::common_scale(options.hashes)),
      gates_(gates),
      scratch_(gates.scratch_bytes) {
  if (left_out_ != nullptr) {
    stand_ins_ = left_out_->decisions.kept;
    std::ranges::sort(stand_ins_);
    stand_ins_.erase(std::unique(stand_ins_.begin(), stand_ins_.end()), stand_ins_.end());
  }
  for (const std::string& name : options.hashes) {
    const dedup::HashKind hash = dedup::find_hash(name);
    if (std::find(hashes_.begin(), hashes_.end(), hash) != hashes_.end()) {
      throw UsageError("the hash " + name + " is named twice; name it once");
    }
    hashes_.push_back(hash);
  }
}

dedup::Fingerprints ChunkMaker::empty_fingerprints() const {
  dedup::Fingerprints table;
  for (const dedup::HashKind& hash : hashes_) {
    table.codes.push_back(dedup::empty_codes(hash.name(), hash.row->version, hash.bits()));
  }
  return table;
}

ChunkMaker::PixelSize ChunkMaker::pixel_size(std::size_t source, std::uint64_t position) const {
  const Place place{sources_[source], position};
  const auto input = load(place, read_patiently(*place.in.source, position),
                          [this](std::uint64_t bytes) { return gates_.pixels.acquire(bytes); });
  if (!input) return {};
  return {input->image.pixels.size(), input->image.channels};
}

Expected<Readable, Refused> ChunkMaker::load(const Place& place, ReadResult read,
                                             const TakePixels& take, Image buffer) const {
  const std::uint64_t listed_bytes = place.in.source->entries().input_bytes(place.position);
  if (listed_bytes > kMaxInputBytes) return too_large(listed_bytes);
  if (!read) return refused(read.error());
  if (auto* image = std::get_if<Image>(&*read)) {
    return load_pixels(place, std::move(*image), take);
  }
  return load_encoded(std::get<Bytes>(*std::move(read)), take, std::move(buffer));
}

Expected<Readable, Refused> ChunkMaker::load_pixels(const Place& place, Image image,
                                                    const TakePixels& take) const {
  const auto side = [](int n) { return static_cast<std::uint64_t>(std::max(n, 0)); };
  const std::uint64_t pixels = side(image.height_px) * side(image.width_px);
  if (pixels == 0) return Refused{Fate::kEmpty, "has no pixels"};
  if ((image.channels != 1 && image.channels != 3) ||
      image.pixels.size() != pixels * side(image.channels)) {
    throw Error(describe(place.in, place.position) +
                " has pixels that do not fit its size: its reader is at fault");
  }
  if (pixels > decode_.max_pixels) {
    return Refused{Fate::kTooLarge, "has " + std::to_string(image.width_px) + " x " +
                                        std::to_string(image.height_px) + " pixels"};
  }
  if (image.pixels.size() > kMaxInputBytes) return too_large(image.pixels.size());
  ByteGate::Credit gray = take(pixels + variants_room());
  const int height = image.height_px;
  const int width = image.width_px;
  return Readable{{}, std::move(image), height, width, {}, 1, {}, std::move(gray)};
}

Expected<Readable, Refused> ChunkMaker::load_encoded(Bytes bytes, const TakePixels& take,
                                                     Image buffer) const {
  if (bytes.empty()) return Refused{Fate::kEmpty, "has no bytes"};
  if (bytes.size() > kMaxInputBytes) return too_large(bytes.size());
  ByteGate::Credit pixels;
  const BeforeAllocation before = [&](std::uint64_t decoded_bytes) {
    pixels.shrink_to(0);
    pixels = take(decoded_bytes + variants_room());
  };
  auto image = decode(bytes, decode_, before, std::move(buffer), scale_);
  if (!image) return refused(image.error());
  if (store_ == Store::kRaw && variants_.copies == 0 && image->pixels.size() > kMaxInputBytes) {
    return too_large(image->pixels.size());
  }
  std::string warning = std::move(image->warning);
  const int height = image->whole_height_px;
  const int width = image->whole_width_px;
  return Readable{std::move(bytes),   *std::move(image), height, width, {}, 1,
                  std::move(warning), std::move(pixels)};
}

void ChunkMaker::append_fingerprints(Chunk& chunk, const Place& place, const Readable& input,
                                     dedup::HashMemory& memory) const {
  const datasets::Listing& entries = place.in.source->entries();
  const std::uint64_t position = place.position;
  dedup::Fingerprints& table = chunk.fingerprints;
  std::optional<Image> scaled;  // of bare pixels, which are stored whole
  if (scale_ > 1 && input.encoded.empty()) scaled = box_average(input.image.view(), scale_);
  const Image& image = scaled ? *scaled : input.image;
  Prints prints = prints_of(image, hashes_, memory);
  // Pictures that agree at a scale may differ: their pixels count as equal where their bytes are.
  const bool by_pixels = scale_ == 1 && input.encoded.empty();
  const Hash128 of_file = by_pixels ? prints.pixel_hash : file_hash(input);
  table.ids.push_back(place.in.id_of(position));
  table.splits.push_back(entries.split(position));
  append_labels(table.labels, place.in, position);
  table.group_keys.push_back(entries.group(position));
  table.widths_px.push_back(static_cast<std::uint32_t>(input.width_px));
  table.heights_px.push_back(static_cast<std::uint32_t>(input.height_px));
  table.file_bytes.push_back(input.encoded.empty() ? input.image.pixels.size()
                                                   : input.encoded.size());
  table.file_hashes.push_back(of_file);
  table.pixel_hashes.push_back(scale_ == 1 ? prints.pixel_hash : of_file);
  table.sharpness.push_back(prints.sharpness);
  table.quality.push_back(prints.quality);
  auto next = prints.codes.begin();
  for (dedup::CodeColumn& column : table.codes) {
    const auto end = next + static_cast<std::ptrdiff_t>(column.words_per_code());
    column.words.insert(column.words.end(), next, end);
    next = end;
  }
  chunk.tally.add(input.height_px, input.width_px, image.channels, prints.sums,
                  image.pixels.size() / static_cast<std::size_t>(image.channels),
                  entries.split(position));
}

std::uint64_t ChunkMaker::variants_room() const noexcept { return 2 * variant_bytes(variants_); }

void ChunkMaker::shape(const Place& place, Readable& input) const {
  if (variants_.copies == 0) return resize(input);
  const Split split = place.in.source->entries().split(place.position);
  input.smaller =
      make_variants(input.image.view(), variants_, split, place.in.id_of(place.position));
  input.variants = variant_count(variants_, split);
}

void ChunkMaker::resize(Readable& input) const {
  const Image& image = input.image;
  const auto size = shrunk({image.height_px, image.width_px}, resize_.short_side_px);
  if (!size) return;
  const bool encoded = store_ == Store::kOriginal && !input.encoded.empty();
  if (encoded && std::max(size->height_px, size->width_px) > kMaxJpegSide) return;
  // What is made besides: rows of the new width, the new pixels, and room for a JPEG.
  const auto bytes_of = [](int height, int width) {
    return static_cast<std::uint64_t>(height) * static_cast<std::uint64_t>(width) * 3;
  };
  input.pixel_credit.grow_to(input.pixel_credit.bytes() +
                             bytes_of(image.height_px, size->width_px) +
                             2 * bytes_of(size->height_px, size->width_px));
  input.smaller = shrink(image.view(), resize_.short_side_px);
  if (!encoded) return;
  input.encoded = encode_jpeg(input.smaller->view(), resize_.quality);
  input.smaller->pixels = {};
}

RecordView ChunkMaker::record_of(const Place& place, const Readable& input,
                                 const dedup::Fingerprints& table, std::size_t row) const {
  const datasets::Listing& entries = place.in.source->entries();
  const bool raw = store_ == Store::kRaw || input.encoded.empty();
  const Image& image = input.smaller ? *input.smaller : input.image;
  return {.id = place.in.id_of(place.position),
          .split = entries.split(place.position),
          .coding = raw ? Coding::kRaw : Coding::kEncoded,
          .height_px = (input.smaller ? image.height_px : input.height_px) / input.variants,
          .width_px = input.smaller ? image.width_px : input.width_px,
          .channels = image.channels,
          .labels = table.labels[row],
          .group = entries.group(place.position),
          .payload = raw ? as_bytes(image.pixels) : BytesView(input.encoded),
          .variants = input.variants};
}

namespace {

// Gathers consecutive small records into packs; large ones are alone.
class Packer {
 public:
  Packer(std::vector<Pack>& out, ByteGate& kept) : out_(out), kept_(kept), credit_(kept.none()) {}

  void add(const RecordView& record, Pack::Item item) {
    if (cutter_.ends_before(record.payload.size())) close();
    items_.push_back(item);
    if (record.payload.size() > kPackBytes) {
      // Straight from the input's own memory, which is counted elsewhere until it goes.
      kept_all_ = credit_.try_grow_to(pack_bytes(record));
      if (kept_all_) close_with(std::span(&record, 1));
      close();
    } else if (kept_all_) {
      keep(record);
    }
  }

  void close() {
    for (std::size_t i = 0; i < records_.size(); ++i) {
      records_[i].payload = payloads_[i];
      records_[i].labels = labels_[i];
    }
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
    labels_.emplace_back(record.labels.begin(), record.labels.end());
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
    kept_all_ = true;
  }

  void drop() {
    records_.clear();
    payloads_.clear();
    labels_.clear();
    credit_.shrink_to(0);
  }

  std::vector<Pack>& out_;
  ByteGate& kept_;
  ByteGate::Credit credit_;
  std::vector<Pack::Item> items_;
  std::vector<RecordView> records_;  // of items_, while all are kept
  std::vector<Bytes> payloads_;      // what their views are of, as the inputs go
  std::vector<std::vector<std::int32_t>> labels_;
  PackCutter cutter_;
  bool kept_all_ = true;
};

}  // namespace

LedgerRow ChunkMaker::booked(LedgerRow row) const {
  const dedup::Selection& decisions = left_out_->decisions;
  const auto at = std::ranges::lower_bound(decisions.ids, row.id) - decisions.ids.begin();
  const auto decision = static_cast<std::size_t>(at);
  const SampleId kept = decisions.kept.at(decision);
  const auto in = std::ranges::find_if(sources_, [&](const PlacedSource& source) {
    return source.id_of(0) <= kept && kept < source.id_of(source.info.inputs);
  });
  const std::uint64_t position = kept - in->id_of(0);
  const auto warning = left_out_->warnings.find(row.id);
  if (warning != left_out_->warnings.end()) row.reason = warning->second;
  return left_out(std::move(row), decisions, decision, in->source->entries().names()[position]);
}

Chunk ChunkMaker::make(const ChunkPlan& plan, ReadChunk read,
                       const std::function<void()>& check) const {
  if (read.error) std::rethrow_exception(read.error);
  Chunk chunk;
  chunk.plan = plan;
  chunk.fingerprints = empty_fingerprints();
  const PlacedSource& in = sources_[plan.source];
  const auto take = [this](std::uint64_t bytes) { return gates_.pixels.acquire(bytes); };
  const auto busy = [&chunk](Stage stage) -> double& { return chunk.times[stage].busy_seconds; };
  Packer packer(chunk.packs, gates_.kept);
  ScratchPool::Loan scratch(scratch_);
  Stopwatch watch;
  for (std::uint64_t position = plan.begin; position < plan.end; ++position) {
    if (check) check();
    const Place place{in, position};
    if (in.is_in_base(position)) {
      if (store_ != Store::kNone) packer.add(in.base->record(in.id_of(position)), {position});
      continue;
    }
    const Split split = in.source->entries().split(position);
    chunk.ledger.push_back({.id = in.id_of(position),
                            .name = in.source->entries().names()[position],
                            .split = split,
                            .fate = Fate::kOk,
                            .reason = {}});
    if (in.is_left_out(position)) {
      chunk.ledger.back() = booked(std::move(chunk.ledger.back()));
      continue;
    }
    try {
      auto input = load(place, std::move(read.inputs[position - plan.begin]), take,
                        std::move(scratch.pixels));
      busy(Stage::kDecode) += watch.lap();
      if (!input) {
        if (std::ranges::binary_search(stand_ins_, in.id_of(position))) {
          throw Error(describe(in, position) + " stands for others that are left out, and is " +
                      std::string(fate_name(input.error().fate)) + " (" + input.error().reason +
                      ") where it could be read before; leave the source alone, remove what the "
                      "ingest has made and begin again");
        }
        chunk.ledger.back().fate = input.error().fate;
        chunk.ledger.back().reason = input.error().reason;
        chunk.ledger.back().bytes = in.source->entries().input_bytes(position);
        continue;
      }
      chunk.ledger.back().reason = input->warning;
      append_fingerprints(chunk, place, *input, scratch.prints);
      busy(Stage::kFingerprint) += watch.lap();
      if (store_ != Store::kNone) {
        const std::size_t row = chunk.fingerprints.size() - 1;
        shape(place, *input);
        packer.add(record_of(place, *input, chunk.fingerprints, row), {position, row});
      }
      scratch.pixels = std::move(input->image);
      busy(Stage::kPack) += watch.lap();
    } catch (const std::bad_alloc&) {
      throw SystemError("out of memory at " + describe(in, position) +
                        "; use fewer threads or lower the limit on pixels");
    }
  }
  packer.close();
  busy(Stage::kPack) += watch.lap();
  return chunk;
}

void ChunkMaker::make_again(const Chunk& chunk, Pack& pack) const {
  const PlacedSource& in = sources_[chunk.plan.source];
  std::vector<Readable> inputs;
  std::vector<RecordView> records;
  ByteGate::Credit credit = gates_.kept.none();
  const auto take = [this](std::uint64_t bytes) { return count_only(gates_.pixels, bytes); };
  for (const Pack::Item& item : pack.items) {
    const Place place{in, item.position};
    if (in.is_in_base(item.position)) {
      records.push_back(in.base->record(in.id_of(item.position)));
      credit.grow_to(credit.bytes() + 2 * pack_bytes(records.back()));
      continue;
    }
    auto loaded = load(place, read_patiently(*in.source, item.position), take);
    if (!loaded || file_hash(*loaded) != chunk.fingerprints.file_hashes[item.row]) {
      throw Error(describe(in, item.position) +
                  " changed while it was being ingested; leave the source alone and ingest again");
    }
    Readable& input = inputs.emplace_back(*std::move(loaded));
    shape(place, input);
    if (store_ == Store::kRaw) input.encoded = {};
    if (!input.encoded.empty() || input.smaller) input.image.pixels = {};
    records.push_back(record_of(place, input, chunk.fingerprints, item.row));
    credit.grow_to(credit.bytes() + 2 * pack_bytes(records.back()));
    input.pixel_credit.shrink_to(0);
  }
  pack.pack = pack_records(records);
  credit.shrink_to(pack.pack.size());
  pack.credit = std::move(credit);
}

}  // namespace winnow::pipeline
