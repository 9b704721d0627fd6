//go:build packages

package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

var (
	distFlag    = flag.String("dist", "", "directory of releases")
	versionFlag = flag.String("version", "", "version of the release, as git describes it")
	chrootsFlag = flag.String("chroots", "", "directory that keeps the archive of a Debian chroot")
)

// result returns the path of a file of the release whose name matches a pattern.
func result(t *testing.T, pattern string) string {
	t.Helper()
	v, err := parseVersion(*versionFlag, commitTime)
	if err != nil {
		t.Fatal(err)
	}
	dir := v.packaged
	if strings.HasPrefix(dir, "0~") { // the version has the time of the commit
		dir = "0~*" + strings.TrimPrefix(dir, "0~"+commitTime.Format("20060102150405"))
	}
	found, err := filepath.Glob(filepath.Join(*distFlag, dir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s/%s: found %q, %v", dir, pattern, found, err)
	}
	return found[0]
}

// output runs a command and returns what it prints.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive", "PATH=/usr/sbin:/usr/bin:/sbin:/bin")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// A root is a directory into which a test changes the root of commands. These commands have their
// own network, which has only a loopback interface.
type root struct {
	dir, net string
	user     string // user and group of the service
}

func newRoot(t *testing.T, user string) *root {
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	r := &root{dir: t.TempDir(), net: fmt.Sprintf("nomen-%d-%d", os.Getpid(), time.Now().UnixNano()%1000), user: user}
	output(t, "ip", "netns", "add", r.net)
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "delete", r.net).Run() })
	output(t, "ip", "-n", r.net, "link", "set", "lo", "up")
	return r
}

// debian unpacks a Debian without systemd, which is made once and kept in -chroots.
func (r *root) debian(t *testing.T) {
	t.Helper()
	kept := filepath.Join(*chrootsFlag, "bookworm.tar")
	if _, err := os.Stat(kept); err != nil {
		if err := os.MkdirAll(*chrootsFlag, 0o755); err != nil {
			t.Fatal(err)
		}
		made := t.TempDir()
		output(t, "debootstrap", "--variant=minbase", "--include=systemd-standalone-sysusers,systemd-standalone-tmpfiles", "bookworm", made)
		output(t, "tar", "-C", made, "-cf", kept+".new", ".")
		if err := os.Rename(kept+".new", kept); err != nil {
			t.Fatal(err)
		}
	}
	output(t, "tar", "-C", r.dir, "-xf", kept)
	if _, err := os.Stat(filepath.Join(r.dir, "run/systemd/system")); err == nil {
		t.Fatal("systemd runs in the chroot")
	}
	output(t, "mount", "-t", "proc", "proc", filepath.Join(r.dir, "proc"))
	t.Cleanup(func() { _ = exec.Command("umount", "-l", filepath.Join(r.dir, "proc")).Run() })
}

// args returns the command line for a command in the root. It runs as the given user, or as root if
// user is "".
func (r *root) args(user string, command ...string) []string {
	args := []string{"netns", "exec", r.net, "/usr/sbin/chroot"}
	if user != "" {
		args = append(args, "--userspec="+user)
	}
	return append(append(args, r.dir), command...)
}

func (r *root) asRoot(t *testing.T, command ...string) string {
	t.Helper()
	return output(t, "ip", r.args("", command...)...)
}

func (r *root) asUser(t *testing.T, command ...string) string {
	t.Helper()
	return output(t, "ip", r.args(r.user, append([]string{"/usr/bin/env", "-i", "PATH=/usr/bin:/bin", "NOMEN_DATA=/var/lib/nomen"}, command...)...)...)
}

// serve runs a server until the function that it returns is called.
func (r *root) serve(t *testing.T, command ...string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, "ip", r.args(r.user, command...)...)
	cmd.Env = []string{"NOMEN_DATA=/var/lib/nomen", "PATH=/usr/bin:/bin"}
	log := new(strings.Builder)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	stop = func() {
		if !ended {
			ended = true
			cancel()
			_ = cmd.Wait()
		}
	}
	t.Cleanup(stop)
	for range 150 {
		ask := exec.Command("ip", r.args(r.user, "/usr/bin/nomen", "health")...)
		ask.Env = cmd.Env
		if ask.Run() == nil {
			return stop
		}
		time.Sleep(200 * time.Millisecond) // until the other process has started
	}
	stop()
	t.Fatalf("the server does not become healthy:\n%s", log)
	return nil
}

const exampleName = "urn:dns:example.org:a"

// resolves checks that the server answers the name.
func (r *root) resolves(t *testing.T) {
	t.Helper()
	if got := r.asUser(t, "nomen", "resolve", "--via", "127.0.0.1:4500", exampleName); !strings.Contains(got, "https://example.org/a") {
		t.Errorf("resolve: got %q", got)
	}
}

func (r *root) exists(t *testing.T, path string, want bool) {
	t.Helper()
	if _, err := os.Lstat(filepath.Join(r.dir, path)); (err == nil) != want {
		t.Errorf("%s: exists is %t, want %t", path, err == nil, want)
	}
}

// upgraded returns the package with a higher version.
func upgraded(t *testing.T, deb string) string {
	t.Helper()
	dir, higher := filepath.Join(t.TempDir(), "d"), filepath.Join(t.TempDir(), "nomen_99.deb")
	output(t, "dpkg-deb", "-R", deb, dir)
	control := filepath.Join(dir, "DEBIAN/control")
	output(t, "sed", "-i", "s/^Version: .*/Version: 99-1/", control)
	output(t, "sh", "-c", `echo '# New in version 99.' >>"$0"/etc/nomen/nomen.toml`, dir)
	output(t, "dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "-b", dir, higher)
	return higher
}

// TestPackageDebian installs the package for Debian, starts the server, upgrades the package with
// data, removes it, installs it again, and purges it.
func TestPackageDebian(t *testing.T) {
	deb := result(t, "nomen_*_"+runtime.GOARCH+".deb")
	r := newRoot(t, "nomen:nomen")
	r.debian(t)
	install := func(file string) string {
		output(t, "cp", file, filepath.Join(r.dir, "tmp/nomen.deb"))
		return r.asRoot(t, "dpkg", "--force-confold", "-i", "/tmp/nomen.deb")
	}
	if said := install(deb); strings.Contains(strings.ToLower(said), "warning") || strings.Contains(said, "not found") {
		t.Errorf("the installation says %s", said)
	}
	if got := strings.TrimSpace(r.asRoot(t, "stat", "-c", "%a %U:%G", "/var/lib/nomen")); got != "750 nomen:nomen" {
		t.Errorf("data directory: got %s", got)
	}
	for _, path := range []string{
		"/usr/share/bash-completion/completions/nomen", "/usr/share/zsh/vendor-completions/_nomen",
		"/usr/share/fish/vendor_completions.d/nomen.fish", "/lib/systemd/system/nomen.service", "/usr/share/doc/nomen/examples",
	} {
		r.exists(t, path, true)
	}
	if got := r.asRoot(t, "nomen", "--version"); !strings.HasPrefix(got, "nomen "+*versionFlag+" ") {
		t.Errorf("nomen --version: got %q", got)
	}
	r.asUser(t, "nomen", "config", "check", "/etc/nomen/nomen.toml")
	bill, err := os.ReadFile(result(t, "nomen-*-linux-"+runtime.GOARCH+".cdx.json"))
	if got := r.asRoot(t, "nomen", "version", "--sbom"); got != string(bill) || err != nil {
		t.Errorf("nomen version --sbom differs from the file of the release: %v", err)
	}

	serve := func() func() {
		return r.serve(t, "/usr/bin/nomen", "serve", "--config", "/etc/nomen/nomen.toml")
	}
	stop := serve()
	r.asUser(t, "nomen", "put", exampleName, "https://example.org/a")
	r.resolves(t)
	stop()

	// The operator's configuration and the data survive an upgrade, a removal and a purge.
	config := filepath.Join(r.dir, "etc/nomen/nomen.toml")
	output(t, "sh", "-c", `echo '# by the operator' >>"$0"`, config)
	install(upgraded(t, deb))
	if text, err := os.ReadFile(config); !strings.Contains(string(text), "# by the operator") || err != nil {
		t.Errorf("the configuration after an upgrade: %s, %v", text, err)
	}
	stop = serve()
	r.resolves(t)
	stop()
	r.asUser(t, "nomen", "verify")
	r.asRoot(t, "dpkg", "-r", "nomen")
	r.exists(t, "/usr/bin/nomen", false)
	r.exists(t, "/etc/nomen/nomen.toml", true)
	r.exists(t, "/var/lib/nomen/store", true)
	install(deb)
	stop = serve()
	r.resolves(t)
	stop()
	if said := r.asRoot(t, "dpkg", "-P", "nomen"); !strings.Contains(said, "rm -r /var/lib/nomen") {
		t.Errorf("purge does not say where the data are: %s", said)
	}
	r.exists(t, "/etc/nomen", false)
	r.exists(t, "/var/lib/nomen/store", true)

	// Without data, nothing remains.
	r.asRoot(t, "rm", "-r", "/var/lib/nomen")
	install(deb)
	r.asRoot(t, "dpkg", "-P", "nomen")
	r.exists(t, "/var/lib/nomen", false)
	r.exists(t, "/var/lib/systemd/deb-systemd-helper-enabled/nomen.service.dsh-also", false)
}

// TestPackageLintian checks the packages with Debian's checker.
func TestPackageLintian(t *testing.T) {
	for _, arch := range architectures {
		out := output(t, "lintian", "--allow-root", "--display-info", "--pedantic", "--tag-display-limit", "0", "--fail-on", "error,warning,info", result(t, "nomen_*_"+arch+".deb"))
		if out != "" {
			t.Errorf("%s: %s", arch, out)
		}
	}
}

// TestPackageRPM installs the package for RPM systems, and erases it again.
func TestPackageRPM(t *testing.T) {
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	file := result(t, "nomen-*."+arch+".rpm")
	list := output(t, "rpm", "-qlp", file)
	for _, path := range []string{
		"/usr/bin/nomen", "/etc/nomen/nomen.toml", "/usr/lib/systemd/system/nomen.service", "/usr/lib/sysusers.d/nomen.conf",
		"/usr/lib/tmpfiles.d/nomen.conf", "/usr/share/man/man1/nomen.1.gz", "/usr/share/licenses/nomen/LICENSE",
	} {
		if !strings.Contains("\n"+list, "\n"+path+"\n") {
			t.Errorf("the package lacks %s", path)
		}
	}
	if got := output(t, "rpm", "-qcp", file); got != "/etc/nomen/nomen.toml\n" {
		t.Errorf("configuration files: got %q", got)
	}
	other := map[string]string{"x86_64": "aarch64", "aarch64": "x86_64"}[arch]
	if got := output(t, "rpm", "-qp", "--qf", "%{arch} %{buildhost} %{license}", result(t, "nomen-*."+other+".rpm")); got != other+" localhost Apache-2.0" {
		t.Errorf("the other package: got %q", got)
	}
	r := newRoot(t, "nomen:nomen")
	r.debian(t)
	output(t, "rpm", "--root", r.dir, "--nodeps", "-i", file)
	if got := strings.TrimSpace(r.asRoot(t, "stat", "-c", "%a %U:%G", "/var/lib/nomen")); got != "750 nomen:nomen" {
		t.Errorf("data directory: got %s", got)
	}
	stop := r.serve(t, "/usr/bin/nomen", "serve", "--config", "/etc/nomen/nomen.toml")
	r.asUser(t, "nomen", "put", exampleName, "https://example.org/a")
	r.resolves(t)
	stop()
	if said := output(t, "rpm", "--root", r.dir, "--nodeps", "-e", "nomen"); !strings.Contains(said, "rm -r /var/lib/nomen") {
		t.Errorf("the erasure does not say where the data are: %q", said)
	}
	r.exists(t, "/usr/bin/nomen", false)
	r.exists(t, "/var/lib/nomen/store", true)
}

// TestPackageImage reads the image with another program, unpacks it, and runs it as the user
// that it names, without anything else in its root.
func TestPackageImage(t *testing.T) {
	archive := "oci-archive:" + result(t, "nomen-*-oci.tar")
	for _, arch := range architectures {
		var config imageConfig
		if err := json.Unmarshal([]byte(output(t, "skopeo", "--override-arch", arch, "inspect", "--config", "--raw", archive)), &config); err != nil {
			t.Fatal(err)
		}
		if c := config.Config; config.Architecture != arch || c.User != "65532:65532" || fmt.Sprint(c.Healthcheck.Test) != "[CMD /usr/bin/nomen health]" {
			t.Errorf("%s: got %+v", arch, config)
		}
	}
	dir := t.TempDir()
	output(t, "skopeo", "--insecure-policy", "--override-arch", runtime.GOARCH, "copy", archive, "dir:"+dir)
	var m manifest
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil || len(m.Layers) != 1 {
		t.Fatalf("manifest %s: %v", text, err)
	}
	r := newRoot(t, "65532:65532")
	output(t, "tar", "-C", r.dir, "-xzpf", filepath.Join(dir, strings.TrimPrefix(m.Layers[0].Digest, "sha256:")))
	stop := r.serve(t, "/usr/bin/nomen", "serve")
	cmd := exec.Command("ip", r.args(r.user, "/usr/bin/nomen", "put", exampleName, "https://example.org/a")...)
	cmd.Env = []string{"NOMEN_DATA=/var/lib/nomen"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("put: %v\n%s", err, out)
	}
	cmd = exec.Command("ip", r.args(r.user, "/usr/bin/nomen", "resolve", "--via", "127.0.0.1:4500", exampleName)...)
	cmd.Env = []string{"NOMEN_DATA=/var/lib/nomen"}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "https://example.org/a") {
		t.Errorf("resolve: %v\n%s", err, out)
	}
	stop()
}

// TestPackageSums checks the hashes with sha256sum, and a signature as docs/howto/install.md says.
func TestPackageSums(t *testing.T) {
	sums := result(t, sumsFile)
	output(t, "sh", "-c", `cd "$(dirname "$0")" && sha256sum --strict --quiet -c SHA256SUMS`, sums)
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	output(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key)
	output(t, "cp", sums, dir)
	output(t, "sh", "-c", `mkdir "$0/contrib" && echo "nomen-release $(cat "$0/key.pub")" >"$0/contrib/allowed_signers"`, dir)
	r := release{dir: dir, root: dir, version: releaseVersion{tagged: true}}
	if err := r.sign(""); err != errUnsigned {
		t.Errorf("a tagged version without a key: got %v", err)
	}
	if err := r.sign("none"); err != nil {
		t.Errorf("key none: %v", err)
	}
	if err := r.sign(key); err != nil {
		t.Errorf("sign: %v", err)
	}
	output(t, "sh", "-c", `echo >>"$0"`, filepath.Join(dir, sumsFile))
	if err := r.verify(filepath.Join(dir, sumsFile)); err == nil {
		t.Error("the signature holds for other hashes")
	}
}
