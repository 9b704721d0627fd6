// Command release builds the files of a release: programs, packages for Debian and for RPM systems,
// an image for containers, and a description of their contents (SBOM). The results depend only on
// the commit, the version and the versions of the tools.
//
// Run it with make release.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// A release has what all steps of building a release need.
type release struct {
	root       string // root of the module
	scratch    string // a temporary directory
	dir        string // directory of the results
	version    releaseVersion
	at         time.Time // time of the commit, which is the time of all files
	maintainer string    // name and address, for the packages
	roots      []byte    // root certificates, for the image

	programs                []program
	manual, bash, zsh, fish []byte
	licence, copyright      []byte
	changelog               []byte
	contrib                 tree
	files                   []string // paths of the results
}

// Exit statuses.
const (
	exitFailure  = 1
	exitUnsigned = 3
)

var errUnsigned = errors.New("the release is not signed")

func main() {
	var o options
	flag.StringVar(&o.licences, "licences", "", "only write the table of licences to `FILE`")
	flag.StringVar(&o.dist, "dist", "dist", "write the release into a new directory in `DIR`")
	flag.StringVar(&o.version, "version", "", "version as git describes it, such as v1.2.3")
	flag.StringVar(&o.key, "key", "", "sign with the SSH key in `FILE`; none does not sign a tagged version either")
	flag.StringVar(&o.roots, "roots", "/etc/ssl/certs/ca-certificates.crt", "`FILE` of CA certificates for the image")
	flag.StringVar(&o.maintainer, "maintainer", "nomen project <nomen-project@users.noreply.github.com>", "name and address in the packages")
	flag.Parse()
	switch err := run(o); {
	case errors.Is(err, errUnsigned):
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(exitUnsigned)
	case err != nil:
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(exitFailure)
	}
}

type options struct{ licences, dist, version, key, roots, maintainer string }

func run(o options) error {
	if o.licences != "" {
		modules, err := linkedModules(".", platforms()...)
		if err != nil {
			return err
		}
		return os.WriteFile(o.licences, table(modules), 0o644)
	}
	r, err := newRelease(o)
	if err != nil {
		return err
	}
	defer os.RemoveAll(r.scratch)
	for _, step := range []func() error{r.read, r.buildAll, r.archives, r.debs, r.rpms, r.image, r.sums} {
		if err := step(); err != nil {
			return err
		}
	}
	return r.sign(o.key)
}

// platforms returns the platforms whose modules are in the table of licences.
func platforms() []string {
	return []string{"linux/amd64", "linux/arm64", "darwin/arm64", "windows/amd64", "freebsd/amd64"}
}

func newRelease(o options) (*release, error) {
	r := &release{maintainer: o.maintainer}
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("SOURCE_DATE_EPOCH: want the time of the commit in seconds: %w", err)
	}
	r.at = time.Unix(seconds, 0).UTC()
	if r.version, err = parseVersion(o.version, r.at); err != nil {
		return nil, err
	}
	if r.root, err = os.Getwd(); err != nil {
		return nil, err
	}
	if r.roots, err = os.ReadFile(o.roots); err != nil {
		return nil, fmt.Errorf("CA certificates for the image: %w", err)
	}
	if r.dir, err = filepath.Abs(filepath.Join(o.dist, r.version.packaged)); err != nil {
		return nil, err
	}
	if err := os.RemoveAll(r.dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return nil, err
	}
	r.scratch, err = os.MkdirTemp("", "nomen-release-")
	return r, err
}

// read reads the files in the source tree that every package contains.
func (r *release) read() (err error) {
	if r.licence, err = os.ReadFile(filepath.Join(r.root, "LICENSE")); err != nil {
		return err
	}
	if r.changelog, err = os.ReadFile(filepath.Join(r.root, "CHANGELOG.md")); err != nil {
		return err
	}
	if r.contrib, err = readContrib(r.root); err != nil {
		return err
	}
	modules, err := linkedModules(r.root, "linux/amd64", "linux/arm64")
	r.copyright = copyright(modules)
	return err
}

func (r *release) write(name string, data []byte) error {
	r.files = append(r.files, name)
	fmt.Fprintln(os.Stderr, "release:", filepath.Join(r.dir, name))
	return os.WriteFile(filepath.Join(r.dir, name), data, 0o644)
}
