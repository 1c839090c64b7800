/* test_xml.c - lib/ir/xml_lenient: the same bytes in whatever pieces they come. */
#include <string.h>

#include "ir/xml_lenient.h"
#include "tap.h"

static size_t convert(const char *in, size_t n_in, size_t piece, size_t room, char *out)
{
	struct xml_lenient x = {.line = 1};
	size_t used = 0, made = 0;
	for (size_t end = 0; end < n_in;) {
		end = end + piece < n_in ? end + piece : n_in;
		size_t k;
		while ((k = xml_lenient_read(&x, in, &used, end, out + made, room)) > 0)
			made += k;
	}
	return made;
}

int main(void)
{
	static const char in[] =
		"<?xml a='<'?><!-- <a b=\"<\"> - -- -->\n<a x = \"<&<&amp;&#1;&#x1F;&#65;&none;"
		"\x01'\t\n>\" y='\"<&'><![CDATA[ <b c=\"<\"]]]>\x02</a><!DOCTYPE \"<\">";
	static const char want[] =
		"<?xml a='<'?><!-- <a b=\"<\"> - -- -->\n<a x = \"&lt;&amp;&lt;&amp;&#x10FF01;"
		"&#x10FF1F;&#65;&amp;none;&#x10FF01;'\t\n>\" y='\"&lt;&amp;'>"
		"<![CDATA[ <b c=\"<\"]]]>?</a><!DOCTYPE \"&lt;\">";
	size_t n = sizeof in - 1;
	for (size_t piece = 1; piece <= n; piece += piece < 9 ? 1 : 31)
		for (size_t room = 1; room < 40; room += 7) {
			char out[1000];
			size_t k = convert(in, n, piece, room, out);
			tap(k == sizeof want - 1 && memcmp(out, want, k) == 0,
			    "pieces of %zu bytes, room for %zu", piece, room);
		}
	char value[] = "a\xf4\x8f\xbc\x81\xf4\x8f\xbc\x9f\xf4\x8f\xbc\xa0\xf4\x8f\xbc";
	size_t k = xml_lenient_value(value, sizeof value - 1);
	tap(k == 10 && memcmp(value, "a\x01\x1f\xf4\x8f\xbc\xa0\xf4\x8f\xbc", k) == 0,
	    "private characters become control characters, others stay");
	tap(!xml_lenient_can("\xff\xfe<\0", 4) && !xml_lenient_can("\0<\0?", 4) &&
		    xml_lenient_can("<net", 4) && xml_lenient_can("\xef\xbb\xbf<", 4),
	    "UTF-16 is known by its first bytes");
	return tap_end();
}
