/* test_cl_device.c - the OpenCL device besides its kernels: names, ranges of
 * compute units, memory and transfers, failures, the cache of programs. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/opencl/cl_impl.h"
#include "tap.h"

static bool name_ok(const char *s)
{
	struct err e = ERR_INIT;
	return !cl_check_name(s, &e);
}

static void test_names(void)
{
	static const char *const good[] = {"cl:0.0", "cl:3.12", "cl:0.0:1", "cl:0.0:0-7"};
	static const char *const bad[] = {
		"",          "cl:",     "cl:0",         "cl:0.",
		"cl:.0",     "cl:0.0:", "cl:0.0:1-",    "cl:0.0:2-1",
		"cl:0.0 ",   "cl:-1.0", "cl:0.0:0-1-2", "cl:99999999999999999999.0",
		"cl:0.0:+1", "cpu:0"};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		tap(name_ok(good[i]), "'%s' is a name", good[i]);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		tap(!name_ok(bad[i]), "'%s' is none", bad[i]);
}

static int open_list(const char *names, struct device_list *l, struct err *e)
{
	if (device_list_parse(names, l, e))
		return -1;
	if (!device_list_open(l, false, e))
		return 0;
	device_list_close(l);
	return -1;
}

static void test_absent(void)
{
	static const char *const absent[][2] = {{"cl:60.0", "no OpenCL platform"},
						{"cl:0.200", "no device 200"},
						{"cl:0.0:9000", "no compute unit 9000"}};
	for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
		struct device_list l;
		struct err e = ERR_INIT;
		bool refused = open_list(absent[i][0], &l, &e) != 0;
		tap(refused && e.code == ST_USAGE && strstr(e.msg, absent[i][1]), "%s: %s",
		    absent[i][0], e.msg);
	}
}

static int n_listed, n_described;

static void listed(void *arg, const struct device *d)
{
	(void)arg;
	n_listed++;
	n_described += !strncmp(d->name, "cl:", 3) && d->description[0] && d->mem_bytes > 0;
}

static void test_list(void)
{
	device_class_of_name("cl:")->list_machine(listed, NULL);
	tap(n_described == n_listed, "%d devices listed with name and memory", n_listed);
}

static void test_units(void)
{
	struct device_list l;
	struct err e = ERR_INIT;
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		tap(true, "units apart # SKIP one core");
		return;
	}
	bool ok = !open_list("cpu:0,cl:0.0:1", &l, &e);
	tap(ok && l.dev[1].n_cpus == 1 && l.dev[1].cpus[0] == 1,
	    "cl:0.0:1 computes on core 1 alone %s", e.msg);
	tap(ok && !device_shares_cores(&l.dev[0], &l.dev[1]), "cpu:0 and cl:0.0:1 share nothing");
	if (ok)
		device_list_close(&l);
	err_clear(&e);
	tap(open_list("cpu:0,cl:0.0:0", &l, &e) && e.code == ST_USAGE, "cpu:0 and cl:0.0:0: %s",
	    e.msg);
}

/* ---- memory ---- */

static void set_flag(void *arg, bool ok)
{
	__atomic_store_n((int *)arg, ok ? 1 : -1, __ATOMIC_SEQ_CST);
}

static bool wait_flag(int *flag)
{
	for (int i = 0; i < 2000 && !__atomic_load_n(flag, __ATOMIC_SEQ_CST); i++)
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	return __atomic_load_n(flag, __ATOMIC_SEQ_CST) == 1;
}

/* Bytes up into one view, down out of another view of the same memory. */
static void test_transfers(const char *pinned)
{
	struct device_list l;
	struct err e = ERR_INIT;
	struct devmem *base = NULL, *a = NULL, *b = NULL, *c = NULL;
	unsigned char src[10000], dst[10000] = {0};
	int up = 0, down = 0;
	for (size_t i = 0; i < sizeof src; i++)
		src[i] = (unsigned char)(i * 7 + i / 256);
	setenv("HSDAG_CL_PINNED", pinned, 1);
	if (open_list("cl:0.0", &l, &e)) {
		tap(false, "open: %s", e.msg);
		return;
	}
	struct device *d = &l.dev[0];
	const struct device_class *k = d->class;
	tap(d->align >= 64 && !(d->align & (d->align - 1)), "alignment %zu", d->align);
	size_t n = sizeof src, skip = d->align;
	bool ok = !k->alloc(d, 1 << 20, &base, &e);
	/* the third is a view of a view */
	ok = ok && !k->view(d, base, skip * 3, n, &a, &e) &&
	     !k->view(d, base, skip, 2 * skip + n, &c, &e) &&
	     !k->view(d, c, skip * 3, n - skip, &b, &e);
	/* what a view needs of the others is its own */
	if (ok) {
		k->release(d, c);
		k->release(d, base);
	}
	ok = ok && !k->upload(d, a, src, n, set_flag, &up, &e);
	ok = ok && !k->download(d, b, dst, n - skip, set_flag, &down, &e) && !k->flush(d, &e);
	ok = ok && wait_flag(&up) && wait_flag(&down) && !k->finish(d, &e);
	tap(ok && !memcmp(dst, src + skip, n - skip), "views, up and down, pinned %s %s", pinned,
	    e.msg);
	k->release(d, b);
	k->release(d, a);
	err_clear(&e);
	base = NULL;
	tap(k->alloc(d, (size_t)1 << 60, &base, &e) && e.code == ST_RUNTIME && !base,
	    "no memory: %s", e.msg);
	device_list_close(&l);
}

/* ---- the cache ---- */

/* Path of the only file in dir/hsdag; false when there is none or more than one. */
static bool only_file(const char *dir, char *path, size_t cap)
{
	char sub[200];
	int n = 0;
	snprintf(sub, sizeof sub, "%s/hsdag", dir);
	DIR *d = opendir(sub);
	for (struct dirent *f; d && (f = readdir(d));)
		if (f->d_name[0] != '.') {
			snprintf(path, cap, "%s/%.100s", sub, f->d_name);
			n++;
		}
	if (d)
		closedir(d);
	return n == 1;
}

static void remove_all(const char *dir)
{
	char path[400], sub[200];
	while (only_file(dir, path, sizeof path))
		unlink(path);
	snprintf(sub, sizeof sub, "%s/hsdag", dir);
	tap(!rmdir(sub) && !rmdir(dir), "nothing else left in the cache");
}

static size_t read_file(const char *path, unsigned char *dst, size_t cap)
{
	FILE *f = fopen(path, "rb");
	size_t n = f ? fread(dst, 1, cap, f) : 0;
	if (f)
		fclose(f);
	return n;
}

static void write_file(const char *path, const unsigned char *src, size_t n)
{
	FILE *f = fopen(path, "wb");
	if (f) {
		fwrite(src, 1, n, f);
		fclose(f);
	}
}

static void test_cache(void)
{
	char dir[] = "/tmp/hsdag-cl-XXXXXX", path[400] = "";
	unsigned char file[256], copy[256];
	size_t n = 0, bad = 0;
	if (!tap(mkdtemp(dir) != NULL, "a directory for the cache"))
		return;
	setenv("XDG_CACHE_HOME", dir, 1);
	tap(!cl_cache_load("key", &n), "nothing there");
	cl_cache_store("key", (const unsigned char *)"binary", 6);
	unsigned char *b = cl_cache_load("key", &n);
	tap(b && n == 6 && !memcmp(b, "binary", 6), "stored and loaded");
	mem_free(b);
	tap(!cl_cache_load("kez", &n), "another key");
	char sub[64];
	snprintf(sub, sizeof sub, "%s/hsdag", dir);
	chmod(sub, 0777);
	b = cl_cache_load("key", &n);
	tap(!b, "not from where others may write");
	mem_free(b);
	chmod(sub, 0700);
	tap(only_file(dir, path, sizeof path), "one file, no leftovers");
	size_t size = read_file(path, file, sizeof file);
	for (size_t i = 0; i < 2 * size; i++) { /* every cut, and every byte changed */
		memcpy(copy, file, size);
		if (i >= size)
			copy[i - size] ^= 0x10;
		write_file(path, copy, i < size ? i : size);
		b = cl_cache_load("key", &n);
		bad += b != NULL;
		mem_free(b);
	}
	tap(size > 0 && !bad, "%zu damaged files, %zu taken for good", 2 * size, bad);
	remove_all(dir);
}

/* A program whose entry is damaged is built again. */
static void test_rebuild(void)
{
	static const char *const round_name[] = {"built", "from the cache",
						 "built again after damage"};
	static unsigned char file[4 << 20];
	char dir[] = "/tmp/hsdag-cl-XXXXXX", path[400] = "";
	size_t size[3] = {0};
	if (!tap(mkdtemp(dir) != NULL, "a directory for the cache"))
		return;
	setenv("XDG_CACHE_HOME", dir, 1);
	for (int round = 0; round < 3; round++) {
		struct device_list l;
		struct err e = ERR_INIT;
		cl_kernel k;
		bool open = !open_list("cl:0.0", &l, &e);
		tap(open && !cl_kernel_get(l.dev[0].state, K_reduce, &k, &e), "%s %s",
		    round_name[round], e.msg);
		if (open)
			device_list_close(&l);
		tap(only_file(dir, path, sizeof path), "one entry");
		size[round] = read_file(path, file, sizeof file);
		if (round == 1)
			write_file(path, file, size[round] / 2);
	}
	tap(size[0] > 0 && size[2] == size[0], "the entry is whole again");
	remove_all(dir);
}

int main(void)
{
	test_names();
	test_list();
	test_cache();
	if (!n_listed) {
		tap(true, "the rest # SKIP no OpenCL device");
		return tap_end();
	}
	test_absent();
	test_units();
	test_transfers("0");
	test_transfers("1");
	test_rebuild();
	return tap_end();
}
