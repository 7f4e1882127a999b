# ctest lint.layers:  cmake -DROOT=<repository> -P cmake/check_layers.cmake
# Holds the include direction of the folders and the one home of each C library's header.
cmake_minimum_required(VERSION 3.25)

# Folder -> folders its files may include from. The longest matching folder decides.
set(may_common   common)
set(may_datasets common datasets)
# Rooms of dedup, each with what stands before it.
set(before common)
foreach(room hash audit table search cluster policy review leak decisions)
  list(APPEND before dedup/${room})
  set(may_dedup/${room} ${before})
  list(APPEND dedup_rooms dedup/${room})
endforeach()
foreach(room features verify)
  set(may_dedup/${room} ${before} dedup/${room})
endforeach()
foreach(room index labels lists ranks split sweep tune)
  set(may_dedup/${room} ${before} dedup/features dedup/verify dedup/${room})
  list(APPEND dedup_rooms dedup/${room})
endforeach()
list(APPEND dedup_rooms dedup/features dedup/verify)
set(may_dedup "")  # no sources but in rooms
# Rooms of pipeline; those that decode and store know no data sets, those that load nothing of duplicates either.
set(may_pipeline/parallel common pipeline/parallel)
set(may_pipeline/augment  common pipeline/augment)
set(may_pipeline/decode   common pipeline/decode)
set(may_pipeline/store    common dedup pipeline/augment pipeline/decode pipeline/store)
set(may_pipeline/copies   common pipeline/store pipeline/copies)
set(may_pipeline/load     common pipeline/augment pipeline/decode pipeline/store pipeline/copies pipeline/load)
set(pipeline_base common datasets dedup pipeline/parallel pipeline/augment pipeline/decode pipeline/store)
set(may_pipeline/export   ${pipeline_base} pipeline/export)
set(may_pipeline/ingest   ${pipeline_base} pipeline/ingest)
set(may_pipeline/compact  ${pipeline_base} pipeline/export pipeline/ingest pipeline/compact)
set(may_pipeline/recall   ${pipeline_base} pipeline/export pipeline/recall)
set(may_pipeline "")  # no sources but in rooms
set(may_train/tensor     common train/tensor)
set(may_train/graph      common train/tensor train/graph)
set(may_train/ops        common train/tensor train/graph train/ops)
set(may_train/rewrites   common train/tensor train/graph train/ops train/rewrites)
set(may_train/onnx       common train/tensor train/graph train/ops train/rewrites train/onnx)
set(may_train/nets       common train/tensor train/graph train/ops train/nets)
set(may_train/optim      common train/tensor train/optim)
set(may_train/backend    common train/tensor train/graph train/ops train/optim train/backend)
set(may_train/checkpoint common train/tensor train/graph train/checkpoint)
set(may_train/model      common train/tensor train/graph train/ops train/nets train/backend train/optim
                         train/checkpoint train/model)
set(may_train/reduce     common train/tensor train/graph train/reduce)
set(may_train/plan       common pipeline/load train/tensor train/graph train/reduce train/plan)
set(may_train/step       common pipeline/load train/tensor train/graph train/backend train/model train/optim train/reduce
                         train/plan train/step)
set(may_train/evaluate   common pipeline/load train/tensor train/graph train/backend train/plan train/step
                         train/evaluate)
set(may_train/trace      common train/step train/trace)
# Rooms of a run, each with those before it; its loop, in the folder itself, has all of them.
set(run_base common pipeline/load train/tensor train/graph train/ops train/rewrites train/nets train/optim train/backend
             train/checkpoint train/model train/reduce train/plan train/step train/evaluate)
set(may_train/run/log         ${run_base} train/run/log)
set(may_train/run/record      ${run_base} train/run/options train/run/log train/run/record)
set(may_train/run/start       ${may_train/run/record} train/run/start)
set(may_train/run/evaluations ${may_train/run/start} train/run/evaluations)
set(may_train/run             common pipeline/load train)
# Rooms of app: all have the session, and each what stands before it.
set(app_base     common datasets dedup pipeline train app/session app/printable app/words app/temporary_folder)
set(may_app            ${app_base})
set(may_app/page       ${app_base} app/page)
set(may_app/sources    ${app_base} app/sources)
set(may_app/load       ${app_base} app/load)
set(may_app/launch     ${app_base} app/launch)
set(may_app/live       ${app_base} app/page app/live)
set(may_app/experiment ${app_base} app/page app/experiment)
set(may_app/dedup      ${app_base} app/page app/sources app/dedup)
set(may_app/report     ${app_base} app/page app/dedup app/report)
set(may_app/review     ${app_base} app/page app/dedup app/review)
set(may_app/metrics    ${app_base} app/review app/metrics)
set(app_verbs bench cache compact compare doctor embed eval export hash index info ingest onnx plan predict split suspects sweep train tune tune_lr verify)
foreach(verb IN LISTS app_verbs)
  set(may_app/${verb}  ${app_base} app/page app/sources app/load app/launch app/experiment app/dedup app/report app/review app/${verb})
  list(APPEND app_rooms app/${verb})
endforeach()
list(APPEND may_app/bench app/plan)  # what a network costs is written for plans
list(APPEND may_app/train app/plan)  # kernels that a plan writes are read
list(APPEND may_app/train app/split app/metrics)  # folds are told of as splits
list(APPEND app_rooms app/page app/sources app/load app/launch app/live app/experiment app/dedup app/report app/review app/metrics)
set(may_tools    common datasets dedup pipeline train app tools)
set(may_python   common datasets dedup pipeline train app tools/words python)
set(rules common datasets ${dedup_rooms} dedup pipeline/parallel pipeline/augment pipeline/decode pipeline/store pipeline/copies pipeline/load pipeline/export pipeline/ingest
          pipeline/compact pipeline/recall pipeline train/tensor train/graph train/ops train/rewrites train/onnx train/nets train/backend
          train/optim train/checkpoint train/model train/reduce train/plan train/step train/evaluate train/trace
          train/run/log train/run/record train/run/start train/run/evaluations train/run ${app_rooms} app tools python)
set(with_rooms dedup pipeline train/run app)  # folders whose rooms have rules of their own, each

# C library header (a pattern) -> the one path prefix that may include it.
set(homes
  "lmdb\\.h=common/lmdb/"
  "mpi\\.h=common/comm/mpi/"
  "nccl\\.h=common/comm/nccl/"
  "(jpeglib|turbojpeg|jerror)\\.h=pipeline/decode/"
  "webp/.*=pipeline/decode/"
  "tiff(io)?\\.h=pipeline/decode/"
  "opencv2/.*=tests/"
  "(oneapi/dnnl/)?dnnl.*=train/backend/onednn/"
  "omp\\.h=train/backend/onednn/"
  "(cuda|cudnn|cublas).*=train/backend/cudnn/"
  "xxhash\\.h=common/"
  "archive(_entry)?\\.h=datasets/tar_file"
  "(oneapi/)?tbb/.*=(pipeline|dedup)/"
  "httplib\\.h=app/review/"
  "CLI/.*=tools/(flags/|main|program|help|words|reference/|augment_config)"
  "toml\\+\\+/.*=train/nets/net_file")

set(bad "")
list(TRANSFORM with_rooms REPLACE "(.+)" "${ROOT}/\\1/*" OUTPUT_VARIABLE all_rooms)
file(GLOB rooms RELATIVE ${ROOT} ${all_rooms})
foreach(room IN LISTS rooms)
  if(IS_DIRECTORY ${ROOT}/${room} AND NOT room IN_LIST rules)
    list(APPEND bad "${room} has no rule in cmake/check_layers.cmake")
  endif()
endforeach()
foreach(rule IN LISTS rules)
  set(glob GLOB_RECURSE)
  if(rule IN_LIST with_rooms)
    set(glob GLOB)
  endif()
  file(${glob} files RELATIVE ${ROOT} ${ROOT}/${rule}/*.h ${ROOT}/${rule}/*.cpp ${ROOT}/${rule}/*.cu)
  foreach(file IN LISTS files)
    file(STRINGS ${ROOT}/${file} lines REGEX "^#[ ]*include [\"<]")
    foreach(line IN LISTS lines)
      string(REGEX MATCH "([\"<])([^\">]+)" _ "${line}")
      set(quote "${CMAKE_MATCH_1}")
      set(header "${CMAKE_MATCH_2}")
      if(quote STREQUAL "\"")
        set(allowed FALSE)
        foreach(prefix IN LISTS may_${rule})
          if(header MATCHES "^${prefix}[/.]")
            set(allowed TRUE)
          endif()
        endforeach()
        if(NOT allowed)
          list(APPEND bad "${file} must not include ${header}")
        endif()
      else()
        foreach(home IN LISTS homes)
          string(REGEX MATCH "^(.*)=(.*)$" _ "${home}")
          set(pattern "${CMAKE_MATCH_1}")
          set(prefix "${CMAKE_MATCH_2}")
          if(header MATCHES "^${pattern}$")
            if(NOT file MATCHES "^${prefix}")
              list(APPEND bad "${file}: <${header}> is allowed only under ${prefix}")
            elseif(file MATCHES "\\.h$" AND NOT file MATCHES "_internal\\.h$")
              list(APPEND bad "${file}: a public header must not include <${header}>")
            endif()
          endif()
        endforeach()
      endif()
    endforeach()
    if(rule MATCHES "^app")  # a verb says what it has to say to its session (app/session.h)
      file(STRINGS ${ROOT}/${file} terminal REGEX "^[^/]*(fmt::print|std::cout|isatty[(]|say_line[(]|to_stderr[(])")
      if(terminal)
        list(APPEND bad "${file} must not know of terminals: ${terminal}")
      endif()
    endif()
    file(STRINGS ${ROOT}/${file} ifdefs REGEX "^#[ ]*if.*WINNOW_")
    if(ifdefs)
      list(APPEND bad "${file}: no conditional compilation for a missing library; use a no_x.cpp")
    endif()
  endforeach()
endforeach()
if(bad)
  list(JOIN bad "\n  " text)
  message(FATAL_ERROR "\n  ${text}")
endif()
