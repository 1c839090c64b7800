/* msg.c - messages to a person; with the out-of-memory hook the only library
 * code that prints or exits. */
#include "base/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *program = "hsdag";
static int verbosity;
static bool progress_shown;

void msg_program(const char *name)
{
	program = name;
}

const char *msg_program_name(void)
{
	return program;
}

void msg_verbose(int level)
{
	verbosity = level;
}

int msg_verbosity(void)
{
	return verbosity;
}

static void clear_progress(void)
{
	if (progress_shown)
		fputs("\r\033[K", stderr);
	progress_shown = false;
}

/* Text from outside must not steer the terminal.  A line is written at once, for several programs
 * may write to one file. */
static void put(const char *label, const char *text, const char *end)
{
	char safe[8000];
	clear_progress();
	fprintf(stderr, "%s: %s%s%s", program, label,
		err_escape(safe, sizeof safe, text, strlen(text)), end);
}

static void PRINTF_LIKE(2, 0) say(const char *label, const char *fmt, va_list ap)
{
	char text[2000];
	vsnprintf(text, sizeof text, fmt, ap);
	put(label, text, "\n");
}

int msg_error(const struct err *e)
{
	put("error: ", e->msg, "\n");
	return e->code;
}

void msg_warn(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	say("warning: ", fmt, ap);
	va_end(ap);
}

void msg_note(int level, const char *fmt, ...)
{
	if (verbosity < level)
		return;
	va_list ap;
	va_start(ap, fmt);
	say("", fmt, ap);
	va_end(ap);
}

void msg_progress(const char *fmt, ...)
{
	if (!isatty(STDERR_FILENO))
		return;
	clear_progress();
	if (!fmt)
		return;
	char text[2000];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	put("", text, "");
	fflush(stderr);
	progress_shown = true;
}

_Noreturn void msg_out_of_memory(size_t n, size_t size)
{
	clear_progress();
	fprintf(stderr, "%s: error: out of memory allocating %zu x %zu bytes\n", program, n, size);
	_Exit(ST_RUNTIME);
}
