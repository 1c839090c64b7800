# runtimes.mk - what other runtimes would do: their placement rules beside the portfolio, simulated, where accelerators have a part of
# the memory that the model needs.
#
#   make runtimes
#     MEMORY=60      accelerators' memory, percent of what the model needs on one device
#     BUDGET=10      seconds of the portfolio
#     LAUNCH=...     in front of each job
#
# One file per model in $(B)/runtimes; what is there is not made again.
ifneq ($(filter runtimes $(B)/runtimes/%,$(MAKECMDGOALS)),)
include pipelines/common.mk

MEMORY  ?= 60
BUDGET  ?= 10
RUNTIMES_PY   = $(or $(HSDAG_PYTHON),$(B)/venv/bin/python)
RUNTIMES_DIR  = $(B)/runtimes/$(MEMORY)-$(BUDGET)s
RUNTIMES_ROWS = $(patsubst %,$(RUNTIMES_DIR)/%.tsv,$(shell python3 tests/bench/runtimes.py --list))

$(RUNTIMES_DIR)/%.tsv: | $(addprefix $(B)/bin/,ir2dag placebase devsim)
	$(call timed_job,$(RUNTIMES_DIR)/.lock) $@ $(RUNTIMES_PY) tests/bench/runtimes.py --memory $(MEMORY) --budget $(BUDGET) $*

runtimes: $(RUNTIMES_ROWS)
	@$(RUNTIMES_PY) tests/bench/runtimes.py --table $^

.PHONY: runtimes
endif
