/* bench_ir.c - speed and memory of reading a large synthetic IR.
 *
 * usage: bench_ir [LAYERS]      (default 200000: about 100 MB; 1000000: about 500)
 * Writes the IR to a temporary file, reads it three times, prints the best. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "record/graphrec.h"
#include "ir/ir.h"

static void dims(FILE *f, const int *d)
{
	for (int i = 0; i < 4; i++)
		fprintf(f, "\t\t\t\t\t<dim>%d</dim>\n", d[i]);
}

static void port(FILE *f, int id, const int *d)
{
	fprintf(f, "\t\t\t\t<port id=\"%d\" precision=\"FP32\">\n", id);
	dims(f, d);
	fputs("\t\t\t\t</port>\n", f);
}

/* A chain of additions of constants, spaced and named as OpenVINO writes models. */
static void write_model(FILE *f, int n)
{
	static const int image[4] = {1, 64, 56, 56}, channels[4] = {1, 64, 1, 1};
	fputs("<?xml version=\"1.0\"?>\n<net name=\"chain\" "
	      "version=\"11\">\n\t<layers>\n\t\t<layer id=\"0\" "
	      "name=\"in\" type=\"Parameter\" version=\"opset1\">\n\t\t\t<data "
	      "shape=\"1,64,56,56\" "
	      "element_type=\"f32\" />\n\t\t\t<output>\n",
	      f);
	port(f, 0, image);
	fputs("\t\t\t</output>\n\t\t</layer>\n", f);
	for (int i = 1; i <= n; i++) {
		fprintf(f,
			"\t\t<layer id=\"%d\" name=\"__module.block.%d.conv/aten::add_/Constant\" "
			"type=\"Const\" "
			"version=\"opset1\">\n\t\t\t<data element_type=\"f32\" shape=\"1, 64, 1, "
			"1\" offset=\"%d\" "
			"size=\"256\" />\n\t\t\t<output>\n",
			2 * i - 1, i, 256 * (i - 1));
		port(f, 0, channels);
		fprintf(f,
			"\t\t\t</output>\n\t\t</layer>\n\t\t<layer id=\"%d\" "
			"name=\"__module.block.%d.conv/aten::add_/Add"
			"\" type=\"Add\" version=\"opset1\">\n\t\t\t<data auto_broadcast=\"numpy\" "
			"/>\n\t\t\t<input>\n",
			2 * i, i);
		port(f, 0, image);
		port(f, 1, channels);
		fputs("\t\t\t</input>\n\t\t\t<output>\n", f);
		port(f, 2, image);
		fputs("\t\t\t</output>\n\t\t</layer>\n", f);
	}
	fprintf(f,
		"\t\t<layer id=\"%d\" name=\"out\" type=\"Result\" "
		"version=\"opset1\">\n\t\t\t<input>\n",
		2 * n + 1);
	port(f, 0, image);
	fputs("\t\t\t</input>\n\t\t</layer>\n\t</layers>\n\t<edges>\n", f);
	for (int i = 1; i <= n; i++)
		fprintf(f,
			"\t\t<edge from-layer=\"%d\" from-port=\"%d\" to-layer=\"%d\" "
			"to-port=\"0\" />\n"
			"\t\t<edge from-layer=\"%d\" from-port=\"0\" to-layer=\"%d\" to-port=\"1\" "
			"/>\n",
			2 * i - 2, i > 1 ? 2 : 0, 2 * i, 2 * i - 1, 2 * i);
	fprintf(f,
		"\t\t<edge from-layer=\"%d\" from-port=\"2\" to-layer=\"%d\" to-port=\"0\" "
		"/>\n\t</edges>\n</net>\n",
		2 * n, 2 * n + 1);
}

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	char path[] = "/tmp/bench_ir.XXXXXX";
	struct ir_report rep = {0};
	struct err e = ERR_INIT;
	struct rusage use;
	double best = 1e9;
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f)
		return 1;
	write_model(f, (argc > 1 ? atoi(argv[1]) : 200000) / 2);
	fclose(f);
	for (int i = 0; i < 3 && e.code == ST_OK; i++) {
		double t = seconds();
		struct graph *g = ir_read(path, NULL, &rep, &e);
		t = seconds() - t;
		best = t < best ? t : best;
		graph_free(g);
	}
	unlink(path);
	if (e.code != ST_OK) {
		fprintf(stderr, "%s\n", e.msg);
		return 1;
	}
	getrusage(RUSAGE_SELF, &use);
	printf("read IR: %u layers, %.0f MB in %.2f s: %.0f MB/s, %.0f bytes of memory a layer\n",
	       rep.n_layers, (double)rep.xml_bytes / 1e6, best, (double)rep.xml_bytes / 1e6 / best,
	       1024.0 * (double)use.ru_maxrss / rep.n_layers);
	return 0;
}
