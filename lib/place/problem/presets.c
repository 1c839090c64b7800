/* presets.c - built-in device specifications.
 *
 * Peaks, bandwidths and busy watts (thermal design or turbo power) are the makers' figures, for
 * f32.  Efficiencies, overheads, idle watts and the joules per byte of a copy are round
 * assumptions, the same for devices of one kind; a specification of one's own or measured costs
 * are better where they can be had. */
#include "place/problem/spec.h"

/* Through the host's memory: between devices that have no bus of their own. */
#define HOST_LINK(a, b) "link " a " " b " latency 10e-6 bandwidth 1e10 j_per_byte 1e-10\n"
#define BOTH_WAYS(name, figures) "link " name " * " figures "\nlink * " name " " figures "\n"
#define PCIE4_X16 "latency 10e-6 bandwidth 2.5e10 j_per_byte 1e-10"

#define DESKTOP_CPU \
	"# 8 cores x 32 FLOP per cycle x 4.0 GHz, two channels of DDR5-4800\n" \
	"device cpu flops 1.0e12 efficiency 0.5 bandwidth 7.7e10 overhead 3e-6 memory 3.2e10" \
	" watts 105 idle 10\n"
#define INTEGRATED_GPU \
	"# 96 execution units x 16 FLOP per cycle x 1.35 GHz, behind the same memory\n" \
	"device igpu flops 2.1e12 efficiency 0.5 bandwidth 6.0e10 overhead 8e-6 memory 1.6e10" \
	" watts 25 idle 1\n" BOTH_WAYS("igpu", "latency 5e-6 bandwidth 2e10 j_per_byte 5e-11")
#define DATACENTER_GPU \
	"# NVIDIA A100 SXM 40 GB without tensor cores, PCI Express 4.0 x16\n" \
	"device gpu flops 1.95e13 efficiency 0.5 bandwidth 1.55e12 overhead 5e-6 memory 4.0e10" \
	" watts 400 idle 50\n" BOTH_WAYS("gpu", PCIE4_X16)
#define PAPER \
	"# Core i9-12900K: 8 P-cores x 32 x 4.9 GHz and 8 E-cores x 16 x 3.7 GHz, DDR5-4800\n" \
	"device cpu flops 1.7e12 efficiency 0.5 bandwidth 7.7e10 overhead 3e-6 memory 6.4e10" \
	" watts 241 idle 15\n" \
	"# Data Center GPU Flex 170: 512 execution units x 16 x 1.95 GHz, 16 GB of GDDR6\n" \
	"device gpu flops 1.6e13 efficiency 0.5 bandwidth 5.7e11 overhead 8e-6 memory 1.6e10" \
	" watts 150 idle 20\n" BOTH_WAYS("gpu", PCIE4_X16) HOST_LINK("cpu", "cpu")

const struct preset presets[] = {
	{"desktop-cpu", "a desktop processor with 8 cores (cpu)", DESKTOP_CPU HOST_LINK("*", "*")},
	{"integrated-gpu", "a GPU on the processor's die (igpu)", INTEGRATED_GPU},
	{"datacenter-gpu", "a data-centre GPU on PCI Express (gpu)", DATACENTER_GPU},
	{"paper", "the paper's machine: i9-12900K (cpu) and Flex 170 (gpu)", PAPER},
	{NULL, NULL, NULL}};
