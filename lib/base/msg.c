/* msg.c - messages to a person; with the out-of-memory hook the only library
 * code that prints or exits. */
#include "base/msg.h"
#include "base/utf8.h"
#include "base/clock_cond.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *program = "hsdag";
static int verbosity;
static bool progress_shown;
static pthread_mutex_t lines = PTHREAD_MUTEX_INITIALIZER; /* of what is shown */

static struct {
	pthread_t thread;
	pthread_cond_t ends;
	const char *what; /* NULL: nothing takes long */
	double of_s;
	struct timespec began;
} busy;

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
	pthread_mutex_lock(&lines);
	clear_progress();
	fprintf(stderr, "%s: %s%s%s", program, label,
		err_escape(safe, sizeof safe, text, strlen(text)), end);
	fflush(stderr);
	progress_shown = !*end;
	pthread_mutex_unlock(&lines);
}

static void PRINTF_LIKE(2, 0) say(const char *label, const char *fmt, va_list ap)
{
	char text[2000];
	vsnprintf(text, sizeof text, fmt, ap);
	put(label, text, "\n");
}

int msg_error(const struct err *e)
{
	if (!e->told)
		put("error: ", e->msg, "\n");
	else
		msg_note(1, "%s", e->msg);
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
	if (!fmt) {
		pthread_mutex_lock(&lines);
		clear_progress();
		pthread_mutex_unlock(&lines);
		return;
	}
	char text[2000];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	put("", text, "");
}

static void show_busy(double s)
{
	char text[300];
	if (busy.of_s > 0)
		snprintf(text, sizeof text, "%s, %.0f of %.0f s", busy.what, s, busy.of_s);
	else
		snprintf(text, sizeof text, "%s, %.0f s", busy.what, s);
	clear_progress();
	fprintf(stderr, "%s: %s", program, text);
	fflush(stderr);
	progress_shown = true;
}

static void *busy_main(void *arg)
{
	struct timespec until = busy.began;
	double s = 2;
	(void)arg;
	pthread_mutex_lock(&lines);
	for (until.tv_sec += 2; busy.what; until.tv_sec++, s++)
		if (pthread_cond_timedwait(&busy.ends, &lines, &until) != 0 && busy.what)
			show_busy(s);
	pthread_mutex_unlock(&lines);
	return NULL;
}

static void end_busy(void)
{
	if (!busy.what)
		return;
	pthread_mutex_lock(&lines);
	busy.what = NULL;
	clear_progress();
	pthread_cond_signal(&busy.ends);
	pthread_mutex_unlock(&lines);
	pthread_join(busy.thread, NULL);
	pthread_cond_destroy(&busy.ends);
}

void msg_busy(const char *what, double of_s)
{
	sigset_t all, before;
	end_busy();
	if (!what || !isatty(STDERR_FILENO))
		return;
	busy.what = what;
	busy.of_s = of_s;
	clock_gettime(CLOCK_MONOTONIC, &busy.began);
	clock_cond_init(&busy.ends);
	sigfillset(&all); /* signals are the program's own matter */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&busy.thread, NULL, busy_main, NULL) != 0)
		busy.what = NULL;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static bool in_library;
static void (*out_of_memory)(size_t bytes);

void msg_on_out_of_memory(void (*fn)(size_t bytes))
{
	in_library = true;
	out_of_memory = fn;
}

_Noreturn void msg_out_of_memory(size_t n, size_t size)
{
	if (in_library) {
		size_t bytes;
		if (out_of_memory)
			out_of_memory(__builtin_mul_overflow(n, size, &bytes) ? SIZE_MAX : bytes);
		abort();
	}
	clear_progress();
	fprintf(stderr, "%s: error: out of memory allocating %zu x %zu bytes\n", program, n, size);
	_Exit(ST_RUNTIME);
}

/* ---- text on standard output ---- */

/* Bytes that stay as they are. */
static size_t count_plain(const char *s, size_t n)
{
	size_t i = 0;
	for (size_t k; i < n && (k = utf8_length(s + i, n - i)) > 0; i += k)
		if (utf8_control(s + i, n - i) && s[i] != '\n' && s[i] != '\t')
			break;
	return i;
}

void text_write(FILE *out, const char *text, size_t n)
{
	while (n > 0) {
		size_t k = count_plain(text, n);
		fwrite(text, 1, k, out);
		if (k < n) {
			size_t bad = utf8_control(text + k, n - k);
			char shown[12];
			bad += bad == 0; /* no character */
			fputs(err_escape(shown, sizeof shown, text + k, bad), out);
			k += bad;
		}
		text += k;
		n -= k;
	}
}

static FILE *mem; /* of what goes to standard output at the end */
static char *collected;
static size_t n_collected;

FILE *text_out(void)
{
	if (!mem && !(mem = open_memstream(&collected, &n_collected)))
		msg_out_of_memory(1, BUFSIZ);
	return mem;
}

int text_out_end(struct err *e)
{
	if (!mem)
		return 0;
	if (fclose(mem) != 0)
		return err_sys(e, ST_RUNTIME, "no memory for the text");
	errno = 0;
	text_write(stdout, collected, n_collected);
	free(collected);
	mem = NULL;
	if (ferror(stdout))
		return err_sys(e, ST_RUNTIME, "cannot write standard output");
	return 0;
}
