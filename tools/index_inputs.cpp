#include "tools/index_inputs.h"

#include <CLI/CLI.hpp>

#include "common/error.h"
#include "tools/in_place.h"
#include "tools/temporary_folder.h"

namespace winnow::tools {

void add_index_inputs(CLI::App& app, IndexInputs& inputs) {
  app.add_option(
         "inputs", inputs.paths,
         "Caches made by winnow ingest, or data sets, as of ingest, whose images are looked "
         "at where they are")
      ->required();
  add_reading_flags(app, inputs.reading);
}

void stop_if_asked(const Session& session) {
  if (!session.stop()) return;
  throw StoppedError(
      "stopped before the end; an index has the inputs that were added before: run the same "
      "command again to go on");
}

void with_cache(const std::filesystem::path& input, const IngestFlags& reading,
                const std::string& hash, const Session& session,
                const std::function<void(const pipeline::Cache&)>& use) {
  if (!is_data_set(input)) {
    use(pipeline::Cache::open(input));
    return;
  }
  const TemporaryFolder folder(std::filesystem::temp_directory_path());
  try {
    fingerprint_in_place(input, reading, {hash}, session, folder.path());
  } catch (const StoppedError&) {
    stop_if_asked(session);  // not to go on in a folder that is no more
    throw;
  }
  use(pipeline::Cache::open(folder.path()));
}

}  // namespace winnow::tools
