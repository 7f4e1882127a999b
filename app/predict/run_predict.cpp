#include "app/predict/run_predict.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <optional>

#include "app/dedup/gallery.h"
#include "app/predict/predict_page.h"
#include "app/words.h"
#include "common/comm/agreement.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "pipeline/store/ledger.h"

namespace winnow::app {
namespace {

Json to_json(const PredictReport& report) {
  Json by_class = Json::array();
  for (std::size_t k = 0; k < report.classes.size(); ++k) {
    by_class.push_back({{"class", report.classes[k]}, {"images", report.by_class[k].images}});
  }
  Json by_fate;
  for (const auto& [name, count] : pipeline::by_name(report.by_fate)) by_fate[name] = count;
  return {{"schema", "winnow.predict/1"},
          {"images", report.images},
          {"inputs", std::move(by_fate)},
          {"classes", std::move(by_class)},
          {"without_class", report.without_class},
          {"dimensions", report.dimensions},
          {"windows", report.windows},
          {"flat_windows", report.flat_windows},
          {"boxes", report.boxes},
          {"map_bytes", report.map_bytes},
          {"files", report.files},
          {"machines", report.machines},
          {"was_there", report.was_there},
          {"predicted_here", report.predicted_here},
          {"seconds", report.seconds}};
}

void tell(const PredictCommand& o, const Session& session, const PredictReport& report) {
  const std::string out = o.request.out.string();
  const std::uint64_t readable = report.by_fate[static_cast<std::size_t>(pipeline::Fate::kOk)];
  if (report.was_there) {
    say(session, fmt::format("{} has these predictions already", out));
  }
  say(session, fmt::format("{} predicted into {}: {}", count_of(readable, "image"), out,
                           fmt::join(report.files, ", ")));
  if (report.images > readable) {
    say(session,
        fmt::format("{} of {} could not be read: see {}/ledger.jsonl",
                    grouped(report.images - readable), count_of(report.images, "input"), out));
  }
  if (report.windows > 0) {
    say(session,
        fmt::format("{}{}{}", count_of(report.windows, "window"),
                    report.flat_windows > 0 ? fmt::format(", {} of one colour and skipped",
                                                          grouped(report.flat_windows))
                                            : "",
                    o.windows.map.least ? ", " + count_of(report.boxes, "box", "boxes") : ""));
  }
  if (report.map_bytes > 0) {
    say(session, fmt::format("{} of maps in {}/maps", in_bytes(report.map_bytes), out));
  }
  if (report.without_class > 0) {
    say(session, fmt::format("{} no class above {}",
                             count_of(report.without_class, "image has", "images have"),
                             o.request.table.threshold));
  }
  if (o.request.table.format == TableFormat::kNpy) {
    say(session,
        "columns of predictions.npy are the classes of classes.json in their order, rows "
        "the images of names.txt");
  }
  if (report.machines.size() > 1) {
    say(session,
        fmt::format("machines of {} kinds computed the predictions, so last digits may differ: {}",
                    report.machines.size(), fmt::join(report.machines, "; ")));
  }
  if (report.predicted_here > 0 && report.seconds > 0) {
    say(session,
        fmt::format("{} here in {}, {:.0f} a second",
                    count_of(report.predicted_here, o.request.windows ? "window" : "image"),
                    in_seconds(report.seconds),
                    static_cast<double>(report.predicted_here) / report.seconds));
  }
  if (o.json) print(session, fmt::format("{}\n", to_json(report).dump()));
}

void tell_status(const PredictCommand& o, const Session& session) {
  const PredictStatus status = predict_status(o.request.out);
  const std::string out = o.request.out.string();
  if (o.json) {
    Json json{{"schema", "winnow.predict_status/1"},
              {"tasks", status.tasks},
              {"done", status.done},
              {"finished", status.finished},
              {"workers", status.workers},
              {"seconds_left", nullptr}};
    if (status.seconds_left) json["seconds_left"] = *status.seconds_left;
    print(session, fmt::format("{}\n", json.dump()));
  }
  if (status.finished) return say(session, fmt::format("{} is finished", out));
  say(session, fmt::format("{} of {} done", grouped(status.done), count_of(status.tasks, "task")));
  for (const std::string& worker : status.workers) {
    say(session, fmt::format("at work: {}", worker));
  }
  if (status.workers.empty()) {
    say(session,
        "no process is at work; to resume, run the same winnow predict command as before, without "
        "--status");
  }
  if (status.seconds_left) {
    say(session, fmt::format("about {} left at this rate", in_seconds(*status.seconds_left)));
  }
}

// The options of windows; nullopt if images are shown whole.
std::optional<WindowOptions> windows_of(const PredictCommand& o) {
  WindowOptions windows = o.windows;
  if (windows.window == 0) return std::nullopt;
  windows.pool = parse_pool(o.pool);
  windows.map.tiff = o.map_format == "tiff";
  windows.memory_bytes = o.memory_mib << 20;
  return windows;
}

}  // namespace

void run_predict(PredictCommand o, Session& session) {
  if (o.status) {
    if (o.request.out.empty()) {
      throw UsageError("--status needs --out FOLDER, the folder whose predictions it shows");
    }
    return tell_status(o, session);
  }
  comm::on_all(session.comm, [&] {
    if (o.request.net.run.empty()) {
      throw UsageError(
          "name a run, and the images to predict: winnow predict RUN photos --out FOLDER");
    }
    if (!o.report.empty()) check_report_path(o.report);
    o.request.dtype = train::parse_dtype(o.dtype);
    o.request.windows = windows_of(o);
    o.request.table.format = parse_table_format(o.table);
    o.request.inputs.open = open_options(o.reading);
    o.request.inputs.decode = ingest_options(o.reading, session).decode;
  });
  o.request.inputs.stop = session.stop;
  o.request.work.threads = o.reading.ingest.work.threads;
  const PredictReport report = predict(o.request, session);
  if (session.comm.rank() != 0) return;
  tell(o, session, report);
  if (o.report.empty()) return;
  write_file_durably(o.report, html_of(read_predict_page(o.request, report), made_here()));
  say(session, fmt::format("report: {}", o.report.string()));
}

}  // namespace winnow::app
