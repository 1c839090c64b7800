/* xml.c - libxml2's SAX2 parser behind the interface of xml.h; no tree. */
#include "ir/xml.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libxml/parser.h>
#include <libxml/parserInternals.h>

#include "base/mem.h"
#include "ir/xml_lenient.h"
#include "stream/rec.h"

struct parse {
	struct xml_handler *h;
	struct err *e;
	const char *path;
	int fd, read_errno;
	uint64_t bytes;
	xmlParserCtxtPtr ctxt;
	struct xml_attr *attr;
	size_t attr_cap;
	char *buf; /* read ahead: libxml2 asks for 4 kB at a time */
	size_t at, end;
	const char *no_xml; /* what the file is instead; NULL: XML */
	bool lenient;       /* the bytes go through what xml_lenient.h says */
	struct xml_lenient bytes_as_xml;
	uint32_t depth;
	struct arena *values; /* of one element, where they are not as libxml2 has them */
	/* The first that makes the file no XML; what follows is of its making. */
	uint32_t error_line;
	char error[200];
};

enum { READ_BYTES = 1 << 18 };

const char *xml_where(char where[XML_WHERE], const char *path, uint32_t line)
{
	char name[XML_WHERE - 20];
	err_escape(name, sizeof name, path, strlen(path));
	snprintf(where, XML_WHERE, "%s:%u", name, line);
	return where;
}

/* Where all has been taken, more into buf. */
static int fill(struct parse *p)
{
	ssize_t k;
	if (p->at < p->end)
		return 0;
	while ((k = read(p->fd, p->buf, READ_BYTES)) < 0 && errno == EINTR)
		;
	if (k < 0) {
		p->read_errno = errno;
		return -1;
	}
	p->bytes += (uint64_t)k;
	p->at = 0;
	p->end = (size_t)k;
	return 0;
}

static int read_some(void *ctx, char *out, int n)
{
	struct parse *p = ctx;
	size_t k = 0;
	do {
		if (fill(p) < 0)
			return -1;
		if (p->lenient) {
			k = xml_lenient_read(&p->bytes_as_xml, p->buf, &p->at, p->end, out,
					     (size_t)n);
		} else {
			k = p->end - p->at < (size_t)n ? p->end - p->at : (size_t)n;
			memcpy(out, p->buf + p->at, k);
			p->at += k;
		}
	} while (k == 0 && p->end > 0 && !p->bytes_as_xml.fault); /* a part of a reference */
	return (int)k;
}

/* Stop when a handler failed. */
static void check(struct parse *p, int rc)
{
	if (rc < 0)
		xmlStopParser(p->ctxt);
}

static void locate(struct parse *p)
{
	int line = xmlSAX2GetLineNumber(p->ctxt);
	p->h->line = line > 0 ? (uint32_t)line : 0;
}

/* Control characters, which are on their way as others. */
static void make_values(struct parse *p, int n)
{
	arena_reset(p->values);
	for (int i = 0; i < n; i++) {
		struct xml_attr *x = &p->attr[i];
		if (!xml_lenient_has(x->value, x->len))
			continue;
		char *value = arena_strndup(p->values, x->value, x->len);
		x->len = xml_lenient_value(value, x->len);
		x->value = value;
	}
}

static void on_open(void *ctx, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
		    int n_ns, const xmlChar **ns, int n, int n_default, const xmlChar **a)
{
	(void)prefix, (void)uri, (void)n_ns, (void)ns, (void)n_default;
	struct parse *p = ctx;
	if (p->e->code != ST_OK)
		return;
	p->attr = mem_grow(p->attr, &p->attr_cap, (size_t)n, sizeof *p->attr);
	for (int i = 0; i < n; i++, a += 5) /* name, prefix, URI, value begin and end */
		p->attr[i] = (struct xml_attr){(const char *)a[0], (const char *)a[3],
					       (size_t)(a[4] - a[3])};
	if (p->lenient)
		make_values(p, n);
	locate(p);
	if (++p->depth > XML_MAX_DEPTH) {
		char where[XML_WHERE];
		check(p, err_set(p->e, ST_INPUT, "%s: elements are nested more than %d deep",
				 xml_where(where, p->path, p->h->line), XML_MAX_DEPTH));
		return;
	}
	check(p, p->h->open(p->h->ctx, (const char *)name, p->attr, n, p->e));
}

static void on_close(void *ctx, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri)
{
	(void)name, (void)prefix, (void)uri;
	struct parse *p = ctx;
	if (p->e->code != ST_OK)
		return;
	p->depth--;
	locate(p);
	check(p, p->h->close(p->h->ctx, p->e));
}

static void on_text(void *ctx, const xmlChar *s, int n)
{
	struct parse *p = ctx;
	if (p->e->code != ST_OK)
		return;
	locate(p);
	check(p, p->h->text(p->h->ctx, (const char *)s, (size_t)n, p->e));
}

static void on_doctype(void *ctx, const xmlChar *name, const xmlChar *public_id,
		       const xmlChar *system_id)
{
	(void)name, (void)public_id, (void)system_id;
	struct parse *p = ctx;
	char where[XML_WHERE];
	locate(p);
	check(p, err_set(p->e, ST_INPUT,
			 "%s: document type declarations and entities are refused; "
			 "IR files have none",
			 xml_where(where, p->path, p->h->line)));
}

static void on_error(void *ctx, xmlErrorPtr error)
{
	struct parse *p = ctx;
	if (p->error[0] || error->level != XML_ERR_FATAL || !error->message)
		return;
	size_t n = strlen(error->message);
	while (n && error->message[n - 1] == '\n')
		n--;
	err_escape(p->error, sizeof p->error, error->message, n);
	p->error_line = error->line > 0 ? (uint32_t)error->line : 0;
}

static int report(struct parse *p)
{
	char where[XML_WHERE];
	const struct xml_lenient *l = &p->bytes_as_xml;
	const xmlError *x = p->ctxt ? xmlCtxtGetLastError(p->ctxt) : NULL;
	if (p->e->code != ST_OK)
		return -1;
	if (p->read_errno) {
		errno = p->read_errno;
		return err_sys(p->e, ST_RUNTIME, "cannot read '%s'", p->path);
	}
	if (p->bytes == 0)
		return err_set(p->e, ST_INPUT,
			       "'%s' is empty; a download or an export may have ended early",
			       p->path);
	if (p->no_xml)
		return err_set(p->e, ST_INPUT, "'%s' is no OpenVINO IR, which is XML; %s", p->path,
			       p->no_xml);
	if (x && x->code == XML_ERR_NO_MEMORY)
		return err_set(p->e, ST_RUNTIME, "out of memory parsing '%s'", p->path);
	if (l->fault && (!p->error[0] || p->error_line >= l->line))
		return err_set(p->e, ST_INPUT, "%s: %s", xml_where(where, p->path, l->line),
			       l->fault);
	return err_set(p->e, ST_INPUT, "%s: malformed or truncated XML: %s",
		       xml_where(where, p->path, p->error_line),
		       p->error[0] ? p->error : "no more is known");
}

/* Why a file that begins so is no XML; NULL: it may be. */
static const char *not_xml(const char *s, size_t n)
{
	size_t i = n >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	while (i < n && (s[i] == ' ' || s[i] == '\t' || s[i] == '\r' || s[i] == '\n'))
		i++;
	if (i == n || s[i] == '<' || (unsigned char)s[0] >= 0xfe ||
	    !s[0]) /* UTF-16 has other beginnings */
		return NULL;
	const char *is = rec_file_kind(s, n);
	return is ? is : "ovc or pipelines/place make IR of other frameworks' models";
}

static int run(struct parse *p)
{
	xmlSAXHandler sax;
	memset(&sax, 0, sizeof sax);
	sax.initialized = XML_SAX2_MAGIC;
	sax.startElementNs = on_open;
	sax.endElementNs = on_close;
	sax.characters = on_text;
	sax.cdataBlock = on_text;
	sax.internalSubset = on_doctype;
	sax.serror = on_error;
	if (fill(p) < 0)
		return report(p);
	p->lenient = xml_lenient_can(p->buf, p->end);
	p->no_xml = not_xml(p->buf, p->end);
	p->ctxt = xmlCreateIOParserCtxt(&sax, p, read_some, NULL, p, XML_CHAR_ENCODING_NONE);
	if (!p->ctxt)
		return err_set(p->e, ST_RUNTIME, "cannot start the XML parser");
	/* NOENT: "&amp;" in an attribute reads "&"; other entities cannot be declared.  HUGE takes away
	 * libxml2's limits, in the place of which are ours. */
	xmlCtxtUseOptions(p->ctxt, XML_PARSE_NOENT | XML_PARSE_NONET | XML_PARSE_NOERROR |
					   XML_PARSE_NOWARNING | (p->lenient ? XML_PARSE_HUGE : 0));
	int rc = 0;
	if (xmlParseDocument(p->ctxt) != 0 || !p->ctxt->wellFormed || p->read_errno ||
	    p->e->code != ST_OK)
		rc = report(p);
	if (p->ctxt->myDoc)
		xmlFreeDoc(p->ctxt->myDoc);
	xmlFreeParserCtxt(p->ctxt);
	return rc;
}

int xml_parse(const char *path, struct xml_handler *h, uint64_t *bytes, struct err *e)
{
	char name[XML_WHERE];
	struct parse p = {.bytes_as_xml.line = 1,
			  .h = h,
			  .e = e,
			  .path = err_escape(name, sizeof name, path, strlen(path))};
	struct stat st;
	p.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (p.fd < 0)
		return err_sys(e, ST_RUNTIME, "cannot open '%s'", p.path);
	int rc;
	if (fstat(p.fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		rc = err_set(e, ST_RUNTIME,
			     "cannot read '%s': it is a directory; name the .xml in it", p.path);
	} else {
		p.buf = MEM_NEWN(char, READ_BYTES);
		p.values = arena_new();
		rc = run(&p);
		arena_free(p.values);
		mem_free(p.buf);
		mem_free(p.attr);
	}
	close(p.fd);
	*bytes = p.bytes;
	return rc;
}
