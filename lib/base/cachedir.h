/* cachedir.h - a directory from which programs take back what they have put there, compiled code among it: it and
 * its files are the user's own, and nobody else may write in it. */
#ifndef HSDAG_BASE_CACHEDIR_H
#define HSDAG_BASE_CACHEDIR_H

#include <stdbool.h>

#include "base/err.h"

/* "hsdag" in $XDG_CACHE_HOME, else in ~/.cache; mem_free.  NULL: there is neither. */
char *cachedir_default(void);

/* What HSDAG_CACHE names, else cachedir_default; mem_free.  NULL: it is "off", or there is neither.  *given: the
 * variable names it. */
char *cachedir_named(bool *given);

/* The directory, opened; it is made with those above it where they are missing, for the user alone.  -1: it cannot be
 * made, read or written, another user owns it, or others may write there (ST_RUNTIME). */
int cachedir_open(const char *path, struct err *e) MUST_CHECK;

/* A file in it, to read: a regular file of the user, and no link.  -1: there is none. */
int cachedir_file(int dir, const char *name);

#endif
