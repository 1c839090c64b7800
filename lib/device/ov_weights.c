/* ov_weights.c - the model's .bin and computed constants in one range of addresses.
 *
 * OpenVINO takes one tensor with all constants of a model.  The file is mapped at
 * the beginning of a large reservation, so nothing of it is copied, and what is not in
 * the file (folded shapes, unaligned copies) is put behind it. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "device/ov_impl.h"

enum { ALIGN = 64 };

struct ov_weights {
	unsigned char *base;
	uint64_t file_bytes, used, cap;
	struct slot {
		const void *data;
		uint64_t bytes, offset;
	} * slot; /* hash table */
	size_t n, n_slots;
};

/* As much room as the system grants: addresses only, pages come when they are written. */
static void *reserve(uint64_t at_least, uint64_t *cap)
{
	for (uint64_t room = (uint64_t)64 << 30; room >= (uint64_t)64 << 20; room /= 4) {
		void *p = mmap(NULL, at_least + room, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		*cap = at_least + room;
		if (p != MAP_FAILED)
			return p;
	}
	return NULL;
}

static int map_file(struct ov_weights *w, const char *path, struct err *e)
{
	struct stat st;
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1, rc = 0;
	if (path && (fd < 0 || fstat(fd, &st) < 0))
		rc = err_sys(e, ST_RUNTIME, "cannot open weights '%s'", path);
	w->file_bytes = path && rc == 0 ? (uint64_t)st.st_size : 0;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	w->used = (w->file_bytes + page - 1) / page * page;
	if (rc == 0 && !(w->base = reserve(w->used, &w->cap)))
		rc = err_sys(e, ST_RUNTIME, "cannot reserve addresses for the weights");
	if (rc == 0 && w->file_bytes &&
	    mmap(w->base, w->file_bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
		rc = err_sys(e, ST_RUNTIME, "cannot map weights '%s'", path);
	if (fd >= 0)
		close(fd);
	return rc;
}

int ov_weights_open(const char *path, struct ov_weights **out, struct err *e)
{
	struct ov_weights *w = MEM_NEW(struct ov_weights);
	if (map_file(w, path, e) < 0) {
		ov_weights_close(w);
		return -1;
	}
	*out = w;
	return 0;
}

void ov_weights_close(struct ov_weights *w)
{
	if (!w)
		return;
	if (w->base)
		munmap(w->base, w->cap);
	mem_free(w->slot);
	mem_free(w);
}

static struct slot *find(const struct ov_weights *w, const void *data, uint64_t bytes)
{
	for (size_t h = ((uintptr_t)data >> 4) * 0x9e3779b97f4a7c15u >> 20;; h++) {
		struct slot *s = &w->slot[h & (w->n_slots - 1)];
		if (!s->data || (s->data == data && s->bytes == bytes))
			return s;
	}
}

static void grow(struct ov_weights *w)
{
	struct slot *old = w->slot;
	size_t n = w->n_slots;
	w->n_slots = n ? 2 * n : 64;
	w->slot = MEM_NEWN(struct slot, w->n_slots);
	for (size_t i = 0; i < n; i++)
		if (old[i].data)
			*find(w, old[i].data, old[i].bytes) = old[i];
	mem_free(old);
}

int ov_weights_add(struct ov_weights *w, const void *data, uint64_t bytes, uint64_t *offset,
		   struct err *e)
{
	if (2 * (w->n + 1) > w->n_slots)
		grow(w);
	struct slot *s = find(w, data, bytes);
	/* The address may have been given to another constant since. */
	if (!s->data || memcmp(w->base + s->offset, data, bytes) != 0) {
		uint64_t at = (w->used + ALIGN - 1) / ALIGN * ALIGN;
		if (bytes > w->cap || at > w->cap - bytes)
			return err_set(e, ST_RUNTIME, "no room for a constant of %llu bytes",
				       (unsigned long long)bytes);
		memcpy(w->base + at, data, bytes);
		w->n += !s->data;
		w->used = at + bytes;
		*s = (struct slot){data, bytes, at};
	}
	*offset = s->offset;
	return 0;
}

void *ov_weights_base(const struct ov_weights *w)
{
	return w->base;
}

uint64_t ov_weights_bytes(const struct ov_weights *w)
{
	return w->used;
}

uint64_t ov_weights_file_bytes(const struct ov_weights *w)
{
	return w->file_bytes;
}
