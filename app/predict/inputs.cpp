#include "app/predict/inputs.h"

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

#include "common/error.h"
#include "datasets/formats.h"
#include "pipeline/decode/decode.h"
#include "pipeline/export/names.h"
#include "pipeline/ingest/plan.h"
#include "pipeline/ingest/reader.h"
#include "pipeline/load/dataset.h"
#include "pipeline/store/cache.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;
using pipeline::Refused;

// Thrown before a decoder allocates too much memory.
struct TooMuchMemory {
  Refused refused;
};

void require_memory(std::uint64_t bytes, std::uint64_t most) {
  if (most == 0 || bytes <= most) return;
  throw TooMuchMemory{
      {pipeline::Fate::kTooLarge, "has to be decoded whole and takes " +
                                      std::to_string((bytes + (1u << 20) - 1) >> 20) +
                                      " MiB, more than --memory-limit allows"}};
}

class SourceInputs final : public Inputs {
 public:
  SourceInputs(std::vector<NamedSource> sources, const pipeline::DecodeSettings& decode,
               const StopRequested& stop)
      : sources_(std::move(sources)), loader_(ingest_options(decode, stop)), decode_(decode) {
    std::vector<std::string> names;
    for (const NamedSource& one : sources_) {
      names.push_back(one.name);
      placed_.push_back({.source = one.source.get(),
                         .ordinal = static_cast<std::uint32_t>(placed_.size()),
                         .info = {},
                         .training_labels = {}});
      begins_.push_back(size_);
      size_ += one.source->entries().size();
    }
    if (sources_.size() > 1) prefixes_ = pipeline::folder_names(names);
  }

  std::uint64_t size() const override { return size_; }
  SampleId id(std::uint64_t at) const override {
    const Place in = place_of(at);
    return make_sample_id(static_cast<std::uint32_t>(in.source), in.position);
  }
  std::string name(std::uint64_t at) const override {
    const Place in = place_of(at);
    const std::string name = entries(in).names()[in.position];
    return prefixes_.empty() ? name : prefixes_[in.source] + "/" + name;
  }
  Split split(std::uint64_t at) const override {
    const Place in = place_of(at);
    return entries(in).split(in.position);
  }
  std::uint64_t bytes(std::uint64_t at) const override {
    const Place in = place_of(at);
    return entries(in).input_bytes(in.position);
  }

  Expected<Loaded, Refused> load(std::uint64_t at, std::uint64_t most_bytes) const override {
    const Place in = place_of(at);
    const bool too_large = bytes(at) > pipeline::kMaxInputBytes;
    auto read = too_large ? pipeline::ReadResult(Bytes())
                          : pipeline::read_patiently(*sources_[in.source].source, in.position);
    const auto* encoded = read ? std::get_if<Bytes>(&*read) : nullptr;
    if (encoded != nullptr && !too_large) check_bytes(at, encoded->size());
    const auto count = [&](std::uint64_t bytes) {
      require_memory(bytes, most_bytes);
      return pipeline::ByteGate::Credit();
    };
    try {
      auto readable = loader_.load({placed_[in.source], in.position}, std::move(read), count);
      if (!readable) return readable.error();
      return Loaded{std::move(readable->image), std::move(readable->warning)};
    } catch (const TooMuchMemory& much) {
      return much.refused;
    }
  }

  std::optional<fs::path> file_of(std::uint64_t at) const override {
    const Place in = place_of(at);
    return sources_[in.source].source->file_of(in.position);
  }
  const pipeline::DecodeSettings& decode_settings() const override { return decode_; }

  std::string identity() const override {
    std::string text;
    for (const NamedSource& one : sources_) {
      text += std::string(one.source->format()) + " " + pipeline::listing_hash(*one.source) + ";";
    }
    return text;
  }
  std::string description() const override {
    std::string text;
    for (const NamedSource& one : sources_) {
      text += (text.empty() ? "" : "; ") + one.name + " is " + one.source->description();
    }
    return text;
  }

 private:
  struct Place {
    std::size_t source;
    std::uint64_t position;
  };

  static pipeline::IngestOptions ingest_options(const pipeline::DecodeSettings& decode,
                                                const StopRequested& stop) {
    pipeline::IngestOptions options;
    options.decode = decode;
    options.work.stop = stop;
    return options;
  }

  Place place_of(std::uint64_t at) const {
    const auto next = std::ranges::upper_bound(begins_, at);
    const auto source = static_cast<std::size_t>(next - begins_.begin()) - 1;
    return {source, at - begins_[source]};
  }
  const datasets::Listing& entries(const Place& in) const {
    return sources_[in.source].source->entries();
  }

  std::vector<NamedSource> sources_;
  std::vector<pipeline::PlacedSource> placed_;
  std::vector<std::string> prefixes_;  // empty: there is one source
  std::vector<std::uint64_t> begins_;
  std::uint64_t size_ = 0;
  pipeline::InputLoader loader_;
  pipeline::DecodeSettings decode_;
};

class CacheInputs final : public Inputs {
 public:
  explicit CacheInputs(const fs::path& root)
      : cache_(pipeline::open_cache(root)), names_(cache_->read_names()), root_(root.string()) {
    if (cache_->manifest().shards.empty()) {
      throw UsageError(root_ +
                       " holds fingerprints only, but a net needs the images; ingest with "
                       "--store original, or name the data set");
    }
    for (const Split split : {Split::kNone, Split::kTrain, Split::kVal, Split::kTest}) {
      for (const SampleId id : pipeline::evaluation_samples(*cache_, split, "").all.ids) {
        samples_.push_back({id, split});
      }
    }
    std::ranges::sort(samples_, {}, &Sample::id);
  }

  std::uint64_t size() const override { return samples_.size(); }
  SampleId id(std::uint64_t at) const override { return samples_[at].id; }
  std::string name(std::uint64_t at) const override { return names_(samples_[at].id); }
  Split split(std::uint64_t at) const override { return samples_[at].split; }
  std::uint64_t bytes(std::uint64_t) const override { return 0; }

  Expected<Loaded, Refused> load(std::uint64_t at, std::uint64_t most_bytes) const override {
    const pipeline::RecordView record = cache_->record(samples_[at].id, pipeline::first_variant);
    try {
      if (record.coding == pipeline::Coding::kRaw) {
        require_memory(record.payload.size(), most_bytes);
        Image image(record.height_px, record.width_px, record.channels);
        std::memcpy(image.pixels.data(), record.payload.data(), image.pixels.size());
        return Loaded{std::move(image)};
      }
      const auto count = [&](std::uint64_t bytes) { require_memory(bytes, most_bytes); };
      auto image = pipeline::decode(record.payload, decode_settings(), {count, {}, false});
      if (!image) {
        throw Error("'" + name(at) + "' of " + root_ + " cannot be decoded: " +
                    image.error().detail + "; check the cache with winnow verify");
      }
      std::string warning = std::move(image->warning);
      return Loaded{*std::move(image), std::move(warning)};
    } catch (const TooMuchMemory& much) {
      return much.refused;
    }
  }

  std::optional<fs::path> file_of(std::uint64_t) const override { return std::nullopt; }
  const pipeline::DecodeSettings& decode_settings() const override {
    return cache_->manifest().settings.decode;
  }
  std::string identity() const override { return "cache " + cache_->digest(); }
  std::string description() const override {
    return root_ + " is a cache of " + std::to_string(samples_.size()) + " images";
  }

 private:
  struct Sample {
    SampleId id;
    Split split;
  };

  std::shared_ptr<const pipeline::Cache> cache_;
  pipeline::LedgerNames names_;
  std::string root_;
  std::vector<Sample> samples_;
};

bool is_cache(const fs::path& path) {
  std::error_code ignored;
  const pipeline::CachePaths paths{path};
  return fs::exists(paths.manifest(), ignored) || fs::exists(paths.unfinished(), ignored);
}

std::string last_part(const fs::path& path) {
  const fs::path normal = path.lexically_normal();
  return (normal.has_filename() ? normal : normal.parent_path()).filename().string();
}

}  // namespace

void Inputs::check_bytes(std::uint64_t at, std::uint64_t found) const {
  const std::uint64_t listed = bytes(at);
  if (found == listed) return;
  throw UsageError(
      "'" + name(at) + "' has " + std::to_string(found) + " bytes and had " +
      std::to_string(listed) +
      " when the work was cut into tasks: the source changed meanwhile; once the source "
      "no longer changes, predict into another folder");
}

std::unique_ptr<Inputs> inputs_of(std::vector<NamedSource> sources,
                                  const pipeline::DecodeSettings& decode,
                                  const StopRequested& stop) {
  return std::make_unique<SourceInputs>(std::move(sources), decode, stop);
}

std::unique_ptr<Inputs> open_inputs(const InputOptions& options) {
  const auto caches = std::ranges::count_if(options.sources, is_cache);
  if (caches > 0) {
    if (options.sources.size() > 1) {
      throw UsageError(
          "a cache cannot be predicted together with other sources; name one cache, or only data "
          "sets");
    }
    return std::make_unique<CacheInputs>(options.sources.front());
  }
  std::vector<NamedSource> sources;
  for (const fs::path& path : options.sources) {
    sources.push_back({datasets::open_source(path, options.open), last_part(path)});
  }
  return inputs_of(std::move(sources), options.decode, options.stop);
}

}  // namespace winnow::app
