/* pagetemplate.c - copies a page, and puts into it what its marks say. */
#include "report/html/pagetemplate.h"

#include <string.h>

static const char OPEN[] = "<!--", CLOSE[] = "-->";

static const struct page_mark *find_mark(const struct page_mark *marks, const char *name, size_t n)
{
	for (; marks->name; marks++)
		if (strlen(marks->name) == n && memcmp(marks->name, name, n) == 0)
			return marks;
	return NULL;
}

/* The text behind "<!--/NAME-->"; NULL: there is none. */
static const char *behind_section(const char *s, const char *name)
{
	size_t n = strlen(name);
	while ((s = strstr(s, "<!--/"))) {
		s += 5;
		if (strncmp(s, name, n) == 0 && strncmp(s + n, CLOSE, 3) == 0)
			return s + n + 3;
	}
	return NULL;
}

int page_write(FILE *out, const char *page, const struct page_mark *marks, const void *of,
	       struct err *e)
{
	const char *s = page, *next;
	while ((next = strstr(s, OPEN))) {
		const char *name = next + 4, *end = strstr(name, CLOSE);
		fwrite(s, 1, (size_t)(next - s), out);
		bool begins = *name == '?', ends = *name == '/';
		name += begins || ends;
		const struct page_mark *m =
			end ? find_mark(marks, name, (size_t)(end - name)) : NULL;
		if (!m)
			return err_set(e, ST_RUNTIME,
				       "the page has a mark that nothing stands for: '%.20s'",
				       name);
		s = end + 3;
		if (ends)
			continue;
		if (begins) {
			if (m->is_there && !m->is_there(of) && !(s = behind_section(s, m->name)))
				return err_set(e, ST_RUNTIME, "the page's section '%s' has no end",
					       m->name);
		} else if (!m->put) {
			fputs(m->text, out);
		} else if (m->put(out, of, e) < 0) {
			return -1;
		}
	}
	fputs(s, out);
	return 0;
}
