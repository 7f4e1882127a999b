#include "app/predict/predict.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "app/predict/bands.h"
#include "app/predict/folder.h"
#include "app/predict/show.h"
#include "app/predict/summary.h"
#include "app/predict/tables.h"
#include "app/predict/whole_images.h"
#include "app/predict/windowed_images.h"
#include "common/checksum.h"
#include "common/comm/agreement.h"
#include "common/error.h"
#include "common/file.h"
#include "common/queue/job_queue.h"
#include "train/model/digest.h"
#include "train/run/start/build_name.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;

// Everything that is decided before anything is computed.
struct PredictJob {
  std::unique_ptr<Inputs> inputs;
  Net net;
  TableContent telling;
  std::unique_ptr<train::Backend> backend;
  std::vector<PredictTask> tasks;
  PredictFacts facts;
  std::string machine;
};

std::string text_of(const pipeline::DecodeSettings& settings) {
  return std::to_string(settings.max_pixels) + " pixels, " + std::to_string(settings.max_scans) +
         " scans, orientation " + std::string(orientation_name(settings.orientation)) + ", matte " +
         (settings.matte ? pipeline::to_text(*settings.matte) : "none");
}

std::string text_of(const TableOptions& table) {
  return std::to_string(static_cast<int>(table.format)) + ", top " + std::to_string(table.top) +
         ", threshold " + std::to_string(table.threshold) +
         (table.sort_into.empty() ? "" : ", sorted");
}

// Where large images are cut. It changes if an image's header does.
std::string text_of(const std::vector<PredictTask>& tasks) {
  std::string text;
  for (const PredictTask& task : tasks) {
    if (!task.is_band()) continue;
    text += std::to_string(task.first) + ":" + std::to_string(task.band.begin) + "-" +
            std::to_string(task.band.end) + " ";
  }
  return text.empty() ? "whole" : to_hex(xxh3_128(as_bytes(text)));
}

PredictFacts facts_of(const PredictRequest& request, const PredictJob& job) {
  const Net& net = job.net;
  std::string classes;
  for (const std::string& name : net.classes) classes += name + "\n";
  const pipeline::Geometry geometry = net.geometry();
  return {
      {"source", job.inputs->identity()},
      {"decoding", text_of(job.inputs->decode_settings())},
      {"weights", train::digest_of(net.model)},
      {"classes", to_hex(xxh3_128(as_bytes(classes)))},
      {"image size", std::to_string(geometry.height_px) + "x" + std::to_string(geometry.width_px) +
                         "x" + std::to_string(geometry.channels) + " by " +
                         std::to_string(net.config.eval_resize_px) + ", " +
                         std::to_string(net.micro_batch()) + " at once"},
      {"test-time augmentation", request.net.tta},
      {"features", request.net.with_features ? "yes" : "no"},
      {"precision", std::string(train::dtype_name(request.dtype))},
      {"backend", request.backend},
      {"build", std::string(train::build_name())},
      {"tables", text_of(request.table)},
      {"windows", request.windows ? text_of(*request.windows) : "none"},
      {"large images", text_of(job.tasks)},
  };
}

void check(const PredictRequest& request) {
  if (request.out.empty())
    throw UsageError("name the folder for the predictions with --out FOLDER");
  if (request.inputs.sources.empty()) {
    throw UsageError(
        "name the images to predict: a folder, an archive, a list, an image or a cache");
  }
}

// Requirements of links and lists of names on the inputs.
void check_inputs(const PredictRequest& request, const Inputs& inputs) {
  const bool lists_names = request.table.format == TableFormat::kNpy || request.net.with_features;
  const bool sorts = !request.table.sort_into.empty();
  for (std::uint64_t at = 0; (lists_names || sorts) && at < inputs.size(); ++at) {
    if (sorts && !inputs.file_of(at)) {
      throw UsageError("'" + inputs.name(at) +
                       "' is not a file of its own, so no link to it can be made; leave out "
                       "--sort-into, or name a folder of images");
    }
    if (lists_names && inputs.name(at).find('\n') != std::string::npos) {
      throw UsageError("a line end in the name '" + inputs.name(at) +
                       "' would break names.txt; rename the image, or use --format jsonl");
    }
  }
}

void cut_into_tasks(const PredictRequest& request, PredictJob& job) {
  const std::size_t micro_batch = job.net.micro_batch();
  if (!request.windows) {
    job.tasks = plan_tasks(*job.inputs, micro_batch, nullptr);
    return;
  }
  // Assumed ratio of a device's speed to that of the CPU that decodes for it.
  constexpr double kDevice = 32;
  const double window = multiply_adds_of(job.net) / (job.backend->is_on_cpu() ? 1 : kDevice);
  const WindowCut cut{.most_bytes = 16u << 20, .bands = [&](std::uint64_t at) {
                        return bands_of(*job.inputs, at, *request.windows, window, micro_batch);
                      }};
  job.tasks = plan_tasks(*job.inputs, micro_batch, &cut);
}

PredictJob look_up(const PredictRequest& request, Session& session) {
  check(request);
  PredictJob job;
  job.net = load_net(request.net, [&](const std::string& sentence) { say(session, sentence); });
  job.backend = train::make_backend(request.backend, {.device = session.comm.local_rank()});
  job.inputs = open_inputs(request.inputs);
  check_inputs(request, *job.inputs);
  if (request.windows) check_windows(*request.windows, job.net);
  job.telling = {.classes = job.net.classes,
                 .sigmoid = job.net.sigmoid,
                 .table = request.table,
                 .windows = request.windows.has_value(),
                 .boxes = request.windows && request.windows->map.least};
  cut_into_tasks(request, job);
  job.facts = facts_of(request, job);
  job.machine = job.backend->instruction_set() + ", " + job.backend->library();
  return job;
}

// Reports how many pictures the net has seen.
class Counted final : public Pictures {
 public:
  Counted(Pictures& of, std::uint64_t& done, std::uint64_t total, const ProgressSink& progress)
      : of_(of), done_(done), total_(total), progress_(progress) {}

  std::optional<MicroBatch> next() override { return of_.next(); }
  void take(const MicroBatch& batch, const Outputs& outputs) override {
    of_.take(batch, outputs);
    done_ += batch.count;
    if (progress_) progress_({.done = done_, .total = total_, .note = "predicting"});
  }

 private:
  Pictures& of_;
  std::uint64_t& done_;
  const std::uint64_t total_;
  const ProgressSink& progress_;
};

// Computes tasks, on lanes that are created with the first one.
class TaskWorker {
 public:
  TaskWorker(Net& net, const Inputs& inputs, train::Backend& backend, const PredictRequest& request,
             Session& session)
      : net_(net),
        inputs_(inputs),
        backend_(backend),
        request_(request),
        threads_(thread_plan(session, request.work.threads)),
        stop_(session.stop),
        progress_(
            stopping_bar(session, "predict", request.windows ? "windows" : "images", kStopped)) {}

  // Predicts whole inputs.
  std::vector<ImageResult> compute(const PredictTask& task) {
    std::vector<ImageResult> results(task.count);
    const ResultsFrom of{task.first, results};
    if (request_.windows) {
      WindowedImages images(net_, inputs_, *request_.windows, of, {.maps = request_.out / "maps"},
                            stop_);
      show(images, 0);
      images.finish();
    } else {
      WholeImages images(net_, inputs_, of);
      show(images, inputs_.size());
    }
    return results;
  }

  BandResult compute_band(const PredictTask& task) {
    BandResult band;
    WindowedImages images(net_, inputs_, *request_.windows, {task.first, std::span(&band.image, 1)},
                          {.band = task.band}, stop_);
    show(images, 0);
    images.finish();
    band.windows = images.gathered();
    return band;
  }

  std::uint64_t done() const noexcept { return done_; }

 private:
  void show(Pictures& pictures, std::uint64_t total) {
    if (!lanes_) lanes_.emplace(net_, backend_, request_.dtype, threads_.compute);
    // One more than can compute: one thread reads meanwhile.
    const int workers = (backend_.is_on_cpu() ? lanes_->count() : threads_.decode) + 1;
    Counted counted(pictures, done_, total, progress_);
    show_all(counted, net_, *lanes_, workers, stop_);
  }

  Net& net_;
  const Inputs& inputs_;
  train::Backend& backend_;
  const PredictRequest& request_;
  const ThreadPlan threads_;
  const StopRequested& stop_;
  const ProgressSink progress_;
  std::optional<Lanes> lanes_;
  std::uint64_t done_ = 0;
};

// A file of results in the order of the inputs.
struct Part {
  fs::path path;
  std::uint64_t first = 0;  // number of its first input
  std::uint64_t count = 0;
};

std::vector<Part> parts_of(const PredictJob& job, const PredictFolder& folder) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    const PredictTask& task = job.tasks[i];
    if (task.is_band() && task.band.begin > 0) continue;
    const std::string of =
        task.is_band() ? join_job(folder.digest(), task.first) : task_job(folder.digest(), i);
    parts.push_back({folder.part(of), task.first, task.count});
  }
  return parts;
}

std::vector<ImageResult> read_part(const Part& part) {
  std::vector<ImageResult> results = unpack_results(read_file(part.path), part.path.string());
  if (results.size() != part.count) {
    throw FormatError(
        part.path.string() +
        " contains predictions of other images; remove this file to predict its images again");
  }
  return results;
}

void do_task(const PredictJob& job, const PredictFolder& folder, std::size_t i,
             TaskWorker& worker) {
  const PredictTask& task = job.tasks[i];
  const fs::path part = folder.part(task_job(folder.digest(), i));
  if (fs::exists(part)) return;  // by a worker that died before it reported it
  write_file_durably(part, task.is_band() ? pack_band(worker.compute_band(task))
                                          : pack_results({worker.compute(task)}));
}

// Joins the bands of an input, in their order.
void do_join(const PredictJob& job, const PredictFolder& folder, const PredictRequest& request,
             std::uint64_t input) {
  const fs::path part = folder.part(join_job(folder.digest(), input));
  if (fs::exists(part)) return;
  BandResult picture;
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    if (job.tasks[i].first != input || !job.tasks[i].is_band()) continue;
    const fs::path band = folder.part(task_job(folder.digest(), i));
    join(picture, unpack_band(read_file(band), band.string()));
  }
  if (picture.image.fate == pipeline::Fate::kOk) {
    conclude(job.net, *job.inputs, *request.windows, request.out / "maps",
             {input, picture.windows, picture.image});
  }
  write_file_durably(part, pack_results({&picture.image, 1}));
}

// Removes temporary files that killed writers left behind. `also_without_file`: even if the file
// itself does not exist.
void remove_remains(const fs::path& folder, bool also_without_file) {
  if (!fs::exists(folder)) return;
  std::vector<fs::path> remains;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const fs::path& path = entry.path();
    if (path.extension() != ".tmp") continue;
    fs::path file = path;
    // "report.json", or "report.json.2" if several processes wrote it at once
    file.replace_extension();
    const std::string number = file.extension().string();
    const bool is_number = number.size() > 1 && std::ranges::all_of(number.substr(1), [](char c) {
                             return std::isdigit(static_cast<unsigned char>(c)) != 0;
                           });
    if (is_number) file.replace_extension();
    if (also_without_file || fs::exists(file)) remains.push_back(path);
  }
  for (const fs::path& path : remains) remove_file(path);
}

// Called when all tasks are done: no other process writes in the folder any more.
void tidy(const fs::path& folder) {
  for (const char* const name :
       {"predictions.csv", "predictions.jsonl", "predictions.npy", "ledger.jsonl", "classes.json",
        "names.txt", "features.npy", "boxes.csv", "report.json"}) {
    remove_file(folder / name);
    remove_file(folder / (std::string(name) + ".tmp"));
  }
  remove_remains(folder, false);
  remove_remains(folder / "maps", true);
}

std::uint64_t bytes_in(const fs::path& folder) {
  std::uint64_t bytes = 0;
  if (!fs::exists(folder)) return bytes;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return bytes;
}

// Writes all files from the parts, in the order of the listing; the report comes last.
void write_files(const PredictJob& job, const PredictFolder& folder) {
  tidy(folder.path());
  PredictReport report;
  report.classes = job.net.classes;
  report.by_class.resize(report.classes.size());
  report.machines = folder.machines();
  const std::vector<Part> parts = parts_of(job, folder);
  for (const Part& part : parts) {
    std::uint64_t at = part.first;
    for (const ImageResult& result : read_part(part)) {
      add_to_report(job.telling, *job.inputs, at++, result, report);
      report.dimensions = std::max<std::uint64_t>(report.dimensions, result.features.size());
    }
  }
  const std::uint64_t readable = report.by_fate[static_cast<std::size_t>(pipeline::Fate::kOk)];
  Tables tables(folder.path(), job.telling, readable, report.dimensions);
  std::optional<Sorter> sorter;
  if (!job.telling.table.sort_into.empty()) {
    sorter.emplace(job.telling.table.sort_into, job.telling);
  }
  for (const Part& part : parts) {
    std::uint64_t at = part.first;
    for (const ImageResult& result : read_part(part)) {
      tables.add(*job.inputs, at, result);
      if (sorter) sorter->add(*job.inputs, at, result);
      ++at;
    }
  }
  report.files = tables.finish();
  report.map_bytes = bytes_in(folder.path() / "maps");
  write_file_durably(folder.report(), report_text(report));
}

void remove_parts(const PredictFolder& folder) { remove_tree(folder.path() / "parts"); }

// Assembles the parts, in one process at a time. If an earlier process was killed while it removed
// the parts, all files exist already.
void assemble(const PredictJob& job, const PredictFolder& folder) {
  if (!fs::exists(folder.report())) write_files(job, folder);
  remove_parts(folder);
}

// "host, process 4711"
std::vector<std::string> in_words(const std::vector<JobQueue::Holder>& holders) {
  std::vector<std::string> words;
  for (const JobQueue::Holder& holder : holders) {
    std::string one = holder.host + ", process " + std::to_string(holder.process);
    if (std::ranges::find(words, one) == words.end()) words.push_back(std::move(one));
  }
  return words;
}

// Does jobs together with other processes, until all are done.
void work_off(JobQueue& queue, const std::vector<std::string>& jobs, Session& session,
              const std::function<void(std::size_t job)>& work) {
  std::map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < jobs.size(); ++i) numbers.emplace(jobs[i], i);
  std::string waiting_for;
  constexpr int kLooks = 20;  // two seconds
  for (int unnamed = 0;;) {
    if (is_asked_to_stop(session)) {
      throw StoppedError(kStopped);
    }
    JobQueue::Next next = queue.claim_next(jobs);
    if (next.claim) {
      work(numbers.at(next.claim->job()));
      queue.finish(*std::move(next.claim), {});
      continue;
    }
    if (next.held == 0) return;
    const std::string others = fmt::format("{}", fmt::join(in_words(queue.holders(jobs)), "; "));
    if (!others.empty() && others != std::exchange(waiting_for, others)) {
      say(session, "waiting for the remaining tasks, which are done by " + others);
    }
    if (others.empty() && ++unnamed == kLooks) {  // stopped before it could write its name
      say(session, "waiting for the remaining tasks, which an unnamed process is doing");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

void work_in_queue(const PredictJob& job, const PredictFolder& folder,
                   const PredictRequest& request, TaskWorker& worker, Session& session) {
  const std::string& of = folder.digest();
  try {
    JobQueue queue(folder.queue(), "predictions " + of);
    std::vector<std::string> jobs;
    for (std::size_t task = 0; task < job.tasks.size(); ++task) jobs.push_back(task_job(of, task));
    work_off(queue, jobs, session, [&](std::size_t task) { do_task(job, folder, task, worker); });
    const std::vector<std::uint64_t> inputs = joins_of(job.tasks);
    std::vector<std::string> joins;
    for (const std::uint64_t input : inputs) joins.push_back(join_job(of, input));
    work_off(queue, joins, session,
             [&](std::size_t i) { do_join(job, folder, request, inputs[i]); });
    work_off(queue, {assembly_job(of)}, session, [&](std::size_t) { assemble(job, folder); });
  } catch (const NoLocksError& error) {
    throw SystemError(std::string(error.what()) +
                      "; use one process and --alone there, or start ranks with mpirun");
  }
}

// Ranks take tasks by number.
void work_by_number(const PredictJob& job, const PredictFolder& folder,
                    const PredictRequest& request, TaskWorker& worker, Session& session) {
  const auto ranks = static_cast<std::size_t>(session.comm.size());
  const auto rank = static_cast<std::size_t>(session.comm.rank());
  const std::vector<std::uint64_t> inputs = joins_of(job.tasks);
  comm::on_all(session.comm, [&] {
    for (std::size_t task = rank; task < job.tasks.size(); task += ranks) {
      do_task(job, folder, task, worker);
    }
  });
  comm::on_all(session.comm, [&] {
    for (std::size_t i = rank; i < inputs.size(); i += ranks) {
      do_join(job, folder, request, inputs[i]);
    }
  });
  comm::on_root(session.comm, [&] { assemble(job, folder); });
}

PredictReport read_report(const PredictFolder& folder) {
  return parse_report(read_text(folder.report()), folder.report().string());
}

void check_readable(const PredictReport& report, const fs::path& out) {
  if (report.by_fate[static_cast<std::size_t>(pipeline::Fate::kOk)] > 0) return;
  throw RefusedError("none of the " + std::to_string(report.images) + " images could be read; " +
                     (out / "ledger.jsonl").string() + " says why");
}

}  // namespace

PredictReport predict(const PredictRequest& request, Session& session) {
  const auto begin = std::chrono::steady_clock::now();
  PredictJob job;
  comm::on_all(session.comm, [&] { job = look_up(request, session); });
  std::optional<PredictFolder> folder;
  const auto open = [&] {
    folder.emplace(request.out, job.facts, job.tasks, job.machine, request.work.mixed_machines);
  };
  comm::on_root(session.comm, open);
  comm::on_all(session.comm, [&] {
    if (!folder) open();
  });
  const bool was_there = fs::exists(folder->report());
  comm::on_root(session.comm, [&] {
    if (was_there) remove_parts(*folder);
  });
  TaskWorker worker(job.net, *job.inputs, *job.backend, request, session);
  if (!was_there && (request.work.alone || session.comm.size() > 1)) {
    work_by_number(job, *folder, request, worker, session);
  } else if (!was_there) {
    work_in_queue(job, *folder, request, worker, session);
  }
  PredictReport report = read_report(*folder);
  report.was_there = was_there;
  report.predicted_here = worker.done();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  check_readable(report, request.out);
  return report;
}

PredictStatus predict_status(const fs::path& out) {
  const BegunPredictions begun = read_begun(out);
  PredictStatus status;
  status.tasks = begun.tasks;
  status.finished = fs::exists(out / "report.json");
  if (status.finished) {
    status.done = status.tasks;
    return status;
  }
  std::vector<std::string> left;
  std::optional<fs::file_time_type> newest;
  for (std::size_t task = 0; task < begun.tasks; ++task) {
    const std::string job = task_job(begun.digest, task);
    std::error_code error;
    const auto time = fs::last_write_time(out / "parts" / job_key(job), error);
    if (error) {
      left.push_back(job);
      continue;
    }
    ++status.done;
    newest = std::max(newest.value_or(time), time);
  }
  if (newest && status.done > 0) {
    const auto took =
        std::chrono::duration<double>(*newest - fs::last_write_time(out / "predict.json"));
    status.seconds_left = std::max(0.0, took.count()) / static_cast<double>(status.done) *
                          static_cast<double>(left.size());
  }
  if (fs::exists(out / "tasks" / "queue.json")) {
    for (const std::uint64_t input : begun.joins) left.push_back(join_job(begun.digest, input));
    left.push_back(assembly_job(begun.digest));
    const JobQueue queue(out / "tasks", "predictions " + begun.digest);
    status.workers = in_words(queue.holders(left));
  }
  return status;
}

Predictions predict_arrays(Net& net, const Inputs& inputs, const PredictRequest& request,
                           Session& session) {
  const auto backend = train::make_backend(request.backend, {.device = session.comm.local_rank()});
  TaskWorker worker(net, inputs, *backend, request, session);
  return {worker.compute({0, inputs.size()}), net.classes};
}

}  // namespace winnow::app
