/* placepolicy - the policy: for each partition, placements drawn from the
 * probabilities of its groups (or the most probable one), or where costs are known
 * placements and moves by them; and at the start of a training run one placement
 * per single device.  What it does to a stream is in placepolicy/placepolicy_filter.h. */
#include <stdio.h>

#include "base/opt.h"
#include "placepolicy/placepolicy_filter.h"

int main(int argc, char **argv)
{
	struct placepolicy_options o = {.samples = 1};
	const char *net = NULL;
	struct opt_common common = OPT_COMMON_INIT;
	struct err e = ERR_INIT;
	const struct opt opts[] = {
		{"devices", 'D', OPT_TEXT, &o.list, "LIST",
		 "devices, where no devs record names them: cpu:0,cl:0.0:1", 0, 0, NULL, NULL},
		{"net", 0, OPT_TEXT, &net, "NAME",
		 "refuse parameters of another network; `list` has the names\n"
		 "(default: the network that the parameters name)",
		 0, 0, NULL, NULL},
		{"greedy", 'g', OPT_FLAG, &o.greedy, NULL,
		 "the most probable placement instead of a draw; with costs their first one", 0, 0,
		 NULL, NULL},
		{"samples", 'n', OPT_INT, &o.samples, "N",
		 "placements drawn per partition; in a loop reinforce may ask for another number",
		 1, 65536, NULL, &o.samples_given},
		{"anchors", 'a', OPT_FLAG, &o.single_reference, NULL,
		 "one pass: first a placement on every single device", 0, 0, NULL, NULL},
		{"hand-over", 0, OPT_FLAG, &o.hand_over, NULL,
		 "in a loop: leave what a recurrent network computed in memory, where reinforce, "
		 "if it\n"
		 "runs on this machine, finds it instead of computing it again",
		 0, 0, NULL, NULL},
		{"keep", 'k', OPT_FLAG, &o.keep, NULL, "one pass: keep the groups' embeddings", 0,
		 0, NULL, NULL},
		{0},
	};
	const struct opt_program program = {
		.name = "placepolicy",
		.summary = "choose a device for every group of a partition",
		.args = "[FILE]",
		.max_args = 1,
		.has_seed = true,
		.opts = opts,
		.details =
			"Random numbers are addressed by seed, episode, step and sample. "
			"Devices whose mask\n"
			"excludes a set of a group are never chosen for it. In a loop the "
			"anchors are placed when\n"
			"reinforce asks for them.\n"
			"\n"
			"With a cost record and params of block `costs` (gpnembed sends them) the "
			"policy sees costs: the\n"
			"first placement is the best of several list schedules as predicted, and "
			"others are moves around\n"
			"it, or around the incumbent of a loop: 64 are drawn, and one is chosen, "
			"the best by its score,\n"
			"or where --samples asks for several each by the softmax of the scores.",
		.example =
			"... gpnembed --params result.mp | placepolicy -D cpu:0,cpu:1 --greedy |\n"
			"  placeout"};
	int first, rc = opt_parse(&program, &common, argc, argv, &first, &e);
	if (rc > 0 && net)
		rc = net_option(net, stdout, &o.net, &e);
	if (rc <= 0)
		return filter_finish(rc, &common, &e);
	struct placepolicy *s = placepolicy_new(&o, (uint64_t)common.seed, &e);
	struct filter f;
	rc = s ? filter_open(&f, first < argc ? argv[first] : "-", &common, argc, argv, &e) : -1;
	if (rc == 0)
		rc = filter_close(&f, placepolicy_run(s, &f, &e), &e);
	placepolicy_free(s);
	return filter_finish(rc, &common, &e);
}
