/* newfile.c - complete files or none. */
#include "base/newfile.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* "/proc/self/fd/N", through which a file without a name can be given one. */
static void link_source(char *out, size_t size, int fd)
{
	snprintf(out, size, "/proc/self/fd/%d", fd);
}

/* A file without a name in the directory of path; -1 where that cannot be. */
static int open_unnamed(const char *path)
{
#ifdef O_TMPFILE
	const char *slash = strrchr(path, '/');
	size_t n = slash ? (size_t)(slash - path) + 1 : 0;
	char *dir = mem_alloc(n + 2, 1), source[40];
	memcpy(dir, path, n);
	memcpy(dir + n, ".", 2);
	int fd = open(dir, O_RDWR | O_TMPFILE | O_CLOEXEC, 0666);
	mem_free(dir);
	link_source(source, sizeof source, fd);
	if (fd >= 0 && access(source, F_OK) != 0) { /* no /proc: it would stay nameless */
		close(fd);
		return -1;
	}
	return fd;
#else
	(void)path;
	return -1;
#endif
}

static void release(struct newfile *f)
{
	mem_free(f->temporary);
	mem_free(f->path);
	*f = (struct newfile){.fd = -1};
}

int newfile_open(struct newfile *f, const char *path, struct err *e)
{
	size_t size = strlen(path) + 32;
	*f = (struct newfile){.path = mem_strdup(path), .temporary = mem_alloc(size, 1)};
	snprintf(f->temporary, size, "%s.tmp%ld", path, (long)getpid());
	f->fd = open_unnamed(path);
	if (f->fd >= 0)
		return 0;
	unlink(f->temporary); /* of a process that is no more; nobody's link is followed */
	f->fd = open(f->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	f->named = f->fd >= 0;
	if (f->named)
		return 0;
	char quoted[200];
	err_sys(e, ST_RUNTIME, "cannot create '%s'",
		err_escape(quoted, sizeof quoted, path, strlen(path)));
	release(f);
	return -1;
}

/* linkat replaces nothing and rename takes only names: hence a temporary one in between,
 * where a file is replaced. */
static int give_name(struct newfile *f)
{
	char source[40];
	link_source(source, sizeof source, f->fd);
	if (!f->named) {
		if (linkat(AT_FDCWD, source, AT_FDCWD, f->path, AT_SYMLINK_FOLLOW) == 0)
			return 0;
		if (errno != EEXIST)
			return -1;
		unlink(f->temporary); /* of a process that is no more */
		if (linkat(AT_FDCWD, source, AT_FDCWD, f->temporary, AT_SYMLINK_FOLLOW) < 0)
			return -1;
		f->named = true;
	}
	if (rename(f->temporary, f->path) < 0)
		return -1;
	f->named = false;
	return 0;
}

int newfile_commit(struct newfile *f, struct err *e)
{
	char quoted[200];
	int rc = 0;
	err_escape(quoted, sizeof quoted, f->path, strlen(f->path));
	if (!f->lazy && fsync(f->fd) != 0 && errno != EINVAL)
		rc = err_sys(e, ST_RUNTIME, "cannot write '%s'", quoted);
	else if (give_name(f) < 0)
		rc = err_sys(e, ST_RUNTIME, "cannot give a new file the name '%s'", quoted);
	if (rc < 0) {
		newfile_abandon(f);
		return -1;
	}
	if (close(f->fd) != 0)
		rc = err_sys(e, ST_RUNTIME, "cannot write '%s'", quoted);
	release(f);
	return rc;
}

void newfile_abandon(struct newfile *f)
{
	close(f->fd);
	if (f->named)
		unlink(f->temporary);
	release(f);
}
