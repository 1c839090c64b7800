# librun.mk - libhsdag-run: shared and static library of lib/run, pkg-config file.  install.mk installs them.
#
# Objects of the programs (PIE) make a shared library, too: nothing but the names of the version script is exported.  Those
# with thread-local memory, or that name data of libc (stderr), need -fPIC; the linker says so.
RUN_ABI  = 1
RUN_SO   = $(B)/lib/libhsdag-run.so.$(RUN_ABI)
RUN_A    = $(B)/lib/libhsdag-run.a
RUN_PC   = $(B)/lib/hsdag-run.pc
RUN_VERSION = $(shell sed -n 's/^.define HSDAG_VERSION "\(.*\)"/\1/p' lib/base/msg.h)

$(addprefix $(B)/obj/,exec/npy.o partition/scotch_lib.o partition/group_metis.o base/newfile.o base/opt.o base/msg.o): private MY_CFLAGS += -fPIC

$(RUN_SO): lib/run/libhsdag-run.map $(LIB)
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	$(Q)$(CC) $(MY_CFLAGS) -shared -Wl,-soname,$(@F) -Wl,--version-script=$< $(if $(SAN),,-Wl,-z,defs) -Wl,-z,nodelete $(MY_LDFLAGS) \
	  -o $@ -Wl,--undefined=hsdag_open $(LIB) $(LDLIBS)
	$(Q)ln -sf $(@F) $(@D)/libhsdag-run.so
# One object in which nothing but the library's own names can be seen: a program's other names cannot clash with them.
$(RUN_A): lib/run/libhsdag-run.map $(LIB)
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	$(Q)$(CC) $(SAN) -r -nostdlib -o $(B)/lib/hsdag-run.o -Wl,--undefined=hsdag_open $(LIB)
	$(Q)grep -o 'hsdag_[a-z_]*;' $< | tr -d ';' > $(B)/lib/exported
	$(Q)$(OBJCOPY) --keep-global-symbols=$(B)/lib/exported $(B)/lib/hsdag-run.o
	@rm -f $@
	$(Q)$(AR) rcs $@ $(B)/lib/hsdag-run.o
$(RUN_PC): share/librun.mk lib/base/msg.h FORCE
	@mkdir -p $(@D)
	$(Q)printf '%s\n' 'libdir=$(LIBDIR)' 'includedir=$(INCDIR)' '' 'Name: hsdag-run' \
	  'Description: runs placed neural networks' 'Version: $(RUN_VERSION)' 'Libs: -L$${libdir} -lhsdag-run' \
	  'Libs.private: $(LDLIBS)' 'Cflags: -I$${includedir}' > $@

librun: $(RUN_SO) $(RUN_A) $(RUN_PC)

.PHONY: librun FORCE
