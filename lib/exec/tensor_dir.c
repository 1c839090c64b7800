/* tensor_dir.c - see tensor_dir.h. */
#include "exec/tensor_dir.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "exec/npy.h"
#include "op/value.h"

/* Files that are open at once: some hundreds, but half of what the process may have. */
static size_t most_open(void)
{
	enum { MOST = 500 };
	struct rlimit r;
	if (getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_cur / 2 > MOST)
		return MOST;
	return r.rlim_cur > 2 ? (size_t)r.rlim_cur / 2 : 1;
}

int tensor_dir_open(struct tensor_dir *d, const char *path, struct err *e)
{
	*d = (struct tensor_dir){.path = path, .max_open = most_open()};
	if (mkdir(path, 0777) != 0 && errno != EEXIST)
		return err_sys(e, ST_RUNTIME, "cannot make directory '%s'", path);
	d->arena = arena_new();
	if (newfile_open(&d->index, arena_printf(d->arena, "%s/index.tsv", path), e) == 0)
		return 0;
	arena_free(d->arena);
	return -1;
}

static int give_names(struct tensor_dir *d, int rc, struct err *e)
{
	for (size_t i = 0; i < d->n_open; i++)
		if (rc < 0)
			newfile_abandon(&d->file[i]);
		else
			rc = newfile_commit(&d->file[i], e);
	d->n_open = 0;
	return rc;
}

int tensor_dir_add(struct tensor_dir *d, const char *name, const struct tensor *t, const char *more,
		   struct err *e)
{
	char quoted[1000], shape[300];
	fprintf(newfile_text(&d->index), "%u.npy\t%s\t%s%s\n", d->n,
		err_escape(quoted, sizeof quoted, name, strlen(name)),
		tensor_text(t, shape, sizeof shape), more);
	if (d->n_open == d->max_open && give_names(d, 0, e) < 0)
		return -1;
	d->file = mem_grow(d->file, &d->cap, d->n_open + 1, sizeof *d->file);
	if (npy_create(&d->file[d->n_open], arena_printf(d->arena, "%s/%u.npy", d->path, d->n++), t,
		       e) < 0)
		return -1;
	d->n_open++;
	return 0;
}

int tensor_dir_close(struct tensor_dir *d, int rc, struct err *e)
{
	rc = give_names(d, rc, e);
	d->index.lazy = true;
	if (rc < 0)
		newfile_abandon(&d->index);
	else
		rc = newfile_commit(&d->index, e);
	mem_free(d->file);
	arena_free(d->arena);
	return rc;
}
