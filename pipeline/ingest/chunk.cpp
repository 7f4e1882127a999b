#include "pipeline/ingest/chunk.h"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "common/checksum.h"
#include "common/error.h"
#include "pipeline/decode/shrink.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline {
namespace {

// Counts bytes that are already in memory, without waiting.
ByteGate::Credit count_only(ByteGate& gate, std::uint64_t bytes) {
  ByteGate::Credit credit = gate.none();
  credit.grow_to(bytes);
  return credit;
}

// Appends the training labels of an input.
void append_labels(dedup::Ragged<std::int32_t>& to, const Place& place) {
  const PlacedSource& in = place.in;
  const std::span<const std::int32_t> labels = place.entries().labels(place.position);
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

// The ledger row of an input that is left out.
LedgerRow booked(LedgerRow row, const LeftOut& what, std::span<const PlacedSource> sources) {
  const dedup::Selection& decisions = what.decisions;
  const auto at = std::ranges::lower_bound(decisions.ids, row.id) - decisions.ids.begin();
  const auto decision = static_cast<std::size_t>(at);
  const SampleId kept = decisions.kept.at(decision);
  const auto in = std::ranges::find_if(sources, [&](const PlacedSource& source) {
    return source.id_of(0) <= kept && kept < source.id_of(source.info.inputs);
  });
  if (in == sources.end()) {
    throw Error("'" + row.name + "' is left out for sample " + std::to_string(kept) +
                ", which is in no source; remove the unfinished cache and ingest again");
  }
  const std::uint64_t position = kept - in->id_of(0);
  const auto warning = what.warnings.find(row.id);
  if (warning != what.warnings.end()) row.reason = warning->second;
  return left_out(std::move(row), decisions, decision, in->source->entries().names()[position]);
}

LedgerRow row_of(const Place& place) {
  return {.id = place.id(),
          .name = place.entries().names()[place.position],
          .split = place.entries().split(place.position),
          .fate = Fate::kOk,
          .reason = {}};
}

double& busy(Chunk& chunk, Stage stage) { return chunk.times[stage].busy_seconds; }

}  // namespace

ChunkMaker::ChunkMaker(std::span<const PlacedSource> sources, const IngestOptions& options,
                       Gates& gates)
    : sources_(sources),
      store_(options.store),
      loader_(options),
      form_(options),
      left_out_(options.target.left_out),
      thumbnails_(options.target.thumbnails),
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
  const auto input =
      loader_.load(place, read_patiently(*place.in.source, position),
                   [this](std::uint64_t bytes) { return gates_.pixels.acquire(bytes); });
  if (!input) return {};
  return {input->image.pixels.size(), input->image.channels};
}

void ChunkMaker::append_fingerprints(Chunk& chunk, const Place& place, const Readable& input,
                                     dedup::HashMemory& memory) const {
  const datasets::Listing& entries = place.entries();
  const std::uint64_t position = place.position;
  const int scale = loader_.scale();
  dedup::Fingerprints& table = chunk.fingerprints;
  std::optional<Image> scaled;  // for raw pixels, which are stored at full size
  if (scale > 1 && input.encoded.empty()) scaled = box_average(input.image.view(), scale);
  const Image& image = scaled ? *scaled : input.image;
  const auto width_px = static_cast<std::uint32_t>(input.width_px);
  const auto height_px = static_cast<std::uint32_t>(input.height_px);
  Prints prints =
      prints_of(image, hashes_, memory,
                thumbnails_ ? dedup::thumbnail_size(width_px, height_px) : dedup::ThumbnailSize{},
                input.alpha, input.is_multiplied);
  // Pictures that agree at a reduced scale may differ: their pixels only count as equal if their
  // bytes are.
  const bool by_pixels = scale == 1 && input.encoded.empty();
  const Hash128 of_file = by_pixels ? prints.pixel_hash : file_hash(input);
  table.ids.push_back(place.id());
  table.splits.push_back(entries.split(position));
  append_labels(table.labels, place);
  table.group_keys.push_back(entries.group(position));
  table.widths_px.push_back(width_px);
  table.heights_px.push_back(height_px);
  table.file_bytes.push_back(input.encoded.empty() ? input.image.pixels.size()
                                                   : input.encoded.size());
  table.file_hashes.push_back(of_file);
  table.pixel_hashes.push_back(scale == 1 ? prints.pixel_hash : of_file);
  table.sharpness.push_back(prints.sharpness);
  table.quality.push_back(prints.quality);
  prints.measures.orientation = static_cast<std::uint32_t>(input.orientation);
  table.audit.push_back(prints.measures);
  if (thumbnails_) table.thumbnails.push_back(dedup::to_blocks(prints.thumbnail));
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

void ChunkMaker::book(LedgerRow& row, const Place& place, Refused refused) const {
  if (std::ranges::binary_search(stand_ins_, place.id())) {
    throw Error(in_words(place) + " is the kept image of a group, but is now " +
                std::string(fate_name(refused.fate)) + " (" + refused.reason +
                "), although it could be read before; do not change the source, remove the "
                "unfinished cache and ingest again");
  }
  row.fate = refused.fate;
  row.reason = std::move(refused.reason);
  row.bytes = place.entries().input_bytes(place.position);
}

void ChunkMaker::take_in(Chunk& chunk, const Place& place, Readable& input,
                         ScratchPool::Scratch& scratch, Packer& packer, Stopwatch& watch) const {
  chunk.ledger.back().reason = input.warning;
  if (input.orientation > 1) ++chunk.oriented;
  if (!input.alpha.pixels.empty()) ++chunk.transparent;
  append_fingerprints(chunk, place, input, scratch.prints);
  busy(chunk, Stage::kFingerprint) += watch.lap();
  if (store_ != Store::kNone) {
    const std::size_t row = chunk.fingerprints.size() - 1;
    form_.make(place, input);
    packer.add(form_.record_of(place, input, chunk.fingerprints.labels[row]),
               {place.position, row});
  }
  scratch.pixels = std::move(input.image);
  busy(chunk, Stage::kPack) += watch.lap();
}

Chunk ChunkMaker::make(const ChunkPlan& plan, ReadChunk read,
                       const std::function<void()>& check) const {
  if (read.error) std::rethrow_exception(read.error);
  Chunk chunk;
  chunk.plan = plan;
  chunk.fingerprints = empty_fingerprints();
  const PlacedSource& in = sources_[plan.source];
  const auto take = [this](std::uint64_t bytes) { return gates_.pixels.acquire(bytes); };
  Packer packer(chunk.packs, gates_.kept);
  ScratchPool::Loan scratch(scratch_);
  Stopwatch watch;
  for (std::uint64_t position = plan.begin; position < plan.end; ++position) {
    if (check) check();
    const Place place{in, position};
    if (in.is_in_base(position)) {
      if (store_ != Store::kNone) packer.add(in.base->record(place.id()), {position});
      continue;
    }
    chunk.ledger.push_back(row_of(place));
    LedgerRow& row = chunk.ledger.back();
    if (in.is_left_out(position)) {
      row = booked(std::move(row), *left_out_, sources_);
      continue;
    }
    try {
      auto input = loader_.load(place, std::move(read.inputs[position - plan.begin]), take,
                                std::move(scratch.pixels));
      busy(chunk, Stage::kDecode) += watch.lap();
      if (input) {
        take_in(chunk, place, *input, scratch, packer, watch);
        scratch.settle();
      } else {
        book(row, place, input.error());
      }
    } catch (const std::bad_alloc&) {
      throw SystemError("out of memory at " + in_words(place) +
                        "; use fewer threads or lower the limit on pixels");
    }
  }
  packer.close();
  busy(chunk, Stage::kPack) += watch.lap();
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
      records.push_back(in.base->record(place.id()));
      credit.grow_to(credit.bytes() + 2 * pack_bytes(records.back()));
      continue;
    }
    auto loaded = loader_.load(place, read_patiently(*in.source, item.position), take);
    if (!loaded || file_hash(*loaded) != chunk.fingerprints.file_hashes[item.row]) {
      throw Error(
          in_words(place) +
          " changed while it was being ingested; do not change the source, and ingest again");
    }
    Readable& input = inputs.emplace_back(*std::move(loaded));
    form_.make(place, input);
    if (store_ == Store::kRaw) input.encoded = {};
    if (!input.encoded.empty() || input.smaller) input.image.pixels = {};
    records.push_back(form_.record_of(place, input, chunk.fingerprints.labels[item.row]));
    credit.grow_to(credit.bytes() + 2 * pack_bytes(records.back()));
    input.pixel_credit.shrink_to(0);
  }
  pack.pack = pack_records(records);
  credit.shrink_to(pack.pack.size());
  pack.credit = std::move(credit);
}

}  // namespace winnow::pipeline
