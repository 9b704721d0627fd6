package main

import (
	"bytes"
	"crypto/md5" // dpkg requires the file md5sums
	_ "embed"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"text/template"
)

// revision is the revision of a package. It would change if a version of the program were packaged
// again.
const revision = "1"

//go:embed deb/control
var debControl string

//go:embed deb/changelog
var debChangelog string

//go:embed deb/postinst
var debPostinst []byte

//go:embed deb/prerm
var debPrerm []byte

//go:embed deb/postrm
var debPostrm []byte

//go:embed deb/overrides
var debOverrides []byte

//go:embed rpm/nomen.spec
var rpmSpec string

// A packaging says where packages of one kind put some files.
type packaging struct{ zsh, docs string }

// content returns the files in packages of every kind.
func (r *release) content(p program, where packaging) tree {
	var t tree
	t.program("usr/bin/nomen", p.binary)
	t.file("usr/share/man/man1/nomen.1.gz", compress(r.manual))
	t.file("usr/share/bash-completion/completions/nomen", r.bash)
	t.file(where.zsh+"/_nomen", r.zsh)
	t.file("usr/share/fish/vendor_completions.d/nomen.fish", r.fish)
	for _, e := range r.contrib {
		rel := strings.TrimPrefix(e.path, "contrib/")
		switch ext := path.Ext(rel); {
		case rel == "nomen.toml":
			t = append(t, entry{path: "etc/nomen/nomen.toml", mode: 0o644, data: e.data, conf: true})
		case rel == "systemd/nomen.sysusers":
			t.file("usr/lib/sysusers.d/nomen.conf", e.data)
		case rel == "systemd/nomen.tmpfiles":
			t.file("usr/lib/tmpfiles.d/nomen.conf", e.data)
		case path.Dir(rel) == "systemd" && (ext == ".service" || ext == ".socket"):
			t.file("lib/systemd/system/"+path.Base(rel), e.data)
		default:
			t.file(where.docs+"/examples/"+rel, e.data)
		}
	}
	return t
}

// A packageData is the data for the templates of control files.
type packageData struct {
	Version, Revision, Arch, Maintainer string
	KiB                                 int64
	Date, RPMDate                       string
	Files                               []string
}

func (r *release) data(arch string, t tree) packageData {
	d := packageData{
		Version: r.version.packaged, Revision: revision, Arch: arch, Maintainer: r.maintainer,
		Date: r.at.Format("Mon, 02 Jan 2006 15:04:05 -0700"), RPMDate: r.at.Format("Mon Jan 02 2006"),
	}
	for _, e := range t.complete() {
		if !e.mode.IsDir() {
			d.KiB += int64(len(e.data)+1023) / 1024
		}
	}
	return d
}

func fill(text string, d packageData) ([]byte, error) {
	t, err := template.New("").Parse(text)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, d)
	return b.Bytes(), err
}

func (r *release) debs() error {
	for _, p := range r.programs {
		if err := r.deb(p); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) deb(p program) error {
	const docs = "usr/share/doc/nomen"
	t := r.content(p, packaging{zsh: "usr/share/zsh/vendor-completions", docs: docs})
	d := r.data(p.arch, t)
	changelog, err := fill(debChangelog, d)
	if err != nil {
		return err
	}
	t.file(docs+"/copyright", r.copyright)
	t.file(docs+"/changelog.gz", compress(r.changelog))
	t.file(docs+"/changelog.Debian.gz", compress(changelog))
	t.file("usr/share/lintian/overrides/nomen", debOverrides)
	control, err := fill(debControl, d)
	if err != nil {
		return err
	}
	var sums, conffiles strings.Builder
	for _, e := range t.complete() {
		if e.conf {
			fmt.Fprintf(&conffiles, "/%s\n", e.path)
		} else if !e.mode.IsDir() {
			fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(e.data), e.path)
		}
	}
	t.file("DEBIAN/control", control)
	t.file("DEBIAN/conffiles", []byte(conffiles.String()))
	t.file("DEBIAN/md5sums", []byte(sums.String()))
	t.program("DEBIAN/postinst", debPostinst)
	t.program("DEBIAN/prerm", debPrerm)
	t.program("DEBIAN/postrm", debPostrm)

	name := fmt.Sprintf("nomen_%s-%s_%s.deb", r.version.packaged, revision, p.arch)
	dir, err := r.stage(name, t)
	if err != nil {
		return err
	}
	// With several threads, the result would depend on the machine.
	made := filepath.Join(r.scratch, name)
	if err := r.command("dpkg-deb", "--root-owner-group", "--threads-max=1", "-Zxz", "-z2", "--build", dir, made).Run(); err != nil {
		return fmt.Errorf("dpkg-deb: %w", err)
	}
	return r.take(made)
}

// stage writes a tree into a new directory, and returns the directory.
func (r *release) stage(name string, t tree) (string, error) {
	dir := filepath.Join(r.scratch, name+".d")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	if err := t.stage(dir, r.at); err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o755); err != nil { // because of the umask
		return "", err
	}
	return dir, os.Chtimes(dir, r.at, r.at)
}

// take moves a file that a tool has made into the directory of the results.
func (r *release) take(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return r.write(filepath.Base(file), data)
}

// rpms builds the RPM packages, for Fedora, openSUSE and Red Hat Enterprise Linux.
func (r *release) rpms() error {
	for _, p := range r.programs {
		if err := r.rpm(p); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) rpm(p program) error {
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[p.arch]
	t := r.content(p, packaging{zsh: "usr/share/zsh/site-functions", docs: "usr/share/doc/nomen"})
	for i, e := range t {
		if rest, ok := strings.CutPrefix(e.path, "lib/systemd/"); ok {
			t[i].path = "usr/lib/systemd/" + rest
		}
	}
	t.file("usr/share/licenses/nomen/LICENSE", r.licence)
	t.file("usr/share/licenses/nomen/copyright", r.copyright)
	t.file("usr/share/doc/nomen/CHANGELOG.md", r.changelog)
	d := r.data(arch, t)
	for _, e := range t.complete() {
		if line := rpmLine(e); line != "" {
			d.Files = append(d.Files, line)
		}
	}
	spec, err := fill(rpmSpec, d)
	if err != nil {
		return err
	}
	dir, err := r.stage("rpm-"+arch, t)
	if err != nil {
		return err
	}
	specFile := filepath.Join(r.scratch, "nomen-"+arch+".spec")
	if err := os.WriteFile(specFile, spec, 0o644); err != nil {
		return err
	}
	// rpmbuild empties its build root first, so the files are elsewhere and the spec copies them.
	top := filepath.Join(r.scratch, "rpm-"+arch)
	cmd := r.command("rpmbuild", "-bb", "--quiet", "--target", arch+"-linux",
		"--define", "_topdir "+top, "--define", "nomen_tree "+dir, "--define", "_rpmdir "+top, specFile)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("rpmbuild: %w", err)
	}
	return r.take(filepath.Join(top, arch, fmt.Sprintf("nomen-%s-%s.%s.rpm", r.version.packaged, revision, arch)))
}

// rpmLine returns the line of a spec for a file or directory. A directory of another package has no
// line, so the result is "".
func rpmLine(e entry) string {
	switch own := path.Base(e.path) == "nomen"; {
	case e.mode.IsDir() && own && !strings.HasSuffix(e.path, "licenses/nomen"):
		return "%dir /" + e.path
	case e.mode.IsDir() && !strings.Contains(e.path, "doc/nomen/"):
		return ""
	case e.mode.IsDir():
		return "%dir /" + e.path
	case e.conf:
		return "%config(noreplace) /" + e.path
	case strings.HasPrefix(e.path, "usr/share/licenses/"):
		return "%license /" + e.path
	case strings.HasPrefix(e.path, "usr/share/doc/"), strings.HasPrefix(e.path, "usr/share/man/"):
		return "%doc /" + e.path
	}
	return "/" + e.path
}
