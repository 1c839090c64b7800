// simgrid_replay.cpp - replays schedules on SimGrid 3.32: who runs what in which order is given, when is
// SimGrid's answer.  From standard input, numbers with spaces between them:
//
//   devices media tasks copies
//   for each medium: bytes per second
//   for each pair of devices, row by row: latency, bytes per second, contention (0 fcfs, 1 none, 2 shared; -1: no link), number of
//     media, the media
//   for each task, in the order in which its device runs it: device, seconds, number of copies it waits for, these
//   for each copy, in the order in which its link starts it: task that makes it, destination, bytes, readers
//
// prints the end of each task, then of each copy.  network/model:CM02 without gamma and cross traffic shares max-min fairly; a link's
// latency would be a flow's weight, so links have none, and copies sleep instead.
#include <simgrid/s4u.hpp>

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

struct Pair {
	double latency_s, bytes_per_s;
	int contention;
};
struct Task {
	unsigned device;
	double seconds, end_s = 0;
	std::vector<unsigned> waits;
	std::vector<unsigned> copies;
	sg4::SemaphorePtr done = sg4::Semaphore::create(0);
};
struct Copy {
	unsigned task, to;
	double bytes;
	unsigned readers;
	double end_s = 0;
	sg4::SemaphorePtr here = sg4::Semaphore::create(0);
};

static std::vector<Pair> pairs;
static std::vector<Task> tasks;
static std::vector<Copy> copies;
static std::vector<sg4::Host *> hosts;

template <class T> static T next()
{
	T x;
	if (!(std::cin >> x))
		throw std::runtime_error("input ends too soon");
	return x;
}

static void carry(unsigned c)
{
	Copy &x = copies[c];
	unsigned from = tasks[x.task].device;

	sg4::this_actor::sleep_for(pairs[from * hosts.size() + x.to].latency_s);
	sg4::Comm::sendto(hosts[from], hosts[x.to], (uint64_t)x.bytes);
	x.end_s = sg4::Engine::get_clock();
	for (unsigned i = 0; i < x.readers; i++)
		x.here->release();
}

// A link that carries one copy at a time.
static void serve(std::vector<unsigned> queue)
{
	for (unsigned c : queue) {
		tasks[copies[c].task].done->acquire();
		carry(c);
	}
}

static void compute(unsigned device)
{
	for (Task &t : tasks) {
		if (t.device != device)
			continue;
		for (unsigned c : t.waits)
			copies[c].here->acquire();
		sg4::this_actor::execute(t.seconds);
		t.end_s = sg4::Engine::get_clock();
		for (unsigned c : t.copies) {
			unsigned link = device * hosts.size() + copies[c].to;
			if (pairs[link].contention == 0)
				t.done->release();
			else
				sg4::Actor::create("copy", hosts[device], carry, c);
		}
	}
}

int main(int argc, char **argv)
{
	sg4::Engine e(&argc, argv);
	for (const char *set : {"network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0", "surf/precision:1e-9",
				"maxmin/precision:1e-9"})
		sg4::Engine::set_config(set);
	unsigned k = next<unsigned>(), m = next<unsigned>(), n = next<unsigned>(), n_copies = next<unsigned>();
	auto *zone = sg4::create_full_zone("all");
	std::vector<sg4::Link *> media;
	for (unsigned i = 0; i < k; i++)
		hosts.push_back(zone->create_host("h" + std::to_string(i), 1.0)->seal());
	for (unsigned i = 0; i < m; i++)
		media.push_back(zone->create_link("m" + std::to_string(i), next<double>())->seal());
	for (unsigned i = 0; i < k * k; i++) {
		Pair p;
		p.latency_s = next<double>();
		p.bytes_per_s = next<double>();
		p.contention = next<int>();
		unsigned through = next<unsigned>();
		std::vector<sg4::LinkInRoute> route;
		if (p.contention >= 0) {
			auto *link = zone->create_link("l" + std::to_string(i), p.bytes_per_s);
			if (p.contention == 1)
				link->set_sharing_policy(sg4::Link::SharingPolicy::FATPIPE);
			route.emplace_back(link->seal());
		}
		for (unsigned j = 0; j < through; j++)
			route.emplace_back(media[next<unsigned>()]);
		if (p.contention >= 0)
			zone->add_route(hosts[i / k]->get_netpoint(), hosts[i % k]->get_netpoint(), nullptr, nullptr, route, false);
		pairs.push_back(p);
	}
	zone->seal();
	for (unsigned i = 0; i < n; i++) {
		Task t;
		t.device = next<unsigned>();
		t.seconds = next<double>();
		for (unsigned j = next<unsigned>(); j > 0; j--)
			t.waits.push_back(next<unsigned>());
		tasks.push_back(t);
	}
	std::vector<std::vector<unsigned>> queue(k * k);
	for (unsigned i = 0; i < n_copies; i++) {
		Copy c;
		c.task = next<unsigned>();
		c.to = next<unsigned>();
		c.bytes = next<double>();
		c.readers = next<unsigned>();
		copies.push_back(c);
		tasks[c.task].copies.push_back(i);
		unsigned link = tasks[c.task].device * k + c.to;
		if (pairs[link].contention == 0)
			queue[link].push_back(i);
	}
	for (unsigned i = 0; i < k; i++)
		sg4::Actor::create("device", hosts[i], compute, i);
	for (unsigned i = 0; i < k * k; i++)
		if (!queue[i].empty())
			sg4::Actor::create("link", hosts[i / k], serve, queue[i]);
	e.run();
	for (const Task &t : tasks)
		printf("%.17g\n", t.end_s);
	for (const Copy &c : copies)
		printf("%.17g\n", c.end_s);
	return 0;
}
