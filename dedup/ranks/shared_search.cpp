#include "dedup/ranks/shared_search.h"

#include <algorithm>
#include <exception>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "common/bytes.h"
#include "common/checksum.h"
#include "common/comm/agreement.h"
#include "dedup/cluster/cluster.h"
#include "dedup/ranks/shared_steps.h"
#include "dedup/search/scan.h"
#include "dedup/search/search.h"

namespace winnow::dedup {
namespace {

// Links per transfer.
constexpr std::size_t kLinksAtOnce = std::size_t{1} << 20;

// Requests of rank 0.
enum class Ask : std::uint32_t { kNothing, kLinks, kLandmarks, kHits, kVerdicts };

// Parameters of a search for links; the codes follow separately.
struct Question {
  std::uint64_t codes = 0;
  std::uint32_t bits = 0;
  std::uint32_t radius = 0;
};

template <class T>
void broadcast(comm::Communicator& comm, std::span<T> values, int root) {
  comm.broadcast(std::as_writable_bytes(values), root);
}

// The fastest kernel that runs on every rank.
std::string_view common_kernel(comm::Communicator& comm) {
  const auto kernels = scan_kernels();
  std::vector<std::uint64_t> best(kernels.size());
  best[static_cast<std::size_t>(&best_scan_kernel() - kernels.data())] = 1;
  comm.all_reduce(best);
  std::size_t slowest = best.size() - 1;
  while (best[slowest] == 0) --slowest;
  return kernels[slowest].name;
}

class Searchers final : public VerifySteps {
 public:
  Searchers(comm::Communicator& comm, const SharedSearchOptions& options)
      : comm_(comm), options_(options) {
    options_.search.kernel = common_kernel(comm);
    if (comm.rank() != 0) options_.search.progress = {};
  }

  // Called on rank 0.
  void find(const CodeColumn& codes, std::span<const std::uint32_t> rows, int radius,
            const EdgeSink& sink) {
    std::vector<std::uint32_t> sorted(rows.begin(), rows.end());
    std::ranges::sort(sorted);  // the first of equal codes is the first row
    CodeColumn asked = empty_codes(codes.hash, codes.version, codes.bits);
    asked.words.reserve(sorted.size() * codes.words_per_code());
    for (const std::uint32_t row : sorted) {
      const auto code = codes.code(row);
      asked.words.insert(asked.words.end(), code.begin(), code.end());
    }
    Question question{sorted.size(), static_cast<std::uint32_t>(codes.bits),
                      static_cast<std::uint32_t>(radius)};
    const EdgeSink to_rows = [&](std::span<const Edge> edges) {
      std::vector<Edge> of_rows(edges.begin(), edges.end());
      for (Edge& edge : of_rows) edge = {sorted[edge.a], sorted[edge.b], edge.distance};
      sink(of_rows);
    };
    begin(Ask::kLinks);
    send(question, asked);
    search(asked, radius, to_rows);
    asked = {};
    for (int rank = 1; rank < comm_.size(); ++rank) gather(rank, {}, to_rows);
    end();
  }
  LandmarkTable landmarks(std::span<const std::uint32_t> rows,
                          const PictureSource& pictures) override {
    begin(Ask::kLandmarks);
    LandmarkTable found = share_landmarks(comm_, rows, pictures, options_.search);
    end();
    return found;
  }
  SupportedHits hits(const LandmarkTable& landmarks, std::span<const std::uint32_t> some,
                     int radius) override {
    begin(Ask::kHits);
    SupportedHits found = share_hits(comm_, landmarks, some, radius, options_.search);
    end();
    return found;
  }
  std::vector<VerifiedPair> judge(std::span<const Trial> trials, const PictureSource& pictures,
                                  const MatchModel& model) override {
    begin(Ask::kVerdicts);
    std::vector<VerifiedPair> judged =
        share_judging(comm_, trials, pictures, model, options_.search);
    end();
    return judged;
  }
  // Whether a failed step has already ended the others.
  bool is_broken() const noexcept { return broken_; }
  void dismiss() { ask(Ask::kNothing); }

  // Called on the other ranks; returns when they are dismissed.
  void serve() {
    for (;;) {
      switch (static_cast<Ask>(comm::broadcast(comm_, std::uint32_t{0}, 0))) {
        case Ask::kNothing:
          return;
        case Ask::kLinks:
          serve_links();
          break;
        case Ask::kLandmarks:
          share_landmarks(comm_, {}, {}, options_.search);
          break;
        case Ask::kHits:
          share_hits(comm_, {}, {}, 0, options_.search);
          break;
        case Ask::kVerdicts:
          share_judging(comm_, {}, {}, {}, options_.search);
          break;
      }
    }
  }

 private:
  void ask(Ask what) { comm::broadcast(comm_, static_cast<std::uint32_t>(what), 0); }
  // Between these two, all ranks take part in one step.
  void begin(Ask what) {
    broken_ = true;  // until the step has succeeded
    ask(what);
  }
  void end() noexcept { broken_ = false; }

  void serve_links() {
    Question question;
    broadcast(comm_, std::span(&question, 1), 0);
    CodeColumn codes;
    receive(question, codes);
    std::vector<Edge> links;
    std::optional<UnionFind> linked;
    if (!options_.all_links) linked.emplace(question.codes);
    search(codes, static_cast<int>(question.radius), [&](std::span<const Edge> edges) {
      for (const Edge& edge : edges) {
        if (!linked || linked->unite(edge)) links.push_back(edge);
      }
    });
    codes = {};
    linked.reset();
    for (int rank = 1; rank < comm_.size(); ++rank) {
      gather(rank, rank == comm_.rank() ? std::span<const Edge>(links) : std::span<const Edge>(),
             [](std::span<const Edge>) {});
    }
  }

  void send(Question& question, CodeColumn& codes) {
    broadcast(comm_, std::span(&question, 1), 0);
    comm::broadcast_text(comm_, codes.hash);
    broadcast(comm_, std::span(codes.words), 0);
  }
  void receive(const Question& question, CodeColumn& codes) {
    codes = empty_codes(comm::broadcast_text(comm_, {}), 0, static_cast<int>(question.bits));
    codes.words.resize(question.codes * codes.words_per_code());
    broadcast(comm_, std::span(codes.words), 0);
  }

  // This rank's part.
  void search(const CodeColumn& codes, int radius, const EdgeSink& sink) {
    std::uint64_t division = 0;
    comm::on_all(comm_, [&] {
      std::vector<std::uint32_t> rows(codes.words.size() / codes.words_per_code());
      std::iota(rows.begin(), rows.end(), std::uint32_t{0});
      division = find_edges_of_part(codes, rows, radius, {comm_.rank(), comm_.size()}, sink,
                                    options_.search);
    });
    comm::require_agreement(comm_, {{"how the search is divided", winnow::to_hex(division)}});
  }

  // Sends the links of one rank to rank 0. Called on all.
  void gather(int rank, std::span<const Edge> links, const EdgeSink& sink) {
    std::uint64_t count = links.size();
    broadcast(comm_, std::span(&count, 1), rank);
    std::vector<Edge> some(std::min<std::uint64_t>(count, kLinksAtOnce));
    for (std::uint64_t at = 0; at < count; at += some.size()) {
      some.resize(std::min<std::uint64_t>(some.size(), count - at));
      if (rank == comm_.rank()) std::ranges::copy(links.subspan(at, some.size()), some.begin());
      broadcast(comm_, std::span(some), rank);
      sink(some);
    }
  }

  comm::Communicator& comm_;
  SharedSearchOptions options_;
  bool broken_ = false;
};

}  // namespace

void with_shared_work(comm::Communicator& comm,
                      const std::function<void(const SharedWork& work)>& decide,
                      const SharedSearchOptions& options) {
  if (comm.size() == 1) {
    return decide(
        {[&](const CodeColumn& codes, std::span<const std::uint32_t> rows, int threshold,
             const EdgeSink& sink) { find_edges(codes, rows, threshold, sink, options.search); }});
  }
  Searchers searchers(comm, options);
  if (comm.rank() != 0) {
    searchers.serve();
    comm::on_root(comm, [] {});
    return;
  }
  std::exception_ptr error;
  try {
    decide({[&](const CodeColumn& codes, std::span<const std::uint32_t> rows, int threshold,
                const EdgeSink& sink) { searchers.find(codes, rows, threshold, sink); },
            &searchers});
  } catch (...) {
    if (searchers.is_broken()) throw;
    error = std::current_exception();
  }
  searchers.dismiss();
  comm::on_root(comm, [&] {
    if (error) std::rethrow_exception(error);
  });
}

void with_shared_search(comm::Communicator& comm,
                        const std::function<void(const LinkSource& links)>& decide,
                        const SharedSearchOptions& options) {
  with_shared_work(
      comm, [&](const SharedWork& work) { decide(work.links); }, options);
}

}  // namespace winnow::dedup
