#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "app/printable.h"
#include "app/report/report.h"
#include "app/session.h"
#include "python/core/bind.h"
#include "python/core/listener.h"
#include "python/core/lone_session.h"
#include "tools/words.h"

namespace winnow::python {
namespace nb = nanobind;

namespace {

// The output of a verb.
struct VerbOutput {
  std::string lines;      // for the standard output
  std::string sentences;  // messages for the user, one a line
};

// Runs a verb on one rank; the listener may stop it.
template <class Run>
VerbOutput output_of(nb::object progress, const Run& run) {
  Listener listener(std::move(progress));
  return listener.wait_for([&] {
    VerbOutput told;
    LoneSession alone(listener);
    app::Session& session = alone.session;
    session.to.sentence = [&](const std::string& sentence) {
      told.sentences += app::printable(sentence) + '\n';
    };
    session.to.lines = [&](std::string_view lines) { told.lines += lines; };
    run(session);
    return told;
  });
}

nb::bytes bytes_of(const std::string& text) { return nb::bytes(text.data(), text.size()); }

// File names may be any bytes.
std::vector<std::string> words_of(const std::vector<nb::bytes>& given) {
  std::vector<std::string> words;
  for (const nb::bytes& word : given) words.emplace_back(word.c_str(), word.size());
  return words;
}

}  // namespace

void bind_verbs(nb::module_& core) {
  nb::class_<VerbOutput>(core, "VerbOutput")
      .def_prop_ro("lines", [](const VerbOutput& told) { return bytes_of(told.lines); })
      .def_prop_ro("sentences", [](const VerbOutput& told) { return bytes_of(told.sentences); });
  core.def(
      "run_verb",
      [](const std::vector<nb::bytes>& given, nb::object progress) {
        const std::vector<std::string> words = words_of(given);
        return output_of(std::move(progress),
                         [&](app::Session& session) { tools::run_words(words, session); });
      },
      nb::arg("words"), nb::arg("progress").none() = nb::none());
  core.def(
      "report",
      [](const std::vector<std::filesystem::path>& runs, const std::filesystem::path& out,
         const std::filesystem::path& cache) {
        return output_of(nb::none(), [&](app::Session& session) {
          app::run_report({.runs = runs, .out = out, .cache = cache}, session);
        });
      },
      nb::arg("runs"), nb::arg("out"), nb::arg("cache"));
}

}  // namespace winnow::python
