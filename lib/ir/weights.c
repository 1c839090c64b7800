/* weights.c - mapping of the .bin; no interpretation of its bytes. */
#include "ir/weights.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cachedir.h"
#include "base/digest.h"
#include "base/mem.h"
#include "base/newfile.h"
#include "ir/packed.h"

/* ---- compressed ones, in the cache ---- */

enum {
	PACKED_ROOM = 16 << 20
}; /* bytes that a compressed file may hold beyond twice what is needed */

/* The name of the decompressed copy of `path`: by its place, size and time of change, so that a file that was
 * replaced has another. */
static char *copy_name(const char *path, const struct stat *st)
{
	const uint64_t key[] = {(uint64_t)st->st_dev, (uint64_t)st->st_ino, (uint64_t)st->st_size,
				(uint64_t)st->st_mtim.tv_sec, (uint64_t)st->st_mtim.tv_nsec};
	char *real = realpath(path, NULL), *name = mem_alloc(48, 1);
	uint64_t where = real ? digest_of(real, strlen(real), 0) : 0;
	free(real);
	snprintf(name, 48, "%016" PRIx64 "%016" PRIx64 ".bin", where,
		 digest_of(key, sizeof key, where));
	return name;
}

static int expand_named(const char *path, const char *copy, uint64_t most, struct err *e)
{
	struct newfile f;
	if (newfile_open(&f, copy, e) < 0)
		return -1;
	if (packed_expand(path, f.fd, most, e) == 0)
		return newfile_commit(&f, e);
	newfile_abandon(&f);
	return -1;
}

/* The file of descriptor fd is what is mapped: whoever makes room in the cache may take its name away meanwhile. */
static void hold(struct weights *w, int fd)
{
	w->held = fd + 1;
	w->path = mem_alloc(40, 1);
	snprintf(w->path, 40, "/proc/self/fd/%d", fd);
}

static int expand_unnamed(struct weights *w, const char *path, uint64_t most, struct err *e)
{
	FILE *f = tmpfile();
	int fd = f ? fcntl(fileno(f), F_DUPFD_CLOEXEC, 0) : -1;
	if (f)
		fclose(f);
	if (fd < 0)
		return err_sys(e, ST_RUNTIME, "cannot make a file for decompressed weights");
	hold(w, fd);
	return packed_expand(path, fd, most, e);
}

/* The copy in the cache, which is made where there is none. */
static int find_copy(struct weights *w, const char *path, const struct stat *st, const char *cache,
		     int dir, uint64_t most, struct err *e)
{
	char *name = copy_name(path, st);
	size_t size = strlen(cache) + strlen(name) + 2;
	char *copy = mem_alloc(size, 1);
	snprintf(copy, size, "%s/%s", cache, name);
	int fd = cachedir_file(dir, name), rc = 0;
	if (fd < 0 && (rc = expand_named(path, copy, most, e)) == 0 &&
	    (fd = cachedir_file(dir, name)) < 0)
		rc = expand_unnamed(w, path, most, e); /* somebody has made room already */
	if (fd >= 0) {
		(void)futimens(fd, NULL); /* used now: what was used longest ago goes first */
		hold(w, fd);
	}
	mem_free(copy);
	mem_free(name);
	return rc;
}

/* w->path: the file to map for `path`. */
static int find_plain(struct weights *w, const char *path, const struct graph *g, struct err *e)
{
	char q[300];
	struct stat st;
	if (!packed_is(path)) {
		w->path = mem_strdup(path);
		return 0;
	}
	uint64_t most = 2 * weights_size(g) + PACKED_ROOM;
	if (stat(path, &st) < 0)
		return err_sys(e, ST_RUNTIME, "cannot open weights '%s'",
			       err_escape(q, sizeof q, path, strlen(path)));
	bool given;
	char *cache = cachedir_named(&given);
	struct err why = ERR_INIT;
	int dir = cache ? cachedir_open(cache, &why) : -1, rc = 0;
	if (dir >= 0) {
		rc = find_copy(w, path, &st, cache, dir, most, e);
		close(dir);
	} else if (given && cache) {
		rc = err_set(e, why.code, "HSDAG_CACHE: %s", why.msg);
	} else {
		rc = expand_unnamed(w, path, most, e);
	}
	mem_free(cache);
	return rc;
}

/* ---- mapping ---- */

/* Addresses for file and tail, the tail in its place; the file goes over the beginning. */
static int map_tail(struct weights *w, const struct graph *g, struct err *e)
{
	uint64_t bytes = g->tail_at + g->tail_bytes;
	uint8_t *p = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return err_sys(e, ST_RUNTIME, "no addresses for weights of %" PRIu64 " bytes",
			       bytes);
	memcpy(p + g->tail_at, g->tail, (size_t)g->tail_bytes);
	w->data = p;
	w->bytes = bytes;
	return 0;
}

static int map_file(struct weights *w, int fd, uint64_t bytes, const struct graph *g,
		    const char *name, struct err *e)
{
	void *at = (void *)(uintptr_t)w->data;
	if (g->tail_bytes && bytes > g->tail_at)
		return err_set(e, ST_INPUT,
			       "weights '%s' hold %" PRIu64 " bytes, more than the %" PRIu64
			       " behind which constants of the graph record lie; name the file "
			       "with ir2dag --weights",
			       name, bytes, g->tail_at);
	void *p = mmap(at, (size_t)bytes, PROT_READ, MAP_PRIVATE | (at ? MAP_FIXED : 0), fd, 0);
	if (p == MAP_FAILED)
		return err_sys(e, ST_RUNTIME, "cannot map weights '%s'", name);
	w->data = p;
	w->file_bytes = bytes;
	w->bytes = at ? w->bytes : bytes;
	return 0;
}

/* path: as the user knows it. */
static int map(struct weights *w, const char *path, const struct graph *g, struct err *e)
{
	char name[300];
	err_escape(name, sizeof name, path, strlen(path));
	int fd = open(w->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	if (fd < 0)
		return err_sys(e, ST_RUNTIME, "cannot open weights '%s'", name);
	int rc = 0;
	if (fstat(fd, &st) < 0)
		rc = err_sys(e, ST_RUNTIME, "cannot read weights '%s'", name);
	else if (!S_ISREG(st.st_mode))
		rc = err_set(e, ST_INPUT, "weights '%s' are not a regular file", name);
	else if (st.st_size > 0)
		rc = map_file(w, fd, (uint64_t)st.st_size, g, name, e);
	close(fd);
	return rc;
}

int weights_open(struct weights *w, const char *path, const struct graph *g, struct err *e)
{
	*w = (struct weights){0};
	int rc = g->tail_bytes ? map_tail(w, g, e) : 0;
	if (rc == 0 && *path)
		rc = find_plain(w, path, g, e) < 0 ? -1 : map(w, path, g, e);
	if (rc == 0)
		return 0;
	weights_close(w);
	return -1;
}

void weights_close(struct weights *w)
{
	if (w->data)
		munmap((void *)(uintptr_t)w->data, (size_t)w->bytes);
	if (w->held)
		close(w->held - 1);
	mem_free(w->path);
	*w = (struct weights){0};
}

uint64_t weights_size(const struct graph *g)
{
	uint64_t size = 0;
	for (uint32_t c = 0; c < g->n_const; c++)
		if (!graph_const_in_tail(g, c) && g->const_offset[c] + g->const_bytes[c] > size)
			size = g->const_offset[c] + g->const_bytes[c];
	for (uint32_t b = 0; b < g->n_bodies; b++) {
		uint64_t inner = weights_size(g->body[b].graph);
		size = inner > size ? inner : size;
	}
	return size;
}

void weights_rest(const struct weights *w)
{
	if (w->data)
		madvise((void *)(uintptr_t)w->data, (size_t)w->file_bytes, MADV_DONTNEED);
}

void weights_sparse(const struct weights *w)
{
	if (w->data)
		madvise((void *)(uintptr_t)w->data, (size_t)w->file_bytes, MADV_RANDOM);
}

int weights_check(const struct weights *w, const struct graph *g, struct err *e)
{
	for (uint32_t c = 0; c < g->n_const; c++) {
		uint32_t v = g->const_node[c];
		char name[200];
		uint64_t have = graph_const_in_tail(g, c) ? w->bytes : w->file_bytes;
		if (g->const_bytes[c] <= have && g->const_offset[c] <= have - g->const_bytes[c])
			continue;
		err_escape(name, sizeof name, g->node_name[v], strlen(g->node_name[v]));
		return err_set(e, ST_INPUT,
			       "layer %" PRId64 " '%s': constant at bytes %" PRIu64 " + %" PRIu64
			       " lies beyond the weights (%" PRIu64 " bytes)",
			       g->id[v], name, g->const_offset[c], g->const_bytes[c], have);
	}
	for (uint32_t b = 0; b < g->n_bodies; b++)
		if (weights_check(w, g->body[b].graph, e) < 0)
			return -1;
	return 0;
}
