#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/expected.h"
#include "common/image.h"
#include "common/sample.h"
#include "common/stop.h"
#include "datasets/source.h"
#include "pipeline/decode/settings.h"
#include "pipeline/ingest/input.h"

namespace winnow::app {

// A decoded picture, and the warning of its decoder.
struct Loaded {
  Image image;
  std::string warning{};  // warning of the decoder; empty: none
};

// The pictures of data sets or of a cache, in the order of their listings. Thread-safe.
class Inputs {
 public:
  virtual ~Inputs() = default;

  virtual std::uint64_t size() const = 0;
  virtual SampleId id(std::uint64_t at) const = 0;
  // The name of an input in its source. If there are several sources, the source's name precedes
  // it.
  virtual std::string name(std::uint64_t at) const = 0;
  virtual Split split(std::uint64_t at) const = 0;
  // File size by the listing; 0 for a cache.
  virtual std::uint64_t bytes(std::uint64_t at) const = 0;
  // Throws UsageError if the input's size is not that in the listing, because its file has changed.
  void check_bytes(std::uint64_t at, std::uint64_t bytes) const;
  // Decodes a whole picture as winnow ingest does; else returns the outcome (`Fate`) for the
  // ledger.
  // most_bytes  memory limit for decoding, above which the picture is refused as too large; 0: none
  // Throws      UsageError: the file's size is not that in the listing; StoppedError.
  virtual Expected<Loaded, pipeline::Refused> load(std::uint64_t at,
                                                   std::uint64_t most_bytes = 0) const = 0;
  // The file of an input; nullopt if the input is not a file of its own, as in an archive.
  virtual std::optional<std::filesystem::path> file_of(std::uint64_t at) const = 0;
  // The settings with which all inputs are decoded.
  virtual const pipeline::DecodeSettings& decode_settings() const = 0;
  // Identifies all inputs together: equal texts mean equal pictures, as far as listings and digests
  // show.
  virtual std::string identity() const = 0;
  virtual std::string description() const = 0;  // the inputs in words for people
};

struct InputOptions {
  std::vector<std::filesystem::path> sources;  // paths of data sets, or of one cache
  datasets::OpenOptions open{};
  pipeline::DecodeSettings decode{};  // settings for data sets; a cache stores its own
  StopRequested stop{};
};

// Opens the inputs of a prediction. Throws UsageError: a path does not exist, a format is unknown,
// a cache is given together with other sources, or a cache has no images.
std::unique_ptr<Inputs> open_inputs(const InputOptions& options);

// An open source, and the name under which its inputs are listed.
struct NamedSource {
  std::shared_ptr<const datasets::Source> source;
  std::string name;
};
std::unique_ptr<Inputs> inputs_of(std::vector<NamedSource> sources,
                                  const pipeline::DecodeSettings& decode,
                                  const StopRequested& stop);

}  // namespace winnow::app
