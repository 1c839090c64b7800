# learned.mk - placement methods on problems that no training has seen: learned ones beside searches with
# as many simulations, and list schedules.  Makespans over HEFT's, and paired intervals.
#
#   make learned
#     SETS="..."        of giph doppler nine (default: all): tests/support/placement_sets.py, tests/models
#     HALF=test         test: to judge; dev: to develop on; all
#     COUNT=60          problems of a generated set, both halves
#     SPECS="..."       methods with what they may spend, as tests/bench/learned.py takes them
#     BASE=SPEC         whose pairs the intervals are of (default: climb@500)
#     SEEDS="1 2 3"     of the methods
#     AT_ONCE=1         runs side by side; more only where no SPEC has seconds
#
# Problems are in $(B)/learned, what each method made of each problem in $(B)/learned/cache: what is
# there is not made again by the same placebase.
ifneq ($(filter learned $(B)/learned/%,$(MAKECMDGOALS)),)
include pipelines/common.mk

SETS  ?= giph doppler nine
HALF  ?= test
COUNT ?= 60
$(call must_be,SETS,giph doppler nine)
$(call must_be,HALF,dev test all)
LEARNED_SPECS = $(or $(SPECS),heft lookahead climb@100 climb@500 anneal@500 portfolio:plain:10s portfolio:10s)
LEARNED_BASE  = $(or $(BASE),climb@500)
LEARNED_NINE  = inception_v3 googlenet rnnlm nmt2 nmt4 bert_base resnet50 mobilenet_v3_large vit_b_16
LEARNED_DIR   = $(B)/learned
LEARNED_SETS  = $(LEARNED_DIR)/$(COUNT)
LEARNED_PY    = $(or $(HSDAG_PYTHON),python3)
LEARNED_PROGS = $(addprefix $(B)/bin/,ir2dag dagfeat json2dag placebase devsim recdump)
learned_job   = $(call job,$(LEARNED_DIR)/.lock) $@ bash -o pipefail -c
learned_sets  = tests/support/placement_sets.py

# Words SET:NAME:ARGUMENTS of placement_sets.py.
LEARNED_LIST := $(shell python3 $(learned_sets) --list $(COUNT) | tr ' ' :)
learned_word  = $(word $(2),$(subst :, ,$(1)))
learned_file  = $(LEARNED_SETS)/$(call learned_word,$(1),1)/$(call learned_word,$(1),2).mp

define learned_problem
$(call learned_file,$(1)): $(learned_sets) | $(LEARNED_PROGS)
	$$(learned_job) 'python3 $(learned_sets) $(wordlist 3,5,$(subst :, ,$(1))) | json2dag'
endef
$(foreach w,$(LEARNED_LIST),$(eval $(call learned_problem,$(w))))

$(LEARNED_SETS)/nine/%.mp: tests/models/%.xml | $(LEARNED_PROGS)
	$(learned_job) 'ir2dag $< | dagfeat | devsim --probe --spec paper'

LEARNED_PROBLEMS = $(foreach w,$(filter $(addsuffix :%,$(SETS)),$(LEARNED_LIST)),$(call learned_file,$(w))) \
  $(if $(filter nine,$(SETS)),$(LEARNED_NINE:%=$(LEARNED_SETS)/nine/%.mp))

learned: $(LEARNED_PROBLEMS)
	@PATH="$(abspath $(B))/bin:$$PATH" $(LEARNED_PY) tests/bench/learned.py -d $(SETS:%=$(LEARNED_SETS)/%) \
	  -m $(LEARNED_SPECS) --base $(LEARNED_BASE) --seeds $(call commas,$(SEEDS)) --half $(HALF) \
	  --cache $(LEARNED_DIR)/cache -j $(or $(AT_ONCE),1) --rows $(LEARNED_DIR)/learned.tsv > $(LEARNED_DIR)/learned.md.tmp
	@mv $(LEARNED_DIR)/learned.md.tmp $(LEARNED_DIR)/learned.md
	@cat $(LEARNED_DIR)/learned.md
	@echo "table: $(LEARNED_DIR)/learned.md, rows: $(LEARNED_DIR)/learned.tsv"

.PHONY: learned
.PRECIOUS: $(LEARNED_SETS)/nine/%.mp
endif
