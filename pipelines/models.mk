# models.mk - forty models beside OpenVINO in f32, on one core and on all (tests/bench/models.py).
#
#   make bench-models
#     EXPORT_PYTHON=...  exports missing models: has torch, torchvision, timm, transformers and openvino
#     MODELS="..."       names of tests/bench/export_models.py --list, or paths of .xml
#     PAIRS, BURST       pairs a row (7), seconds a burst (0.15)
#
# Models are in $(B)/bench-models/models; rows of the same programs are not measured again, so a run that was stopped goes
# on.  Nothing else should run.
#
#   make bench-fastest MODELS="resnet18 det.onnx@1,3,320,320 face.tflite"
#     beside the fastest of OpenVINO, onnxruntime and LiteRT: names as above, which are exported as ONNX (onnxscript), or .onnx and
#     .tflite files, with shapes that they leave open behind @; FASTEST_PYTHON=... has openvino, onnxruntime, ai-edge-litert, msgpack, xxhash
#
#   make bench-rates MODELS="a.xml b.xml"
#     requests a second beside OpenVINO's benchmark_app with the hint of throughput, on all cores, in turns
ifneq ($(filter bench-models bench-fastest bench-rates,$(MAKECMDGOALS)),)
MODELS_DIR = $(B)/bench-models
MODELS_PY  = $(or $(HSDAG_PYTHON),$(B)/venv/bin/python)

bench-models:
	@$(DEPS) $(B)/venv
	@+$(BUILD) all
	@mkdir -p $(MODELS_DIR)
	@OPENBLAS_NUM_THREADS=1 $(MODELS_PY) tests/bench/models.py --bin $(B)/bin --dir $(MODELS_DIR) \
	  --export-python $(or $(EXPORT_PYTHON),$(MODELS_PY)) --pairs $(or $(PAIRS),7) --burst $(or $(BURST),0.15) $(MODELS) \
	  > $(MODELS_DIR)/models.md.part
	@mv $(MODELS_DIR)/models.md.part $(MODELS_DIR)/models.md
	@cat $(MODELS_DIR)/models.md

FASTEST_DIR = $(B)/bench-fastest
FASTEST_PY  = $(or $(FASTEST_PYTHON),$(MODELS_PY))

bench-fastest:
	@+$(BUILD) all
	@mkdir -p $(FASTEST_DIR)
	@OPENBLAS_NUM_THREADS=1 $(FASTEST_PY) tests/bench/fastest.py --bin $(B)/bin --dir $(FASTEST_DIR) \
	  --export-python $(or $(EXPORT_PYTHON),$(FASTEST_PY)) --pairs $(or $(PAIRS),7) --burst $(or $(BURST),0.15) \
	  $(or $(foreach m,$(MODELS),'$(m)'),$(shell $(FASTEST_PY) tests/bench/export_models.py --list)) > $(FASTEST_DIR)/fastest.md.part
	@mv $(FASTEST_DIR)/fastest.md.part $(FASTEST_DIR)/fastest.md
	@cat $(FASTEST_DIR)/fastest.md

bench-rates:
	@$(DEPS) $(B)/venv
	@+$(BUILD) all
	@$(MODELS_PY) tests/bench/rates.py --bin $(B)/bin --dir $(B)/bench-rates --pairs $(or $(PAIRS),5) --seconds $(or $(BURST),2) $(MODELS)

.PHONY: bench-models bench-fastest bench-rates
endif
