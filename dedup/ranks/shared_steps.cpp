#include "dedup/ranks/shared_steps.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "common/bytes.h"
#include "common/checksum.h"
#include "common/comm/agreement.h"
#include "dedup/ranks/share_out.h"

namespace winnow::dedup {
namespace {

// Items distributed at once, to all ranks together.
constexpr std::size_t kPicturesAtOnce = 8192;  // 3 KB each
constexpr std::size_t kTrialsAtOnce = 4096;    // two pictures each
constexpr std::size_t kHitsAtOnce = std::size_t{1} << 20;

const char* const kSent = "what a rank sent";

template <class T>
void put_values(ByteWriter& out, std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  out.put(std::uint64_t{values.size()});
  out.put_bytes(std::as_bytes(values));
}

template <class T>
std::vector<T> take_values(ByteReader& in) {
  std::vector<T> values(in.get<std::uint64_t>());
  const BytesView bytes = in.get_bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// Copies rank 0's values to the others.
template <class T>
void broadcast_values(comm::Communicator& comm, std::span<const T> of_root,
                      std::vector<T>& on_others) {
  constexpr std::size_t kAtOnce = (std::size_t{1} << 22) / sizeof(T);
  const std::uint64_t count = comm::broadcast(comm, std::uint64_t{of_root.size()}, 0);
  std::vector<T> piece;
  if (comm.rank() != 0) on_others.resize(count);
  for (std::uint64_t at = 0; at < count; at += kAtOnce) {
    piece.resize(std::min<std::uint64_t>(kAtOnce, count - at));
    if (comm.rank() == 0) std::ranges::copy(of_root.subspan(at, piece.size()), piece.begin());
    comm.broadcast(std::as_writable_bytes(std::span(piece)), 0);
    if (comm.rank() != 0) {
      std::ranges::copy(piece, on_others.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
}

void put_pictures(ByteWriter& out, std::span<const std::uint32_t> rows,
                  const PictureSource& pictures) {
  put_values(out, rows);
  for (const std::uint32_t row : rows) {
    const Image image = pictures(row);
    out.put(std::int32_t{image.height_px});
    out.put(std::int32_t{image.width_px});
    out.put_bytes(std::as_bytes(std::span(image.pixels)));
  }
}

// Gray pictures received from rank 0.
struct SentPictures {
  explicit SentPictures(ByteReader& in) : rows(take_values<std::uint32_t>(in)) {
    for (const std::uint32_t row : rows) {
      const auto height = in.get<std::int32_t>();
      Image image(height, in.get<std::int32_t>(), 1);
      const BytesView pixels = in.get_bytes(image.pixels.size());
      if (!pixels.empty()) std::memcpy(image.pixels.data(), pixels.data(), pixels.size());
      images.emplace(row, std::move(image));
    }
  }
  PictureSource source() const {
    return [this](std::uint32_t row) { return images.at(row); };
  }

  std::vector<std::uint32_t> rows;
  std::unordered_map<std::uint32_t, Image> images;
};

Bytes landmarks_in(BytesView share, const StopRequested& stop) {
  ByteReader in(share, kSent);
  const SentPictures pictures(in);
  const LandmarkTable found(pictures.rows, pictures.source(), {.stop = stop});
  ByteWriter out;
  put_values<std::uint64_t>(out, found.codes().words);
  put_values(out, found.places());
  put_values(out, found.owners());
  return std::move(out).take();
}

void append_landmarks(BytesView answer, LandmarkTable& landmarks) {
  ByteReader in(answer, kSent);
  auto codes = take_values<std::uint64_t>(in);
  auto places = take_values<PackedPlace>(in);
  auto owners = take_values<std::uint32_t>(in);
  landmarks.append(LandmarkTable(std::move(codes), std::move(places), std::move(owners)),
                   [](std::uint32_t row) { return row; });
}

// The landmarks that a rank searches.
struct Searched {
  const LandmarkTable& landmarks;
  std::span<const std::uint32_t> some;
  int radius;
};

// This rank's part of the hits.
std::vector<Hit> hits_of_rank(comm::Communicator& comm, const Searched& in,
                              const SearchOptions& search) {
  HitsOfPart found;
  comm::on_all(comm, [&] {
    found = find_hits_of_part(in.landmarks, in.some, in.radius, {comm.rank(), comm.size()}, search);
  });
  comm::require_agreement(comm, {{"how landmarks are divided", winnow::to_hex(found.division)}});
  return std::move(found.hits);
}

// Returns the hits of all ranks on rank 0.
std::vector<Hit> gather_hits(comm::Communicator& comm, const LandmarkTable& landmarks,
                             std::vector<Hit> hits) {
  ByteWriter mine;
  put_values<Hit>(mine, hits);
  hits = {};
  const auto answers = share_out(
      comm, [](int) { return Bytes(); }, [&](BytesView) { return std::move(mine).take(); });
  for (const Bytes& answer : answers) {
    ByteReader in(answer, kSent);
    const auto some = take_values<Hit>(in);
    hits.insert(hits.end(), some.begin(), some.end());
  }
  return merge_hits(landmarks, hits);
}

// Returns the supports of its hits on rank 0.
std::vector<std::uint8_t> share_supports(comm::Communicator& comm, const LandmarkTable& landmarks,
                                         std::span<const Hit> hits, const StopRequested& stop) {
  const std::uint64_t count = comm::broadcast(comm, std::uint64_t{hits.size()}, 0);
  std::vector<std::uint8_t> supports;
  for (std::uint64_t at = 0; at < count; at += kHitsAtOnce) {
    const auto pack = [&](int rank) {
      const auto round = hits.subspan(at, std::min(kHitsAtOnce, hits.size() - at));
      const ShareRange share = share_of(round.size(), rank, comm.size());
      ByteWriter out;
      put_values(out, round.subspan(share.begin, share.count));
      return std::move(out).take();
    };
    const auto answers = share_out(comm, pack, [&](BytesView share) {
      ByteReader in(share, kSent);
      ByteWriter out;
      put_values<std::uint8_t>(out, count_supports(landmarks, take_values<Hit>(in), stop));
      return std::move(out).take();
    });
    for (const Bytes& answer : answers) {
      ByteReader in(answer, kSent);
      const auto some = take_values<std::uint8_t>(in);
      supports.insert(supports.end(), some.begin(), some.end());
    }
  }
  return supports;
}

SupportedHits share_hits_in(comm::Communicator& comm, const Searched& in,
                            const SearchOptions& search) {
  SupportedHits found{gather_hits(comm, in.landmarks, hits_of_rank(comm, in, search)), {}};
  found.supports = share_supports(comm, in.landmarks, found.hits, search.stop);
  return found;
}

// Trials with their pictures.
Bytes packed(std::span<const Trial> trials, const PictureSource& pictures,
             const MatchModel& model) {
  std::vector<std::uint32_t> rows;
  for (const Trial& trial : trials) {
    rows.push_back(trial.row_a);
    rows.push_back(trial.row_b);
  }
  std::ranges::sort(rows);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  ByteWriter out;
  out.put_array<double>(model.weights);
  put_pictures(out, rows, pictures);
  out.put(std::uint64_t{trials.size()});
  for (const Trial& trial : trials) {
    out.put(trial.row_a);
    out.put(trial.row_b);
    out.put(trial.is_near);
    put_values<Guess>(out, trial.guesses);
  }
  return std::move(out).take();
}

Bytes judged_in(BytesView share, const StopRequested& stop) {
  ByteReader in(share, kSent);
  MatchModel model;
  for (double& weight : model.weights) weight = in.get<double>();
  const SentPictures pictures(in);
  std::vector<Trial> trials(in.get<std::uint64_t>());
  for (Trial& trial : trials) {
    trial.row_a = in.get<std::uint32_t>();
    trial.row_b = in.get<std::uint32_t>();
    trial.is_near = in.get<bool>();
    trial.guesses = take_values<Guess>(in);
  }
  ByteWriter out;
  put_values<VerifiedPair>(out, judge(trials, pictures.source(), model, stop));
  return std::move(out).take();
}

}  // namespace

LandmarkTable share_landmarks(comm::Communicator& comm, std::span<const std::uint32_t> rows,
                              const PictureSource& pictures, const SearchOptions& search) {
  const std::uint64_t count = comm::broadcast(comm, std::uint64_t{rows.size()}, 0);
  LandmarkTable landmarks;
  for (std::uint64_t at = 0; at < count; at += kPicturesAtOnce) {
    const std::uint64_t end = std::min<std::uint64_t>(count, at + kPicturesAtOnce);
    const auto pack = [&](int rank) {
      const ShareRange share = share_of(end - at, rank, comm.size());
      ByteWriter out;
      put_pictures(out, rows.subspan(at + share.begin, share.count), pictures);
      return std::move(out).take();
    };
    const auto answers =
        share_out(comm, pack, [&](BytesView share) { return landmarks_in(share, search.stop); });
    for (const Bytes& answer : answers) append_landmarks(answer, landmarks);
    if (search.progress) search.progress({end, count, {}, "landmarks", "images"});
  }
  return landmarks;
}

SupportedHits share_hits(comm::Communicator& comm, const LandmarkTable& landmarks,
                         std::span<const std::uint32_t> some, int radius,
                         const SearchOptions& search) {
  const int within = comm::broadcast(comm, radius, 0);
  std::vector<std::uint64_t> codes;
  std::vector<PackedPlace> places;
  std::vector<std::uint32_t> owners;
  std::vector<std::uint32_t> searched;
  broadcast_values<std::uint64_t>(comm, landmarks.codes().words, codes);
  broadcast_values(comm, landmarks.places(), places);
  broadcast_values(comm, landmarks.owners(), owners);
  broadcast_values(comm, some, searched);
  if (comm.rank() == 0) return share_hits_in(comm, {landmarks, some, within}, search);
  const LandmarkTable sent(std::move(codes), std::move(places), std::move(owners));
  return share_hits_in(comm, {sent, searched, within}, search);
}

std::vector<VerifiedPair> share_judging(comm::Communicator& comm, std::span<const Trial> trials,
                                        const PictureSource& pictures, const MatchModel& model,
                                        const SearchOptions& search) {
  const std::uint64_t count = comm::broadcast(comm, std::uint64_t{trials.size()}, 0);
  std::vector<VerifiedPair> judged;
  for (std::uint64_t at = 0; at < count; at += kTrialsAtOnce) {
    const auto pack = [&](int rank) {
      const auto round = trials.subspan(at, std::min(kTrialsAtOnce, trials.size() - at));
      const ShareRange share = share_of(round.size(), rank, comm.size());
      return packed(round.subspan(share.begin, share.count), pictures, model);
    };
    const auto answers =
        share_out(comm, pack, [&](BytesView share) { return judged_in(share, search.stop); });
    for (const Bytes& answer : answers) {
      ByteReader in(answer, kSent);
      const auto some = take_values<VerifiedPair>(in);
      judged.insert(judged.end(), some.begin(), some.end());
    }
  }
  return judged;
}

}  // namespace winnow::dedup
