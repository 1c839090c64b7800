# Checks beside `make test`: the tree itself, an older build, longer fuzzing.

layers: $(OBJS)
	@python3 tests/tree/layers.py lib $(B)/obj
	@python3 tests/tree/kinds.py

# clang-format 14 decides; other versions format otherwise.
CLANG_FORMAT ?= clang-format
style:
	@python3 tests/tree/conditions.py tests
	@CLANG_FORMAT=$(CLANG_FORMAT) tests/tree/style

# TYPED=1: with the budgets and models that are written there, some half an hour.
docs:
	@$(DEPS) $(B)/venv
	@+$(BUILD) all
	@B=$(abspath $(B)) PATH="$(abspath $(B))/bin:$$PATH" HSDAG_PYTHON=$(abspath $(B))/venv/bin/python \
	  $(B)/venv/bin/python tests/tree/docs.py $(if $(TYPED),--typed)

golden:
	@$(DEPS) $(B)/venv
	@+$(BUILD) all
	@HSDAG_PYTHON=$(abspath $(B))/venv/bin/python tests/golden/compare $(OLD) $(B)/bin

# Longer than the tests: N damaged inputs a program and N random networks, under the sanitizers.
N ?= 2000
fuzz:
	@$(DEPS) $(B)/venv
	@+$(BUILD) all $(B)/asan/tests/fuzz_ir $(SANITIZED)
	$(B)/asan/tests/fuzz_ir -n $(N) tests/bad/ir/*.xml tests/models/small_*.xml \
	  tests/models/if_body.xml tests/models/loop_2d_add.xml tests/models/tensor_iterator.xml
	HOSTILE=$(N) HSDAG_PYTHON=$(abspath $(B))/venv/bin/python B=$(B)/asan \
	  bats -f damaged tests/fuzz/hostile.bats
	HSDAG_PYTHON=$(abspath $(B))/venv/bin/python NETS=1-$(N) B=$(B)/asan bats tests/fuzz/nets.bats

# Task graphs on equal processors: how many are proved in time, whatever the order.
FREE ?= --tasks 10 --budget 1
free-orders:
	@+$(BUILD) all
	PATH="$(abspath $(B))/bin:$$PATH" python3 tests/bench/free_orders.py $(FREE)

# Random networks, cut by dagsplit, beside as they are.
SEEDS ?= 1-200
split-check:
	@$(DEPS) $(B)/venv
	@+$(BUILD) all
	PATH="$(abspath $(B))/bin:$$PATH" ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 \
	  $(B)/venv/bin/python tests/oracle/split.py --seeds $(SEEDS) --openvino

# Shared links, media and first-come links beside SimGrid.  apt-get install libsimgrid-dev g++
SIMGRID ?= 0 100
simgrid-check:
	@$(DEPS) $(B)/venv
	@+$(BUILD) all
	mkdir -p $(B)/simgrid
	g++ -O1 -std=c++17 -o $(B)/simgrid/replay tests/oracle/simgrid_replay.cpp -lsimgrid
	@PATH="$(abspath $(B))/bin:$$PATH" PYTHONPATH=tests/support $(B)/venv/bin/python tests/oracle/against_simgrid.py \
	  $(B)/simgrid/replay $(SIMGRID)

# Models of hundreds of billions of weights on clusters, simulated, in parts and whole.
GIANT   ?=
giants:
	@$(DEPS) $(B)/venv
	@+$(BUILD) all
	@PATH="$(abspath $(B))/bin:$$PATH" $(B)/venv/bin/python tests/bench/giants.py $(GIANT)

# What is surprising about other people's libraries, and is still so (findings/README.md).
findings:
	@mkdir -p $(B)
	@for f in findings/*.sh; do bash "$$f" > $(B)/finding.log 2>&1 && echo "as told: $$f" || { echo "has changed: $$f"; tail -n 3 $(B)/finding.log; failed=1; }; done; \
	  exit $${failed:-0}

# Costs from a specification beside rooflines by hand.
rooflines:
	@$(DEPS) $(B)/venv
	@+$(BUILD) all
	@PATH="$(abspath $(B))/bin:$$PATH" $(B)/venv/bin/python tests/bench/rooflines.py tests/models

# Every operator in every element type, with static shapes, and with dims and ranks that are found while the model runs.
matrix:
	@$(DEPS) $(B)/venv
	@+$(BUILD) all
	rm -rf $(B)/matrix
	$(B)/venv/bin/python tests/oracle/matrix.py $(abspath $(B))/bin $(abspath $(B))/matrix --report $(abspath $(B))/matrix.tsv $(MATRIX)

# The backend cases of PyPI's onnx package through OpenVINO and devrun, with packages of its own.  What was run is not run again.
onnx-suite:
	@+$(BUILD) all
	test -x $(B)/onnx-venv/bin/python || python3 -m venv $(B)/onnx-venv
	test -e $(B)/onnx-venv/ready || { $(B)/onnx-venv/bin/pip install -q onnx==1.23.2 openvino==2026.4.1 && touch $(B)/onnx-venv/ready; }
	$(B)/onnx-venv/bin/python -W ignore tests/oracle/onnx_suite.py --bin $(B)/bin $(ONNX_SUITE) $(B)/onnx-suite

# Language models as optimum-intel exports them, with variables, over three inferences in a row (tests/oracle/stateful.py), with
# packages of its own (6 GB).  What is exported is not exported again; STATEFUL has options, and names of models.
STATEFUL_PIP = openvino==2026.4.1 torch==2.15.0 transformers==4.57.6 optimum==2.1.0 optimum-onnx==0.1.0 optimum-intel==1.27.0 \
  nncf==3.4.0 numpy==2.4.6 msgpack
stateful:
	@+$(BUILD) all
	test -x $(B)/stateful-venv/bin/python || python3 -m venv $(B)/stateful-venv
	test -e $(B)/stateful-venv/ready || { $(B)/stateful-venv/bin/pip install -q $(STATEFUL_PIP) && touch $(B)/stateful-venv/ready; }
	$(B)/stateful-venv/bin/python -W ignore tests/oracle/stateful_exports.py $(B)/stateful
	$(B)/stateful-venv/bin/python -W ignore tests/oracle/stateful.py --bin $(B)/bin $(STATEFUL) $(B)/stateful

# Architectures of transformers, made small, beside OpenVINO (tests/oracle/architectures.py), with the packages of `make stateful`.
# What has a row is not run again; ARCHITECTURES has options, and names.
architectures:
	@+$(BUILD) all
	test -x $(B)/stateful-venv/bin/python || python3 -m venv $(B)/stateful-venv
	test -e $(B)/stateful-venv/ready || { $(B)/stateful-venv/bin/pip install -q $(STATEFUL_PIP) && touch $(B)/stateful-venv/ready; }
	$(B)/stateful-venv/bin/python -W ignore tests/oracle/architectures.py --bin $(B)/bin $(B)/architectures $(ARCHITECTURES)

# torch2dag beside what PyTorch says of the same networks, with packages of its own (6 GB).  TORCH=--update writes tests/instances/train_*.json.
TORCH_PYTHON ?= $(B)/torch-venv/bin/python
TORCH   ?=
torch-check:
	@+$(BUILD) all
	test -x $(TORCH_PYTHON) || { python3 -m venv $(B)/torch-venv && $(B)/torch-venv/bin/pip install -q torch==2.15.0 torchvision numpy; }
	PATH="$(abspath $(B))/bin:$$PATH" $(TORCH_PYTHON) tests/oracle/torch_check.py $(TORCH)

.PHONY: torch-check
.PHONY: layers style docs golden fuzz split-check simgrid-check free-orders giants rooflines findings matrix onnx-suite stateful architectures

# What reports of races claim, on TRIALS machines that are played, from number FIRST on, beside their tables and the truth.
TRIALS ?= 5000
FIRST  ?= 1
verdicts:
	@$(DEPS) $(B)/venv
	@+$(BUILD) all
	@PATH="$(abspath $(B))/bin:$$PATH" $(B)/venv/bin/python tests/bench/verdicts.py --trials $(TRIALS) --first $(FIRST) -v

.PHONY: verdicts

# Readers, programs and the executor under libFuzzer and the sanitizers (tests/fuzz/coverage): EXECUTIONS inputs of each
# target, TARGETS="stream devsim" chooses among them, SECONDS_EACH ends each.
# SANITIZERS= runs without them, in folders of its own, several times as fast: only results that differ and signals are found then.
# apt-get install clang libclang-rt-14-dev
CLANG   ?= clang
EXECUTIONS   ?= 100000
SECONDS_EACH ?= 0
SANITIZERS   ?= address,undefined
COVER    = $(B)/cover$(if $(SANITIZERS),,-fast)
fuzz-coverage:
	@$(DEPS)
	@+$(BUILD) all
	@+$(BUILD) $(COVER)/tests/fuzz_cover $(COVER)/tests/fuzz_net B=$(COVER) CC="$(CLANG)" OPT=-O1 DEBUG=-g1 WARN=-w \
	  SAN="-fsanitize=fuzzer-no-link$(SANITIZERS:%=,%) -fno-sanitize-recover=all" FUZZER="-fsanitize=fuzzer -DLIBFUZZER"
	@[ -d $(COVER)/fuzz/seeds ] || PATH="$(abspath $(B))/bin:$$PATH" tests/fuzz/seeds $(COVER)/fuzz/seeds
	@EXECUTIONS=$(EXECUTIONS) SECONDS_EACH=$(SECONDS_EACH) tests/fuzz/coverage $(COVER)/tests $(TARGETS)

.PHONY: fuzz-coverage
