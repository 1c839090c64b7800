# regret.mk - what is lost between a search and its answer, on machines that are played (devsim --machine), whose truth
# is known: undisturbed times of what was handed over beside those of the best of what was proposed, of the best start, and
# of the portfolio on the true costs.
#
#   make regret
#     MODELS="..."      names of tests/models or paths of .xml (default: nmt2 rnnlm inception_v3 googlenet)
#     PROBLEMS="..."    more problems: streams with features and costs, as ir2dag, dagfeat and devrun probe --profile make
#                       them; their costs, savings of neighbours included, are those of a real machine
#     MACHINES="..."    as devsim --machine takes them (default: calm shared wild)
#     METHODS="..."     as tests/bench/regret.py has them (default: heft portfolio judged race place)
#     BUDGETS="5 15 60" seconds of the machine, for methods that run as long as they may; 100r: as 100 runs of HEFT's placement take
#     SEEDS="1 2 3"     of machines and methods
#     PORTFOLIO=3       seconds of real time of each portfolio
#     COSTS="..."       what adds devices and costs to a graph (default: devsim --probe on two desktop processors)
#     AT_ONCE=1         trials side by side
#
# Problems are in $(B)/regret, each trial in $(B)/regret/cache: what is there is not made again by the same programs.
ifneq ($(filter regret $(B)/regret/%,$(MAKECMDGOALS)),)
include pipelines/common.mk

REGRET_MODELS   = $(or $(MODELS),nmt2 rnnlm inception_v3 googlenet)
REGRET_MACHINES = $(or $(MACHINES),calm shared wild)
REGRET_METHODS  = $(or $(METHODS),heft portfolio judged race place)
REGRET_BUDGETS  = $(or $(BUDGETS),5 15 60)
REGRET_COSTS    = $(or $(COSTS),devsim --probe --spec desktop-cpu -D cpu:0$(comma)cpu:1)
REGRET_DIR      = $(B)/regret
REGRET_IN       = $(REGRET_DIR)/$(call file_part,$(subst $(space),_,$(REGRET_COSTS)))
REGRET_PY       = $(or $(HSDAG_PYTHON),python3)
REGRET_PROGS    = $(addprefix $(B)/bin/,ir2dag dagfeat devsim devrun placebase gpnembed placepolicy reinforce topk recdump)
$(call one_of_each,$(REGRET_MODELS))

define regret_problem
$(REGRET_IN)/$(call model_name,$(1)).mp: $(call model_files,$(1)) | $(REGRET_PROGS)
	$$(call timed_job,$(REGRET_DIR)/.lock) $$@ bash -o pipefail -c 'ir2dag $(firstword $(call model_files,$(1))) | dagfeat | $(REGRET_COSTS)'
endef
$(foreach m,$(REGRET_MODELS),$(eval $(call regret_problem,$(m))))
REGRET_PROBLEMS = $(foreach m,$(REGRET_MODELS),$(REGRET_IN)/$(call model_name,$(m)).mp) $(PROBLEMS)

regret: $(REGRET_PROBLEMS)
	@PATH="$(abspath $(B))/bin:$(abspath pipelines):$$PATH" B=$(abspath $(B)) $(REGRET_PY) tests/bench/regret.py \
	  -d $(REGRET_PROBLEMS) -m $(REGRET_METHODS) --machines $(REGRET_MACHINES) --budgets $(REGRET_BUDGETS) \
	  --seeds $(call commas,$(SEEDS)) --portfolio $(or $(PORTFOLIO),3) --cache $(REGRET_DIR)/cache \
	  -j $(or $(AT_ONCE),1) --rows $(REGRET_DIR)/regret.tsv > $(REGRET_DIR)/regret.md.tmp
	@mv $(REGRET_DIR)/regret.md.tmp $(REGRET_DIR)/regret.md
	@cat $(REGRET_DIR)/regret.md
	@echo "table: $(REGRET_DIR)/regret.md, rows: $(REGRET_DIR)/regret.tsv"

.PHONY: regret
endif
