# cores.mk - what `place` hands over on this machine's devices, beside HEFT alone and the portfolio alone, judged in one race.
#
#   make cores
#     MODELS="..."      names of tests/models or paths of .xml (default: nmt2 rnnlm googlenet)
#     DEVICES=...       (default: cpu:0,cpu:1,cpu)
#     BUDGETS="15 40"   seconds of place
#     TIMES=5           how often each
#     JUDGE=15          seconds of the race that judges
#
# Trials are in $(B)/cores/cache: what is there is not made again by the same programs.  The table is written anew after each,
# so it may be stopped at any time, and goes on when it is started again; more TIMES add to what is there.  Nothing else
# should run.
ifneq ($(filter cores,$(MAKECMDGOALS)),)
include pipelines/common.mk

CORES_MODELS = $(or $(MODELS),nmt2 rnnlm googlenet)
CORES_DIR    = $(B)/cores
CORES_PY     = $(or $(HSDAG_PYTHON),python3)
CORES_PROGS  = $(addprefix $(B)/bin/,ir2dag dagfeat devsim devrun placebase gpnembed placepolicy reinforce placeout recdump irfill)

cores: $(CORES_PROGS)
	@mkdir -p $(CORES_DIR)
	@PATH="$(abspath $(B))/bin:$(abspath pipelines):$$PATH" B=$(abspath $(B)) $(CORES_PY) tests/bench/cores.py \
	  -m $$(pipelines/fill.sh $(B)/models $(CORES_MODELS)) -D $(or $(DEVICES),cpu:0$(comma)cpu:1$(comma)cpu) \
	  --budgets $(call commas,$(or $(BUDGETS),15 40)) --times $(or $(TIMES),5) --judge $(or $(JUDGE),15) \
	  --cache $(CORES_DIR)/cache --rows $(CORES_DIR)/cores.tsv --table $(CORES_DIR)/cores.md
	@cat $(CORES_DIR)/cores.md
	@echo "table: $(CORES_DIR)/cores.md, rows: $(CORES_DIR)/cores.tsv"

.PHONY: cores
endif
