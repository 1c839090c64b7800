/* fuzz_cover.c - every reader and program inside one process, one input at a time.
 *
 *   FUZZ=TARGET fuzz_cover ...      with libFuzzer (make fuzz-coverage): its options and folders
 *   FUZZ=TARGET fuzz_cover FILE...  without: each file once
 *   fuzz_cover -list                the targets, one a line: kind, name
 *
 * A target is a program's command line with DATA in it, a file that holds the input but for its first byte, which
 * chooses among the target's command lines.
 * Programs are those of cmd/, whose main is called by another name here.  An error that a program reports is as good as an
 * answer; what libFuzzer and the sanitizers report is a finding, and so is a status that none of them has. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cover.h"
#include "exec/npy.h"

#define PROGRAMS(X) \
	X(ir2dag) \
	X(json2dag) \
	X(dagfeat) \
	X(daggroup) \
	X(dagpin) \
	X(dagsplit) \
	X(devrun) \
	X(devsim) \
	X(gpnembed) \
	X(irfill) \
	X(placebase) \
	X(placeout) \
	X(placepolicy) \
	X(recdump) \
	X(reinforce) \
	X(runstat) \
	X(tabstat) \
	X(topk)
#define DECLARE(name) int main_##name(int argc, char **argv);
PROGRAMS(DECLARE)

static const struct {
	const char *name;
	int (*main)(int argc, char **argv);
} programs[] = {
#define ROW(name) {#name, main_##name},
	PROGRAMS(ROW)};

enum { MOST_WORDS = 24, MOST_LINES = 24 };

/* Of a file name in these lines DATA is the input; GRAPH, PLACED and RAN are streams of a small problem, without and with
 * placements and runs; OUT is a file that is written over.  MODEL is a placed model of two inputs, INPUTS a folder with files for
 * them and the input as its index.tsv. */
static const struct target {
	const char *kind, *name;
	const char *line[MOST_LINES];
} targets[] = {
	{"reader",
	 "stream",
	 {"recdump DATA", "recdump --check DATA", "recdump -f DATA",
	  "recdump --tsv :kind,digest,names[],lat_s DATA"}},
	{"reader",
	 "ir",
	 {"ir2dag DATA", "ir2dag --stats DATA", "ir2dag --any-operator --no-colocate DATA",
	  "irfill DATA -o OUT"}},
	{"reader", "json", {"json2dag DATA"}},
	{"reader", "spec", {"devsim --probe --spec DATA GRAPH"}},
	{"reader", "machine", {"devsim --machine DATA --min-runs 2 --max-runs 2 PLACED"}},
	{"reader", "expert", {"placebase expert:DATA GRAPH"}},
	{"reader", "npy", {"npy"}},
	{"reader",
	 "inputs",
	 {"devrun run -n 1 --warmup 0 --no-reference -i INPUTS MODEL",
	  "devrun run -n 1 --warmup 0 --no-reference --outputs OUTPUTS -i INPUTS MODEL"}},
	{"reader",
	 "table",
	 {"tabstat curves DATA", "tabstat plot DATA", "tabstat pairs --base a --ways way DATA",
	  "tabstat spread DATA", "tabstat latency DATA", "tabstat searches DATA",
	  "runstat judge DATA", "runstat judge --repeats DATA",
	  "placeout --format html --curve DATA RAN"}},
	{"program",
	 "dagfeat",
	 {"dagfeat --threads 1 DATA", "dagfeat --paper --threads 1 DATA",
	  "dagfeat --features all,costs --threads 1 DATA"}},
	{"program",
	 "daggroup",
	 {"daggroup metis -g 3 DATA", "daggroup scotch -g 3 DATA", "daggroup heavy-edge -g 3 DATA",
	  "daggroup chunks -g 3 --sets DATA", "daggroup random -g 3 --acyclic DATA",
	  "daggroup none DATA", "daggroup --of DATA DATA"}},
	{"program", "dagpin", {"dagpin DATA"}},
	{"program",
	 "dagsplit",
	 {"dagsplit --no-auto DATA", "dagsplit --no-auto --shares 1,3,2 --halo again DATA",
	  "dagsplit --min-gain 1 DATA"}},
	{"program",
	 "gpnembed",
	 {"gpnembed --threads 1 --hidden 4 DATA", "gpnembed --threads 1 --hidden 4 --costs DATA",
	  "gpnembed --threads 1 --recipe rnn --hidden 4 DATA",
	  "gpnembed --threads 1 --recipe hierarchical --hidden 4 DATA",
	  "gpnembed --threads 1 --hidden 4 --params DATA GRAPH"}},
	{"program",
	 "placepolicy",
	 {"placepolicy DATA", "placepolicy -n 2 -a DATA", "placepolicy -g -k DATA",
	  "placepolicy -D cpu:0,cpu:1 DATA"}},
	{"program",
	 "devsim",
	 {"devsim DATA", "devsim --probe --spec paper DATA",
	  "devsim --schedule --order improved DATA",
	  "devsim --objective energy --watts cpu=65/10 DATA", "devsim --fixed DATA",
	  "devsim --refit DATA", "devsim --fit DATA DATA", "devsim --fit DATA --predict PLACED",
	  "devsim --machine wild --min-runs 2 --max-runs 2 DATA",
	  "devsim --machine calm --paired --min-runs 2 --max-runs 2 --race 0.01 DATA",
	  "devsim --machine shared --truth DATA", "devsim --machine wild --true-costs DATA",
	  "devsim --no-contention --no-overlap --noise 0.1 DATA"}},
	{"program",
	 "placebase",
	 {"placebase heft DATA",
	  "placebase single DATA",
	  "placebase random -n 2 DATA",
	  "placebase climb --evals 20 DATA",
	  "placebase anneal --evals 20 --objective throughput DATA",
	  "placebase portfolio --evals 20 DATA",
	  "placebase exact --budget 0.01 DATA",
	  "placebase lookahead-rank DATA",
	  "placebase cluster --evals 20 DATA",
	  "placebase m-etf DATA",
	  "placebase m-sct DATA",
	  "placebase m-topo DATA",
	  "placebase peft DATA",
	  "placebase cpop DATA",
	  "placebase metis DATA",
	  "placebase mincut DATA",
	  "placebase variety -n 2 --evals 20 DATA",
	  "placebase genetic --evals 20 DATA",
	  "placebase learned-moves --evals 20 DATA",
	  "placebase of:DATA GRAPH",
	  "placebase refine --evals 20 DATA"}},
	{"program",
	 "placeout",
	 {"placeout DATA", "placeout --format table DATA", "placeout --format tsv DATA",
	  "placeout --format report DATA", "placeout --format check DATA",
	  "placeout --format html DATA", "placeout --format trace DATA",
	  "placeout --format timeline-svg DATA", "placeout --format graph-svg DATA",
	  "placeout --format html --beside DATA RAN", "placeout --format json DATA",
	  "placeout --format report --search DATA RAN",
	  "placeout --format report --random DATA RAN"}},
	{"program",
	 "recdump",
	 {"recdump -k graph -f DATA", "recdump -k cost --tsv set_s[] DATA",
	  "recdump -k run --tsv lat_s,dev.0 DATA"}},
	{"program", "reinforce", {"reinforce DATA", "reinforce --candidates 2 --keep DATA"}},
	/* What a learner's loop brought back to it, once more; its parameters go to a file. */
	{"program",
	 "loop",
	 {"reinforce --recipe paper --steps 1 --params-to OUT --episodes 1 --threads 1 DATA",
	  "reinforce --recipe paper --steps 2 --params-to OUT --episodes 2 --threads 1 DATA",
	  "reinforce --params-to OUT --episodes 1 --threads 1 DATA"}},
	{"program", "topk", {"topk -k 2 DATA", "topk -k 2 --within 1.1 --no-distinct DATA"}},
	{"program",
	 "devrun",
	 {"devrun probe -D cpu:0 DATA", "devrun run -n 1 --no-reference DATA"}},
	{"program",
	 "tables",
	 {"tabstat curve --to OUT DATA", "tabstat found DATA", "tabstat rounds DATA",
	  "runstat runs DATA", "runstat slowness --predicted DATA RAN",
	  "runstat times --predicted RAN DATA"}},
};
enum { N_TARGETS = sizeof targets / sizeof *targets };

static const struct target *chosen;
static char folder[] = "/dev/shm/fuzz_cover.XXXXXX", data_path[40];
static int data_fd = -1;
static pid_t owner;
static unsigned long long executions;

/* ---- calling a program ---- */

/* Programs end with standard output closed; here they do so again and again. */
int __real_fclose(FILE *f);
int __wrap_fclose(FILE *f);
int __wrap_fclose(FILE *f)
{
	return f == stdout ? fflush(f) : __real_fclose(f);
}

static const char *file_of(const char *word, char *dst, size_t size)
{
	static const struct {
		const char *name, *file;
	} files[] = {{"GRAPH", "graph.mp"},
		     {"PLACED", "placed.mp"},
		     {"RAN", "ran.mp"},
		     {"OUT", "out"},
		     {"MODEL", "model.mp"},
		     {"INPUTS", "inputs"},
		     {"INDEX", "inputs/index.tsv"},
		     {"OUTPUTS", "outputs"}};
	const char *colon = strchr(word, ':');
	const char *name = colon ? colon + 1 : word;
	int before = (int)(name - word);
	if (strcmp(name, "DATA") == 0) {
		snprintf(dst, size, "%.*s%s", before, word, data_path);
		return dst;
	}
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		if (strcmp(name, files[i].name) == 0) {
			snprintf(dst, size, "%.*s%s/%s", before, word, folder, files[i].file);
			return dst;
		}
	return word;
}

/* The program of a command line, its results dropped; what its status may be. */
static void call(const char *line, const char *output)
{
	char text[400], *word[MOST_WORDS + 4], path[MOST_WORDS][80], *save = NULL;
	int n = 0;
	snprintf(text, sizeof text, "%s", line);
	for (char *w = strtok_r(text, " ", &save); w && n < MOST_WORDS;
	     w = strtok_r(NULL, " ", &save), n++)
		word[n] = (char *)(uintptr_t)file_of(w, path[n], sizeof path[n]);
	if (!strstr(line, " -o ") && !strstr(line, "tabstat") && !strstr(line, "runstat")) {
		word[n++] = (char *)(uintptr_t) "-o";
		word[n++] = (char *)(uintptr_t)output;
	}
	word[n] = NULL;
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
		if (strcmp(programs[i].name, word[0]) == 0) {
			int status = programs[i].main(n, word);
			if (status < 0 || status > 3 || (status == 2 && !chosen)) {
				fprintf(stderr, "%s: status %d\n", line, status);
				abort();
			}
			return;
		}
	fprintf(stderr, "'%s': no such program\n", word[0]);
	abort();
}

/* ---- what there is before the first input ---- */

static void at_exit(void)
{
	char path[80];
	static const char *const files[] = {"graph.mp",
					    "placed.mp",
					    "ran.mp",
					    "out",
					    "data",
					    "model.mp",
					    "inputs/0.npy",
					    "inputs/1.npy",
					    "inputs/index.tsv",
					    "outputs/0.npy",
					    "outputs/index.tsv",
					    "inputs",
					    "outputs"};
	if (getpid() != owner)
		return;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, files[i]);
		(void)remove(path);
	}
	rmdir(folder);
}

/* A small problem with features, devices, costs, placements and what they should take. */
static void make_streams(void)
{
	char features[80], graph[80], placed[80], ran[80], line[300];
	snprintf(features, sizeof features, "%s/out", folder);
	snprintf(graph, sizeof graph, "%s/graph.mp", folder);
	snprintf(placed, sizeof placed, "%s/placed.mp", folder);
	snprintf(ran, sizeof ran, "%s/ran.mp", folder);
	call("json2dag tests/instances/topcuoglu2002.json", features);
	snprintf(line, sizeof line, "dagfeat --threads 1 %s", features);
	call(line, graph);
	call("placebase random -n 3 GRAPH", placed);
	call("devsim PLACED", ran);
	call("ir2dag tests/models/small_summator.xml", features);
	snprintf(line, sizeof line, "placebase single -D cpu:0 %s", features);
	snprintf(features, sizeof features, "%s/model.mp", folder);
	call(line, features);
	call("devrun run -n 1 --warmup 0 --no-reference --save-inputs INPUTS MODEL", "/dev/null");
	file_of("INDEX", line, sizeof line);
	if (unlink(line) < 0 || symlink(data_path, line) < 0)
		abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = getenv("FUZZ");
	if (*argc > 1 && strcmp((*argv)[1], "-list") == 0) {
		for (int i = 0; i < N_TARGETS; i++)
			printf("%s %s\n", targets[i].kind, targets[i].name);
		exit(0);
	}
	owner = getpid();
	if (!mkdtemp(folder))
		abort();
	snprintf(data_path, sizeof data_path, "%s/data", folder);
	data_fd = open(data_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (data_fd < 0)
		abort();
	atexit(at_exit);
	if (access("tests/instances/topcuoglu2002.json", R_OK) != 0) {
		fprintf(stderr, "fuzz_cover: run it where tests/ is\n");
		exit(2);
	}
	make_streams();
	for (int i = 0; i < N_TARGETS; i++)
		if (name && strcmp(name, targets[i].name) == 0)
			chosen = &targets[i];
	if (!chosen) {
		fprintf(stderr,
			"fuzz_cover: FUZZ names the target; fuzz_cover -list prints them\n");
		exit(2);
	}
	return 0;
}

/* ---- one input ---- */

static void put_data(const uint8_t *data, size_t size)
{
	if (ftruncate(data_fd, 0) < 0 || pwrite(data_fd, data, size, 0) != (ssize_t)size)
		abort();
}

/* The .npy file, read for a tensor that `kind` chooses. */
static void cover_npy(const char *path, unsigned kind)
{
	static const enum elem types[] = {EL_F32, EL_F64, EL_F16,     EL_I64,
					  EL_I32, EL_U8,  EL_BOOLEAN, EL_BF16};
	static uint64_t room[16];
	struct err e = ERR_INIT;
	struct tensor t = {
		.elem = types[kind % 8], .rank = kind / 8 % 3, .dim = {2, 3}, .data = room};
	if (npy_read(path, &t, &e) < 0 &&
	    (e.code < ST_RUNTIME || e.code > ST_INPUT || e.msg[0] == '\0')) {
		fprintf(stderr, "npy: %s\n", e.msg);
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int n_lines = 0;
	executions++;
	if (size == 0)
		return 0;
	while (n_lines < MOST_LINES && chosen->line[n_lines])
		n_lines++;
	put_data(data + 1, size - 1);
	if (strcmp(chosen->name, "npy") == 0)
		cover_npy(data_path, data[0]);
	else
		call(chosen->line[data[0] % n_lines], "/dev/null");
	return 0;
}

#ifndef LIBFUZZER
int main(int argc, char **argv)
{
	LLVMFuzzerInitialize(&argc, &argv);
	cover_files(argc, argv);
	printf("%s: %llu inputs\n", chosen->name, executions);
	return 0;
}
#endif
