# nomen: `make demo` shows it, `make test` checks it.

GO        ?= go
TOOLS      = $(CURDIR)/bin/tools
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS    = -s -w -X main.version=$(VERSION)
FUZZTIME  ?= 60s
BENCHTIME ?= 1s
COUNT     ?= 5

# Go compiles the module once for each set of flags: all programs and tests have these, but those
# with the race detector, which needs cgo. -trimpath lets other clones use what is compiled.
export CGO_ENABLED = 0
export GOFLAGS := $(strip -trimpath $(GOFLAGS))

.PHONY: all build demo test quick test-ha check lint cross race plain static test-clients attack soak faults release release-check test-packages bench check-log bench-scale fuzz mutate generate pictures crash clean help

all: build

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

build: ## bin/nomen, one static binary
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/nomen ./cmd/nomen

demo: build ## serve the 9,154 RFC names; DATA=DIR keeps the store, LISTEN=ADDR and ADMIN=ADDR choose the ports
	@scripts/demo.sh

# Most tests wait for disks, timers and servers rather than compute: more of them run at once
# than there are cores.
AT_ONCE = -p 4 -parallel 8

# Left out of quick: these kill servers and databases, let disks fail, repeat a lot, measure
# memory, or run hundreds of commands against servers.
LONG = TestServerScripts|TestThreeLibraries|TestCommandBlocks|TestClockOfOneName|TestConform|TestOracle|TestFormerPrimary|TestDiskFails|TestBackupFullDisk|TestRestoreDamage|TestBareHostile|TestPrimaryKilled|TestReplicaKilled|TestPrimaryHangs|TestUnreplicated|TestSuperseded|TestLostAtCommitOfThePatient|TestKillDatabase|TestKillImport|TestKillForeignImport|TestBackupKilledAnywhere|TestDatabaseAway|TestImportAcrossRestart|TestImportGivesUp|TestMigrateUnsealed|TestMemory|TestDocumentMemory|TestHundredThousand|TestThousand|TestNothingInMuch|TestClockAtEveryDoor|TestMigrateOldRules

# Packages that start no goroutine, nor do those of ours that they import, nor their tests: there
# the race detector cannot find anything, and takes ten times as long.
PLAIN = ./extract/... ./fetch/plan ./format ./internal/accept ./internal/ascii ./internal/chart ./internal/check ./internal/codec ./internal/country ./internal/durable ./internal/flock ./internal/guard ./internal/ledger ./internal/location ./internal/pid ./internal/qrcode ./internal/rfcindex/gen ./internal/shown ./internal/testrun ./iri ./name ./namespace/... ./public/... ./registry ./rule ./scheme/... ./uri ./urn

# Tests of other packages that run without the race detector, at full length: they damage files,
# let disks fail or kill processes at each of many steps, measure memory, read much in one
# goroutine, send thousands of requests one after another, or run hundreds of commands that end at
# once.
PLAIN_TESTS = TestScripts|TestCommandBlocks|TestConformHandle|TestConformEZID|TestConformARK|TestDialectsOnStores|TestDSpaceBothWays|TestNoDoorShowsSecrets|TestOptionErrorsHavePlaces|TestSectionErrorsHavePlaces|TestLargeRecords|TestAttackSplit|TestOracle|TestHostileRecords|TestAnswersLikeUncached|TestCrashAtManifest|TestMemory|TestNothingInMuch|TestHundredThousand|TestImportAcrossRestart|TestKillImport|TestKillForeignImport|TestDamages|TestDiskFails|TestBackupKilledAnywhere|TestFlippedBits|TestVerifyDamagedTable|TestRekeyCrash|TestRekeyAnything|TestRestoreDamage|TestRestoreWithoutManifest|TestBackupFullDisk|TestThousand|TestSinceFindsDamage
WITH_PLAIN_TESTS = ./cmd/nomen ./store/pebblestore ./store/pgstore ./server ./pages ./bulk ./bulk/bulktest/scale ./client/cache ./internal/audit

# The packages that take longest begin first.
SLOWEST = ./cmd/nomen ./store/pebblestore ./store/pgstore ./server

test: ## everything; installs what is missing
	@echo 'make test: all checks and all tests; about seven minutes on two cores, and five more the first time, to compile.'
	@echo 'On Debian it installs what is missing of: gcc, libc6-dev, postgresql, nginx, curl.'
	@scripts/prepare.sh
	$(MAKE) check

quick: ## the tests while you work: no race detector, less repetition, and without the long tests (LONG)
	$(GO) test -short -vet=off -ldflags='-s -w' $(AT_ONCE) -skip '^($(LONG))$$' $(SLOWEST) ./...

check: $(TOOLS)/.built ## all that must pass before a change lands; the linters run while tests wait
	$(MAKE) -j2 race lint plain static

# The files with a build tag are vetted with the others: a tag only adds files.
lint: $(TOOLS)/.built
	@scripts/subjects.sh
	@test -z "$$($(TOOLS)/gofumpt -l . | tee /dev/stderr)" || { echo 'gofumpt: run $(TOOLS)/gofumpt -w .'; exit 1; }
	$(GO) vet -tags clients,attack,faults,ha,packages,soak ./...
	$(GO) mod tidy -diff
	GOGC=400 $(TOOLS)/staticcheck ./... # it takes almost half its time to collect garbage otherwise, and 1.4 GB instead of 1.1 GB
	$(TOOLS)/unparam ./...
	@out=$$($(TOOLS)/deadcode -test ./...); test -z "$$out" || { echo "$$out"; exit 1; }
	@$(TOOLS)/misspell -error -locale UK -i normalize,unauthorized,unrecognized README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md $$(find docs -name '*.md' ! -path 'docs/spec/*')

cross: ## vet the packages with files for some systems alone, as for macOS, FreeBSD and Windows; ten minutes the first time
	@for os in darwin freebsd windows; do GOOS=$$os $(GO) vet ./internal/durable ./internal/flock ./bulk ./client ./fetch ./server ./store/... || exit 1; done

race: build # tests that can have races; the detector makes all slow: there tests repeat less (internal/testrun), and the commands of scripts, but not their servers, are of bin/nomen; without GORACE each command that a test runs ends with a second of sleep. With CI, a test whose program is not installed fails
	CI=1 GORACE=atexit_sleep_ms=10 PLAIN_COMMANDS=$(CURDIR)/bin CGO_ENABLED=1 $(GO) test -race -vet=off -ldflags='-s -w' $(AT_ONCE) -timeout 25m -skip '^($(PLAIN_TESTS))$$' \
		$(SLOWEST) $$($(GO) list ./... | grep -vxF "$$($(GO) list $(PLAIN))")

plain: # the tests in PLAIN and PLAIN_TESTS, at full length
	CI=1 $(GO) test -vet=off -ldflags='-s -w' -timeout 25m $(PLAIN)
	CI=1 $(GO) test -vet=off -ldflags='-s -w' -timeout 25m -run '^($(PLAIN_TESTS))$$' $(WITH_PLAIN_TESTS)

static: build ## check that the binary is static and runs
	@! ldd bin/nomen >/dev/null 2>&1 || { echo 'bin/nomen is not static'; exit 1; }
	bin/nomen version

test-clients: build ## browsers, curl and other foreign clients; installs them
	@scripts/prepare.sh clients
	$(GO) test -count=1 -tags clients -run '^TestClient' -v -timeout 40m ./bulk ./bulk/from/htaccess ./cmd/nomen ./gateway ./internal/browsertest ./internal/chart ./internal/qrcode ./pages ./server
	cd bench/tlog && $(GO) test -count=1 -v . -changes 100000

attack: ## hostile clients, a browser among them, against a real server on loopback; RUN=REGEXP for some
	@scripts/prepare.sh clients
	$(GO) test -count=1 -tags attack -v -timeout 20m $(if $(RUN),-run '$(RUN)') ./scripts/attacks

soak: ## 100 reloads and 20 restarts under load without a lost request, then ordinary load for MINUTES (10): no error, and no more memory, descriptors or goroutines at the end than at the start
	$(GO) test -count=1 -tags soak -v -run '^TestSoak(Reloads|Restarts|SecureRestarts)$$' ./cmd/nomen
	MINUTES=$(or $(MINUTES),10) $(GO) test -count=1 -tags soak -v -timeout 4h -run '^TestSoak$$' ./scripts/attacks

test-ha: ## kill the primary of a Patroni cluster KILLS times under load, cut a node off, upgrade both, kill servers that publish the log (root)
	@scripts/prepare.sh ha
	KILLS=$(or $(KILLS),20) $(GO) test -count=1 -tags ha -timeout 60m -v ./scripts/ha
	$(GO) test -count=1 -tags ha -run '^TestPublishByNodes$$' -v ./cmd/nomen

crash: build ## kill -9 servers and a database KILLS times under load, after the full-length tests of simulated crashes and damage; STORE=pebble or STORE=pg for one of them
	$(if $(filter pg,$(STORE)),,$(GO) test -count=1 -timeout 1h ./store/pebblestore)
	NOMEN_KILLS=$(or $(KILLS),100) $(GO) test -count=1 -run '^TestKill$(if $(STORE),$(KILLED_$(STORE)),(Database)?)$$' -v -timeout 4h ./cmd/nomen ./store/pgstore

KILLED_pg = Database

faults: ## as root: take disk and database away from servers, and compare what is seen with docs/reference/failures.md; RUN=REGEXP for some
	$(GO) test -count=1 -tags faults -v -timeout 30m $(if $(RUN),-run '$(RUN)') ./scripts/faults
	$(if $(RUN),,$(GO) test -count=1 -tags faults -v -run '^TestReadOnlyMedium$$' ./cmd/nomen)

# The time of the commit is the time of all files in a release.
release: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null)
release: ## programs, .deb, .rpm, image, SBOM and SHA256SUMS in dist/VERSION; SIGN_KEY=FILE signs
	@scripts/prepare.sh packages
	$(GO) run ./scripts/release -version '$(VERSION)' $(if $(SIGN_KEY),-key '$(SIGN_KEY)') $(if $(MAINTAINER),-maintainer '$(MAINTAINER)') $(if $(CA_BUNDLE),-roots '$(CA_BUNDLE)')

release-check: ## build the release of the commit twice, in two directories, and compare every file
	@scripts/prepare.sh packages
	scripts/release-check.sh

test-packages: release ## install, upgrade, remove and purge the packages in a Debian chroot, and run the image (root); CHROOTS=DIR keeps the chroot
	$(GO) test -count=1 -tags packages -run '^TestPackage' -timeout 30m -v ./scripts/release -args -dist '$(CURDIR)/dist' -version '$(VERSION)' -chroots '$(or $(CHROOTS),/var/cache/nomen-chroots)'

bench: ## all benchmarks; the figures go to docs/bench/latest.txt
	@mkdir -p docs/bench
	$(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) -count $(COUNT) ./... | tee docs/bench/latest.txt
	$(TOOLS)/benchstat docs/bench/latest.txt

.PHONY: bar-log
bar-log: ## the cost of publishing the log: receipts, tiles, export, writes, reads, audit; STORE is a copy of a store, NAMES is the number of entries for the audit (100000)
	NOMEN_LOG_STORE='$(STORE)' $(GO) test -run '^$$' -bench . -benchtime $(or $(BENCHTIME),1s) -timeout 1h ./tlog/publish
	NOMEN_NAMES='$(NAMES)' $(GO) test -run '^$$' -bench Audit -benchtime 1x -timeout 1h ./tlog/watch

check-log: ## the published log of CHANGES changes, checked by programs of others (Tessera, transparency-dev)
	cd bench/tlog && $(GO) test -count 1 -v . -changes $(or $(CHANGES),100000)

bench: $(TOOLS)/.built

bench-scale: ## load N names into DIR and look some up; CONTENTS=FILE takes real ones (N=68000000 is a national library)
	$(GO) build -o bin/scale ./bulk/bulktest/scale
	bin/scale -n $(or $(N),100000) -dir $(or $(DIR),$$(mktemp -d)/store) $(if $(CONTENTS),-contents $(CONTENTS) -subs 7)

.PHONY: memory
memory: ## the memory that serve, import, export and verify take with N names (10000000), and that it is bounded; some 20 minutes
	NOMEN_NAMES=$(or $(N),10000000) $(GO) test -count=1 -run '^TestMemory$$' -v -timeout 2h ./cmd/nomen

.PHONY: bar-search
bar-search: ## the search index of N names (9000000): building, size, and that the first pages take less than 100 ms; DIR keeps the store; some 15 minutes
	NOMEN_NAMES=$(or $(N),9000000) NOMEN_DIR='$(DIR)' $(GO) test -count=1 -run '^TestBar$$' -v -timeout 2h ./search

.PHONY: bar-links-large
bar-links-large: ## the states of N (9200000) locations: the work of an hour is found in 50 ms, with 300 MiB of memory; some three minutes
	NOMEN_LINKS=$(or $(N),9200000) $(GO) test -count=1 -run '^TestScale$$' -v -timeout 1h ./links

.PHONY: bar-links
bar-links: ## the links of N names (100000) checked during a simulated year, with FAULTS (2) percent of passing faults and the random numbers of SEED (3): no living link is dead, every dead one is found, and the manners are kept; some 6 minutes
	NOMEN_LINKS=$(or $(N),100000) NOMEN_FAULTS=$(or $(FAULTS),2) NOMEN_SEED=$(or $(SEED),3) GOGC=400 $(GO) test -count=1 -run '^TestYear$$' -v -timeout 2h ./links

.PHONY: bar-serve
bar-serve: ## with one processor and with two: requests for DURATION (10m) during an import of a million names and changes; 99 % take less than 10 ms, and no response is older than an acknowledged change
	NOMEN_DURATION=$(or $(DURATION),10m) $(GO) test -count=1 -run '^TestBarServe$$' -v -timeout 2h ./cmd/nomen

fuzz: ## every fuzz target for FUZZTIME
	@scripts/fuzz.sh $(FUZZTIME)

mutate: ## change the program in N small ways and list those that no test notices; STATE=FILE keeps results
	nice $(GO) run ./scripts/mutate -n $(or $(N),60) $(if $(SEED),-seed $(SEED)) $(if $(STATE),-state $(STATE))

generate: ## write the generated files anew
	$(GO) generate ./...

pictures: ## draw the pictures of the documents anew; needs graphviz
	for p in name layers; do dot -Tsvg docs/pictures/$$p.dot -o docs/pictures/$$p.svg || exit 1; done

clean:
	rm -rf bin

$(TOOLS)/.built: tools/go.mod tools/go.sum
	@mkdir -p $(TOOLS)
	cd tools && GOBIN=$(TOOLS) $(GO) install tool
	@touch $@
