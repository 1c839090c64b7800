/* devsim - in the place of devrun: predicts what a placement would take, by the
 * scheduler that devrun uses and a virtual clock.  With --probe, in front of the
 * learner: adds devices and costs from a specification.  Its options are in
 * devsim/devsim_command.h; what it does to a stream is in devsim/devsim_filter.h. */
#include "devsim/devsim_command.h"
#include "stream/filter.h"

#include <stdio.h>

static void print_machines(void)
{
	opt_print("--machine plays a machine: true costs are those of the stream (or --spec) times "
		  "errors, its clock goes on by what runs take, and placements are measured as "
		  "by devrun, when their episode or the stream ends. SPEC is one or more of "
		  "these, files and KEY=VALUE, joined with commas, where what comes later wins:");
	for (const struct machine_preset *p = machine_presets; p->name; p++)
		printf("  %-15s %s\n", p->name, p->about);
	opt_print("Keys (errors, noise and drift: standard deviations of logarithms):");
	for (const struct machine_key *k = machine_keys; k->name; k++)
		printf("  %-15s %s\n", k->name, k->about);
	printf("\n");
}

static void print_lists(void)
{
	print_machines();
	opt_print("Costs, links and memory come from --spec, else from the stream's cost and devs "
		  "records. A specification is a file or one of the presets");
	for (const struct preset *p = presets; p->name; p++)
		printf("  %-15s %s\n", p->name, p->about);
}

int main(int argc, char **argv)
{
	struct devsim_command c;
	struct err e = ERR_INIT;
	struct filter f;
	int rc = devsim_command_parse(&c, argc, argv, print_lists, &e);
	if (rc <= 0)
		return filter_finish(rc, &c.common, &e);
	struct devsim *s = devsim_new(&c.filter, (uint64_t)c.common.seed, &e);
	rc = s ? filter_open(&f, c.file, &c.common, argc, argv, &e) : -1;
	if (rc == 0)
		rc = filter_close(&f, devsim_run(s, &f, &e), &e);
	devsim_free(s);
	return filter_finish(rc, &c.common, &e);
}
