#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "common/named.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "tools/help.h"
#include "tools/reference/formats.h"

namespace winnow::tools {
namespace {

namespace fs = std::filesystem;

struct ReferenceOptions {
  std::string format = "json";
  fs::path to;
};

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const ReferenceFormat& row : kReferenceFormats) names.emplace_back(row.name);
  return names;
}

void print_or_write(const ReferenceOptions& o, Verb program, const Session& session) {
  const Reference reference{WINNOW_VERSION, WINNOW_RELEASED, reference_of(program.app())};
  const auto files = parse_named(kReferenceFormats, "format", o.format)(reference);
  if (o.to.empty()) {
    for (const ReferenceFile& file : files) fmt::print("{}", file.text);
    return;
  }
  std::error_code error;
  fs::create_directories(o.to, error);
  if (error) throw SystemError("cannot make the folder " + o.to.string() + ": " + error.message());
  for (const ReferenceFile& file : files) write_file_durably(o.to / file.name, file.text);
  say(session,
      fmt::format("{}: {} of {}", o.to.string(),
                  files.size() == 1 ? "1 file" : fmt::format("{} files", files.size()), o.format));
}

}  // namespace

Command add_reference(Verb program) {
  auto o = std::make_shared<ReferenceOptions>();
  const Verb verb = program.add_verb(
      "reference", "Print all verbs and options as JSON, man pages, completion, ...");
  verb.add_option("--format", o->format, "Format of the output")
      .one_of(format_names())
      .show_default();
  verb.add_option("--to", o->to, "Write files into this folder instead of printing");
  verb.footer("Formats:" + table_of(kReferenceFormats) +
              R"(

Examples:
  winnow reference | jq -r '.program.verbs[].name'
  winnow reference --format man --to man/man1      # then: man -M man winnow-ingest
  source <(winnow reference --format bash)         # completion in this shell
  winnow reference --format fish --to ~/.config/fish/completions)");
  return {verb, false, [o, program](Session& session) { print_or_write(*o, program, session); }};
}

}  // namespace winnow::tools
