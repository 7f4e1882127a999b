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

// A picture, and the decoder's warning.
struct Loaded {
  Image image;
  std::string warning{};  // empty: no warning
};

// The pictures of data sets or of a cache, in the order of their listings. Thread-safe.
class Inputs {
 public:
  virtual ~Inputs() = default;

  virtual std::uint64_t size() const = 0;
  virtual SampleId id(std::uint64_t at) const = 0;
  // The name of an input in its source. With several sources, the source's name precedes it.
  virtual std::string name(std::uint64_t at) const = 0;
  virtual Split split(std::uint64_t at) const = 0;
  virtual std::uint64_t bytes(std::uint64_t at) const = 0;  // by the listing; 0 for a cache
  // Throws UsageError if the listing has another size.
  void check_bytes(std::uint64_t at, std::uint64_t bytes) const;
  // Decodes a whole picture as winnow ingest does, or returns its fate in the ledger.
  // most_bytes  limit for decoding, above which it is too large; 0: none
  // Throws      UsageError: its size differs from the listing; StoppedError.
  virtual Expected<Loaded, pipeline::Refused> load(std::uint64_t at,
                                                   std::uint64_t most_bytes = 0) const = 0;
  // The file of an input; nullopt if the input is not a file of its own, as in an archive.
  virtual std::optional<std::filesystem::path> file_of(std::uint64_t at) const = 0;
  // How the bytes of all inputs are decoded.
  virtual const pipeline::DecodeSettings& decode_settings() const = 0;
  // Identifies all inputs: equal texts mean equal pictures, as far as listings and digests tell.
  virtual std::string identity() const = 0;
  virtual std::string description() const = 0;  // for people
};

struct InputOptions {
  std::vector<std::filesystem::path> sources;  // data sets, or one cache
  datasets::OpenOptions open{};
  pipeline::DecodeSettings decode{};  // for data sets; a cache has its own
  StopRequested stop{};
};

// Opens the inputs. Throws UsageError: a path that does not exist, an unknown format, a cache among
// several sources, a cache without images.
std::unique_ptr<Inputs> open_inputs(const InputOptions& options);

// Inputs of open sources under these names.
struct NamedSource {
  std::shared_ptr<const datasets::Source> source;
  std::string name;
};
std::unique_ptr<Inputs> inputs_of(std::vector<NamedSource> sources,
                                  const pipeline::DecodeSettings& decode,
                                  const StopRequested& stop);

}  // namespace winnow::app
