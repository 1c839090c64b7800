/* msg.h - what a program says to a person: errors, warnings, notes, progress.
 *
 * Only the command files and this module write to standard error.  All lines
 * begin with the program's name; silence is success. */
#ifndef HSDAG_BASE_MSG_H
#define HSDAG_BASE_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

#define HSDAG_VERSION "0.1.0"

void msg_program(const char *name); /* call first in main */
const char *msg_program_name(void);
void msg_verbose(int level); /* 0 silent (default), 1 -v, 2 -vv */
int msg_verbosity(void);

/* "prog: error: message" on stderr, with e->told "prog: message", a note of level 1; returns e->code, the exit
 * status.  Here and below control bytes are written as escapes. */
int msg_error(const struct err *e);

void msg_warn(const char *fmt, ...) PRINTF_LIKE(1, 2);            /* always shown */
void msg_note(int level, const char *fmt, ...) PRINTF_LIKE(2, 3); /* shown at verbosity >= level */

/* One line that is overwritten by the next, only when stderr is a terminal.
 * msg_progress(NULL) clears it.  Other messages clear it first. */
void msg_progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Work begins that may take long.  From its third second on a terminal shows `what`, how many seconds it has
 * taken and, of_s > 0, of how many, until msg_busy(NULL, 0); elsewhere nothing.  what stays the
 * caller's, and there.  One at a time. */
void msg_busy(const char *what, double of_s);

/* ---- what is printed ----
 *
 * The one net under every program that writes text: what came from outside must not steer a
 * terminal.  Control characters other than tabs and line ends, and bytes that are no UTF-8, become
 * C escapes.  Where a name must not break a line either, it goes through err_escape first. */

/* text[n] on out. */
void text_write(FILE *out, const char *text, size_t n);

/* Standard output for text.  It is written when the program ends (opt_finish). */
FILE *text_out(void);
int text_out_end(struct err *e) MUST_CHECK;

/* The out-of-memory hook: reports and exits with status 1; or, where a library has said so, calls `fn` (NULL: nobody) with
 * the bytes, which is not to return, and aborts without a word if it does. */
void msg_on_out_of_memory(void (*fn)(size_t bytes));
_Noreturn void msg_out_of_memory(size_t n, size_t size);

#endif
