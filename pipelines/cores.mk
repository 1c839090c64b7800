# cores.mk - what `place` hands over on this machine's devices, beside HEFT alone and the portfolio alone, judged in one race.
#
#   make cores
#     MODELS="..."      names of tests/models or paths of .xml (default: nmt2 rnnlm googlenet)
#     DEVICES=...       (default: cpu:0,cpu:1,cpu)
#     BUDGETS="15 40"   seconds of place
#     TIMES=5           how often each
#     JUDGE=15          seconds of the race that judges
#
#   make cores-unseen
#     NETS="nmt8 nmt6 towers3"   networks that tests/bench/unseen_nets.py makes, from each of SEEDS=1
#     BUDGETS="10 15 20 30 40" TIMES=10, and what else `make cores` takes: 50 trials of each network, some five hours
#
# Trials are in $(B)/cores/cache: what is there is not made again by the same programs.  The table is written anew after each,
# so it may be stopped at any time, and goes on when it is started again; more TIMES add to what is there.  Nothing else
# should run.
ifneq ($(filter cores cores-unseen,$(MAKECMDGOALS)),)
include pipelines/common.mk

ifneq ($(filter cores-unseen,$(MAKECMDGOALS)),)
CORES_NETS  := $(foreach n,$(or $(NETS),nmt8 nmt6 towers3),$(foreach s,$(or $(SEEDS),1),$(B)/cores/nets/$(n)-$(s).xml))
CORES_USUAL := 10 15 20 30 40
CORES_TIMES := 10
else
CORES_USUAL := 15 40
CORES_TIMES := 5
endif

CORES_MODELS = $(or $(CORES_NETS),$(MODELS),nmt2 rnnlm googlenet)
CORES_DIR    = $(B)/cores
CORES_PY     = $(or $(HSDAG_PYTHON),python3)
CORES_PROGS  = $(addprefix $(B)/bin/,ir2dag dagfeat devsim devrun placebase gpnembed placepolicy reinforce placeout recdump irfill)

cores: $(CORES_PROGS) $(CORES_NETS)
	@mkdir -p $(CORES_DIR)
	@PATH="$(abspath $(B))/bin:$(abspath pipelines):$$PATH" B=$(abspath $(B)) $(CORES_PY) tests/bench/cores.py \
	  -m $$(pipelines/fill.sh $(B)/models $(CORES_MODELS)) -D $(or $(DEVICES),cpu:0$(comma)cpu:1$(comma)cpu) \
	  --budgets $(call commas,$(or $(BUDGETS),$(CORES_USUAL))) --times $(or $(TIMES),$(CORES_TIMES)) --judge $(or $(JUDGE),15) \
	  --cache $(CORES_DIR)/cache --rows $(CORES_DIR)/cores.tsv --table $(CORES_DIR)/cores.md
	@cat $(CORES_DIR)/cores.md
	@echo "table: $(CORES_DIR)/cores.md, rows: $(CORES_DIR)/cores.tsv"

$(B)/cores/nets/%.xml: tests/bench/unseen_nets.py
	@mkdir -p $(@D)
	@$(CORES_PY) $< $(firstword $(subst -, ,$*)) $@ --seed $(lastword $(subst -, ,$*))

cores-unseen: cores

.PHONY: cores cores-unseen
endif
