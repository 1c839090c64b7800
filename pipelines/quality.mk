# quality.mk - how good is every method of placebase on the task graphs of the literature?
# Makespans beside HEFT's and the best lower bound, and times.  tests/support/families.py makes the graphs.
#
#   make quality
#     FAMILIES="..."    of tests/support/families.py --list (default: all)
#     SIZES=30,150      tasks of a graph
#     DEVICES=3         how many
#     SEEDS="1 2 3"     of the graphs
#     BUDGET=1          seconds of each search (0: as long as it takes by itself)
#     METHODS=a,b       of placebase --list (default: all)
#     LAUNCH=...        in front of each job
#
# One file per family in $(B)/quality; what is there is not made again.  Families run one
# after another where BUDGET lets the clock decide.
ifneq ($(filter quality $(B)/quality/%,$(MAKECMDGOALS)),)
include pipelines/common.mk

SIZES    ?= 30,150
DEVICES  ?= 3
BUDGET   ?= 1
METHODS  ?=
FAMILIES ?= $(shell python3 tests/support/families.py --list)
QUALITY_SETTING = $(SIZES)x$(DEVICES)-$(BUDGET)s-seeds-$(call commas,$(SEEDS))
QUALITY_DIR  = $(B)/quality/$(QUALITY_SETTING)$(addprefix -,$(METHODS))
QUALITY_PY   = $(or $(HSDAG_PYTHON),$(B)/venv/bin/python)
QUALITY_PROGS = $(addprefix $(B)/bin/,json2dag placebase devsim)
QUALITY_ROWS = $(FAMILIES:%=$(QUALITY_DIR)/%.tsv)
quality_job  = $(call $(if $(filter-out 0,$(BUDGET)),timed_job,job),$(QUALITY_DIR)/.lock)

$(QUALITY_DIR)/%.tsv: | $(QUALITY_PROGS)
	$(quality_job) $@ $(QUALITY_PY) tests/bench/quality.py -f $* -n $(SIZES) -k $(DEVICES) \
	  -s $(call commas,$(SEEDS)) -b $(BUDGET) $(addprefix -m ,$(METHODS))

quality: $(QUALITY_ROWS)
	@$(QUALITY_PY) tests/bench/quality.py $^ > $(QUALITY_DIR)/quality.md.tmp
	@mv $(QUALITY_DIR)/quality.md.tmp $(QUALITY_DIR)/quality.md
	@cat $(QUALITY_DIR)/quality.md
	@echo "table: $(QUALITY_DIR)/quality.md, rows: $(QUALITY_DIR)/*.tsv"

.PHONY: quality
endif
