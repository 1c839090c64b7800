/* err.c - error values and safe quoting of foreign text.  Prints nothing. */
#include "base/err.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>

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
	snprintf(e->msg + n, sizeof e->msg - n, ": %s%s", strerror(saved),
		 saved == EMFILE ? "; ulimit -n 1024 allows more" : "");
	e->told = saved == EPIPE;
	return -1;
}

const char *err_few_files(void)
{
	enum { FEW = 32 };
	struct rlimit l;
	return getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < FEW
		       ? " (few files may be open here, which may be why; ulimit -n 1024 allows "
			 "more)"
		       : "";
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

static _Atomic(const char *) missed_in;
static atomic_llong missed_value;

void err_miss(const char *function, long long value)
{
	const char *none = NULL;
	if (atomic_compare_exchange_strong(&missed_in, &none, function))
		atomic_store(&missed_value, value);
}

int err_missed(struct err *e)
{
	if (!atomic_load_explicit(&missed_in, memory_order_relaxed))
		return 0;
	const char *function = atomic_exchange(&missed_in, NULL);
	return function ? err_set(e, ST_RUNTIME, "%s has no case for %lld, a fault of this program",
				  function, (long long)atomic_load(&missed_value))
			: 0;
}

void err_clear(struct err *e)
{
	e->code = ST_OK;
	e->told = false;
	e->msg[0] = '\0';
}

unsigned err_distance(const char *a, const char *b)
{
	enum { MOST = 200 };
	unsigned row[3][MOST + 1];
	size_t n = strlen(a), m = strlen(b);
	if (n > MOST || m > MOST)
		return strcmp(a, b) == 0 ? 0 : MOST;
	for (size_t i = 0; i <= n; i++)
		for (size_t j = 0; j <= m; j++) {
			unsigned *d = &row[i % 3][j];
			if (i == 0 || j == 0) {
				*d = (unsigned)(i + j);
				continue;
			}
			unsigned change = row[(i - 1) % 3][j - 1] + (a[i - 1] != b[j - 1]);
			*d = row[(i - 1) % 3][j] < row[i % 3][j - 1] ? row[(i - 1) % 3][j]
								     : row[i % 3][j - 1];
			*d = *d + 1 < change ? *d + 1 : change;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    row[(i - 2) % 3][j - 2] + 1 < *d)
				*d = row[(i - 2) % 3][j - 2] + 1;
		}
	return row[n % 3][m];
}

bool err_is_near(const char *a, const char *b)
{
	return strlen(a) > 2 && err_distance(a, b) <= (strlen(a) < 8 ? 1 : 2);
}

/* Are they alike but for case, of the whole candidate or of a part between colons? */
static bool is_part(const char *name, const char *candidate)
{
	size_t n = strlen(name);
	for (const char *at = candidate; n; at++) {
		size_t part = strcspn(at, ":/");
		if ((part == n || strlen(at) == n) && strncasecmp(at, name, n) == 0)
			return true;
		at += part;
		if (!*at)
			break;
	}
	return false;
}

void err_offer(struct err_near *x, const char *candidate)
{
	size_t n = strlen(x->name);
	unsigned distance = 1 + err_distance(x->name, candidate);
	if (is_part(x->name, candidate))
		distance = strlen(candidate) > n;
	else if (!err_is_near(x->name, candidate)) {
		if (n < 3 || strncmp(x->name, candidate, n) != 0)
			return;
		distance = 4; /* the beginning of it, behind what is one or two letters off */
	}
	if (x->best && (x->distance < distance ||
			(x->distance == distance && strlen(x->best) >= strlen(candidate))))
		return; /* what was left out is likelier than what was put in */
	x->best = candidate;
	x->distance = distance;
}

int err_unknown(struct err *e, enum exit_status code, const struct err_near *x, const char *known,
		const char *fmt, ...)
{
	char text[sizeof e->msg], best[200], meant[240] = "";
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (x->best)
		snprintf(meant, sizeof meant, "; did you mean '%s'?%s",
			 err_escape(best, sizeof best, x->best, strlen(x->best)), known ? " " : "");
	return err_set(e, code, "%s%s%s%s", text, meant, !x->best && known ? "; " : "",
		       known ? known : "");
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
