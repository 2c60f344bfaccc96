# A fresh Debian 12 or 64-bit Raspberry Pi OS needs nothing first: every target sets up what it needs in .venv.

VENV := .venv/bin
# Debian keeps Mosquitto in /usr/sbin, where an ordinary user's PATH does not look.
export PATH := $(PATH):/usr/sbin
# Without its bytecode beside it, the whole program is compiled anew for each of the hundreds of daemons a test starts.
unexport PYTHONDONTWRITEBYTECODE

# A variable that a target does not have would do nothing, and nobody would know why.
KNOWN_demo := GAME ROUNDS SPEED SEED SHOE
KNOWN_bench := QUICK ARGS
KNOWN_test := ARGS
KNOWN_proof := ARGS PART
KNOWN_lock := ARGS
KNOWN_docs := SITE
KNOWN_lab-report := KEY TO VERIFY
KNOWN_pictures := EACH
KNOWN_package := RELEASES ARCHITECTURES SIGN
said := $(foreach name,$(.VARIABLES),$(if $(filter command,$(origin $(name))),$(name)))
known := $(foreach goal,$(MAKECMDGOALS),$(KNOWN_$(goal)))
unknown := $(firstword $(filter-out $(known) VENV,$(said)))
upper = $(shell echo $(unknown) | tr a-z A-Z)
ifneq ($(unknown),)
$(error $(MAKECMDGOALS) knows no variable $(unknown). $(if $(filter $(upper),$(known)),Write $(upper)=$($(unknown)),Its variables: $(or $(known),none)))
endif

.PHONY: help demo ha-demo test proof proof-page model coverage lab-report bench package release pages pictures docs lint lock clean

help:  ## what there is to make
	@sed -n 's/^\([a-z0-9-]*\):[^#]*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

demo: .venv/.demo  ## a table on this machine, all simulated; GAME=, ROUNDS=, SPEED=, SEED=, SHOE= choose how it plays
	@exec $(VENV)/tablectl demo $(if $(GAME),--game $(GAME)) $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(SPEED),--speed $(SPEED)) $(if $(SEED),--seed $(SEED)) \
	  $(if $(SHOE),--shoe $(SHOE))

ha-demo: .venv/.dev  ## a pit on three machines of the loopback: the leader's machine stops, and comes again
	@exec $(VENV)/python -m tests.fire.ha_demo

test: .venv/.dev  ## the tests; ARGS="-k shoe" and the like go to pytest
	$(VENV)/python -m pytest --numprocesses auto --dist worksteal $(ARGS)

proof: .venv/.dev  ## the long measurements that are due, into proof/FIGURES.md; PART= runs one part, ARGS= chosen tests
	$(VENV)/python -m $(if $(ARGS),pytest --proof --numprocesses auto --dist worksteal $(ARGS),tests.proof $(PART))
	$(if $(ARGS)$(PART),,$(MAKE) coverage)

proof-page: .venv/.dev  ## say in proof/FIGURES.md which parts of the proof still stand
	@$(VENV)/python -m tests.proof --page

model: .venv/.dev  ## every interleaving of table, pit and link in small worlds, every way of an award, who leads, and 62 planted defects
	@$(VENV)/python -m tests.model

lab-report: .venv/.dev  ## the clauses of regulators with what their tests show, as one signed page; KEY= signs, TO= names it, VERIFY= checks one
	@$(VENV)/python -m tests.lab $(if $(KEY),--key $(KEY)) $(if $(TO),--to $(TO)) $(if $(VERIFY),--verify $(VERIFY))

# These tests run in one process, which is watched branch by branch: a minute and a half of a core.
PURE := tests/table tests/game tests/roads tests/sheets tests/scripts tests/sim/test_sim_settings.py \
	$(addprefix tests/daemon/test_,delivery.py control_socket.py commands.py feed.py picture.py hand_record.py) \
	tests/care/test_self_tests.py tests/screen/test_views.py
coverage: .venv/.dev  ## which branches of the pure rooms their tests take; fails below the figure in pyproject.toml
	$(VENV)/python -m coverage run -m pytest -n 0 -q $(PURE)
	$(VENV)/python -m coverage report

bench: .venv/.dev  ## what a table costs: latency, CPU, disk, start, memory, scale, into bench/FIGURES.md; QUICK=1 prints small samples
	$(VENV)/python -m tests.bench $(if $(QUICK),--quick) $(ARGS)

package: .venv/.dev  ## Debian packages into dist/; RELEASES=, ARCHITECTURES= choose some, SIGN=KEY signs their digests
	@SIGN=$(SIGN) $(if $(ARCHITECTURES),ARCHITECTURES="$(ARCHITECTURES)") tools/package.sh $(RELEASES)

release: .venv/.dev  ## check that version, CHANGELOG, tags and working copy agree, and print what a person then does
	@$(VENV)/python tools/release.py

pages: .venv/.dev  ## what is made from the code: pages of docs/, the picture of a table, and the contract's sentences
	$(VENV)/python -m tests.documents.pages

pictures: .venv/.dev  ## the pictures of the screen in docs/; EACH=FOLDER: every house at five sizes in three scripts
	$(VENV)/python -m tests.documents.$(if $(EACH),gallery $(EACH),pictures)

docs: .venv/.docs  ## the documents as a site, in site/ or SITE=, a folder a version; a link that leads nowhere fails
	NO_MKDOCS_2_WARNING=1 $(VENV)/mkdocs --quiet build --strict $(if $(SITE),--site-dir $(abspath $(SITE)))

lint: .venv/.dev  ## ruff and mypy
	$(VENV)/ruff check .
	$(VENV)/ruff format --check .
	$(VENV)/mypy

# The stamp makes every run but the first instant.
.venv/.demo .venv/.dev .venv/.docs: .venv/.%: requirements/%.lock requirements/build.lock requirements/axe.lock pyproject.toml tools/setup.sh
	@tools/setup.sh $*
	@$(if $(filter dev,$*),$(VENV)/python -m pytest --collect-only -q >/dev/null)  # else each worker compiles every test
	@touch $@

# Needs uv. The dev lock comes first and binds the others: what was tested is what runs under the table.
COMPILE := uv pip compile --no-config --quiet --universal --python-version 3.11 --generate-hashes \
	--custom-compile-command "make lock"
lock:  ## write requirements/*.lock anew from pyproject.toml; ARGS=--upgrade takes newer releases
	sed -n '/^\[build-system\]/,/^\[project\]/s/^requires = \["\(.*\)"\]$$/\1/p' pyproject.toml \
	  | $(COMPILE) $(ARGS) - --output-file requirements/build.lock
	$(COMPILE) $(ARGS) pyproject.toml --extra dev --output-file requirements/dev.lock
	for extra in demo docs package pi pi5 postgresql; do \
	  $(COMPILE) $(ARGS) pyproject.toml --extra $$extra --constraints requirements/dev.lock \
	    --output-file requirements/$$extra.lock || exit; \
	done

clean:  ## away with .venv and everything made by running
	rm -rf .venv build site dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
