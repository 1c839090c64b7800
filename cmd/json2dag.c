/* json2dag - a cost graph in JSON, DOT or STG becomes graph, devs and cost records: problems that are not
 * IR, in the place of ir2dag and a probe. */
#include <stdio.h>

#include "base/msg.h"
#include "base/opt.h"
#include "place/forms/forms.h"
#include "stream/filter.h"

static void print_forms(void)
{
	const char *name, *about;

	printf("Forms:\n");
	for (size_t i = 0; (name = form_at(i, &about)); i++)
		printf("  %-17s %s\n", name, about);
}

static int write_stream(const struct json_problem *p, const struct opt_common *common, int argc,
			char **argv, struct err *e)
{
	struct filter f;

	if (filter_open(&f, NULL, common, argc, argv, e) < 0)
		return -1;
	int k = 0;
	if (filter_begin(&f, e) < 0 || json_problem_write(p, f.out, e) < 0 || filter_end(&f, e) < 0)
		k = -1;
	return filter_close(&f, k, e);
}

static int run(const char *path, const struct form_options *o, const struct opt_common *common,
	       int argc, char **argv, struct err *e)
{
	struct arena *a = arena_new();
	struct json_problem p;
	int rc = form_read_graph(path, o, a, &p, e);

	if (rc == 0) {
		msg_note(1, "'%s': %u nodes, %u edges, %u devices", path, p.n, p.n_edges, p.devs.k);
		rc = write_stream(&p, common, argc, argv, e);
		if (rc < 0 && e->code == ST_INPUT)
			err_prefix(e, "'%s'", path);
	}
	arena_free(a);
	return rc;
}

int main(int argc, char **argv)
{
	struct opt_common common = OPT_COMMON_INIT;
	struct form_options o = {.unit_s = 1};
	const struct opt opts[] = {
		{"spec", 's', OPT_TEXT, &o.spec, "LIST",
		 "for files that tell no devices: these devices and links, as in devsim.\n"
		 "A task takes what the file tells on the first of them, on others by their\n"
		 "FLOP/s",
		 0, 0, NULL, NULL},
		{"devices", 'D', OPT_TEXT, &o.devices, "LIST",
		 "devices of --spec, as in gpu:0,gpu:1 (default: each once)", 0, 0, NULL, NULL},
		{"network", 'n', OPT_TEXT, &o.network, "FILE",
		 "for a task graph of SAGA: its network", 0, 0, NULL, NULL},
		{"unit", 'u', OPT_REAL, &o.unit_s, "SECONDS",
		 "of a unit of time, where files tell none (dot, stg)", 1e-30, 1e30, NULL, NULL},
		{"form", 'f', OPT_TEXT, &o.form, "NAME",
		 "the file's form (default: by its content)", 0, 0, NULL, NULL},
		{0}};
	const struct opt_program program = {
		.name = "json2dag",
		.summary = "turn a cost graph in JSON, DOT or STG into records",
		.args = "[FILE]",
		.max_args = 1,
		.opts = opts,
		.print_details = print_forms,
		.details =
			"The general form, in SI units; keys that are not known are ignored:\n"
			"  {\"devices\": [{\"name\", \"type\"?, \"mem_bytes\"?, \"watts\"?, "
			"\"idle_watts\"?,\n"
			"                \"turns\"?}],\n"
			"   \"links\": [{\"src\", \"dst\", \"latency_s\", \"bytes_per_s\", "
			"\"j_per_byte\"?,\n"
			"              \"port\"?, \"contention\"?, \"media\"?}],\n"
			"   \"ports\"?: [{\"device\", \"name\", \"out_bytes_per_s\"?, "
			"\"in_bytes_per_s\"?}],\n"
			"   \"media\"?: [{\"name\", \"bytes_per_s\"}],\n"
			"   \"nodes\": [{\"id\", \"name\"?, \"type\"?, \"cost_s\", "
			"\"mem_bytes\"?,\n"
			"              \"out_bytes\"?, \"allowed\"?, \"colocate\"?}],\n"
			"   \"edges\": [{\"src\", \"dst\", \"bytes\"?, \"tensor\"?}],\n"
			"   \"options\": {\"contention\"?, \"overlap\"?, \"order\"?}}\n"
			"id is any integer or text. cost_s is one number, or an object with a "
			"number for "
			"each device that can run the node. mem_bytes of a device, or "
			"maxSizePerFPGA, that is 0 "
			"or absent is no limit; mem_bytes of a node is held for the whole run; "
			"out_bytes, what it makes. Nodes of equal colocate share a device. A "
			"link's \"*\" is "
			"any device; exact names win over it, later links over earlier ones; a "
			"pair of "
			"devices without a link cannot exchange data. Edges without bytes carry "
			"the "
			"source's out_bytes; edges of one source with equal bytes and tensor "
			"(an integer, 0) carry the same tensor. order is \"rank\" (default) or "
			"\"fifo\". watts, "
			"idle_watts and "
			"j_per_byte are for devsim --objective energy. turns: names of devices "
			"with which this one never computes at once. Links with the same port "
			"that leave a device share its way out of this name, those that reach "
			"it its way in; ports tell their rates, where they are not those of the "
			"fastest of these links. contention of a link is fcfs, none or shared; "
			"media, a list of names, makes it shared with others.\n\n"
			"operators: no devices, links and ports; nodes may have flops and bytes in "
			"place of cost_s. With --spec a node takes a device its overhead and the "
			"longer of flops / FLOP/s and bytes / bandwidth; one of 0 flops and 0 "
			"bytes "
			"no time.\n\n"
			"dot: cost, time or weight of a node are units of time, flops or size "
			"(as in "
			"SimGrid) what it computes; bytes, size, data or weight of an edge are "
			"bytes.",
		.example = "json2dag instance.json | placebase heft | devsim | recdump -k run"};
	struct err e = ERR_INIT;
	int first, rc = opt_parse(&program, &common, argc, argv, &first, &e);

	if (rc > 0)
		rc = run(first < argc ? argv[first] : "-", &o, &common, argc, argv, &e);
	return filter_finish(rc, &common, &e);
}
