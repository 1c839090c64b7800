/* cachedir.c - a directory of the user's own, checked where it is opened: what its path leads to later
 * does not matter. */
#include "base/cachedir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

char *cachedir_default(void)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	bool has_xdg = xdg && *xdg == '/';
	if (!has_xdg && !(home && *home == '/'))
		return NULL;
	size_t size = strlen(has_xdg ? xdg : home) + sizeof "/.cache/hsdag";
	char *path = mem_alloc(size, 1);
	snprintf(path, size, "%s%s/hsdag", has_xdg ? xdg : home, has_xdg ? "" : "/.cache");
	return path;
}

/* As mkdir -p -m 700. */
static int make_directory(const char *given)
{
	char *path = mem_strdup(given);
	int rc = 0;
	for (char *s = path + (*path != '\0'); *s && rc == 0; s++)
		if (*s == '/') {
			*s = '\0';
			rc = mkdir(path, 0700) < 0 && errno != EEXIST ? -1 : 0;
			*s = '/';
		}
	if (rc == 0 && mkdir(path, 0700) < 0 && errno != EEXIST)
		rc = -1;
	int why = errno;
	mem_free(path);
	errno = why;
	return rc;
}

char *cachedir_named(bool *given)
{
	const char *own = getenv("HSDAG_CACHE");
	*given = own && *own;
	if (!*given)
		return cachedir_default();
	return strcmp(own, "off") == 0 ? NULL : mem_strdup(own);
}

int cachedir_open(const char *path, struct err *e)
{
	char q[200];
	struct stat st;
	err_escape(q, sizeof q, path, strlen(path));
	int dir = make_directory(path) < 0 ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || fstat(dir, &st) < 0)
		err_sys(e, ST_RUNTIME, "cannot use '%s'", q);
	else if (st.st_uid != geteuid())
		err_set(e, ST_RUNTIME,
			"'%s' is another user's; what is kept there would be trusted", q);
	else if (st.st_mode & (S_IWGRP | S_IWOTH))
		err_set(e, ST_RUNTIME,
			"others may write in '%s', and what is kept there would be trusted; chmod "
			"go-w",
			q);
	else if (faccessat(dir, ".", R_OK | W_OK | X_OK, AT_EACCESS) < 0)
		err_sys(e, ST_RUNTIME, "cannot use '%s'", q);
	else
		return dir;
	if (dir >= 0)
		close(dir);
	return -1;
}

int cachedir_file(int dir, const char *name)
{
	struct stat st;
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid())) {
		close(fd);
		return -1;
	}
	return fd;
}
