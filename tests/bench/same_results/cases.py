"""The commands whose results two programs must agree on: {name: [line]}, one case a row.

Lines run one after another in an empty folder in which `in` leads to what inputs.py makes. A line is a command line of
winnow, with an exit code of its own before it where the program before should not end with 0:

    dedup cache --threshold 6           !3 dedup cache --on-leak fail

or of the measuring itself:

    copy FROM TO        a file or folder           move FROM TO
    remove PATH         a file or folder           write FILE TEXT
    flip FILE AT        all bits of a byte, counted from the end where AT is negative
    cut FILE SIZE       to so many bytes
    mpirun N COMMAND    a command line of winnow on N ranks
    before COMMAND      by the program before, in both turns
"""

from inputs import ALL_HASHES

CASES = {}

# --- Each format: the cache, and what info and hash report about it.
SOURCES = {
    "folder": "in/photos", "folder_jpeg": "in/jpegs", "folder_flat": "in/encodings", "folder_names": "in/names", "idx": "in/idx",
    "idx_gz": "in/idx_gz", "cifar10": "in/cifar", "cifar10_file": "in/cifar/data_batch_2.bin", "cifar100": "in/cifar100",
    "webdataset": "in/webdataset", "webdataset_gz": "in/webdataset.tar.gz",
    "webdataset_range": "'in/webdataset/train-{000000..000001}.tar'", "tar": "in/tars/one.tar", "tar_gz": "in/tars/one.tar.gz",
    "tar_bz2": "in/tars/one.tar.bz2", "tar_xz": "in/tars/one.tar.xz", "tar_classes": "in/tars/classes",
    "tar_inside": "in/tars/inside.tar", "tar_range": "'in/tars/range/part-{00..02}.tar'", "tfrecord": "in/tfrecord",
    "tfrecord_pixels": "in/pixels.tfrecord", "tfrecord_damaged": "in/damaged.tfrecord", "recordio": "in/recordio",
    "recordio_file": "in/recordio/my_val.rec", "caffe": "in/caffe", "caffe_raw": "in/caffe/set_val_lmdb", "csv": "in/lists/table.csv",
    "tsv": "in/lists/train.tsv", "list": "in/lists/val.txt", "list_plain": "in/lists/plain.txt", "lst": "in/lists/set.lst",
    "svhn": "in/svhn", "svhn_file": "in/svhn/test_32x32.mat", "broken": "in/broken",
}  # fmt: skip
for name, source in SOURCES.items():
    CASES[f"format_{name}"] = [f"ingest {source} --out cache", "info cache", f"hash {source}"]
    CASES[f"format_{name}_unlabelled"] = [f"ingest {source} --out cache --labels none --store raw --json"]
for name in ("cut.tar", "text", "nothing", "mixed", "short", "table.csv", "empty_class", "there_is_none"):
    source = "in/tars/cut.tar" if name == "cut.tar" else f"in/refused/{name}"
    code = "" if name == "mixed" else "!2 "
    CASES[f"refused_{name}"] = [f"{code}ingest {source} --out cache", f"{code}hash {source}", f"{code}dedup {source}"]

# --- ingest
INGESTS = {
    "store_raw": "in/photos --store raw", "store_none": "in/photos --store none", "store_raw_gray": "in/idx --store raw",
    "store_raw_encodings": "in/encodings --store raw", "shards": "in/large --shard-size 1", "shards_raw": "in/large --store raw --shard-size 1",
    "resize": "in/jpegs --resize 48", "resize_quality": "in/jpegs --resize 48 --quality 60", "resize_encodings": "in/encodings --resize 16",
    "orientation": "in/encodings --orientation apply", "orientation_raw": "in/encodings --orientation apply --store raw",
    "orientation_resize": "in/encodings --orientation apply --resize 20", "matte_white": "in/encodings --matte white --store raw",
    "matte_colour": "in/encodings --matte '#204060' --store raw", "matte_resize": "in/encodings --matte black --resize 16",
    "labels_folder": "in/photos --labels folder", "hidden": "in/names --hidden", "system": "in/names --system --hidden",
    "links": "in/names --links skip", "exclude": "in/names --exclude 'draft*' --exclude 'deep/er/*'", "max_pixels": "in/encodings --max-pixels 500",
    "max_scans": "in/encodings --max-scans 100", "allow_empty": "in/refused/empty_class --allow-empty", "one_hash": "in/photos --hash pdq",
    "all_hashes": f"in/photos --hash {','.join(ALL_HASHES)}", "all_hashes_encodings": f"in/encodings --hash {','.join(ALL_HASHES)}",
    "hash_scaled": "in/jpegs --hash phash@1/8,dhash@1/8", "hash_scaled_more": "in/jpegs --hash phash@1/2,pdq@1/2,phash_dihedral@1/2",
    "hash_scaled_encodings": "in/encodings --hash phash@1/4,whash@1/4", "hash_scaled_none": "in/jpegs --hash phash@1/8 --store none",
    "augment": "in/photos --augment cifar --copies 3 --image-size 24",
    "augment_imagenet": "in/jpegs --augment imagenet --copies 2 --image-size 32x40 --augment-seed 7",
    "augment_gray": "in/idx --augment crop+flip --copies 2 --image-size 28", "limits": "in/large --memory-limit 1 --readers 2",
    "several": "in/photos in/more_photos in/cifar", "several_same_name": "in/caffe/set_train_lmdb in/caffe/set_val_lmdb",
    "one_thread": "in/photos --threads 1", "five_threads": "in/large --threads 5 --shard-size 1", "format": "in/idx --format idx",
    "tar_hidden": "in/tars/one.tar --hidden",
    "drop": "in/photos --drop", "drop_exact": "in/photos --drop --drop-hash exact",
    "drop_wide": "in/photos --drop --drop-threshold 8 --drop-scope within --drop-groups stars --drop-keep largest",
    "drop_sharpest": "in/photos --drop --drop-keep sharpest --drop-on-leak drop-eval --drop-on-conflict drop",
    "drop_order": "in/photos --drop --drop-split-order val test train --drop-mode keep --drop-groups cliques",
    "drop_broken": "in/broken --drop --hash phash,dhash --drop-hash dhash", "drop_several": "in/photos in/more_photos --drop --drop-scope across",
    "drop_resize": "in/jpegs --drop --drop-threshold 8 --resize 48", "drop_raw": "in/photos --drop --store raw",
}  # fmt: skip
for name, arguments in INGESTS.items():
    CASES[f"ingest_{name}"] = [f"ingest {arguments} --out cache --json", "verify cache"]
CASES.update({
    "ingest_report": ["ingest in/photos --out cache --report page.html", "ingest in/broken --out other --report other.html"],
    "ingest_estimate": ["ingest in/photos --out cache --estimate", "ingest in/large --out cache --estimate --json"],
    "ingest_again": ["ingest in/broken --out cache", "!2 ingest in/broken --out cache --json",
                     "!2 ingest in/broken --out cache --hash pdq", "!2 ingest in/photos --out cache"],
    "ingest_into": ["ingest in/photos --out cache", "ingest in/more_photos --into cache", "ingest in/idx in/more_photos --into cache --json",
                    "info cache", "verify cache --json"],
    "ingest_into_raw": ["ingest in/idx --out cache --store raw", "ingest in/cifar --into cache", "dedup cache"],
    "ingest_into_shards": ["ingest in/large --out cache --shard-size 1", "ingest in/jpegs in/encodings --into cache"],
    "ingest_into_before": ["copy in/caches/large cache", "ingest in/photos --into cache", "verify cache"],
    "ingest_into_refused": ["copy in/caches/photos cache", "!2 ingest in/idx --into cache --hash dhash", "!2 ingest in/idx --into none",
                            "!2 ingest in/idx", "!2 ingest in/idx --out a --into cache"],
    "ingest_fail_on": [f"!3 ingest in/broken --out {kind} --fail-on {kind}" for kind in ("truncated", "error", "warning")],
    "ingest_max_bad": ["!3 ingest in/broken --out a --max-bad 1%", "!3 ingest in/broken --out b --max-bad 3 --json",
                       "ingest in/broken --out c --max-bad 90%"],
    "ingest_retry": ["copy in/broken photos", "ingest photos --out cache", "ingest photos --out cache --retry-failed",
                     "copy in/photos/train/ant/000.ppm photos/train/good/cut_header.jpg",
                     "copy in/encodings/rgb.png photos/train/good/empty.jpg", "ingest photos --out cache --retry-failed --json",
                     "verify cache"],
    "ingest_retry_before": ["copy in/caches/groups cache", "copy in/lists lists",
                            "copy in/encodings/rgb.jpg lists/images/a/missing.jpg",
                            "ingest lists/table.csv --out cache --retry-failed", "verify cache"],
    "ingest_refused": ["!2 ingest in/photos --out cache --hash none", "!2 ingest in/photos --out cache --store pixels",
                       "!2 ingest in/photos --out cache --matte green", "!2 ingest in/photos --out cache --augment cifar",
                       "!2 ingest in/photos --out cache --resize 0", "!2 ingest in/photos --out cache --drop-hash pdq",
                       "!2 ingest in/photos --out cache --drop --drop-hash pdq", "!2 ingest in/photos --out cache --format zip",
                       "!2 ingest in/photos --out cache --threads -1", "!2 ingest in/photos --out cache --hash phash@1/2,dhash@1/4",
                       "!2 ingest in/photos --out cache --hash phash@1/8 --resize 40"],
    "ingest_ranks": ["mpirun 2 ingest in/large in/broken --out cache --shard-size 1", "verify cache"],
    "ingest_ranks_drop": ["mpirun 2 ingest in/photos --out cache --drop --drop-threshold 8"],
})  # fmt: skip

# --- dedup of a cache: every hash at its own threshold and at a wide one, then each option.
# Hashes whose equal codes do not count as copies in this cache.
TOO_SHORT = {"phash", "dhash", "dhash_vertical", "ahash", "whash", "pdq", "imagededup_phash", "imagededup_dhash", "imagededup_ahash",
             "imagededup_whash", "phash_mirrored", "phash_dihedral", "phash16_mirrored", "pdq_mirrored"}  # fmt: skip
for name in ALL_HASHES:
    refused = "!3 " if name in TOO_SHORT else ""
    CASES[f"dedup_{name}"] = ["copy in/caches/photos cache", f"{refused}dedup cache --hash {name} --list-pairs pairs.csv",
                              f"dedup cache --hash {name} --threshold 8 --name wide --list-groups groups.csv --list-pairs pairs8.jsonl"]
DEDUPS = {
    "threshold_0": "--threshold 0", "threshold_12": "--threshold 12 --list-groups groups.csv", "threshold_64": "--threshold 64",
    "exact": "--hash exact --list-groups groups.jsonl", "scope_within": "--scope within --threshold 8", "scope_across": "--scope across --threshold 8",
    "stars": "--groups stars --threshold 8 --list-groups groups.csv", "cliques": "--groups cliques --threshold 8 --list-groups groups.csv",
    "keep_largest": "--keep largest --threshold 8", "keep_sharpest": "--keep sharpest --threshold 8", "keep_majority": "--keep majority --threshold 8",
    "leak_drop_train": "--on-leak drop-train --threshold 8", "leak_drop_eval": "--on-leak drop-eval --threshold 8",
    "leak_move": "--on-leak move --threshold 8 --scope across", "leak_order": "--split-order val test train --threshold 8",
    "conflict_drop": "--on-conflict drop --threshold 8", "conflict_weight": "--on-conflict weight --threshold 8",
    "mode_weight": "--mode weight --threshold 8", "mode_one_per_group": "--mode one_per_group --threshold 8",
    "mode_weight_stars": "--mode weight --groups stars --on-conflict drop --threshold 8", "precision": "--precision 0.5", "precision_lower": "--precision 0.3 --name lower",
    "precision_dhash": "--precision 0.5 --hash dhash", "self_check": "--self-check 50 --threshold 8",
    "dihedral_keep": "--hash phash16_dihedral --threshold 24 --keep largest --groups cliques", "lists": "--list removed.jsonl --list-blank blank.csv",
    "lists_csv": "--list removed.csv --list-blank blank.jsonl --list-pairs pairs.csv --hash whash --threshold 2", "named": "--name other --threshold 6",
}  # fmt: skip
for name, arguments in DEDUPS.items():
    CASES[f"dedup_{name}"] = ["copy in/caches/photos cache", f"dedup cache {arguments}", f"dedup cache {arguments} --json"]
CASES.update({
    "dedup_precision_none": ["copy in/caches/photos cache", "dedup cache --precision 1", "!3 dedup cache --precision 1 --hash ahash --json"],
    "dedup_fail": ["copy in/caches/photos cache", "!3 dedup cache --on-leak fail", "!3 dedup cache --on-leak fail --json --threshold 0"],
    "dedup_unlabelled": ["copy in/caches/unlabelled cache", "dedup cache --threshold 8 --list-groups groups.csv", "dedup cache --precision 0.9"],
    "dedup_raw": ["copy in/caches/raw cache", "dedup cache --threshold 6", "dedup cache --hash exact --name exact", "verify cache"],
    "dedup_variants": ["copy in/caches/variants cache", "dedup cache --threshold 8 --json"],
    "dedup_broken": ["copy in/caches/broken cache", "dedup cache --threshold 2 --json"],
    "dedup_group_keys": ["copy in/caches/groups cache", "dedup cache --threshold 8 --json", "info cache --selection default"],
    "dedup_scaled": ["ingest in/jpegs --out cache --hash phash@1/4,dhash@1/4", "dedup cache --hash phash@1/4 --threshold 8",
                     "dedup cache --hash dhash@1/4 --name second --threshold 8", "!2 dedup cache --hash phash"],
    "dedup_splits": ["copy in/caches/photos cache", "split cache", "dedup cache --splits split --name clean --threshold 6", "info cache --selection clean",
                     "!2 dedup cache --splits none"],
    "dedup_refused": ["copy in/caches/photos cache", "!2 dedup cache --hash nothing", "!2 dedup cache --threshold 65", "!2 dedup cache --name a/b",
                      "!2 dedup cache --split-order train train val", "!2 dedup cache --precision 2", "!2 dedup cache --precision 0.5 --threshold 3",
                      "!2 dedup none", "!2 dedup cache --hash exact --precision 0.9"],
    "dedup_ranks": ["copy in/caches/photos cache", "mpirun 2 dedup cache --threshold 8 --list-pairs pairs.csv --list-groups groups.csv"],
    "dedup_damaged": ["copy in/caches/photos cache", "flip cache/fingerprints/table 3000", "!1 dedup cache"],
    # A data set in place.
    "in_place": ["dedup in/photos", "dedup in/photos --threshold 8 --json", "dedup in/photos --hash exact --list removed.csv"],
    "in_place_lists": ["dedup in/photos --threshold 8 --list-groups groups.csv --list-pairs pairs.jsonl --list-blank blank.csv --groups cliques"],
    "in_place_broken": ["dedup in/broken --hash dhash", "dedup in/broken --hash exact"],
    "in_place_names": ["dedup in/names --hidden --threshold 20", "dedup in/names --threshold 20 --list removed.jsonl"],
    "in_place_encodings": ["dedup in/encodings --threshold 8 --matte white --orientation apply"],
    "in_place_scaled": ["dedup in/jpegs --hash phash@1/8 --threshold 8 --keep largest", "dedup in/jpegs --hash phash_mirrored"],
    "in_place_formats": ["dedup in/idx --threshold 6", "dedup in/webdataset --threshold 10", "dedup in/lists/table.csv --threshold 10",
                         "dedup in/tars/one.tar.gz --hash exact", "dedup in/recordio --threshold 10 --labels none"],
    "in_place_gates": ["!3 dedup in/photos --on-leak fail", "!3 dedup in/photos --hash whash", "dedup in/photos --precision 0.9", "dedup in/photos --mode weight"],
    "in_place_link": ["copy in/photos photos", "dedup photos/train --threshold 8 --keep sharpest", "dedup photos/train/bee --threshold 12"],
})  # fmt: skip

# --- tune
CASES.update({
    "tune": ["copy in/caches/photos cache", "tune cache --hash phash"],
    "tune_all": ["copy in/caches/photos cache", "tune cache --images 20"],
    "tune_precision": ["copy in/caches/photos cache", "tune cache --hash phash dhash --precision 0.9 --plot plot.svg --images 30 --seed 4"],
    "tune_json": ["copy in/caches/photos cache", "tune cache --json --images 12 --hash phash pdq phash16_dihedral --most 9"],
    "tune_unlabelled": ["copy in/caches/unlabelled cache", "tune cache --images 0", "tune cache --images 12 --json --precision 0.8"],
    "tune_raw": ["copy in/caches/raw cache", "tune cache --images 12 --plot plot.svg"],
    "tune_scaled": ["ingest in/jpegs --out cache --hash phash@1/8,dhash@1/8", "tune cache --images 8", "tune cache --json --images 8 --precision 0.9"],
    "tune_variants": ["copy in/caches/variants cache", "tune cache --images 8"],
    "tune_refused": ["copy in/caches/photos cache", "!2 tune cache --hash none", "!2 tune none", "!2 tune cache --hash exact"],
})  # fmt: skip

# --- split
SPLITS = {
    "": "", "shares": "--val 0.1 --test 0.1", "val": "--val 0.2", "train": "--train 0.5 --val 0.25 --test 0.25", "of": "--of train --val 0.2",
    "of_several": "--of train test --val 0.3 --test 0.1", "stay": "--val 0.2 --test 0.2 --stay", "seed": "--val 0.2 --seed 9",
    "exact": "--hash exact --val 0.3", "threshold": "--threshold 10 --val 0.2 --test 0.2", "dhash": "--hash dhash --threshold 6",
    "named": "--name mine --val 0.2",
}  # fmt: skip
for name, arguments in SPLITS.items():
    CASES[f"split_{name}".rstrip("_")] = ["copy in/caches/photos cache", f"split cache {arguments}", f"split cache {arguments} --json"]
CASES.update({
    "split_group_keys": ["copy in/caches/groups cache", "split cache --val 0.3", "split cache --val 0.3 --ignore-group-keys --name ignoring --json"],
    "split_unlabelled": ["copy in/caches/unlabelled cache", "split cache --val 0.2 --test 0.2 --json"],
    "split_none": ["ingest in/more_photos --out cache", "split cache", "split cache --val 0.3 --name other"],
    "split_broken": ["copy in/caches/broken cache", "split cache --val 0.5"],
    "split_refused": ["copy in/caches/photos cache", "!2 split cache --val 0.8 --test 0.8", "!2 split cache --hash none", "!2 split cache --val 2",
                      "!2 split cache --of all"],
    "split_ranks": ["copy in/caches/photos cache", "mpirun 2 split cache --val 0.2 --threshold 8"],
})  # fmt: skip

# --- index
CASES.update({
    "index_add": ["index add all in/caches/photos", "index info all", "index info all --json", "index add all in/more_photos in/idx", "index info all"],
    "index_add_again": ["index add all in/photos", "index add all in/photos in/caches/photos", "index info all"],
    "index_add_grown": ["copy in/caches/photos cache", "index add all cache", "ingest in/more_photos --into cache", "index add all cache", "index info all"],
    "index_radius": ["index add all in/photos --radius 12", "index dedup all --threshold 12", "index info all --json"],
    "index_hashes": [f"index add {name} in/caches/photos --hash {name}" for name in ALL_HASHES],
    "index_hashes_dedup": [line for name in ALL_HASHES[::3] for line in (f"index add {name} in/caches/photos --hash {name}", f"index dedup {name}")],
    "index_scaled": ["index add all in/jpegs --hash phash@1/8", "index dedup all --threshold 8", "index query all in/jpegs"],
    "index_query": ["index add all in/caches/photos", "index query all in/more_photos", "index query all in/more_photos in/photos --threshold 8",
                    "!3 index query all in/photos --fail-on-match", "index query all in/caches/raw --threshold 2"],
    "index_dedup": ["index add all in/caches/photos in/more_photos", "index dedup all", "index dedup all --threshold 8 --name wide --json",
                    "index dedup all --hash exact --name exact", "index dedup all --threshold 14 --name beyond"],
    "index_dedup_lists": ["index add all in/caches/photos", "index dedup all --threshold 8 --list removed.csv --list-groups groups.csv "
                          "--list-pairs pairs.jsonl --list-blank blank.csv"],
    "index_dedup_options": ["index add all in/caches/photos", "index dedup all --threshold 8 --keep largest --groups stars --on-leak move --scope across",
                            "index dedup all --threshold 8 --name b --keep majority --on-conflict weight --mode weight",
                            "index dedup all --threshold 8 --name c --groups cliques --split-order val test train --mode one_per_group",
                            "!3 index dedup all --on-leak fail"],
    "index_delete": ["index add all in/caches/photos in/more_photos", "index delete all train/ant/000.ppm test/ant/036.ppm", "index dedup all --threshold 8",
                     "index delete all --ids all/selections/default.csv", "index info all", "index delete all --source 1", "index info all --json",
                     "write names 'train/bee/009.ppm\ntrain/bee/010.ppm\n'", "index delete all --names names --source 0", "index compact all", "index info all",
                     "index dedup all --threshold 8 --json"],
    "index_merge": ["index add all in/caches/photos", "index add other in/more_photos", "index delete other 'dog/new 1.ppm'", "index merge all other",
                    "index info all", "index dedup all --threshold 8", "index compact all", "index compact all", "index info all --json"],
    "index_broken": ["index add all in/broken", "index info all", "index query all in/broken"],
    "index_refused": ["!2 index info none", "index add all in/photos", "!2 index dedup all --hash dhash", "!2 index delete all no_such_name",
                      "!2 index add all in/idx --hash pdq", "!2 index query all none", "index add b in/idx --hash pdq", "!2 index merge all b",
                      "!2 index delete all --source 7"],
    "index_damaged": ["index add all in/photos", "flip all/00000.links 100", "!1 index dedup all"],
    "index_ranks": ["index add all in/caches/photos", "index query all in/caches/unlabelled --threshold 8"],
})  # fmt: skip

# --- export
for name in ("photos", "raw", "large", "groups", "unlabelled", "variants", "broken"):
    CASES[f"export_{name}"] = [f"copy in/caches/{name} cache", "dedup cache --threshold 6"] + [
        line for way in ("image-folder", "webdataset", "list") for line in (
            f"export cache --to {way}{'.csv' if way == 'list' else ''} --as {way}",
            f"export cache --to clean-{way}{'.csv' if way == 'list' else ''} --as {way} --selection default --json")]  # fmt: skip
CASES.update({
    "export_names": ["ingest in/names --out cache --hidden", "export cache --to folder", "export cache --to shards --as webdataset",
                     "export cache --to list.csv --as list"],
    "export_encodings": ["ingest in/encodings --out cache --store raw", "export cache --to folder", "export cache --to shards --as webdataset"],
    "export_several": ["ingest in/photos in/more_photos in/cifar --out cache", "export cache --to folder", "export cache --to shards --as webdataset --json"],
    "export_split": ["copy in/caches/photos cache", "export cache --to test --split test", "export cache --to val --split val --as webdataset",
                     "export cache --to train.csv --split train --as list"],
    "export_new_splits": ["copy in/caches/photos cache", "split cache --val 0.2 --test 0.2", "export cache --to splits --selection split",
                          "export cache --to list.csv --as list --selection split"],
    "export_weights": ["copy in/caches/photos cache", "dedup cache --mode weight --threshold 8", "export cache --to list.csv --as list --selection default"],
    "export_shards": ["copy in/caches/large cache", "export cache --to shards --as webdataset --shard-size 1"],
    "export_links": ["copy in/photos photos", "ingest photos --out cache", "dedup cache --threshold 6",
                     "export cache --to hard --link hard --source photos --selection default", "export cache --to symbolic --link symbolic --source photos",
                     "remove photos/train/ant/001.ppm", "write photos/train/ant/002.ppm other", "export cache --to some --link hard --source photos --json"],
    "export_links_list": ["copy in/lists lists", "ingest lists/table.csv --out cache", "export cache --to hard --link hard --source lists"],
    "export_refused": ["copy in/caches/photos cache", "!2 export cache --to cache", "!2 export cache --to x --selection none", "!2 export cache --to x --link hard",
                       "!2 export cache --to x --link hard --source none", "!2 export none --to x", "ingest in/photos --out bare --store none",
                       "!2 export bare --to x", "export bare --to list.csv --as list"],
})  # fmt: skip

# --- compact, info, verify, hash, cache
for name in ("photos", "raw", "large", "groups", "variants", "broken"):
    CASES[f"compact_{name}"] = [f"copy in/caches/{name} cache", "dedup cache --threshold 8", "compact cache --selection default --out small",
                                "info small", "verify small", "dedup small --threshold 8 --json"]
CASES.update({
    "compact_json": ["copy in/caches/photos cache", "dedup cache --hash exact", "compact cache --selection default --out small --json",
                     "!2 compact cache --selection default --out small", "export small --to list.csv --as list"],
    "compact_split": ["copy in/caches/photos cache", "split cache --of train --val 0.5", "!2 compact cache --selection split --out small --json"],
    "compact_weights": ["copy in/caches/photos cache", "dedup cache --mode weight --threshold 8", "!2 compact cache --selection default --out small"],
    "compact_dropped": ["ingest in/photos --out cache --drop", "dedup cache --threshold 8", "compact cache --selection default --out small"],
    "compact_refused": ["copy in/caches/photos cache", "!2 compact cache --selection none --out small", "!2 compact none --selection a --out small"],
    "compact_ranks": ["copy in/caches/large cache", "dedup cache --threshold 8", "!2 mpirun 2 compact cache --selection default --out small"],
    "info": ["info in/caches/photos", "info in/caches/photos --json", "info in/caches/raw", "info in/caches/broken --json", "info in/caches/variants",
             "info in/caches/groups", "info in/caches/unlabelled"],
    "info_selection": ["copy in/caches/photos cache", "dedup cache --threshold 8", "split cache --val 0.2", "info cache --selection default",
                       "info cache --selection split --json", "!2 info cache --selection none"],
    "info_report": ["info in/caches/photos --report page.html", "info in/caches/broken --report broken.html", "info in/caches/raw --report raw.html"],
    "info_sheet": ["info in/caches/photos --sheet a.png", "info in/caches/photos --sheet b.png --split test --class bee --count 5 --columns 2",
                   "info in/caches/photos --sheet c.png --seed 3 --count 12", "info in/caches/raw --sheet d.png --count 10", "info in/caches/large --sheet e.png"],
    "info_sheet_augment": ["info in/caches/photos --sheet a.png --augment cifar --count 4", "info in/caches/large --sheet b.png --augment imagenet "
                           "--image-size 40x48 --count 2 --seed 1", "info in/caches/photos --sheet c.png --augment crop+flip+rand_augment --count 2"],
    "verify": [line for name in ("photos", "raw", "large", "groups", "variants", "broken") for line in
               (f"verify in/caches/{name}", f"verify in/caches/{name} --json")],
    "verify_selection": ["copy in/caches/photos cache", "dedup cache --threshold 8", "verify cache --selection default", "verify cache --json"],
    "verify_damaged": ["copy in/caches/large cache", "flip cache/shards/00001.mdb 40000", "!1 verify cache", "!1 verify cache --json", "remove cache/shards/00000.mdb",
                       "!1 verify cache", "flip cache/fingerprints/table -3", "!1 verify cache --json"],
    "verify_damaged_selection": ["copy in/caches/photos cache", "dedup cache", "flip cache/selections/default.selection 600", "!1 verify cache",
                                 "!1 verify cache --json", "cut cache/ledger.jsonl 900", "!1 verify cache", "flip cache/manifest.json 100", "!1 verify cache"],
    "hash_all": [f"hash in/photos --hash {','.join(ALL_HASHES)}"],
    "hash_all_encodings": [f"hash in/encodings --hash {','.join(ALL_HASHES)} --json"],
    "hash_scaled": [f"hash in/jpegs --hash {','.join(f'{name}@1/{by}' for name in ALL_HASHES)}" for by in (2, 4, 8)],
    "hash_scaled_encodings": [f"hash in/encodings --hash phash@1/{by},pdq@1/{by}" for by in (2, 4, 8)],
    "hash_options": ["hash in/encodings --orientation apply", "hash in/encodings --matte white --json", "hash in/names --hidden --links skip",
                     "hash in/encodings --max-pixels 900 --max-scans 20", "hash in/broken --json", "hash in/photos --labels none --threads 1"],
    "hash_refused": ["!2 hash in/photos --hash none", "!2 hash in/photos --hash phash@1/3", "!2 hash in/photos --hash phash,dhash@1/2"],
    "cache": ["copy in/caches/photos cache", "write mem/.keep ''", "cache load cache --memory-dir mem", "cache list --memory-dir mem", "cache load cache --memory-dir mem",
              "cache list --memory-dir mem --json", "cache drop cache --memory-dir mem", "cache list --memory-dir mem", "cache drop cache --delete --memory-dir mem"],
    "cache_large": ["copy in/caches/large cache", "write mem/.keep ''", "cache load cache --memory-dir mem", "verify cache"],
    "cache_refused": ["!2 cache load none --memory-dir .", "!2 cache load in/photos --memory-dir .", "!2 cache drop none --memory-dir ."],
})  # fmt: skip

# --- One program all the way, and one that resumes what the other has begun.
for name, who in (("", ""), ("_before", "before ")):
    CASES[f"chain{name}"] = [f"{who}ingest in/photos in/jpegs --out cache", f"{who}dedup cache --threshold 6", f"{who}split cache --val 0.2 --test 0.1",
                             "dedup cache --splits split --name clean --threshold 6", "export cache --to clean --selection clean",
                             "compact cache --selection default --out small", "info small --json", "verify small --json",
                             "ingest clean --out again --store raw", "dedup again --json", "index add all cache again", "!2 index add all small", "index dedup all",
                             "tune small --images 5 --json"]  # fmt: skip
VERBS = ("", "ingest", "dedup", "split", "export", "compact", "info", "verify", "cache", "cache load", "cache list", "cache drop", "hash", "tune", "index",
         "index add", "index delete", "index merge", "index compact", "index info", "index query", "index dedup")  # fmt: skip
for verb in VERBS:
    CASES["_".join(["help", *verb.split()])] = [f"{verb} --help"]
CASES["usage"] = ["!2 nonsense", "!2 ingest", "!2 ingest in/photos --out cache --no-such-flag", "!2 dedup", "!2 index", "!2 cache", "!2 "]
