# The words that a person types; Meson does the work.

BUILD ?= build
PREFIX ?= /usr/local
CC ?= cc

# Its rules install, set up and build in that order.
.NOTPARALLEL:
.PHONY: all demo test test-store unit lint format bench bench-smoke prove install clean python

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD)

demo: packages-demo all
	@examples/shop/demo $(BUILD)

test: packages-test $(BUILD)/.with-tests all
	@tools/node-modules $(BUILD)
	@tools/servers run -- tools/run-tests $(BUILD)

# Everything that is true of every store, on the one that STORE names, as postgres://user@host/database;
# the user may make databases there. A server that is MySQL is told by its answer.
test-store: packages-test $(BUILD)/.with-tests all
	@$(if $(STORE),,$(error write make test-store STORE=URL))
	@OWED_TEST_STORES='$(STORE:mysql:%=mariadb:%)' meson test -C $(BUILD) --no-rebuild --suite every-store

# Owed, bare loops and peers from npm, one after the other on one private server; a build of its own.
BENCH_ROWS ?= 200000
BENCH_ROUNDS ?= 5
bench: packages-bench
	@$(MAKE) --no-print-directory BUILD=build-release SETUP='-Dbuildtype=release -Dtests=disabled $(SETUP)' all
	@bench/peers/install build-release
	@bench/table build-release --rows $(BENCH_ROWS) --rounds $(BENCH_ROUNDS)

# Ratios to the bare loops in a minute, beside those that are committed.
bench-smoke: packages-bench-smoke all
	@OWED_BUILD=$(BUILD) bench/smoke

# One script for each claim; `make prove` runs all and prints a table.
prove: packages-prove
	@prove/all

# A relay, busy and idle by turns, for an hour: SOAK_SECONDS says otherwise.
SOAK_SECONDS ?= 3600

soak: packages-prove
	@prove/soak $(SOAK_SECONDS)

# Style, layers, and words that do not belong.
lint: packages-lint
	@tools/check-format
	@tools/check-layers
	@tools/check-style
	@tools/check-promises

format: packages-lint
	@tools/check-format --fix

# A PREFIX that is said now holds, whatever the build folder was set up with.
install: $(BUILD)/build.ninja
	@$(if $(filter command environment,$(origin PREFIX)),meson configure $(BUILD) --prefix $(PREFIX))
	@ninja -C $(BUILD)
	@meson install -C $(BUILD) --no-rebuild

# A folder that was set up before the test library was there has no tests yet.
$(BUILD)/.with-tests: | $(BUILD)/build.ninja
	@meson setup --reconfigure $(BUILD) -Dtests=enabled >/dev/null
	@touch $@

clean:
	rm -rf $(BUILD)

# Packages are installed by the targets that promise to; a plain make only says what it misses.
packages-%: python
	@tools/packages $*

python:
	@command -v python3 >/dev/null || { echo 'installing what is missing: python3'; \
	  if [ "$$(id -u)" = 0 ]; then sudo=; else sudo=sudo; fi; \
	  $$sudo apt-get -qq update && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends python3 >/dev/null; }

$(BUILD)/build.ninja: | python
	@tools/packages --check build
	@meson setup $(BUILD) --prefix $(PREFIX) $(SETUP)
