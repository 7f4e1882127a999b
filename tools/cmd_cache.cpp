#include <CLI/CLI.hpp>
#include <filesystem>

#include "pipeline/ingest/ingest.h"
#include "tools/command.h"

namespace winnow::tools {

Command add_cache(CLI::App& program) {
  auto path = std::make_shared<std::filesystem::path>();
  CLI::App* app = program.add_subcommand("cache", "Remove a cache, from memory too");
  app->require_subcommand(1);
  CLI::App* drop = app->add_subcommand("drop", "Delete a cache and the shards it keeps in memory");
  drop->add_option("cache", *path, "Cache made by winnow ingest")->required();
  app->footer("Example:\n  winnow cache drop cache");
  return {app, false, [path](Session& session) {
            pipeline::remove_cache(*path);
            say(session, path->string() + " is gone");
          }};
}

}  // namespace winnow::tools
