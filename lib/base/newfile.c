/* newfile.c - complete files or none. */
#include "base/newfile.h"
#include "base/mem.h"
#include "base/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_LINKS = 40, QUOTED = 200 };

static const char *quote(char quoted[QUOTED], const char *path)
{
	return err_escape(quoted, QUOTED, path, strlen(path));
}

/* ---- temporary names, which a signal takes away ---- */

enum { MAX_NAMED = 64 };
static char *_Atomic named[MAX_NAMED];

static void take_away(int sig)
{
	for (int i = 0; i < MAX_NAMED; i++)
		if (named[i])
			unlink(named[i]);
	signal(sig, SIG_DFL);
	raise(sig);
}

static void remember(char *name)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGTERM};
	struct sigaction old, mine = {.sa_handler = take_away};
	int i = 0;
	while (i < MAX_NAMED && named[i])
		i++;
	if (i == MAX_NAMED)
		return; /* a kill leaves this one behind */
	named[i] = name;
	for (size_t k = 0; k < sizeof signals / sizeof *signals; k++)
		if (sigaction(signals[k], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			sigaction(signals[k], &mine, NULL);
}

static void forget(const char *name)
{
	for (int i = 0; i < MAX_NAMED; i++)
		if (named[i] == name)
			named[i] = NULL;
}

/* ---- what a path means ---- */

/* A link of /proc stands for a descriptor, not for a name. */
static bool is_descriptor(const char *link)
{
	struct stat at, proc;
	return lstat(link, &at) == 0 && stat("/proc/self", &proc) == 0 && at.st_dev == proc.st_dev;
}

/* The name that path leads to, by all its links: a rename replaces a link. */
static char *follow(const char *path)
{
	char to[PATH_MAX], *now = mem_strdup(path);
	ssize_t n;
	for (int i = 0; i < MAX_LINKS && (n = readlink(now, to, sizeof to - 1)) >= 0; i++) {
		if (is_descriptor(now))
			break;
		to[n] = '\0';
		const char *slash = to[0] == '/' ? NULL : strrchr(now, '/');
		size_t in = slash ? (size_t)(slash - now) + 1 : 0;
		char *next = mem_alloc(in + (size_t)n + 1, 1);
		memcpy(next, now, in);
		memcpy(next + in, to, (size_t)n + 1);
		mem_free(now);
		now = next;
	}
	return now;
}

/* What is no file.  A descriptor of this process goes on where it is: /dev/stdout of ">> file". */
static int open_direct(const char *path)
{
	struct stat there, here;
	const char *name = strrchr(path, '/');
	char *end;
	long n = is_descriptor(path) && name ? strtol(name + 1, &end, 10) : -1;
	if (n >= 0 && n <= INT_MAX && end > name + 1 && !*end && stat(path, &there) == 0 &&
	    fstat((int)n, &here) == 0 && there.st_dev == here.st_dev && there.st_ino == here.st_ino)
		return fcntl((int)n, F_DUPFD_CLOEXEC, 3);
	return open(path, O_WRONLY | O_CLOEXEC);
}

/* ---- opening ---- */

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
	forget(f->temporary);
	mem_free(f->temporary);
	mem_free(f->path);
	*f = (struct newfile){.fd = -1};
}

static int open_beside(struct newfile *f)
{
	size_t size = strlen(f->path) + 32;
	f->temporary = mem_alloc(size, 1);
	snprintf(f->temporary, size, "%s.tmp%ld", f->path, (long)getpid());
	f->fd = open_unnamed(f->path);
	if (f->fd >= 0)
		return 0;
	unlink(f->temporary); /* of a process that is no more; nobody's link is followed */
	f->fd = open(f->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	f->named = f->fd >= 0;
	if (f->named)
		remember(f->temporary);
	return f->named ? 0 : -1;
}

int newfile_open(struct newfile *f, const char *path, struct err *e)
{
	char quoted[QUOTED];
	struct stat st;
	quote(quoted, path);
	*f = (struct newfile){.fd = STDOUT_FILENO, .direct = true};
	if (strcmp(path, "-") == 0) {
		f->path = mem_strdup("standard output");
		return 0;
	}
	f->path = follow(path);
	bool exists = stat(f->path, &st) == 0, unclear = !exists && errno != ENOENT;
	f->direct = exists && (!S_ISREG(st.st_mode) || is_descriptor(f->path));
	if (unclear) {
		err_sys(e, ST_RUNTIME, "cannot write '%s'", quoted);
	} else if (exists && S_ISDIR(st.st_mode)) {
		err_set(e, ST_RUNTIME, "cannot write '%s': it is a directory", quoted);
	} else if (f->direct) {
		if ((f->fd = open_direct(f->path)) >= 0)
			return 0;
		err_sys(e, ST_RUNTIME, "cannot open '%s'", quoted);
	} else if (exists && faccessat(AT_FDCWD, f->path, W_OK, AT_EACCESS) != 0) {
		err_sys(e, ST_RUNTIME, "cannot write '%s'", quoted);
	} else {
		if (exists) {
			f->mode = st.st_mode;
			f->owner = st.st_uid;
			f->group = st.st_gid;
		}
		if (open_beside(f) == 0)
			return 0;
		err_sys(e, ST_RUNTIME,
			exists ? "cannot make a new file beside '%s', to replace it"
			       : "cannot create '%s'",
			quoted);
	}
	release(f);
	return -1;
}

FILE *newfile_text(struct newfile *f)
{
	if (!f->text)
		f->text = f->direct && f->fd == STDOUT_FILENO ? stdout : fdopen(f->fd, "w");
	if (!f->text)
		msg_out_of_memory(1, BUFSIZ);
	return f->text;
}

/* ---- closing ---- */

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

/* Permissions of the old file.  Its owner comes first: giving a file away clears bits. */
static void take_after(const struct newfile *f)
{
	struct stat st;
	if (f->mode == 0 || fstat(f->fd, &st) != 0)
		return;
	if ((st.st_uid != f->owner || st.st_gid != f->group) &&
	    fchown(f->fd, f->owner, f->group) != 0 && fchown(f->fd, (uid_t)-1, f->group) != 0)
		errno = 0; /* then it is whose the process is, as any new file */
	if (fchmod(f->fd, f->mode & 0777) != 0)
		errno = 0;
}

static int close_file(struct newfile *f)
{
	if (f->fd == STDOUT_FILENO && f->direct)
		return 0; /* opt_finish closes it */
	return f->text ? fclose(f->text) : close(f->fd);
}

static int not_given(struct newfile *f, const char *quoted, struct err *e)
{
	char kept[QUOTED];
	int saved = errno;
	if (!f->named)
		return err_sys(e, ST_RUNTIME, "cannot give a new file the name '%s'", quoted);
	quote(kept, f->temporary);
	f->named = false; /* what has been made stays */
	errno = saved;
	return err_sys(e, ST_RUNTIME, "'%s' is complete, but cannot replace '%s'", kept, quoted);
}

int newfile_show(struct newfile *f, struct err *e)
{
	char quoted[QUOTED];
	quote(quoted, f->path);
	if (f->text && (fflush(f->text) != 0 || ferror(f->text)))
		return err_sys(e, ST_RUNTIME, "cannot write '%s'", quoted);
	if (f->direct)
		return 0;
	if (!f->lazy && fsync(f->fd) != 0 && errno != EINVAL)
		return err_sys(e, ST_RUNTIME, "cannot write '%s'", quoted);
	take_after(f);
	if (give_name(f) < 0)
		return not_given(f, quoted, e);
	f->direct = true; /* there is nothing left to replace */
	return 0;
}

int newfile_commit(struct newfile *f, struct err *e)
{
	char quoted[QUOTED];
	int rc = newfile_show(f, e);
	if (rc < 0) {
		newfile_abandon(f);
		return -1;
	}
	quote(quoted, f->path);
	if (close_file(f) != 0)
		rc = err_sys(e, ST_RUNTIME, "cannot write '%s'", quoted);
	release(f);
	return rc;
}

void newfile_abandon(struct newfile *f)
{
	(void)close_file(f);
	if (f->named)
		unlink(f->temporary);
	release(f);
}

static int write_whole(const char *path, const char *text, size_t n, bool lazy, struct err *e)
{
	struct newfile f;
	if (newfile_open(&f, path, e) < 0)
		return -1;
	f.lazy = lazy;
	if (fwrite(text, 1, n, newfile_text(&f)) == n)
		return newfile_commit(&f, e);
	char quoted[QUOTED];
	err_sys(e, ST_RUNTIME, "cannot write '%s'", quote(quoted, f.path));
	newfile_abandon(&f);
	return -1;
}

int newfile_write(const char *path, const char *text, size_t n, struct err *e)
{
	return write_whole(path, text, n, false, e);
}

int newfile_write_lazily(const char *path, const char *text, size_t n, struct err *e)
{
	return write_whole(path, text, n, true, e);
}
