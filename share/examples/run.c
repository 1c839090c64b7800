/* run.c - run a placement: cc run.c $(pkg-config --cflags --libs hsdag-run) -o example
 *
 * ./example STREAM [INPUT]...  INPUT are files of raw elements, in the order of the model's inputs; without one an
 * input is zeros.  It prints each output's name, shape, and how many bytes it has, and writes them to N.raw. */
#include <hsdag/run.h>
#include <inttypes.h>
#include <stdio.h>

static int fill(hsdag_model *m, size_t i, const char *path)
{
	hsdag_tensor t;
	if (hsdag_input(m, i, &t) != HSDAG_OK)
		return -1;
	FILE *f = fopen(path, "rb");
	size_t n = f ? fread(t.data, 1, t.bytes, f) : 0;
	if (f)
		fclose(f);
	return n == t.bytes ? 0 : -1;
}

static int save(hsdag_model *m, size_t i)
{
	hsdag_tensor t;
	char path[40];
	if (hsdag_output(m, i, &t) != HSDAG_OK)
		return -1;
	printf("%s %s [", t.name, t.type);
	for (size_t k = 0; k < t.rank; k++)
		printf("%s%" PRId64, k ? "," : "", t.dim[k]);
	printf("] %zu bytes\n", t.bytes);
	snprintf(path, sizeof path, "%zu.raw", i);
	FILE *f = fopen(path, "wb");
	size_t n = f ? fwrite(t.data, 1, t.bytes, f) : 0;
	return f && fclose(f) == 0 && n == t.bytes ? 0 : -1;
}

int main(int argc, char **argv)
{
	char why[HSDAG_ERROR_BYTES];
	hsdag_model *m;
	int rc = 0;
	if (argc < 2 || hsdag_open(argv[1], NULL, &m, why, sizeof why) != HSDAG_OK) {
		fprintf(stderr, "example: %s\n", argc < 2 ? "no stream is named" : why);
		return 1;
	}
	for (int i = 2; i < argc && rc == 0; i++)
		rc = fill(m, (size_t)i - 2, argv[i]);
	if (rc == 0 && hsdag_run(m) != HSDAG_OK)
		rc = -1;
	for (size_t i = 0; i < hsdag_n_outputs(m) && rc == 0; i++)
		rc = save(m, i);
	if (rc < 0)
		fprintf(stderr, "example: %s\n", *hsdag_error(m) ? hsdag_error(m) : "a file is missing or too short");
	hsdag_close(m);
	return rc < 0;
}
