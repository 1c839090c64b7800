/* newfile.h - a file that takes its name only when it is complete: whatever
 * happens before, the old file of that name is as it was, and can be read meanwhile.
 *
 * Where the file system can, the new one has no name at all until it is committed
 * (O_TMPFILE), so that even a killed process leaves nothing behind; elsewhere it is
 * PATH.tmpPID until then, which SIGHUP, SIGINT and SIGTERM take away where nobody else
 * handles them.
 *
 * A link stays: the file that it leads to is replaced, and need not exist.  The new file has
 * the permissions of the old one, and its owner where the process may give it away.  An old
 * file that may not be written is not replaced.
 *
 * What is no file (standard output, a pipe, a device, a descriptor as /dev/stdout or
 * /dev/fd/N) is written as it is opened. */
#ifndef HSDAG_BASE_NEWFILE_H
#define HSDAG_BASE_NEWFILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/err.h"

struct newfile {
	int fd;     /* to read and write; of what is no file to write */
	FILE *text; /* the same as a stream: newfile_text */
	char *path, *temporary;
	mode_t mode; /* of the old file; 0: there is none */
	uid_t owner;
	gid_t group;
	bool named;  /* the temporary name exists */
	bool direct; /* no file: there is nothing to replace */
	bool lazy; /* set by the caller: commit does not wait for the disk (what can be made again) */
};

/* path "-": standard output.  ST_RUNTIME when nothing can be made where path is to be. */
int newfile_open(struct newfile *f, const char *path, struct err *e) MUST_CHECK;

/* The file as a stream, which is the file's. */
FILE *newfile_text(struct newfile *f);

/* The name now, for a file that grows while others read it: what it has so far replaces the
 * old one. */
int newfile_show(struct newfile *f, struct err *e) MUST_CHECK;

/* Bytes to the disk (unless lazy), then the name, replacing what has it.  Closes and releases,
 * also when it fails: then nothing is left behind, but where only the name could not be given,
 * and the message says where the file is. */
int newfile_commit(struct newfile *f, struct err *e) MUST_CHECK;

/* Leave nothing behind. */
void newfile_abandon(struct newfile *f);

/* The whole of a text. */
int newfile_write(const char *path, const char *text, size_t n, struct err *e) MUST_CHECK;
/* As one of many: whoever writes them waits for the disk once. */
int newfile_write_lazily(const char *path, const char *text, size_t n, struct err *e) MUST_CHECK;

#endif
