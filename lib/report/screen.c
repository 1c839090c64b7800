/* screen.c - a terminal's width, colours and letters, from the environment and the terminal. */
#include "report/screen.h"
#include "base/msg.h"
#include "base/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

const char *const screen_choices[] = {"auto", "always", "never", NULL};

/* ---- what there is ---- */

static uint32_t find_width(bool terminal, bool *told)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	long width = columns ? strtol(columns, NULL, 10) : 0;
	if (width <= 0 && terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		width = size.ws_col;
	*told = width > 0;
	if (width <= 0)
		width = SCREEN_USUAL;
	return (uint32_t)(width < SCREEN_NARROW ? SCREEN_NARROW
			  : width > SCREEN_WIDE ? SCREEN_WIDE
						: width);
}

/* The first of these that says anything is the locale of characters. */
static bool speaks_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	const char *locale = NULL;
	for (size_t i = 0; i < sizeof names / sizeof *names && (!locale || !*locale); i++)
		locale = getenv(names[i]);
	const char *charset = locale ? strchr(locale, '.') : NULL;
	return charset &&
	       (strncasecmp(charset, ".utf-8", 6) == 0 || strncasecmp(charset, ".utf8", 5) == 0);
}

struct screen screen_find(const char *path, enum screen_colour when)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
	struct screen s = {.terminal = strcmp(path, "-") == 0 && isatty(STDOUT_FILENO)};
	s.width = find_width(s.terminal, &s.told);
	s.utf8 = speaks_utf8();
	s.colour = when == SCREEN_ALWAYS ||
		   (when == SCREEN_AUTO && s.terminal && !(no_color && *no_color) && term &&
		    strcmp(term, "dumb") != 0);
	return s;
}

/* ---- colours ---- */

void screen_colour(FILE *out, const struct screen *s, const char *sgr)
{
	if (s->colour)
		fprintf(out, "\033[%sm", sgr);
}

/* Bytes of the change of colour at s, of which n > 0 are there; 0: there is none. */
static size_t colour_length(const char *s, size_t n)
{
	size_t i = 2;
	if (n < 3 || s[0] != '\033' || s[1] != '[')
		return 0;
	while (i < n && (s[i] == ';' || (s[i] >= '0' && s[i] <= '9')))
		i++;
	return i < n && s[i] == 'm' ? i + 1 : 0;
}

void screen_write(FILE *out, const char *text, size_t n)
{
	while (n > 0) {
		size_t i = 0, k = 0;
		while (i < n && (k = colour_length(text + i, n - i)) == 0)
			i++;
		text_write(out, text, i);
		fwrite(text + i, 1, k, out);
		text += i + k;
		n -= i + k;
	}
}

/* ---- letters ---- */

/* Bytes of the character at s. */
static size_t letter(const char *s)
{
	size_t n = utf8_length(s, strnlen(s, 4));
	return n ? n : 1;
}

uint32_t screen_columns(const char *text)
{
	uint32_t n = 0;
	for (; *text; text += letter(text))
		n++;
	return n;
}

const char *screen_cut(char *dst, size_t cap, const char *text, uint32_t width)
{
	static const char dots[] = "..";
	bool cut = screen_columns(text) > width || strlen(text) >= cap;
	uint32_t keep = cut ? (width > 2 ? width - 2 : 0) : width;
	size_t n = 0;
	for (uint32_t i = 0; text[n] && i < keep; i++) {
		size_t k = letter(text + n);
		if (n + k + sizeof dots > cap)
			break;
		n += k;
	}
	snprintf(dst, cap, "%.*s%s", (int)n, text, cut ? dots : "");
	return dst;
}

void screen_pad(FILE *out, const char *text, uint32_t width)
{
	uint32_t n = screen_columns(text), shown = 0;
	bool cut = n > width;
	for (; *text && shown < width - (cut && width > 2 ? 2 : 0); shown++) {
		size_t k = letter(text);
		fwrite(text, 1, k, out);
		text += k;
	}
	for (; shown < width; shown++)
		fputc(cut ? '.' : ' ', out);
}

/* ---- numbers ---- */

const char *screen_unit(double s, double *unit_s)
{
	static const struct {
		const char *name;
		double s;
	} units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
	size_t i = 0;
	while (i < 3 && fabs(s) >= 0.99995 * units[i + 1].s)
		i++;
	*unit_s = units[i].s;
	return units[i].name;
}
