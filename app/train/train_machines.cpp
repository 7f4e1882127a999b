#include "app/train/train_machines.h"

#include <string>
#include <vector>

#include "app/launch/machines.h"
#include "app/printable.h"
#include "common/comm/mpi/launcher.h"
#include "common/comm/mpi/mpi.h"
#include "common/json.h"
#include "train/run/start/build_name.h"

namespace winnow::app {
namespace {

std::string build() {
  const std::string library = comm::mpi_is_open() ? comm::mpi_library() : "";
  return "winnow " + std::string(train::build_name()) + ", " +
         (library.empty() ? "without MPI" : library);
}

Json json_of(const Machine& machine) {
  const RankPlace& place = machine.place;
  return {{"host", printable(place.host)},
          {"ranks", machine.ranks},
          {"cores", machine.cores},
          {"cores_each", machine.cores_each},
          {"cores_online", place.online},
          {"binding", to_string(machine.binding)},
          {"memory_free", place.memory_left},
          {"memory_total", place.memory_total},
          {"cards", place.cards},
          {"build", place.build}};
}

}  // namespace

Json tell_machines(int threads, const Session& session) {
  comm::Communicator& comm = session.comm;
  std::vector<RankPlace> places;
  for (const std::string& text : comm::all_gather(comm, to_text(look_at_rank(build())))) {
    places.push_back(rank_place_of(text));
  }
  const std::vector<Machine> machines = machines_of(places, comm.placement().node_of);
  Json all = Json::array();
  for (const Machine& machine : machines) {
    say(session, in_words(machine));
    all.push_back(json_of(machine));
  }
  const std::string warning = idle_warning(machines, comm::this_launch().launcher, threads);
  if (!warning.empty()) say(session, "warning: " + warning);
  return all;
}

}  // namespace winnow::app
