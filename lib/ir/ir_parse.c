/* ir_parse.c - numbers and shapes in the attributes and text of an IR. */
#include "ir/raw.h"

#include <ctype.h>
#include <string.h>

enum { MAX_RANK = 254 }; /* 255 says that the rank is not known */

static void trim(const char **s, size_t *n)
{
	while (*n && isspace((unsigned char)**s))
		(*s)++, (*n)--;
	while (*n && isspace((unsigned char)(*s)[*n - 1]))
		(*n)--;
}

bool parse_u64(const char *s, size_t n, uint64_t *out)
{
	uint64_t v = 0;
	trim(&s, &n);
	if (n == 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9' || __builtin_mul_overflow(v, (uint64_t)10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s[i] - '0'), &v))
			return false;
	}
	*out = v;
	return true;
}

bool parse_int(const char *s, size_t n, int64_t lo, int64_t *out)
{
	uint64_t u;
	trim(&s, &n);
	bool negative = n && *s == '-';
	if (negative)
		s++, n--;
	if (n == 0 || isspace((unsigned char)*s) || !parse_u64(s, n, &u) || u > INT64_MAX)
		return false;
	int64_t v = negative ? -(int64_t)u : (int64_t)u;
	*out = v;
	return v >= lo;
}

/* Cut the next comma-separated item off s; false at the end. */
static bool next_item(const char **s, const char *end, const char **item, size_t *n)
{
	if (*s > end)
		return false;
	const char *comma = memchr(*s, ',', (size_t)(end - *s));
	const char *stop = comma ? comma : end;
	*item = *s;
	*n = (size_t)(stop - *s);
	trim(item, n);
	*s = stop + 1;
	return true;
}

/* One dimension: a size, "?", "-1", or a range "lo..hi" with either end open. */
static bool parse_dim(const char *s, size_t n, int64_t *out)
{
	if ((n == 1 && *s == '?') || (n == 2 && memcmp(s, "-1", 2) == 0)) {
		*out = DIM_DYNAMIC;
		return true;
	}
	const char *dots = n >= 2 ? memmem(s, n, "..", 2) : NULL;
	if (!dots)
		return parse_int(s, n, 0, out);
	int64_t lo = 0, hi = INT64_MAX;
	size_t left = (size_t)(dots - s), right = n - left - 2;
	if ((left && !parse_int(s, left, 0, &lo)) ||
	    (right && !parse_int(dots + 2, right, 0, &hi)) || lo > hi)
		return false;
	*out = lo == hi ? lo : DIM_DYNAMIC;
	return true;
}

bool parse_partial_shape(struct raw_net *net, const char *s, uint8_t *rank)
{
	size_t n = strlen(s);
	trim(&s, &n);
	if (n >= 2 && s[0] == '[' && s[n - 1] == ']') {
		s++, n -= 2;
		trim(&s, &n);
	}
	*rank = 0;
	if (n == 3 && memcmp(s, "...", 3) == 0) {
		*rank = RANK_DYNAMIC;
		return true;
	}
	const char *end = s + n, *item;
	while (n && next_item(&s, end, &item, &n)) {
		int64_t d;
		if (*rank == MAX_RANK || !parse_dim(item, n, &d))
			return false;
		*VEC_ADD(net->dim) = d;
		++*rank;
		n = 1;
	}
	return true;
}

bool parse_const_shape(struct raw_net *net, const char *s, uint8_t *rank, uint64_t *count)
{
	size_t n = strlen(s);
	trim(&s, &n);
	const char *end = s + n, *item;
	bool zero = false, more = n > 0;
	*rank = 0;
	*count = 1;
	while (more && next_item(&s, end, &item, &n)) {
		int64_t d;
		if (n == 0 && s > end && *rank)
			break; /* a comma after the last size */
		if (*rank == MAX_RANK || !parse_int(item, n, 0, &d))
			return false;
		zero |= d == 0;
		if (d && __builtin_mul_overflow(*count, (uint64_t)d, count))
			return false;
		*VEC_ADD(net->dim) = d;
		++*rank;
	}
	if (zero)
		*count = 0;
	return true;
}
