/* test_weights.c - compressed weights: mapped from a copy in the cache, which may be taken away meanwhile. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "ir/weights.h"
#include "tap.h"

static char top[] = "/tmp/test_weights.XXXXXX";
static const char text[] = "constants";

static const char *at(const char *name)
{
	static char path[400];
	snprintf(path, sizeof path, "%s/%s", top, name);
	return path;
}

/* Takes away all files of a directory; how many there were. */
static int empty(const char *name)
{
	int n = 0;
	DIR *d = opendir(at(name));
	for (const struct dirent *x; d && (x = readdir(d));)
		n += x->d_name[0] != '.' && unlinkat(dirfd(d), x->d_name, 0) == 0;
	if (d)
		closedir(d);
	return n;
}

static bool holds_text(const struct weights *w)
{
	char got[sizeof text] = "";
	int fd = open(w->path, O_RDONLY | O_CLOEXEC);
	bool ok = fd >= 0 && read(fd, got, sizeof text) == (ssize_t)sizeof text &&
		  memcmp(got, text, sizeof text) == 0;
	if (fd >= 0)
		close(fd);
	return ok && w->bytes == sizeof text && memcmp(w->data, text, sizeof text) == 0;
}

/* A tail lies where the graph says, behind whatever file is given, and without any; a file that is longer is refused. */
static void test_tail(void)
{
	uint32_t node[2] = {0, 1};
	uint64_t offset[2] = {2, GRAPH_TAIL_ALIGN}, bytes[2] = {3, 4};
	int64_t id[2] = {0, 1};
	const char *name[2] = {"a", "b"};
	struct graph g = {.n = 2,
			  .id = id,
			  .node_name = name,
			  .n_const = 2,
			  .const_node = node,
			  .const_offset = offset,
			  .const_bytes = bytes,
			  .tail_at = GRAPH_TAIL_ALIGN,
			  .tail_bytes = 4,
			  .tail = (const uint8_t *)"tail"};
	struct weights w;
	struct err e = ERR_INIT;
	FILE *f = fopen(at("plain.bin"), "w");
	bool made = f && fputs("constants", f) >= 0 && fclose(f) == 0;
	tap(made && weights_size(&g) == 5 && weights_open(&w, at("plain.bin"), &g, &e) == 0 &&
		    weights_check(&w, &g, &e) == 0,
	    "a file with a tail behind: %s", e.msg);
	weights_rest(&w);
	tap(w.file_bytes == 9 && memcmp(w.data, "constants", 9) == 0 &&
		    memcmp(weights_at(&w, &g, 0), "nst", 3) == 0 &&
		    memcmp(weights_at(&w, &g, 1), "tail", 4) == 0,
	    "both are there, after a rest as well");
	offset[0] = 8;
	tap(weights_check(&w, &g, &e) < 0 && strstr(e.msg, "lies beyond the weights"),
	    "what lies between file and tail is nobody's: %s", e.msg);
	weights_close(&w);
	err_clear(&e);
	tap(weights_open(&w, "", &g, &e) == 0 && w.file_bytes == 0 &&
		    memcmp(weights_at(&w, &g, 1), "tail", 4) == 0,
	    "the tail alone: %s", e.msg);
	weights_close(&w);
	f = fopen(at("long.bin"), "w");
	made = f && fseek(f, (long)GRAPH_TAIL_ALIGN, SEEK_SET) == 0 && fputc('x', f) == 'x' &&
	       fclose(f) == 0;
	tap(made && weights_open(&w, at("long.bin"), &g, &e) < 0 && e.code == ST_INPUT,
	    "a longer file: %s", e.msg);
	unlink(at("plain.bin"));
	unlink(at("long.bin"));
}

int main(void)
{
	struct graph g = {0};
	struct weights w;
	struct err e = ERR_INIT;
	if (!mkdtemp(top))
		return 1;
	gzFile f = gzopen(at("w.bin.gz"), "wb");
	bool made = f && gzwrite(f, text, sizeof text) == (int)sizeof text && gzclose(f) == Z_OK;
	setenv("HSDAG_CACHE", at("cache"), 1);
	test_tail();

	tap(made && weights_open(&w, at("w.bin.gz"), &g, &e) == 0 && holds_text(&w),
	    "a copy is read: %s", e.msg);
	tap(empty("cache") == 1 && holds_text(&w),
	    "and by its path, too, when somebody has made room in the cache");
	weights_close(&w);

	tap(weights_open(&w, at("w.bin.gz"), &g, &e) == 0 && holds_text(&w), "it is made again: %s",
	    e.msg);
	weights_close(&w);
	const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	struct stat st = {0};
	char name[400] = "";
	DIR *d = opendir(at("cache"));
	for (const struct dirent *x; d && (x = readdir(d));)
		if (x->d_name[0] != '.')
			snprintf(name, sizeof name, "%s/cache/%s", top, x->d_name);
	if (d)
		closedir(d);
	bool aged = utimensat(AT_FDCWD, name, old, 0) == 0;
	tap(aged && weights_open(&w, at("w.bin.gz"), &g, &e) == 0 && stat(name, &st) == 0 &&
		    st.st_mtim.tv_sec > 1,
	    "what is used is young: caches lose what was used longest ago");
	weights_close(&w);

	empty("cache");
	rmdir(at("cache"));
	unlink(at("w.bin.gz"));
	rmdir(top);
	return tap_end();
}
