# quality.mk - how good is every method of placebase on the task graphs of the literature?  Makespans beside
# HEFT's and the best lower bound, and times.
#
#   make quality [FAMILIES="gauss lstm"] [SIZES=30,150] [DEVICES=3] [SEEDS="1 2"] [BUDGET=1] [METHODS=heft,anneal] [LAUNCH=...]
#
# One file per family in $(B)/quality; what is there is not made again.  tests/families.py makes the graphs.
ifneq ($(filter quality $(B)/quality/%,$(MAKECMDGOALS)),)
include pipelines/common.mk

SIZES    ?= 30,150
DEVICES  ?= 3
BUDGET   ?= 1
METHODS  ?=
QUALITY_DIR = $(B)/quality/$(SIZES)x$(DEVICES)-$(BUDGET)s
QUALITY_PY  = $(or $(HSDAG_PYTHON),$(B)/venv/bin/python)
FAMILIES   ?= $(shell python3 tests/families.py --list)
space      := $(subst ,, )
QUALITY_ROWS = $(FAMILIES:%=$(QUALITY_DIR)/%.tsv)

$(QUALITY_DIR)/%.tsv: | $(addprefix $(B)/bin/,json2dag placebase devsim)
	@mkdir -p $(@D)
	@echo "  PLACE $*"
	@PATH=$(realpath $(B))/bin:$$PATH $(LAUNCH) $(QUALITY_PY) tests/quality.py -f $* -n $(SIZES) -k $(DEVICES) \
	  -s $(subst $(space),$(comma),$(strip $(SEEDS))) -b $(BUDGET) $(if $(METHODS),-m $(METHODS)) > $@.tmp
	@mv $@.tmp $@

quality: $(QUALITY_ROWS)
	@$(QUALITY_PY) tests/quality.py $(QUALITY_ROWS) > $(QUALITY_DIR)/quality.md.tmp
	@mv $(QUALITY_DIR)/quality.md.tmp $(QUALITY_DIR)/quality.md
	@cat $(QUALITY_DIR)/quality.md
	@echo "table: $(QUALITY_DIR)/quality.md, rows: $(QUALITY_DIR)/*.tsv"

.PHONY: quality
endif
