
#include "tools/benches.h"
#include "tools/command.h"
#include "tools/flags/flags.h"

namespace winnow::tools {

Command add_bench(Verb program) {
  const Verb verb = program.add_verb("bench", "Measure what is achieved beside what is attainable");
  verb.footer(
      R"(Kinds of runs alternate, so that a machine that others use slows all alike.

Examples:
  winnow bench decode photos.tar                     # images/s, and pixels/s
  winnow bench ingest photos.tar --out /dev/shm      # without the disk
  winnow bench ingest photos/ --store raw --json
  winnow bench hash --hash phash,dhash,pdq
  winnow bench loader cache --augment cifar --batch-size 128 --threads 2
  winnow bench shuffle cache --batch-size 1024 --partitions 16
  winnow bench search --count 10000000 --bits 64 --radius 8
  mpirun -np 4 winnow bench alltoall -b 64M --gradients 16M
  mpirun -np 4 winnow bench allreduce -b 1M -e 64M    # every schedule beside MPI_Allreduce)");
  return command_of(verb, {add_bench_decode(verb), add_bench_ingest(verb), add_bench_hash(verb),
                           add_bench_search(verb), add_bench_loader(verb), add_bench_shuffle(verb),
                           add_bench_alltoall(verb), add_bench_allreduce(verb)});
}

}  // namespace winnow::tools
