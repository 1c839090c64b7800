/* err.c - error values and safe quoting of foreign text.  Prints nothing. */
#include "base/err.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *e, enum exit_status code, const char *fmt, ...)
{
	if (e->code != ST_OK)
		return -1;
	e->code = (int)code;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(e->msg, sizeof e->msg, fmt, ap);
	va_end(ap);
	return -1;
}

int err_sys(struct err *e, enum exit_status code, const char *fmt, ...)
{
	int saved = errno;
	if (e->code != ST_OK)
		return -1;
	e->code = (int)code;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(e->msg, sizeof e->msg, fmt, ap);
	va_end(ap);
	size_t n = strlen(e->msg);
	snprintf(e->msg + n, sizeof e->msg - n, ": %s", strerror(saved));
	e->told = saved == EPIPE;
	return -1;
}

int err_unread(struct err *e)
{
	if (e->code == ST_OK)
		e->told = true;
	return err_set(e, ST_RUNTIME, "the reader of the output has gone");
}

int err_prefix(struct err *e, const char *fmt, ...)
{
	char old[sizeof e->msg];
	memcpy(old, e->msg, sizeof old);
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(e->msg, sizeof e->msg, fmt, ap);
	va_end(ap);
	size_t n = strlen(e->msg);
	snprintf(e->msg + n, sizeof e->msg - n, ": %s", old);
	return -1;
}

void err_clear(struct err *e)
{
	e->code = ST_OK;
	e->told = false;
	e->msg[0] = '\0';
}

char *err_escape(char *dst, size_t cap, const char *src, size_t len)
{
	const unsigned char *s = (const unsigned char *)src;
	size_t o = 0;
	for (size_t i = 0; i < len;) {
		char piece[8];
		size_t k = utf8_length(src + i, len - i), used = k ? k : 1, m;
		if (s[i] == '\n' || s[i] == '\t' || s[i] == '\r')
			m = (size_t)snprintf(piece, sizeof piece, "\\%c",
					     s[i] == '\n'   ? 'n'
					     : s[i] == '\t' ? 't'
							    : 'r');
		else if (k == 0 || utf8_control(src + i, len - i))
			m = (size_t)snprintf(piece, sizeof piece, "\\x%02x", s[i]), used = 1;
		else
			memcpy(piece, s + i, k), m = k;
		if (o + m + 4 > cap) {
			memcpy(dst + o, "...", cap > o + 3 ? 4 : 0);
			return dst;
		}
		memcpy(dst + o, piece, m);
		o += m;
		i += used;
	}
	dst[o] = '\0';
	return dst;
}
