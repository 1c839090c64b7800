/* ov_cache.c - files of compiled segments: found, kept, and taken away when they are too many. */
#include "device/openvino/ov_cache.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/mem.h"
#include "base/newfile.h"
#include "base/cachedir.h"

enum {
	KEY_DIGITS = 32,
	NAME = 80,       /* bytes of a file's name */
	LOOK_AFTER = 16, /* the part of the limit that is added before sizes are looked at */
	LEAST_NEW = 4,   /* the part of the limit that files of no use yet may fill in any case */
};
static const uint64_t DEFAULT_BYTES = (uint64_t)2 << 30;
static const char MAGIC[8] = "HSDAGOV";

struct ov_cache {
	int dir;
	char *path;
	uint64_t most, added;
	bool looked;
	pthread_mutex_t lock; /* of added and looked */
};

struct trailer {
	char magic[8];
	uint64_t bytes, digest;
};

static void name_of(const uint64_t key[2], const char *kind, char name[NAME])
{
	snprintf(name, NAME, "%016" PRIx64 "%016" PRIx64 ".%s", key[0], key[1], kind);
}

/* ---- opening ---- */

/* "512M"; 0: not a size. */
static uint64_t parse_size(const char *s)
{
	static const char units[] = "KMGT";
	char *end;
	errno = 0;
	unsigned long long x = isdigit((unsigned char)*s) ? strtoull(s, &end, 10) : 0;
	if (x == 0 || errno)
		return 0;
	const char *unit = *end ? strchr(units, *end) : NULL;
	int shift = unit ? 10 * (int)(unit - units + 1) : 0;
	return end[unit != NULL] || x > UINT64_MAX >> shift ? 0 : (uint64_t)x << shift;
}

int ov_cache_open(struct ov_cache **out, struct err *e)
{
	const char *size = getenv("HSDAG_CACHE_SIZE");
	uint64_t most = size && *size ? parse_size(size) : DEFAULT_BYTES;
	char q[200];
	bool given;
	*out = NULL;
	if (most == 0)
		return err_set(e, ST_USAGE,
			       "HSDAG_CACHE_SIZE: '%s' is not a size, as 512M or 2G; "
			       "HSDAG_CACHE=off keeps nothing",
			       err_escape(q, sizeof q, size, strlen(size)));
	char *path = cachedir_named(&given);
	if (!path)
		return 0;
	struct err why = ERR_INIT;
	int dir = cachedir_open(path, &why);
	if (dir < 0) {
		mem_free(path);
		return given ? err_set(e, why.code, "HSDAG_CACHE: %s", why.msg) : 0;
	}
	struct ov_cache *c = *out = MEM_NEW(struct ov_cache);
	*c = (struct ov_cache){.dir = dir, .path = path, .most = most};
	pthread_mutex_init(&c->lock, NULL);
	return 0;
}

void ov_cache_close(struct ov_cache *c)
{
	if (!c)
		return;
	pthread_mutex_destroy(&c->lock);
	close(c->dir);
	mem_free(c->path);
	mem_free(c);
}

/* ---- finding ---- */

static bool is_whole(const struct ov_blob *b)
{
	struct trailer t;
	if (b->mapped <= sizeof t)
		return false;
	memcpy(&t, b->data + b->bytes, sizeof t);
	return memcmp(t.magic, MAGIC, sizeof t.magic) == 0 && t.bytes == b->bytes &&
	       t.digest == digest_of(b->data, b->bytes, 0);
}

static bool map_file(const struct ov_cache *c, const char *name, struct ov_blob *out)
{
	struct stat st;
	*out = (struct ov_blob){0};
	int fd = cachedir_file(c->dir, name);
	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && st.st_size > (off_t)sizeof(struct trailer)) {
		void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (p != MAP_FAILED)
			*out = (struct ov_blob){p, (size_t)st.st_size - sizeof(struct trailer),
						(size_t)st.st_size};
	}
	close(fd);
	bool whole = out->data && is_whole(out);
	if (!whole) {
		ov_blob_release(out);
		unlinkat(c->dir, name, 0);
	}
	return whole;
}

bool ov_cache_find(struct ov_cache *c, const uint64_t key[2], struct ov_blob *out)
{
	char new[NAME], used[NAME];
	if (!c)
		return false;
	name_of(key, "new", new);
	name_of(key, "used", used);
	if (map_file(c, used, out)) {
		utimensat(c->dir, used, NULL, 0);
		return true;
	}
	if (!map_file(c, new, out))
		return false;
	if (renameat(c->dir, new, c->dir, used) == 0)
		utimensat(c->dir, used, NULL, 0);
	return true;
}

void ov_blob_release(struct ov_blob *b)
{
	if (b->data)
		munmap((void *)(uintptr_t)b->data, b->mapped);
	*b = (struct ov_blob){0};
}

void ov_cache_forget(struct ov_cache *c, const uint64_t key[2])
{
	char name[NAME];
	if (!c)
		return;
	name_of(key, "new", name);
	unlinkat(c->dir, name, 0);
	name_of(key, "used", name);
	unlinkat(c->dir, name, 0);
}

/* ---- making room ---- */

struct file {
	char name[NAME];
	uint64_t bytes;
	struct timespec at;
	bool is_new;
};

/* KEY.new, KEY.used, and temporary files of processes that were killed. */
static bool is_ours(const char *name)
{
	return strspn(name, "0123456789abcdef") == KEY_DIGITS && name[KEY_DIGITS] == '.' &&
	       strlen(name) < NAME;
}

static struct file *list_files(const struct ov_cache *c, size_t *n, uint64_t *total,
			       uint64_t *total_new)
{
	struct file *file = NULL;
	size_t cap = 0;
	*n = 0;
	*total = *total_new = 0;
	int fd = openat(c->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	for (const struct dirent *x; d && (x = readdir(d));) {
		struct stat st;
		if (!is_ours(x->d_name) ||
		    fstatat(c->dir, x->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		file = mem_grow(file, &cap, *n + 1, sizeof *file);
		struct file *f = &file[(*n)++];
		*f = (struct file){.bytes = (uint64_t)st.st_size,
				   .at = st.st_mtim,
				   .is_new = strcmp(x->d_name + KEY_DIGITS, ".used") != 0};
		memcpy(f->name, x->d_name, strlen(x->d_name) + 1);
		*total += f->bytes;
		*total_new += f->is_new ? f->bytes : 0;
	}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	return file;
}

static int oldest_first(const void *pa, const void *pb)
{
	const struct timespec *a = &((const struct file *)pa)->at,
			      *b = &((const struct file *)pb)->at;
	if (a->tv_sec != b->tv_sec)
		return a->tv_sec < b->tv_sec ? -1 : 1;
	return (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

/* Three quarters of the limit are left: files that were of no use yet go first, but for a quarter,
 * then whatever was used longest ago. */
static void make_room(const struct ov_cache *c)
{
	size_t n;
	uint64_t total, total_new;
	struct file *file = list_files(c, &n, &total, &total_new);
	if (total > c->most && n > 0) {
		qsort(file, n, sizeof *file, oldest_first);
		for (int pass = 0; pass < 2; pass++)
			for (size_t i = 0; i < n && total > c->most / 4 * 3; i++) {
				struct file *f = &file[i];
				if (f->bytes == 0 ||
				    (pass == 0 && (!f->is_new || total_new <= c->most / LEAST_NEW)))
					continue;
				unlinkat(c->dir, f->name, 0);
				total -= f->bytes;
				total_new -= f->is_new ? f->bytes : 0;
				f->bytes = 0;
			}
	}
	mem_free(file);
}

static void note_added(struct ov_cache *c, uint64_t bytes)
{
	pthread_mutex_lock(&c->lock);
	c->added += bytes;
	if (!c->looked || c->added > c->most / LOOK_AFTER) {
		make_room(c);
		c->looked = true;
		c->added = 0;
	}
	pthread_mutex_unlock(&c->lock);
}

/* ---- keeping ---- */

/* The trailer behind what was written, of which the limit allows a quarter. */
static bool end_file(int fd, uint64_t most, uint64_t *bytes)
{
	struct stat st;
	if (fstat(fd, &st) < 0 || st.st_size == 0 || (uint64_t)st.st_size > most / 4)
		return false;
	size_t n = (size_t)st.st_size;
	void *p = mmap(NULL, n, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return false;
	struct trailer t = {.bytes = n, .digest = digest_of(p, n, 0)};
	memcpy(t.magic, MAGIC, sizeof t.magic);
	munmap(p, n);
	*bytes = n + sizeof t;
	return pwrite(fd, &t, sizeof t, st.st_size) == (ssize_t)sizeof t;
}

void ov_cache_keep(struct ov_cache *c, const uint64_t key[2],
		   bool (*write)(void *arg, const char *path), void *arg)
{
	char name[NAME], source[40];
	struct newfile f;
	struct err e = ERR_INIT;
	uint64_t bytes = 0;
	if (!c)
		return;
	name_of(key, "new", name);
	size_t size = strlen(c->path) + NAME + 2;
	char *path = mem_alloc(size, 1);
	snprintf(path, size, "%s/%s", c->path, name);
	if (newfile_open(&f, path, &e) == 0) {
		f.lazy = true; /* a file that a crash damages is found by its trailer */
		snprintf(source, sizeof source, "/proc/self/fd/%d", f.fd);
		if (!write(arg, source) || !end_file(f.fd, c->most, &bytes))
			newfile_abandon(&f);
		else if (newfile_commit(&f, &e) == 0)
			note_added(c, bytes);
	}
	mem_free(path);
}
