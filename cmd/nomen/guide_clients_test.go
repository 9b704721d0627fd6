//go:build clients

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A step of a page of the guide is a file that it shows, or a command with its output.
type step struct {
	file, content string
	command       docCommand
}

// stepsOf returns the steps of a page, in order: the blocks of code that begin with the path of
// a file in a comment, if the reason is "machine", and the commands in blocks of
// ```console skip=REASON.
func stepsOf(t *testing.T, page, reason string) (steps []step) {
	t.Helper()
	source, err := os.ReadFile(howto + page)
	if err != nil {
		t.Fatal(err)
	}
	var block []string
	language, first := "", 0
	for i, line := range strings.Split(string(source), "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case !isFence && language != "":
			block = append(block, line)
		case isFence && language == "":
			language, first, block = fence+" ", i+2, nil
		case isFence:
			steps = append(steps, stepsOfBlock(t, page, reason, language, first, block)...)
			language = ""
		}
	}
	if len(steps) == 0 {
		t.Fatalf("%s: no steps", page)
	}
	return steps
}

func stepsOfBlock(t *testing.T, page, reason, language string, first int, block []string) (steps []step) {
	t.Helper()
	if len(block) == 0 {
		return nil
	}
	if file, ok := strings.CutPrefix(block[0], "# /"); ok && reason == "machine" && !strings.HasPrefix(language, "console") {
		return []step{{file: "/" + file, content: strings.Join(block, "\n") + "\n"}}
	}
	if strings.TrimSpace(language) != "console skip="+reason {
		return nil
	}
	for i, line := range block {
		command, isCommand := strings.CutPrefix(line, "$ ")
		more, isMore := strings.CutPrefix(line, "> ")
		switch {
		case isCommand:
			steps = append(steps, step{command: docCommand{line: first + i, text: command}})
		case len(steps) == 0:
			t.Fatalf("%s:%d: output before a command", page, first+i)
		case isMore && len(steps[len(steps)-1].command.lines) == 0:
			steps[len(steps)-1].command.text += "\n" + more
		default:
			last := &steps[len(steps)-1].command
			last.lines = append(last.lines, line)
		}
	}
	return steps
}

// follow does what a page of the guide says, literally, and compares what is printed. A command
// cd applies to those after it.
func (m *machine) follow(t *testing.T, page, reason string) {
	t.Helper()
	in := ""
	for _, s := range stepsOf(t, page, reason) {
		command := s.command.text
		switch {
		case s.file != "":
			m.write(t, s.file, []byte(s.content), 0o644)
			continue
		case strings.HasSuffix(command, " nomen serve"):
			m.serveInForeground(t, command)
			continue
		}
		printed, err := m.try(in + command)
		if strings.HasPrefix(command, "cd ") {
			in += command + " && "
		}
		if strings.Contains(command, " reload ") {
			time.Sleep(time.Second) // nginx reloads in the background
		}
		if got := lines(printed); err != nil || !matchLines(got, s.command.lines) {
			t.Fatalf("%s:%d: $ %s\n%v; prints\n%s\nand the page says\n%s\nlog of the machine:\n%s", page, s.command.line, command, err,
				strings.Join(got, "\n"), strings.Join(s.command.lines, "\n"), m.journal())
		}
	}
}

// serveInForeground runs a server by a command that does not end, until it is ready.
func (m *machine) serveInForeground(t *testing.T, command string) {
	t.Helper()
	m.run(t, "systemctl stop nomen.socket nomen.service; (NOMEN_DATA=~/node "+command+` >served.log 2>&1 & echo $! >served.pid)
curl -sS --retry 60 --retry-delay 1 --retry-all-errors --fail-with-body http://127.0.0.1:4500/-/readyz || { cat served.log; exit 1; }
kill $(cat served.pid); while kill -0 $(cat served.pid) 2>&-; do sleep 0.1; done; systemctl start nomen.service`)
}

// distVar names the directory of a release, as make release makes it. Without it the tests use a
// package with the same units, configuration and scripts, which they make themselves, and run no
// image.
const distVar = "NOMEN_DIST"

// released returns a file of the release, or "".
func released(t *testing.T, pattern string) string {
	t.Helper()
	dist := os.Getenv(distVar)
	if dist == "" {
		return ""
	}
	found, err := filepath.Glob(filepath.Join(dist, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s in %s: %q %v", pattern, dist, found, err)
	}
	return found[0]
}

// debs returns two packages, of versions 1.0.0 and 2.0.0, as on a page of the guide: their names
// and contents.
func debs(t *testing.T) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	tree := filepath.Join(dir, "tree")
	script := `set -eu
if [ -n "$DEB" ]; then
	dpkg-deb -R "$DEB" tree
else
	mkdir -p tree/DEBIAN tree/usr/bin tree/etc/nomen tree/lib/systemd/system tree/usr/lib/sysusers.d tree/usr/lib/tmpfiles.d
	cp "$PROGRAM" tree/usr/bin/nomen
	cp "$ROOT"/contrib/nomen.toml tree/etc/nomen/
	cp "$ROOT"/contrib/systemd/nomen.service "$ROOT"/contrib/systemd/nomen.socket tree/lib/systemd/system/
	cp "$ROOT"/contrib/systemd/nomen.sysusers tree/usr/lib/sysusers.d/nomen.conf
	cp "$ROOT"/contrib/systemd/nomen.tmpfiles tree/usr/lib/tmpfiles.d/nomen.conf
	cp "$ROOT"/scripts/release/deb/postinst "$ROOT"/scripts/release/deb/prerm "$ROOT"/scripts/release/deb/postrm tree/DEBIAN/
	chmod 755 tree/DEBIAN/p*
	echo /etc/nomen/nomen.toml >tree/DEBIAN/conffiles
	printf 'Package: nomen\nVersion: 0\nArchitecture: amd64\nMaintainer: the test <test@example.edu>\nDescription: name service\n' >tree/DEBIAN/control
fi
for v in 1.0.0 2.0.0; do
	sed -i "s/^Version:.*/Version: $v-1/" tree/DEBIAN/control
	dpkg-deb --root-owner-group -Znone -b tree nomen_$v-1_amd64.deb
done`
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	deb := released(t, "nomen_*_amd64.deb")
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "ROOT="+root, "DEB="+deb)
	if deb == "" {
		cmd.Env = append(cmd.Env, "PROGRAM="+buildProgram(t, "v1.0.0"))
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("dpkg-deb in %s: %v\n%s", tree, err, out)
	}
	all := map[string][]byte{}
	for _, name := range []string{"nomen_1.0.0-1_amd64.deb", "nomen_2.0.0-1_amd64.deb"} {
		if all[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// A guideMachine is a machine on which a person follows pages of the guide, one after the other.
type guideMachine struct {
	name    string
	pages   [][2]string // below docs/howto, and the reason of their blocks
	prepare func(*machine, *testing.T)
	after   func(*machine, *testing.T)
}

func guideMachines() []guideMachine {
	page := func(name string) [2]string { return [2]string{name, "machine"} }
	database := func(name string) [2]string { return [2]string{name, "database"} }
	installed := page("production.md")
	return []guideMachine{
		{name: "production", pages: [][2]string{installed}, after: func(m *machine, t *testing.T) {
			m.unprivileged(t)
			m.repaired(t)
			m.reinstalled(t)
		}},
		{name: "upgrade", pages: [][2]string{installed, page("production/upgrade.md")}},
		{name: "disaster", pages: [][2]string{installed, page("production/disaster.md")}},
		{name: "operation", pages: [][2]string{installed, page("back-up-and-restore.md"), page("watch-the-service.md"), page("repair-wrong-times.md")}},
		{
			name: "database", prepare: (*machine).useDatabase, after: (*machine).databaseGoesBack,
			pages: [][2]string{database("run-several-servers.md"), database("back-up-and-restore.md"), database("production/disaster.md")},
		},
		{name: "tarball", pages: [][2]string{page("install.md")}, prepare: (*machine).unpackable},
		{name: "service", pages: [][2]string{page("run-the-service.md")}, prepare: (*machine).withProgram},
	}
}

// TestClientGuide follows the guide on bare machines, page by page: from the package to names that
// are answered over HTTPS, an upgrade and the way back, backups, and the recovery from disasters.
func TestClientGuide(t *testing.T) {
	if !enterNetwork(t) {
		return
	}
	base := baseOfMachines(t)
	packages := debs(t)
	n := connectInternet(t)
	followed := [][2]string{{"production/container.md", "machine"}}
	for _, g := range guideMachines() {
		followed = append(followed, g.pages...)
		t.Run(g.name, func(t *testing.T) {
			m := bootMachine(t, base, n)
			m.write(t, homeOnMachine+"/nomen_1.0.0-1_amd64.deb", packages["nomen_1.0.0-1_amd64.deb"], 0o644)
			if g.prepare != nil {
				g.prepare(m, t)
			}
			for _, page := range g.pages {
				if page[0] == "production/upgrade.md" {
					m.write(t, homeOnMachine+"/nomen_2.0.0-1_amd64.deb", packages["nomen_2.0.0-1_amd64.deb"], 0o644)
				}
				begun := time.Now()
				m.follow(t, page[0], page[1])
				t.Logf("%s: %v", page[0], time.Since(begun))
			}
			if g.after != nil {
				g.after(m, t)
			}
		})
	}
	checkFollowed(t, followed)
	t.Run("container", func(t *testing.T) {
		image := released(t, "nomen-*-oci.tar")
		if image == "" {
			t.Skipf("SKIPPED: no image is run: %s does not name a release", distVar)
		}
		archive, err := os.ReadFile(image)
		if err != nil {
			t.Fatal(err)
		}
		m := bootMachine(t, base, n)
		m.write(t, homeOnMachine+"/"+filepath.Base(image), archive, 0o644)
		// crun cannot limit devices on a machine in name spaces: that needs CAP_SYS_RESOURCE.
		m.write(t, "/etc/containers/containers.conf", []byte("[containers]\ncgroups = \"disabled\"\n"), 0o644)
		m.follow(t, "production/container.md", "machine")
	})
}

// pagesOf returns the pages that a test follows on machines, and the reason of their blocks.
func pagesOf(test string) (all [][2]string) {
	for _, b := range machineBlocks {
		if b.test == test {
			all = append(all, [2]string{b.page, b.reason})
		}
	}
	return all
}

// checkFollowed checks that a test follows the pages that machineBlocks says, and no others.
func checkFollowed(t *testing.T, followed [][2]string) {
	t.Helper()
	compare := func(a, b [2]string) int { return strings.Compare(a[0]+" "+a[1], b[0]+" "+b[1]) }
	want := pagesOf(t.Name())
	slices.SortFunc(followed, compare)
	slices.SortFunc(want, compare)
	if followed = slices.Compact(followed); !slices.Equal(followed, want) {
		t.Errorf("%s follows %q, and machineBlocks has %q", t.Name(), followed, want)
	}
}

// unprivileged checks that the process has no privileges, and that a restart refuses no connection.
func (m *machine) unprivileged(t *testing.T) {
	t.Helper()
	status := m.run(t, "cat /proc/$(systemctl show -P MainPID nomen)/status")
	for _, want := range []string{"CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1"} {
		if !strings.Contains(status, want) {
			t.Errorf("the process of the service: want %q in\n%s", want, status)
		}
	}
	if strings.Contains(status, "Uid:\t0") {
		t.Errorf("the service runs as root:\n%s", status)
	}
}

// repaired checks that a wrong configuration makes a reload and a restart fail, and that the
// service then starts by itself once the configuration is right, however long that takes.
func (m *machine) repaired(t *testing.T) {
	t.Helper()
	const config = "/etc/nomen/nomen.toml"
	m.run(t, "cp "+config+" right.toml; echo wrong = 1 >"+config)
	if out, err := m.try("systemctl reload nomen"); err == nil {
		t.Errorf("systemctl reload with a wrong configuration succeeds: %s", out)
	}
	m.run(t, "nomen health")
	if out, err := m.try("systemctl restart nomen"); err == nil {
		t.Errorf("systemctl restart with a wrong configuration succeeds: %s", out)
	}
	// More starts than systemd allows by default, some of them because of a client.
	_, _ = m.try("for i in 1 2 3 4 5 6; do timeout 1 curl -s http://localhost/; systemctl restart nomen; done")
	m.run(t, "cp right.toml "+config+"; curl -s -m 20 -o /dev/null http://localhost/-/healthz && systemctl is-active nomen.socket nomen.service")
}

// reinstalled checks that the package, removed and installed again, serves at all ports as before.
func (m *machine) reinstalled(t *testing.T) {
	t.Helper()
	m.run(t, "apt-get remove -y -q nomen && apt-get install -y -q ./nomen_1*.deb")
	m.run(t, "nomen health && curl -sS -m 20 -o /dev/null --fail-with-body http://localhost/-/healthz && systemctl is-active nomen.socket nomen.service")
}

// buildProgram builds the program that the machines install.
func buildProgram(t *testing.T, version string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "nomen")
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-X main.version="+version, "-o", file, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return file
}
