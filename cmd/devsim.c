/* devsim - in the place of devrun: predicts what a placement would take, by the
 * scheduler that devrun uses and a virtual clock.  With --probe, in front of the
 * learner: adds devices and costs from a specification.  Its options are in
 * devsim/devsim_command.h; what it does to a stream is in devsim/devsim_filter.h. */
#include "devsim/devsim_command.h"
#include "stream/filter.h"

int main(int argc, char **argv)
{
	struct devsim_command c;
	struct err e = ERR_INIT;
	struct filter f;
	int rc = devsim_command_parse(&c, argc, argv, &e);
	if (rc <= 0)
		return filter_finish(rc, &c.common, &e);
	struct devsim *s = devsim_new(&c.filter, (uint64_t)c.common.seed, &e);
	rc = s ? filter_open(&f, c.file, &c.common, argc, argv, &e) : -1;
	if (rc == 0)
		rc = filter_close(&f, devsim_run(s, &f, &e), &e);
	devsim_free(s);
	return filter_finish(rc, &c.common, &e);
}
