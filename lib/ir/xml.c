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
};

enum { READ_BYTES = 1 << 18 };

const char *xml_where(char where[XML_WHERE], const char *path, uint32_t line)
{
	char name[XML_WHERE - 20];
	err_escape(name, sizeof name, path, strlen(path));
	snprintf(where, XML_WHERE, "%s:%u", name, line);
	return where;
}

static int read_some(void *ctx, char *out, int n)
{
	struct parse *p = ctx;
	if (p->at == p->end) {
		ssize_t k;
		while ((k = read(p->fd, p->buf, READ_BYTES)) < 0 && errno == EINTR)
			;
		if (k < 0) {
			p->read_errno = errno;
			return -1;
		}
		p->bytes += (uint64_t)k;
		p->at = 0;
		p->end = (size_t)k;
	}
	size_t k = p->end - p->at < (size_t)n ? p->end - p->at : (size_t)n;
	memcpy(out, p->buf + p->at, k);
	p->at += k;
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
	locate(p);
	check(p, p->h->open(p->h->ctx, (const char *)name, p->attr, n, p->e));
}

static void on_close(void *ctx, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri)
{
	(void)name, (void)prefix, (void)uri;
	struct parse *p = ctx;
	if (p->e->code != ST_OK)
		return;
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

/* libxml2's errors are read from the context when the parse has ended. */
static void on_error(void *ctx, xmlErrorPtr error)
{
	(void)ctx, (void)error;
}

static int report(struct parse *p)
{
	char where[XML_WHERE], why[200] = "malformed XML";
	const xmlError *x = xmlCtxtGetLastError(p->ctxt);
	if (p->e->code != ST_OK)
		return -1;
	if (p->read_errno) {
		errno = p->read_errno;
		return err_sys(p->e, ST_RUNTIME, "cannot read '%s'", p->path);
	}
	if (p->bytes == 0)
		return err_set(p->e, ST_INPUT, "%s: empty file", xml_where(where, p->path, 1));
	if (x && x->code == XML_ERR_NO_MEMORY)
		return err_set(p->e, ST_RUNTIME, "out of memory parsing '%s'", p->path);
	if (x && x->message) {
		size_t n = strlen(x->message);
		while (n && x->message[n - 1] == '\n')
			n--;
		err_escape(why, sizeof why, x->message, n);
	}
	return err_set(p->e, ST_INPUT, "%s: malformed or truncated XML: %s",
		       xml_where(where, p->path, x && x->line > 0 ? (uint32_t)x->line : 0), why);
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
	p->ctxt = xmlCreateIOParserCtxt(&sax, p, read_some, NULL, p, XML_CHAR_ENCODING_NONE);
	if (!p->ctxt)
		return err_set(p->e, ST_RUNTIME, "cannot start the XML parser");
	/* NOENT: "&amp;" in an attribute reads "&"; other entities cannot be declared. */
	xmlCtxtUseOptions(p->ctxt, XML_PARSE_NOENT | XML_PARSE_NONET | XML_PARSE_NOERROR |
					   XML_PARSE_NOWARNING);
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
	struct parse p = {
		.h = h, .e = e, .path = err_escape(name, sizeof name, path, strlen(path))};
	struct stat st;
	p.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (p.fd < 0)
		return err_sys(e, ST_RUNTIME, "cannot open '%s'", p.path);
	int rc;
	if (fstat(p.fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		rc = err_set(e, ST_RUNTIME, "cannot read '%s': it is a directory", p.path);
	} else {
		p.buf = MEM_NEWN(char, READ_BYTES);
		rc = run(&p);
		mem_free(p.buf);
		mem_free(p.attr);
	}
	close(p.fd);
	*bytes = p.bytes;
	return rc;
}
