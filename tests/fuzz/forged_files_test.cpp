// Forged files of every kind, each given to a verb that reads it, as a user would: the program ends
// by itself, in time, within its memory, with an exit code of its own and one sentence that names a
// file or a field. WINNOW_FORGERIES says how many are tried; 0: all, by every verb (hours), of
// which WINNOW_FORGERIES_PART=2/8 is the second of eight parts that take as long as one another.
#include "tests/fuzz/forged_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

#include "common/error.h"
#include "common/file.h"
#include "tests/common/temporary_folder.h"
#include "tests/fuzz/damage.h"

namespace winnow::test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr std::size_t kUsual = 1000;  // forgeries
constexpr std::chrono::seconds kLongest{20};
constexpr rlim_t kMostAddresses = rlim_t{6} << 30;
constexpr long kMostResidentKib = 700 << 10;
constexpr std::size_t kLongestSentence = 7100;

struct Ended {
  int status = 0;
  bool in_time = true;
  long resident_kib = 0;
  std::string said;  // on stderr
};

// Runs the program, its output into `folder`.
Ended run(const Words& words, const fs::path& folder) {
  const fs::path said = folder / "stderr";
  std::vector<char*> arguments;
  Words copy = words;
  for (std::string& word : copy) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::string out = folder / "stdout";
  const pid_t child = ::fork();
  if (child == 0) {  // nothing that takes a lock: other threads may hold it
    const rlimit addresses{kMostAddresses, kMostAddresses};
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_AS, &addresses);
    ::setrlimit(RLIMIT_CORE, &none);
    ::dup2(::open("/dev/null", O_RDONLY), 0);
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
    ::dup2(::open(said.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
    ::execv(arguments[0], arguments.data());
    ::_exit(126);
  }
  Ended ended;
  rusage usage{};
  const auto begin = std::chrono::steady_clock::now();
  while (::wait4(child, &ended.status, WNOHANG, &usage) == 0) {
    if (std::chrono::steady_clock::now() - begin > kLongest && ended.in_time) {
      ended.in_time = false;
      ::kill(child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  ended.resident_kib = usage.ru_maxrss;
  ended.said = read_text(said);
  return ended;
}

// What is wrong with how it ended; empty: nothing.
std::string fault_of(const Ended& ended, const ForgeryPlaces& places) {
  if (!ended.in_time) return "takes too long";
  if (WIFSIGNALED(ended.status)) return "dies of signal " + std::to_string(WTERMSIG(ended.status));
  const int code = WEXITSTATUS(ended.status);
  if (!std::set{0, 1, 2, 3, 75}.contains(code)) return "exit code " + std::to_string(code);
  if (ended.resident_kib > kMostResidentKib) {
    return "takes " + std::to_string(ended.resident_kib >> 10) + " MiB";
  }
  if (code == 0) return "";
  std::istringstream lines(ended.said);
  Words sentences;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("winnow: ")) sentences.push_back(line);
  }
  if (sentences.size() != 1) return std::to_string(sentences.size()) + " sentences";
  const std::string& sentence = sentences[0];
  if (sentence.size() > kLongestSentence) return "a sentence of " + std::to_string(sentence.size());
  for (const char* words : {"std::", "vector::", "basic_string", "json.exception", "bad_alloc",
                            "bad_", "stoi", "stod", "__"}) {
    if (sentence.find(words) != sentence.npos) return "speaks C++";
  }
  const auto says = [&](const std::string& words) { return sentence.find(words) != sentence.npos; };
  const bool names = says(places.root.string()) || says("'") || says("winnow: sample ") ||
                     (code == 2 && says("--"));
  return names ? "" : "names neither file, field, sample nor option";
}

// A net may be larger than the machine, and say so.
bool may_want_memory(const Forgery& forgery) {
  return forgery.what.starts_with("config.json /net");
}

std::vector<Words> verbs_of(Reads reads, const ForgeryPlaces& at) {
  const std::string cache = at.cache();
  const std::string run = at.run();
  const std::string index = at.index();
  const std::string out = at.root / "out";
  const Words train{"train", cache,      "--net", "lenet",     "--batch-size",
                    "8",     "--epochs", "1",     "--threads", "1"};
  const auto with = [](Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  switch (reads) {
    case Reads::kCache:
      return {{"info", cache},
              {"verify", cache},
              {"dedup", cache, "--hash", "phash", "--name", "more"},
              {"eval", run, cache, "--threads", "1"},
              {"info", cache, "--json"},
              {"export", cache, "--to", out},
              with(train, {"--out", out, "--max-steps", "1"}),
              {"split", cache, "--val", "0.3"},
              {"tune", cache},
              {"index", "add", out, cache},
              {"dedup", cache, "--hash", "exact", "--name", "more"},
              {"index", "query", index, cache},
              {"export", cache, "--to", out, "--as", "list"},
              {"cache", "drop", cache, "--delete"}};
    case Reads::kSelection:
      return {{"info", cache, "--selection", "golden"},
              {"verify", cache},
              {"compact", cache, "--selection", "golden", "--out", out},
              with(train, {"--selection", "golden", "--out", out, "--max-steps", "1"}),
              {"export", cache, "--selection", "golden", "--to", out},
              {"eval", run, cache, "--selection", "golden", "--threads", "1"},
              {"info", cache, "--selection", "golden", "--json"},
              {"verify", cache, "--selection", "golden"},
              {"dedup", cache, "--name", "golden"}};
    case Reads::kRun:
      return {{"eval", run, cache, "--threads", "1"},
              with(train, {"--selection", "golden", "--out", run, "--resume", "auto"}),
              with(train, {"--selection", "golden", "--out", run, "--resume", "auto", "--replan"})};
    case Reads::kIndex:
      return {{"index", "info", index, "--json"},
              {"index", "query", index, cache},
              {"index", "dedup", index},
              {"index", "compact", index},
              {"index", "merge", at.root / "other", index},
              {"index", "delete", index, "--source", "0"},
              {"index", "add", index, cache}};
  }
  return {};
}

// Files as they should be, in a folder that is left alone.
void make_good(const ForgeryPlaces& good) {
  fs::create_directories(good.root);
  copy_golden("v1/raw", good.cache());
  copy_golden("v1/run", good.run());
  copy_golden("v1/original", good.root / "more");
  for (const auto& [index, cache] : {std::pair(good.index(), good.cache()),
                                     std::pair(good.root / "other", good.root / "more")}) {
    const Ended ended = run({std::getenv("WINNOW"), "index", "add", index, cache}, good.root);
    ASSERT_EQ(ended.status, 0) << ended.said;
  }
  fs::remove_all(good.root / "more");
}

struct Trial {
  std::size_t forgery;
  std::size_t verb;
};

class Trials {
 public:
  Trials(const ForgeryPlaces& good, std::vector<Forgery> forgeries, std::vector<Trial> trials)
      : good_(good), forgeries_(std::move(forgeries)), trials_(std::move(trials)) {}

  // On a thread of its own, in a folder of its own.
  void work(const ForgeryPlaces& places) {
    for (std::size_t i = next_++; i < trials_.size(); i = next_++) {
      const Forgery& forgery = forgeries_[trials_[i].forgery];
      fs::remove_all(places.root);
      fs::copy(good_.root, places.root,
               fs::copy_options::recursive | fs::copy_options::copy_symlinks);
      forgery.make(places);
      Words words = verbs_of(forgery.read_by, places)[trials_[i].verb];
      words.insert(words.begin(), std::getenv("WINNOW"));
      const Ended ended = run(words, places.root);
      judge(forgery, words, ended, places);
    }
  }

  const std::map<int, std::size_t>& codes() const noexcept { return codes_; }

 private:
  void judge(const Forgery& forgery, const Words& words, const Ended& ended,
             const ForgeryPlaces& places) {
    std::string fault = fault_of(ended, places);
    const bool memory = ended.said.find("not enough memory") != std::string::npos;
    if (memory && may_want_memory(forgery)) fault.clear();
    if (!fs::exists(places.root.parent_path() / "outside")) fault = "removes what is not its own";
    const std::lock_guard lock(mutex_);
    ++codes_[WEXITSTATUS(ended.status)];
    if (fault.empty() || failures_++ >= 200) return;
    std::string command;
    for (std::size_t i = 1; i < words.size(); ++i) command += " " + words[i];
    ADD_FAILURE() << forgery.what << "\n winnow" << command << "\n " << fault << "\n "
                  << ended.said.substr(0, 1000);
  }

  const ForgeryPlaces& good_;
  const std::vector<Forgery> forgeries_;
  const std::vector<Trial> trials_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::map<int, std::size_t> codes_;
  std::size_t failures_ = 0;
};

// Else nothing would be tried.
TEST(ForgedFiles, ThoseTheyAreMadeOfAreUsed) {
  const TemporaryFolder folder;
  const ForgeryPlaces good{folder / "good"};
  const ForgeryPlaces places{folder / "a"};
  make_good(good);
  for (const Reads reads : {Reads::kCache, Reads::kSelection, Reads::kRun, Reads::kIndex}) {
    for (Words words : verbs_of(reads, places)) {
      fs::remove_all(places.root);
      fs::copy(good.root, places.root,
               fs::copy_options::recursive | fs::copy_options::copy_symlinks);
      words.insert(words.begin(), std::getenv("WINNOW"));
      const Ended ended = run(words, places.root);
      EXPECT_EQ(ended.status, 0) << words[1] << " " << words[2] << ": " << ended.said;
    }
  }
}

std::size_t number_in(const char* variable, std::size_t otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::strtoul(text, nullptr, 10) : otherwise;
}

// Once findings: tried by every verb, however few are wanted.
constexpr std::string_view kOnceFound[]{"golden.selection name last: 18446744073709551615"};

bool was_found(const Forgery& forgery) {
  return std::ranges::find(kOnceFound, forgery.what) != std::end(kOnceFound);
}

// All of them by every verb (wanted: 0), or so many spread over them and over the verbs.
std::vector<Trial> trials_of(const std::vector<Forgery>& all, const ForgeryPlaces& places,
                             std::size_t wanted) {
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t verbs = verbs_of(all[i].read_by, places).size();
    if (wanted == 0 || was_found(all[i])) {
      for (std::size_t verb = 0; verb < verbs; ++verb) trials.push_back({i, verb});
    } else if ((i + 1) * wanted / all.size() != i * wanted / all.size()) {
      trials.push_back({i, trials.size() % verbs});
    }
  }
  return trials;
}

// As `part` says, "2/8".
std::vector<Trial> part_of(const std::vector<Trial>& trials, const std::string& part) {
  const std::size_t slash = part.find('/');
  const std::size_t number = std::strtoul(part.c_str(), nullptr, 10);
  const std::size_t parts =
      slash == part.npos ? 0 : std::strtoul(part.c_str() + slash + 1, nullptr, 10);
  if (number < 1 || number > parts) throw UsageError("WINNOW_FORGERIES_PART is no part: " + part);
  std::vector<Trial> out;
  for (std::size_t i = number - 1; i < trials.size(); i += parts) out.push_back(trials[i]);
  return out;
}

TEST(ForgedFiles, AreRefusedInASentenceOrUsed) {
  const TemporaryFolder folder;
  write_file_durably(folder / "outside", std::string_view("stays"));
  const ForgeryPlaces good{folder / "good"};
  make_good(good);
  std::vector<Forgery> all = forgeries(good);
  const std::size_t wanted = number_in("WINNOW_FORGERIES", kUsual);
  std::vector<Trial> trials = trials_of(all, good, wanted);
  ASSERT_GE(all.size(), 5000U);
  ASSERT_EQ(std::ranges::count_if(all, was_found), std::ssize(kOnceFound));
  ASSERT_GE(trials.size(), std::min<std::size_t>(wanted, all.size()));
  if (const char* part = std::getenv("WINNOW_FORGERIES_PART")) trials = part_of(trials, part);
  const std::size_t tried = trials.size();
  Trials run(good, std::move(all), std::move(trials));
  std::vector<std::thread> threads;
  for (const char* name : {"a", "b"}) {
    threads.emplace_back([&, name] { run.work({folder / name}); });
  }
  for (std::thread& thread : threads) thread.join();
  std::size_t refused = 0;
  for (const auto& [code, count] : run.codes()) {
    refused += code != 0 ? count : 0;
    std::cout << count << " end with " << code << '\n';
  }
  EXPECT_GT(refused, tried / 10);
}

}  // namespace
}  // namespace winnow::test
