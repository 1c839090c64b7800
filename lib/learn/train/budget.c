/* budget.c - limits of a training and what is left of them. */
#include "learn/train/budget.h"
#include "base/clock.h"

#include <math.h>

static double now_s(const struct budget *b)
{
	return b->played ? b->played_s : clock_s();
}

void budget_played(struct budget *b, double began_s, double now)
{
	if (!b->played)
		b->start_s = b->episode_start_s = began_s;
	b->played = true;
	b->played_s = now;
}

void budget_start(struct budget *b)
{
	b->start_s = now_s(b);
}

void budget_episode_begin(struct budget *b)
{
	b->episode_start_s = now_s(b);
}

void budget_episode_end(struct budget *b, uint32_t n_steps)
{
	b->steps_s += now_s(b) - b->episode_start_s;
	b->steps_done += n_steps;
}

void budget_moves(struct budget *b)
{
	if (b->move_steps)
		b->steps = b->move_steps;
	if (b->move_episodes)
		b->episodes = b->move_episodes;
}

double budget_spent(const struct budget *b, uint64_t done)
{
	double spent = (double)done / (double)b->episodes;
	if (b->seconds > 0)
		spent = fmax(spent, (now_s(b) - b->start_s) / b->seconds);
	return fmin(1, spent);
}

/* Of one step so far; 0: nothing is known. */
static double step_s(const struct budget *b)
{
	return b->steps_done ? b->steps_s / (double)b->steps_done : 0;
}

uint32_t budget_steps(const struct budget *b, uint64_t done, uint64_t best_episode)
{
	if (done >= b->episodes || (b->patience && done >= best_episode + b->patience))
		return 0;
	if (b->seconds == 0)
		return (uint32_t)b->steps;
	if (b->steps_done == 0)
		return 1;
	double left = b->seconds - (now_s(b) - b->start_s), each = step_s(b);
	if (left <= 0)
		return 0;
	return (uint32_t)(left >= each * (double)b->steps ? (double)b->steps : left / each);
}

double budget_left(const struct budget *b, uint64_t done)
{
	double left = step_s(b) * (double)b->steps * ((double)b->episodes - (double)done);
	return b->seconds > 0 ? fmin(left, b->seconds - (now_s(b) - b->start_s)) : left;
}
