/* newfile.h - a file that takes its name only when it is complete: whatever
 * happens before, the old file of that name is as it was.
 *
 * Where the file system can, the new one has no name at all until it is committed
 * (O_TMPFILE), so that even a killed process leaves nothing behind; elsewhere it is
 * PATH.tmpPID until then. */
#ifndef HSDAG_BASE_NEWFILE_H
#define HSDAG_BASE_NEWFILE_H

#include <stdbool.h>

#include "base/err.h"

struct newfile {
	int fd; /* to read and write */
	char *path, *temporary;
	bool named; /* the temporary name exists */
	bool lazy;  /* set by the caller: commit does not wait for the disk (weights
	                      * that can be made again) */
};

/* ST_RUNTIME when nothing can be made where path is to be. */
int newfile_open(struct newfile *f, const char *path, struct err *e) MUST_CHECK;

/* Bytes to the disk (unless lazy), then the name, replacing what has it.  Closes and releases,
 * also when it fails: then nothing is left behind. */
int newfile_commit(struct newfile *f, struct err *e) MUST_CHECK;

/* Leave nothing behind. */
void newfile_abandon(struct newfile *f);

#endif
