/* weights.c - mapping of the .bin; no interpretation of its bytes. */
#include "ir/weights.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int weights_open(struct weights *w, const char *path, struct err *e)
{
	char name[300];
	err_escape(name, sizeof name, path, strlen(path));
	*w = (struct weights){0};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	if (fd < 0)
		return err_sys(e, ST_RUNTIME, "cannot open weights '%s'", name);
	int rc = 0;
	if (fstat(fd, &st) < 0)
		rc = err_sys(e, ST_RUNTIME, "cannot read weights '%s'", name);
	else if (!S_ISREG(st.st_mode))
		rc = err_set(e, ST_INPUT, "weights '%s' are not a regular file", name);
	else if (st.st_size > 0) {
		void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (p == MAP_FAILED)
			rc = err_sys(e, ST_RUNTIME, "cannot map weights '%s'", name);
		else
			*w = (struct weights){p, (uint64_t)st.st_size};
	}
	close(fd);
	return rc;
}

void weights_close(struct weights *w)
{
	if (w->data)
		munmap((void *)(uintptr_t)w->data, (size_t)w->bytes);
	*w = (struct weights){0};
}

void weights_rest(const struct weights *w)
{
	if (w->data)
		madvise((void *)(uintptr_t)w->data, (size_t)w->bytes, MADV_DONTNEED);
}

int weights_check(const struct weights *w, const struct graph *g, struct err *e)
{
	for (uint32_t c = 0; c < g->n_const; c++) {
		uint32_t v = g->const_node[c];
		char name[200];
		if (g->const_bytes[c] <= w->bytes &&
		    g->const_offset[c] <= w->bytes - g->const_bytes[c])
			continue;
		err_escape(name, sizeof name, g->node_name[v], strlen(g->node_name[v]));
		return err_set(e, ST_INPUT,
			       "layer %" PRId64 " '%s': constant at bytes %" PRIu64 " + %" PRIu64
			       " lies beyond the weights (%" PRIu64 " bytes)",
			       g->id[v], name, g->const_offset[c], g->const_bytes[c], w->bytes);
	}
	for (uint32_t b = 0; b < g->n_bodies; b++)
		if (weights_check(w, g->body[b].graph, e) < 0)
			return -1;
	return 0;
}
