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

// A picture, or what its decoder said of it.
struct Loaded {
  Image image;
  std::string warning{};  // of the decoder's; empty where it had none
};

// The pictures of data sets or of a cache, in the order of their listings. Safe from many threads.
class Inputs {
 public:
  virtual ~Inputs() = default;

  virtual std::uint64_t size() const = 0;
  virtual SampleId id(std::uint64_t at) const = 0;
  // As the source calls it; of one of several sources with the source's name before it.
  virtual std::string name(std::uint64_t at) const = 0;
  virtual Split split(std::uint64_t at) const = 0;
  virtual std::uint64_t bytes(std::uint64_t at) const = 0;  // as listed; of a cache's: 0
  // Throws UsageError for a picture that had another number of bytes when it was listed.
  void check_bytes(std::uint64_t at, std::uint64_t bytes) const;
  // The picture, whole, as winnow ingest decodes it, or the class of the ledger that it is in.
  // most_bytes  that decoding may take, else it is too large; 0: any
  // Throws UsageError where it has another size than was listed, StoppedError.
  virtual Expected<Loaded, pipeline::Refused> load(std::uint64_t at,
                                                   std::uint64_t most_bytes = 0) const = 0;
  // Its file; nothing where it is none of its own.
  virtual std::optional<std::filesystem::path> file_of(std::uint64_t at) const = 0;
  // How its bytes become pixels.
  virtual const pipeline::DecodeSettings& decode_settings() const = 0;
  // What they all are: equal texts, equal pictures, as far as listings and digests tell.
  virtual std::string identity() const = 0;
  virtual std::string description() const = 0;  // for people
};

struct InputOptions {
  std::vector<std::filesystem::path> sources;  // data sets, or one cache
  datasets::OpenOptions open{};
  pipeline::DecodeSettings decode{};  // of data sets; a cache has its own
  StopRequested stop{};
};

// Opens them. Throws UsageError: nothing there, a format that is not known, a cache among several
// sources, a cache without images.
std::unique_ptr<Inputs> open_inputs(const InputOptions& options);

// The inputs of sources that are open, called by these names.
struct NamedSource {
  std::shared_ptr<const datasets::Source> source;
  std::string name;
};
std::unique_ptr<Inputs> inputs_of(std::vector<NamedSource> sources,
                                  const pipeline::DecodeSettings& decode,
                                  const StopRequested& stop);

}  // namespace winnow::app
